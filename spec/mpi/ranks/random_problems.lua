-- On every rank: random problems over ranks, by every scheme, against full softmax on one. Arguments: how many, and the first seed.
local dice = require "spec.dice"
local ts = require "tessera"
local mpi = require "tessera.mpi"

local count, first_seed = tonumber(arg[1]), tonumber(arg[2])

local abs = math.abs
local scores = {
  function(s, i, j) return s - 0.25 * abs(i - j) end,
  function(s, _, _, h) return s * h end,
}

local masks = {
  function(n_q, last) return ts.mask.causal{n_q, last} end,
  function(n_q, last, draw) return ts.mask.window({n_q, last}, draw(6) - 1, draw(3) - 1) end,
  function(n_q, last) return ts.mask.random({n_q, last}, 0.3, {seed = last}) end,
  function() return nil end,
  function(n_q, last, _, heads) return ts.mask(n_q, last, function(i, j, h) return (i + j) % (h + 1) == 0 end, {heads = heads}) end,
}

-- The masks come in turn; keys are often fewer than ranks.
local function problem(seed, dtype)
  local draw = dice(seed * 1000)
  local kv_heads = draw(3)
  local heads, n_q, n_k = kv_heads * draw(3), draw(20), draw(4) == 1 and draw(5) - 1 or draw(40)
  local d, d_v, first_key = draw(9) - 1, draw(6), draw(4) == 1 and draw(50) or 1
  local function numbers(rows, cols, part) return ts.randn(rows, cols, {seed = seed * 10 + part, dtype = dtype}) end
  return ts.problem{
    Q = numbers(n_q, heads * d, 1), K = numbers(n_k, kv_heads * d, 2), V = numbers(n_k, kv_heads * d_v, 3), first_key = first_key,
    heads = heads, kv_heads = kv_heads, mask = masks[seed % #masks + 1](n_q, first_key + n_k - 1, draw, heads),
    base = draw(4) == 1 and 2 or "e", sink = draw(5) == 1 and 0.5 or nil, score = scores[draw(6)], empty = "zero",
  }
end

local function exact(seed, dtype)
  local draw = dice(seed * 1000)
  return ts.sample.exact{n_q = draw(9), n_k = draw(30), heads = 2 * draw(2), kv_heads = 2, dtype = dtype, density = 0.7,
    sink = draw(2) == 1, seed = seed, empty = "zero"}
end

local tried, rows_exact, worst = 0, 0, 0
for seed = first_seed, first_seed + count - 1 do
  for _, dtype in ipairs{"f64", "f32"} do
    local is_exact = seed % 8 == 0
    local P = (is_exact and exact or problem)(seed, dtype)
    local v = P:verify{laws = "ranks", seed = seed, rounds = 1}
    assert(v.ok, ("seed %d, %s\n%s"):format(seed, dtype, v))
    assert(not is_exact or v.ranks.exact, "rows that were drawn to be exact were not compared in bits")
    tried, worst, rows_exact = tried + v.ranks.cases, math.max(worst, v.ranks.ratio), rows_exact + (v.ranks.exact and P.n_q or 0)
  end
end
if mpi.rank == 0 then
  print(("%d comparisons on %d ranks, worst %.3f of the bound, %d rows in bits"):format(tried, mpi.size, worst, rows_exact))
end
