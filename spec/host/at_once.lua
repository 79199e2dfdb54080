-- Eight states at once, each on a thread of its own: the same numbers from all, and nothing left behind.
local source = [[
  local ts = require "tessera"
  local X = ts.randn(200, 32, {seed = 1})
  local P = ts.problem{Q = X, K = X, V = X, heads = 4, mask = function(i, j) return j <= i and (i * j) % 3 ~= 1 end, empty = "zero"}
  local sum = 0
  for _ = 1, 5 do
    local O = P:attention{q = 16, k = 32, merge = "tree", threads = 3}
    sum = sum + O:sum() + (P:summary(1, 90) * P:summary(91, 200)):lse():sum() + (X * X:t()):sum()
    pcall(P.attention, P, {k = 0})
    collectgarbage()
  end
  return ("%a"):format(sum)
]]
local one = assert(host.state(source))
local all = host.states(8, source)
assert(#all == 8)
for _, said in ipairs(all) do assert(said == one, said) end
