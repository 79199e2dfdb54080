-- A short run of every parallel part of the module, for tools that watch a process: `make check-exit`, -tsan, -valgrind.
local ts = require "tessera"
local thorough = ... == "thorough"

local n = thorough and 300 or 40
local Q, K, V = ts.randn(n, 16, {seed = 1}), ts.randn(n, 16, {seed = 2}), ts.randn(n, 8, {seed = 3})
local P = ts.problem{Q = Q, K = K, V = V, heads = 2, mask = ts.mask.causal(n)}
local O = P:attention{q = 8, k = 8, threads = 4}
assert(O == P:attention{q = 8, k = 8, threads = 1})
