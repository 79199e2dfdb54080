-- Each of the public reports that this was tested against has a test that names it.
local helper = require "spec.helper"

local reports = {
  E = {1, 3, 4, 7, 8, 10, 12, 13, 14, 15, 16, 17}, -- empty sets, masks as numbers, summaries
  M = {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16}, -- mask geometry
  S = {1, 2, 5, 7, 8, 9}, -- shapes, heads, memory
  N = {2, 4, 5, 6, 7}, -- numbers
  F = {1, 2, 3, 4, 5, 6, 7}, -- files
  L = {1, 2, 4, 5, 6, 7, 8}, -- Lua, and hosts in C
  X = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, -- others
}

describe("the public reports", function()
  it("each have a test that names them", function()
    local tests = helper.run "lua5.4 /usr/bin/busted --ignore-lua --list spec"
    local missing = {}
    for group, numbers in pairs(reports) do
      for _, number in ipairs(numbers) do
        local name = ("%s%02d"):format(group, number)
        if not tests:find("%f[%w]" .. name .. "%f[%W]") then missing[#missing + 1] = name end
      end
    end
    assert.same({}, missing)
  end)
end)
