-- ALiBi and soft capping: what becomes of a score between the scale and the softmax is a plain Lua function.
--
-- Like a mask's predicate it is lifted: its bytecode becomes a program that runs in C, for one head or with h for each.
local ts = require "tessera"

local n, heads, d = 64, 4, 16
local function randn(seed) return ts.randn(n, heads * d, {seed = seed}) end
local P = ts.problem{Q = randn(1), K = randn(2), V = randn(3), heads = heads, mask = ts.mask.causal(n)}

-- ALiBi (Press et al. 2022): a slope for each head, 2^-2, 2^-4, .. for four of them.
local alibi = P:with{score = ts.score.alibi(heads)}
local by_hand = P:with{score = function(s, i, j, h) return s - 4.0 ^ -h * (i - j) end}
print("by hand, bit for bit:", alibi:attention():identical((by_hand:attention()))) --> by hand, bit for bit:	true

-- How far back a head looks on average: steep slopes look near.
local function reach(problem, h)
  local W, sum = problem:weights(h), 0
  for i = 1, n do
    for j = 1, i do sum = sum + W(i, j) * (i - j) end
  end
  return sum / n
end
print("steep heads look nearer:", reach(alibi, 1) < reach(alibi, 2), reach(alibi, 2) < reach(alibi, 4))
--> steep heads look nearer:	true	true
print("and all nearer than without:", reach(alibi, 4) < reach(P, 4))           --> and all nearer than without:	true

-- Soft capping (Gemma 2): c · tanh(s / c) lets no score beyond c.
local large = P:with{Q = P.Q * 50}
local capped = large:with{score = ts.score.softcap(5)}
print("largest score capped:", capped:scores(1):max() <= 5, large:scores(1):max() > 50) --> largest score capped:	true	true

-- Score functions follow each other, and every law still holds, judged in bits or against its bound.
local both = P:with{score = ts.score.chain(ts.score.softcap(5), ts.score.alibi(heads))}
print("verified:", both:verify().ok)                                          --> verified:	true
ts.plot.matrix(both:weights(1):slice(1, 16, 1, 16), {mask = ts.mask.causal(16), title = "weights of the steep head", width = 60})
