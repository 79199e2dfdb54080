-- Two states use the module in turn; one is closed, and the other goes on with what it had.
local start = [[
  ts = require "tessera"
  X = ts.randn(64, 8, {seed = 1})
  P = ts.problem{Q = X, K = X, V = X}
  O = P:attention{k = 16, threads = 4}
]]
local again = [[ return tostring(P:attention{k = 16, threads = 4} == O) ]]

local a, b = host.open(), host.open()
for _, state in ipairs {a, b} do assert(host.call(state, start)) end
assert(host.call(a, again) == "true" and host.call(b, again) == "true")
host.close(a)
assert(host.call(b, again) == "true")
assert(host.call(b, start .. again) == "true")
host.close(b)
