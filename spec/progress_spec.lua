-- The bar of a call that takes long: on a terminal only, and gone when the call is over.
local helper = require "spec.helper"

-- A call of about 1.6 s: forty cells, 0.04 s each.
local slow = [[
local ts = require "tessera"
local m = ts.ones(40, 1)
local P = ts.problem{Q = m, K = ts.ones(1, 1), V = ts.ones(1, 1), score = function(s)
  local till = ts.clock() + 0.04
  while ts.clock() < till do end
  return s
end}
P:softmax()
print "over"]]

describe("the bar of a long call", function()
  it("is not written where stderr is no terminal", function()
    assert.are.equal("over\n", (helper.lua(slow)))
  end)
  it("grows on a terminal, and is taken away", function()
    local _, status = helper.run "script -qec true /dev/null"
    if status ~= 0 then return pending "script(1) cannot make a terminal here" end
    local file = os.tmpname()
    local out = assert(io.open(file, "w"))
    out:write(slow)
    out:close()
    local said = helper.run(("script -qec 'lua5.4 %s' /dev/null"):format(file))
    os.remove(file)
    local bars = {}
    for percent in said:gmatch "%[#*%.*%] +(%d+) %%, %d+ s left" do bars[#bars + 1] = tonumber(percent) end
    assert.is_true(#bars >= 2, said)
    assert.is_true(bars[1] >= 50 and bars[#bars] > bars[1], said)
    assert.is_truthy(said:find("\r\27[Kover\r\n", 1, true), said)
  end)
end)
