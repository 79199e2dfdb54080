-- standard_problems.lua -- problems of every kind, small ones, for which every law must hold: what P:verify is tried on, and what
-- scripts/mutate lets it find faults with. A table name -> problem.
local ts = require "tessera"

local abs = math.abs

local function random(fields)
  local dtype, n_q, n_k, heads = fields.dtype or "f64", fields.n_q or 12, fields.n_k or 17, fields.heads or 1
  local kv_heads = fields.kv_heads or heads
  local function m(rows, cols, seed) return ts.randn(rows, cols, {seed = seed, dtype = dtype}) end
  local all = {Q = m(n_q, heads * 5, 1), K = m(n_k, kv_heads * 5, 2), V = m(n_k, kv_heads * 3, 3)}
  for name, value in pairs(fields) do
    if name ~= "dtype" and name ~= "n_q" and name ~= "n_k" then all[name] = value end
  end
  return ts.problem(all)
end

-- What stands in keys that nobody may use, which must reach no result.
local function poisoned(x)
  local P = random{mask = function(i, j) return j % 4 ~= 0 and j <= i + 6 end}
  local K, V = P.K:copy(), P.V:copy()
  for j = 4, P.n_k, 4 do
    K:row(j):fill(x)
    V:row(j):fill(x)
  end
  return P:with{K = K, V = V}
end

return {
  ["plain"] = random{},
  ["plain, in f32"] = random{dtype = "f32"},
  ["causal"] = random{n_q = 15, n_k = 15, mask = function(i, j) return j <= i end},
  ["causal, of many tiles"] = random{n_q = 70, n_k = 150, mask = function(i, j) return j <= 2 * i end},
  ["of more keys than a chunk holds"] = random{n_q = 3, n_k = 1100},
  ["of more keys than a chunk holds, masked"] = random{n_q = 3, n_k = 1100, mask = function(i, j) return j % 600 < 40 * i end},
  ["of more keys than a chunk holds, the first of which are masked"] = random{n_q = 3, n_k = 1100,
    mask = function(i, j) return j > 900 - 100 * i end},
  ["with rows and keys that nobody may use"] = random{mask = function(i, j) return i % 4 ~= 0 and j % 5 ~= 0 end},
  ["with NaN in keys that nobody may use"] = poisoned(0 / 0),
  ["with infinities in keys that nobody may use"] = poisoned(math.huge),
  ["of grouped heads, each with its mask and scale"] = random{heads = 4, kv_heads = 2, scale = {0.5, 0.25, -0.5, 1},
    mask = function(i, j, h) return (i + j) % (h + 1) > 0 end},
  ["of grouped heads, in f32"] = random{heads = 6, kv_heads = 2, dtype = "f32"},
  ["scored"] = random{dtype = "f32", score = function(s, i, j) return s - 0.5 * abs(i - j) end},
  ["scored in two ways"] = random{heads = 2, score = {function(s) return 2 * s end, function(s, _, j) return s + 0.125 * j end}},
  ["scored by heads"] = random{heads = 2, score = function(s, _, j, h) return s + h * 0.25 * (j % 3) end},
  ["of scores far apart"] = random{scale = 300},
  ["with a sink a head"] = random{heads = 2, sink = {0.25, -1}},
  ["in base 2, with a sink"] = random{base = 2, sink = 1},
  ["whose keys continue a sequence"] = random{first_key = 31, mask = function(i, j) return j - i < 40 end},
  ["without keys"] = random{n_k = 0},
  ["of one key"] = random{n_k = 1},
  ["without queries"] = random{n_q = 0},
  ["of one query and many keys"] = random{n_q = 1, n_k = 5000},
  ["exact"] = ts.sample.exact{n_q = 6, n_k = 13, heads = 2, density = 0.5, seed = 4},
  ["exact, in f32, with a sink"] = ts.sample.exact{n_q = 6, n_k = 13, dtype = "f32", sink = true, seed = 5},
}
