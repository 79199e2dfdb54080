-- omp_get_max_threads is the host's affair: the module asks for threads with each of its calls.
local before = host.threads()
assert(before == 3)
local ts = require "tessera"

local X = ts.randn(256, 32, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, heads = 4}
local O = P:attention{q = 16, threads = 2}
assert(host.threads() == before)
ts.threads(1)
P:attention{q = 16}
assert(host.threads() == before)

-- Inside a parallel region of the host's own, results are the same.
host.inside(function() assert(P:attention{q = 16, threads = 2} == O) end)
assert(host.threads() == before)
