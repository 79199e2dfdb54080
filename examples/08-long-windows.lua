-- Long windows: a mask over a million tokens is a few hundred bytes, and its cost grows with what it keeps.
local ts = require "tessera"

-- A window over 2^20 tokens: what it says is stored, not its 10^12 cells.
local million = 2 ^ 20
ts.mask.window(8, 1, 0) -- what is loaded once should not count
collectgarbage()
local before = collectgarbage "count"
local window = ts.mask.window(million, 511, 0)
collectgarbage()
print(("under 4 kB: %s"):format(collectgarbage "count" - before < 4))        --> under 4 kB: true
print(("cells kept: %d of %d"):format(window:count(), million * million))    --> cells kept: 536740096 of 1099511627776

-- What a tiling takes is told without running it: linear in n for a window, quadratic for a causal mask.
local function pairs_of(n, mask)
  local X = ts.zeros(n, 32, {dtype = "f32"})
  return ts.problem{Q = X, K = X, V = X, mask = mask(n)}:cost{q = 128, k = 128}.pairs
end
local function narrow(n) return ts.mask.window(n, 511, 0) end
for n = 2048, 8192, 2048 do
  print(("n = %d: window %.1f, causal %.1f million pairs"):format(n, pairs_of(n, narrow) / 1e6, pairs_of(n, ts.mask.causal) / 1e6))
end
--> n = 2048: window 1.1, causal 2.2 million pairs
--> n = 8192: window 5.1, causal 34.1 million pairs

-- The answer is the definition's. An attention sink of Xiao et al. 2023 is one more mask: the first four tokens stay.
local n = 1024
local Q, K, V = ts.randn(n, 32, {seed = 1}), ts.randn(n, 32, {seed = 2}), ts.randn(n, 32, {seed = 3})
local streaming = ts.mask(n, n, function(i, j) return j <= i and (i - j < 64 or j <= 4) end)
local P = ts.problem{Q = Q, K = K, V = V, mask = streaming}
local apart, bound = (P:attention() - P:softmax()):abs(), P:bound().output
print("within the bound:", apart:div(bound * 2):max() <= 1)                 --> within the bound:	true
print("as lifted code:", streaming.kind)                                    --> as lifted code:	lifted
