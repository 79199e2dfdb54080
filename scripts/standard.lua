-- standard.lua -- the standard problems, on which P:verify must find every fault of scripts/mutations.
--
-- Each is a name and a function that makes it; between them they have ragged lengths, both dtypes and bases, grouped heads
-- that differ in everything, masks of all kinds, rows without keys, long blocks, gaps between scores, and exact rows.
local ts = require "tessera"

-- A problem of random numbers: `f` adds fields, or replaces some.
local function random(n_q, n_k, d, d_v, f)
  local heads, seed, o = f.heads or 1, n_q * 1000 + n_k, {dtype = f.dtype or "f64"}
  local kv_heads = f.kv_heads or heads
  local function randn(rows, cols, stream) return ts.randn(rows, cols, {dtype = o.dtype, seed = 7 * seed + stream}) end
  local fields = {Q = randn(n_q, heads * d, 1), K = randn(n_k, kv_heads * d, 2), V = randn(n_k, kv_heads * d_v, 3), empty = "zero"}
  for name, value in pairs(f) do
    if name ~= "dtype" then fields[name] = value end
  end
  return ts.problem(fields)
end

local function causal(i, j) return j <= i end

return {
  {"exact rows", function()
    return ts.sample.exact{n_q = 13, n_k = 37, d = 5, d_v = 6, density = 0.6, sink = true, seed = 3, empty = "zero"}
  end},
  {"exact rows, f32, grouped heads", function()
    return ts.sample.exact{n_q = 9, n_k = 61, d = 6, d_v = 4, heads = 4, kv_heads = 2, dtype = "f32", density = 0.5, seed = 4,
      empty = "zero"}
  end},
  {"causal", function() return random(64, 64, 16, 16, {mask = causal}) end},
  {"ragged, wide", function() return random(21, 67, 33, 19, {dtype = "f32"}) end},
  {"grouped heads that differ", function()
    return random(19, 70, 9, 7, {
      heads = 6, kv_heads = 2, scale = {0.3, 0.2, 0.1, 0.4, 0.25, 0.35}, sink = {0.5, -1.0, 2.0, 0.0, 1.0, -0.5},
      mask = ts.mask(19, 70, function(i, j, h) return (i + 3 * j + h) % 5 ~= 0 and j <= 12 * h end, {heads = 6}),
      score = function(s, i, j, h) return s - 0.05 * h * math.abs(i - j) end,
    })
  end},
  {"base 2, a window, few queries", function()
    return random(40, 90, 8, 12, {base = 2, mask = ts.mask.window({40, 90}, 9, 3), dtype = "f32"})
  end},
  {"scores behind a prefix", function()
    return random(30, 75, 7, 5, {mask = function(i, j) return j > 40 + i // 4 end, score = function(s, _, j) return s + 0.01 * j end})
  end},
  {"rows without keys", function() return random(33, 48, 4, 3, {mask = ts.mask.random({33, 48}, 0.04, {seed = 5})}) end},
  {"keys that continue a sequence", function()
    return random(17, 41, 6, 6, {first_key = 8, mask = ts.mask(17, 48, function(i, j) return (j - i) % 3 ~= 1 end)})
  end},
  {"a block of 513 keys", function() return random(5, 513, 8, 8, {}) end},
  {"long blocks, late keys", function() return random(6, 1300, 5, 4, {mask = function(i, j) return j > 500 * (i % 3) end}) end},
  {"blocks longer than a chunk", function() return random(3, 2100, 4, 3, {}) end},
  {"large gaps between scores", function() return random(20, 50, 8, 8, {scale = 12.0, mask = causal}) end},
  {"several threads", function() return random(130, 260, 32, 32, {heads = 2, mask = ts.mask.causal({130, 260})}) end},
}
