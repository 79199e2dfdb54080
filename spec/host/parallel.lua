-- A short run of every parallel part of the module, for tools that watch a process: `make check-exit`, -tsan, -valgrind.
local ts = require "tessera"
local rounds = tonumber(... or 1)

-- `threads` is asked for with each call: results must not depend on it.
local function same(f)
  local one = f(1)
  for _ = 1, rounds do assert(f(4) == one) end
end

local n = 256
local Q, K, V = ts.randn(n, 32, {seed = 1}), ts.randn(n, 32, {seed = 2}), ts.randn(n, 32, {seed = 3})
for _, mask in ipairs {ts.mask.full(n), ts.mask.causal(n)} do
  local P = ts.problem{Q = Q, K = K, V = V, heads = 4, mask = mask}
  same(function(threads) return (P:attention{q = 16, k = 32, threads = threads}) end)
  same(function(threads) return (P:attention{q = 16, k = 16, merge = "tree", order = "shuffle", threads = threads}) end)
  same(function(threads) return (P:attention{q = 64, k = 16, split = 4, threads = threads}) end)
  same(function(threads)
    ts.threads(threads)
    return P:summary(1, 100) * P:summary(101, n)
  end)
  same(function(threads)
    ts.threads(threads)
    return (P:softmax())
  end)
end
same(function(threads)
  ts.threads(threads)
  return Q * K:t()
end)
assert(tonumber(io.open("/proc/self/status"):read("a"):match "Threads:%s*(%d+)") > 1, "one thread only: nothing was tried")
