-- One row, step by step: how blocks of keys become one answer, and what other ways to cut them would take.
--
-- Base 2 and whole numbers keep every figure exact, so that each can be checked by hand.
local ts = require "tessera"

-- Six keys with the scores 0 2 1 3 1 0 for our one query, and values with two columns.
local P = ts.problem{
  Q = ts.matrix{{1}}, K = ts.matrix{{0}, {2}, {1}, {3}, {1}, {0}},
  V = ts.matrix{{8, 0}, {4, 4}, {2, 0}, {1, 1}, {2, 6}, {8, 8}}, scale = 1, base = 2,
}

-- Online softmax: blocks of two keys from first to last. A merge multiplies the side with the smaller maximum by 2^(m - m').
print "Online, the word 1 2 ⋆ 3 ⋆:"
print(P:trace(1, {k = 2, merge = "online"}))

-- From the right, and from the last block on: other summaries on the way, the same bits at the end.
print "\nFrom the last block on, and as a tree:"
local backward = P:trace(1, {k = 2, order = "backward", merge = "tree"})
print(backward)
assert(backward.output:identical(P:softmax()))

-- What a tiling takes is told before it runs. Smaller tiles skip more of a causal mask, and read K and V more often.
local n = 4096
local X = ts.randn(n, 64, {seed = 1})
local causal = ts.problem{Q = X, K = X, V = X, mask = ts.mask.causal(n)}
print("\nA causal problem of 4096 queries and keys:")
for _, size in ipairs{512, 128, 32} do
  local c = causal:cost{q = size, k = size}
  print(("  tiles of %3d: %4.1f %% skipped, %4.1f %% of the pairs computed are allowed, %3.0f flops a byte"):format(size,
    100 * c.skipped / c.tiles, 100 * c.allowed / c.pairs, c.intensity))
end
print("\nAll of it, with the default tiles:")
print(causal:cost())
