-- Grouped heads: several query heads share one head of keys and values.
--
-- Query head g of `heads` reads key head ⌈g · kv_heads / heads⌉. One key head for all is multi-query attention (Shazeer
-- 2019); groups are Ainslie et al. 2023. Keys and values are read once a group, and never copied.
local ts = require "tessera"

local n, heads, kv_heads, d = 48, 6, 2, 8
local Q = ts.randn(n, heads * d, {seed = 1})
local K, V = ts.randn(n, kv_heads * d, {seed = 2}), ts.randn(n, kv_heads * d, {seed = 3})
local P = ts.problem{Q = Q, K = K, V = V, heads = heads, kv_heads = kv_heads, mask = ts.mask.causal(n)}
local O = P:softmax()
print(("output %dx%d"):format(O.rows, O.cols))                               --> output 48x48

-- The same as six problems of one head: heads lie side by side in the columns.
local function head(M, h) return M:slice(1, M.rows, (h - 1) * d + 1, h * d) end
local same = true
for g = 1, heads do
  local h = math.ceil(g * kv_heads / heads)
  local one = ts.problem{Q = head(Q, g), K = head(K, h), V = head(V, h), mask = ts.mask.causal(n)}
  same = same and head(O, g):identical((one:softmax()))
  print(("query head %d reads key head %d"):format(g, h))
end
--> query head 3 reads key head 1
--> query head 4 reads key head 2
print("bit for bit:", same)                                                 --> bit for bit:	true

-- Each head may have a mask, a scale or a sink of its own.
local own = P:with{mask = ts.mask(n, n, function(i, j, h) return j <= i and i - j < 4 * h end, {heads = heads})}
print("row 48 sees", own.mask:row_count(48, 1), own.mask:row_count(48, 6))    --> row 48 sees	4	24

-- A whole layer, and the same with its key heads averaged into groups: fewer weights.
local layer = ts.heads{heads = heads, d_q = 24, seed = 1}
local grouped = layer:group(kv_heads)
print("numbers learnt:", layer:parameters(), grouped:parameters())            --> numbers learnt:	2304	1536
