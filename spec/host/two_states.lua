-- Two states use the module in turn; one is closed, and the other goes on with what it had.
local start = [[
  ts = require "tessera"
  X = ts.randn(256, 32, {seed = 1})
  P = ts.problem{Q = X, K = X, V = X, heads = 4}
  O = P:attention{q = 16, k = 32, threads = 4}
]]
local again = [[ return tostring(P:attention{q = 16, k = 32, threads = 4} == O) ]]

local a, b = host.open(), host.open()
for _, state in ipairs {a, b} do assert(host.call(state, start)) end
assert(host.call(a, again) == "true" and host.call(b, again) == "true")
host.close(a)
assert(host.call(b, again) == "true")
assert(host.call(b, start .. again) == "true")
host.close(b)
