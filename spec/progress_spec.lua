-- The bar of a call that takes long: on a terminal only, and gone when the call is over.
local helper = require "spec.helper"

-- A call of 1.6 s or more: forty cells, at least 0.04 s each. Tells at the end how many were done in the first second, which
-- depends on how busy the machine is.
local slow = [[
local ts = require "tessera"
local m, early = ts.ones(40, 1), 0
local began
local P = ts.problem{Q = m, K = ts.ones(1, 1), V = ts.ones(1, 1), score = function(s)
  local till = ts.clock() + 0.04
  while ts.clock() < till do end
  if ts.clock() < began + 1 then early = early + 1 end
  return s
end}
began = ts.clock()
P:softmax()
print("over", early)]]

describe("the bar of a long call", function()
  it("is not written where stderr is no terminal", function()
    assert.matches("^over\t%d+\n$", (helper.lua(slow)))
  end)
  it("grows on a terminal, and is taken away", function()
    local _, status = helper.run "script -qec true /dev/null"
    if status ~= 0 then return pending "script(1) cannot make a terminal here" end
    local file = os.tmpname()
    local out = assert(io.open(file, "w"))
    out:write(slow)
    out:close()
    local said = helper.run(("script -qec 'lua5.4 %s' /dev/null </dev/null"):format(file))
    os.remove(file)
    local bars = {}
    for percent in said:gmatch "%[#*%.*%] +(%d+) %%, %d+ s left" do bars[#bars + 1] = tonumber(percent) end
    assert.is_true(#bars >= 2, said)
    local early = tonumber(said:match "\r\27%[Kover\t(%d+)\r\n$")
    assert.is_true(early ~= nil and bars[1] >= 100 * early // 40 and bars[#bars] > bars[1], said)
  end)
end)
