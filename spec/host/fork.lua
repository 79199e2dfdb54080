-- A process that has run on several threads forks; the child has only one of them, and computes the same.
local ts = require "tessera"
local X = ts.randn(64, 8, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, heads = 2}
local O = P:attention{q = 8, threads = 4}
local status, why = host.fork(function() assert(P:attention{q = 8, threads = 4} == O) end)
assert(status == 0, why or "the child failed")
assert(P:attention{q = 8, threads = 4} == O)
