--- Problems: what is asked of attention.
--
-- A problem is queries Q, keys K and values V, with a scale, a mask, a score and heads. It is checked
-- when it is made, and never changes; every road (full softmax, tiles, the oracle) answers the same
-- problem. Heads lie side by side in the columns of Q, K, V and of the output.

local core = require "tessera.core"
local exact = require "tessera.exact"
local check = require "tessera.check"
local make = require "tessera.problem.make"

require "tessera.summary" -- the fields and methods of what P:summary returns

--- What a problem tells of itself.
---     local P = ts.problem{Q = ts.zeros(2, 6), K = ts.zeros(5, 6), V = ts.zeros(5, 4), heads = 2}
---     P.n_q, P.n_k, P.d, P.d_v, P.heads --> 2  5  3  2  2
---@class problem
---@field Q matrix the queries, n_q × heads·d
---@field K matrix the keys, n_k × kv_heads·d
---@field V matrix the values, n_k × kv_heads·d_v
---@field mask mask|mask[]? the mask, or the list with one a head; nil for all cells
---@field score function|function[]? the score function, or the list with one a head
---@field sink number|number[]? the logit without a value, or the list with one a head
---@field scale number|number[] what scores are multiplied by
---@field base number e, or 2
---@field n_q integer query rows
---@field n_k integer keys
---@field d integer the width of one head's queries and keys
---@field d_v integer the width of one head's values
---@field heads integer query heads
---@field kv_heads integer key heads, which groups of query heads share
---@field dtype "f64"|"f32" of Q, K, V and all results
---@field first_key integer the number of K's first row
---@field empty "error"|"zero" what becomes of a row without keys
---@field nonfinite "error"|"propagate" what becomes of NaN and +∞
local methods = core.problem.methods

local kinds = {
  Q = "matrix", K = "matrix", V = "matrix", scale = "any", mask = "any", score = "any", sink = "any",
  heads = "positive", kv_heads = "positive", base = "any", first_key = "positive",
  empty = {"error", "zero"}, nonfinite = {"error", "propagate"},
}

-- What P.field shows, and the methods: for errors that name the near one.
local readable = {
  "Q", "K", "V", "mask", "score", "sink", "scale", "base", "n_q", "n_k", "d", "d_v", "heads",
  "kv_heads", "dtype", "first_key", "empty", "nonfinite",
}

local function copy(t, into)
  into = into or {}
  for name, value in pairs(t) do into[name] = value end
  return into
end

--- States a problem: softmax(scale · Q Kᵀ, masked) V, head by head.
--
-- Query head h uses key head ⌈h · kv_heads / heads⌉.
-- * `Q`, `K`, `V`: n_q × heads·d, n_k × kv_heads·d and n_k × kv_heads·d_v, of one dtype.
-- * `heads`: how many, of queries; 1 unless given.
-- * `kv_heads`: how many, of keys and values; as many unless given, or a divisor, for groups that share one.
-- * `scale`: any finite number, or a list with one a head; 1/√d unless given.
-- * `mask`: a mask, a list with one a head, or a predicate of (i, j) or (i, j, h).
-- * `score`: a function (s, i, j, h) → number, or a list: asked for allowed cells, after the scale.
-- * `sink`: a logit without a value, or a list: takes part in every row's normaliser.
-- * `base`: 2 for 2^s instead of e^s.
-- * `first_key`: the number of K's first row, where its keys continue a longer sequence.
-- * `empty = "zero"`: a row without keys has output 0, where it would be an error.
-- * `nonfinite = "propagate"`: NaN and +∞ pass, where they would be an error.
--
--     local P = ts.problem{Q = ts.randn(8, 4), K = ts.randn(9, 4), V = ts.randn(9, 2)}
--     local P = ts.problem{Q = X, K = X, V = X, heads = 4, mask = function(i, j) return j <= i end}
--
-- Errors name the field and both shapes: `bad argument #1 to 'problem' (Q is 3x4, K is 5x6: …)`.
---@param fields table
---@return problem
local function problem(fields)
  check.type(fields, "table", 1, "problem")
  return make(core.options(fields, 1, "problem", kinds), 1, "problem")
end

-- Does it take the masks and programs of P's sizes?
local function same_sizes(P, changes)
  local Q, K = changes.Q or P.Q, changes.K or P.K
  return Q.rows == P.n_q and K.rows == P.n_k and (changes.heads or P.heads) == P.heads
    and (changes.first_key or P.first_key) == P.first_key
end

--- The same problem with some fields changed; `false` takes mask, score, sink or scale away. A mask that
-- was given as a predicate is made anew where sizes or heads change, and so is what was read of scores.
--     P:with{scale = 1}:softmax()
---@param changes table as of ts.problem
---@return problem
function methods:with(changes)
  check.self(self, "problem", "with")
  changes = core.options(changes, 1, "with", kinds)
  local given = copy(core.problem.given(self))
  local same = same_sizes(self, changes)
  if not same and given.predicate then given.mask = given.predicate end
  if not same or changes.mask ~= nil then given.predicate = nil end
  if not same or changes.score ~= nil then given.compiled = nil end
  return make(copy(changes, given), 1, "with")
