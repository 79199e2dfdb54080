--- Score functions: what becomes of a score between the scale and the softmax.
--
-- A score function is a plain Lua function (s, i, j, h) → number of the scaled score s of query i, key j
-- and head h, all from 1; `ts.problem{score = f}` takes one for all heads, or a list with one a head. Those
-- below are such functions; `ts.score.chain` puts several in a row. A mask comes later: a score
-- function is asked for allowed keys only. One that cannot become a program of the core is called for
-- each of them, with the same answer and slower: `ts.score.compile` tells why.
--     ts.problem{Q = Q, K = K, V = V, score = function(s, i, j) return s - math.abs(i - j) / 8 end}:softmax();

local core = require "tessera.core"
local check = require "tessera.check"
local lift = require "tessera.lift"

local score = {}

-- The authors' slopes: powers of one number for a power of two of heads; for another number of
-- heads those of the power of two below, then every other one of twice as many.
local function slopes_of(heads)
  local power = 1
  while 2 * power <= heads do power = 2 * power end
  local slopes = {}
  for h = 1, power do slopes[h] = 2.0 ^ (-8 * h / power) end
  for h = power + 1, heads do slopes[h] = 2.0 ^ (-4 * (2 * (h - power) - 1) / power) end
  return slopes
end

--- ALiBi (Press et al. 2022): a bias that falls by the head's slope for each key of distance. Head h of 8
-- has slope 2^-h; 6 heads have 2^-2, 2^-4, 2^-6, 2^-8, 2^-1, 2^-3, as in the authors' code. The bias is
-- slope · (j - i), as theirs: for causal masks. Where queries do not sit on keys of the same number
-- (n_q ≠ n_k), all scores of a row move together, and the output does not change.
--     ts.score.alibi(8)(0, 5, 3, 1)    --> -1.0
--     ts.problem{Q = X, K = X, V = X, heads = 8, mask = ts.mask.causal(n), score = ts.score.alibi(8)}:attention();
---@param heads integer 1 or more
---@return fun(s: number, i: integer, j: integer, h: integer): number
function score.alibi(heads)
  local slopes = slopes_of(check.count(heads, 1, "alibi", "heads", 1))
  return function(s, i, j, h) return s + slopes[h] * (j - i) end
end

--- Soft capping (Gemma 2): c · tanh(s / c), which is about s where s is small, and never beyond c.
--     ts.score.softcap(50)(0), ts.score.softcap(50)(1e6)    --> 0.0  50.0
---@param c number above 0
---@return fun(s: number): number
function score.softcap(c)
  check.arg(math.type(c) and c > 0 and c < math.huge, 1, "softcap", "a number above 0 expected, got %s",
    c)
  local tanh = core.matrix.tanh
  return function(s) return c * tanh(s / c) end
end

-- Where the bias of distance 0 stands among `count` of them.
local function centre(count)
  check.arg(count % 2 == 1, 1, "relative", "%d biases, an odd number expected: from -r to r", count)
  return count // 2 + 1
end

--- A relative bias (Shaw et al. 2018; Raffel et al. 2020): a number for each distance j - i from -r to r is
-- added; keys further away have the one at the end. From a list of 2r + 1 numbers, the middle one for
-- j = i; or from a matrix of heads × (2r + 1), a row a head (1 × (2r + 1): for all heads).
--     ts.score.relative{-2, -1, 0, -1, -2}
---@param biases number[]|matrix
---@return fun(s: number, i: integer, j: integer, h: integer): number
function score.relative(biases)
  if check.type_of(biases) == "matrix" then
    local middle, last = centre(biases.cols), biases.cols
    local shared = biases.rows == 1
    return function(s, i, j, h)
      return s + biases(shared and 1 or h, math.max(1, math.min(last, j - i + middle)))
    end
  end
  check.arg(check.type_of(biases) == "table", 1, "relative", "list or matrix expected, got %s", check.type_of(biases))
  for k = 1, #biases do
    check.arg(math.type(biases[k]), 1, "relative", "element %d is a %s, not a number", k, check.type_of(biases[k]))
  end
  local middle, last = centre(#biases), #biases
  return function(s, i, j) return s + biases[math.max(1, math.min(last, j - i + middle))] end
end

--- One score function after another: chain(f, g) is g of f's result.
--     ts.score.chain(ts.score.softcap(50), ts.score.alibi(8))
---@param ... fun(s: number, i: integer, j: integer, h: integer): number
---@return fun(s: number, i: integer, j: integer, h: integer): number
function score.chain(...)
  local list = table.pack(...)
  for k = 1, list.n do
    check.arg(type(list[k]) == "function", k, "chain", "function expected, got %s", check.type_of(list[k]))
  end
  return function(s, i, j, h)
    for k = 1, #list do s = list[k](s, i, j, h) end
    return s
  end
end

-- Argument `n` of `compile`, `what`: nil, or a whole number from `low` up.
local function size(x, n, what, low) return x ~= nil and check.count(x, n, "compile", what, low) or nil end

--- The program of a score function for a problem of these sizes (without them: of any), or the
-- function itself and why it has to be called.
--     ts.score.compile(function(s, i, j) return s - (i - j) end):text()    --> return s - float(i - j)
---@param f function
---@param n_q? integer
---@param n_k? integer the number of the last key
---@param heads? integer
---@return userdata|function program, string? why
function score.compile(f, n_q, n_k, heads)
  check.type(f, "function", 1, "compile")
  n_q, n_k, heads = size(n_q, 2, "n_q", 0), size(n_k, 3, "n_k", 0), size(heads, 4, "heads", 1)
  local program, why, wrong = lift.score(f, n_q, n_k, heads)
  if program then return program end
  check.arg(not wrong, 1, "compile", "number expected from the function, got %s", wrong)
  return f, why
end

return check.closed(score, "ts.score")
