-- The faults of scripts/mutations fit the source. (scripts/mutate builds each of them and has P:verify catch it: some
-- minutes; it names those that the source has moved away from. spec/verify_spec.lua runs P:verify without any fault.)
local helper = require "spec.helper"

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local patches = {}
for name in helper.run("ls scripts/mutations"):gmatch "[^\n]+" do patches[#patches + 1] = name end

-- Does the source have every line that the patch takes away?
local function fits(patch)
  local source = read(patch:match "%-%-%- a/([^\n]+)")
  for line in patch:match("@@\n(.*)"):gmatch "[^\n]+" do
    if line:sub(1, 1) == "-" and not source:find("\n" .. line:sub(2) .. "\n", 1, true) then return false end
  end
  return true
end

describe("scripts/mutations", function()
  it("has at least 25 faults that fit the source", function()
    local count = 0
    for _, name in ipairs(patches) do
      if fits(read("scripts/mutations/" .. name)) then count = count + 1 end
    end
    assert.is_true(count >= 25)
  end)

  for _, name in ipairs(patches) do
    it(name .. " says what it breaks, and changes a line or two of core", function()
      local patch = read("scripts/mutations/" .. name)
      assert.matches("^%u[^\n]+%.\n\n%-%-%- a/core/", patch)
      local _, taken = patch:gsub("\n%-[^-]", "")
      local _, given = patch:gsub("\n%+[^+]", "")
      assert.is_true(taken <= 2 and given <= 2 and taken + given > 0)
    end)
  end
end)
