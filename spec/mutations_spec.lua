-- The faults of scripts/mutations fit the source. (scripts/mutate builds each of them and has P:verify catch it: some
-- minutes. spec/verify_spec.lua runs P:verify without any fault.)
local helper = require "spec.helper"

local patches = {}
for name in helper.run("ls scripts/mutations"):gmatch "[^\n]+" do patches[#patches + 1] = name end

-- What `patch` must find in the source: the lines that are taken away or, where none is, the line above what is given.
local function target(patch)
  local hunk = patch:match("@@\n(.*)")
  local taken = {}
  for line in ("\n" .. hunk):gmatch "\n%-([^\n]*)" do taken[#taken + 1] = line end
  return #taken > 0 and table.concat(taken, "\n") or hunk:match "([^\n]*)\n%+":sub(2)
end

describe("scripts/mutations", function()
  it("has at least 25 faults", function() assert.is_true(#patches >= 25) end)

  for _, name in ipairs(patches) do
    it(name .. " says what it breaks, and changes a line or two of core", function()
      local patch = helper.read("scripts/mutations/" .. name)
      assert.matches("^%u[^\n]+%.\n\n%-%-%- a/core/", patch)
      local _, taken = patch:gsub("\n%-[^-]", "")
      local _, given = patch:gsub("\n%+[^+]", "")
      assert.is_true(taken <= 2 and given <= 2 and taken + given > 0)
    end)

    it(name .. " fits the source", function()
      local patch = helper.read("scripts/mutations/" .. name)
      local source = helper.read(patch:match "%-%-%- a/([^\n]+)")
      assert(source:find("\n" .. target(patch) .. "\n", 1, true), "the source has moved away from it:\n" .. target(patch))
    end)
  end
end)