end

--- The same problem with Q, K and V in another dtype: f64 rounded to f32, or f32 as it is in f64.
--     local truth = P:to("f64"):softmax()
---@param dtype string "f64" or "f32"
---@return problem
function methods:to(dtype)
  check.self(self, "problem", "to")
  check.arg(dtype == "f64" or dtype == "f32", 1, "to", "\"f64\" or \"f32\" expected, got %s", dtype)
  return self:with{Q = self.Q:to(dtype), K = self.K:to(dtype), V = self.V:to(dtype)}
end

--- Full softmax, one row at a time: the definition. Sums in double, each result rounded once.
--     local O, lse = P:softmax()
-- Raises the error that names the rows without keys, unless `empty = "zero"`.
---@param options? {empty: "error"|"zero"}
---@return matrix O n_q × heads·d_v
---@return matrix lse n_q × heads: ln Σ base^s
methods.softmax = methods.softmax

--- Attention by tiles: blocks of keys, in any order, merged with any bracketing.
--     local O, lse = P:attention{q = 64, k = 128, order = "backward", merge = "tree"}
-- A tiling has these fields, all optional:
-- * `q`: rows of queries a tile.
-- * `k`: keys a block; or a list of the last keys of the blocks; or a list of key sets, each a list of
--   {first, last}, so that blocks may interleave.
-- * `order`: "forward", "backward", "diagonal" (each query tile begins where it stands), "outward" (from the
--   middle), "shuffle" (by `seed`), a permutation of the block numbers, or a function (blocks, q_tile) →
--   permutation, asked once a query tile: blocks is a list of {first, last}, q_tile one {first, last}.
-- * `merge`: "online" or "left" (the left fold), "right", "tree" (halves, the left one the larger), "random" (by
--   `seed`, each bracketing as likely as any other), a nested table of positions in the order such as
--   {{1, 2}, 3}, a word such as "1 2 * 3 *", or a function (n) → nested table.
-- * `split`: instead of `merge`, parts that run at once, each online, and are merged as a tree.
-- * `exp`: "sleef" or "poly" (`degree`: of the polynomial; only with that).
-- * `threads`, `empty`, `seed` (1 unless given).
--
-- The same problem, tiling and instruction set give the same bits, for any number of threads. A schedule
-- that leaves out a block, or uses one twice, is an error that names it.
---@param tiling? table
---@return matrix O n_q × heads·d_v
---@return matrix lse n_q × heads
methods.attention = methods.attention

--- The attention weights of head `h`: e^(s - lse), and 0 where a key is not allowed.
--     P:weights():argmax("rows")    -- the key that each query looks at most
---@param h? integer from 1
---@return matrix n_q × n_k
methods.weights = methods.weights

--- The scores of head `h`, after scale and score function; -inf where a key is not allowed.
--     print(P:scores())
---@param h? integer from 1
---@return matrix n_q × n_k
methods.scores = methods.scores

--- How far rounding can take each result from the exact one, derived from the problem before anything is computed: under a
--- tiling, or without one on the softmax road. Two roads may lie as far apart as the sum of their bounds.
--     assert(((P:attention(tiling) - O):abs():to "f64" - P:bound(tiling).output - P:bound().output):max() <= 0)
-- Fields: `output` (the theorem) and `expected` (the expected error), n_q × heads·d_v; `max` and `lse`, n_q × heads; `bounded`
-- (0: no bound, the figures are inf) and `exact` (1: every road gives the same bits), n_q × heads.
---@param tiling? table
---@return {output: matrix, expected: matrix, max: matrix, lse: matrix, bounded: matrix, exact: matrix}
methods.bound = methods.bound

--- Σ: the summary of all rows and heads over some keys, by their numbers; of all without arguments.
--     local S = P:summary(1, 400) * P:summary(401, 1024)
--     local S = P:summary{{1, 10}, {21, 30}}
---@param first? integer|integer[][] the first key, or a list of {first, last}
---@param last? integer the last key; first - 1 for none
---@return summary
methods.summary = methods.summary

--- ⊥: the summary over no key.
--     assert(S * P:bottom() == S)
---@return summary
methods.bottom = methods.bottom

-- Methods that live in files of their own, loaded when they are first asked for.
local elsewhere = {verify = "tessera.verify", trace = "tessera.trace", cost = "tessera.cost"}

local function names()
  local list = copy(readable)
  for name in pairs(methods) do list[#list + 1] = name end
  for name in pairs(elsewhere) do list[#list + 1] = name end
  return list
end

exact.all(methods, 1)
setmetatable(methods, {__index = function(_, name)
  if not elsewhere[name] then return check.no_field("a problem", name, names()) end
  local method = require(elsewhere[name])
  methods[name] = rawget(methods, name) or exact.of(method, name, 1)
  return methods[name]
end})

return problem
