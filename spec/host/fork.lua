-- A process that has run on several threads forks; the child has only one of them, and computes the same.
local ts = require "tessera"
local X = ts.randn(512, 32, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, heads = 4}
local tiling = {q = 16, threads = 4}
local O = P:attention(tiling)
assert(tonumber(io.open("/proc/self/status"):read("a"):match "Threads:%s*(%d+)") > 1, "this tests nothing: one thread only")
local status, why = host.fork(function() assert(P:attention(tiling) == O) end)
assert(status == 0, why or "the child failed")
assert(P:attention(tiling) == O)
