-- The faults of scripts/mutations still fit the source, and P:verify finds nothing wrong where there is none of them.
-- (scripts/mutate builds each of them and has P:verify catch it: some minutes.)
local helper = require "spec.helper"

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local patches = {}
for name in helper.run("ls scripts/mutations"):gmatch "[^\n]+" do patches[#patches + 1] = name end

describe("scripts/mutations", function()
  it("has at least 25 faults", function() assert.is_true(#patches >= 25) end)

  for _, name in ipairs(patches) do
    it(name .. " says what it breaks, and changes lines that are there", function()
      local patch = read("scripts/mutations/" .. name)
      assert.matches("^%u[^\n]+%.\n\n%-%-%- a/core/", patch)
      local source = read(patch:match "%-%-%- a/([^\n]+)")
      local taken, given = 0, 0
      for line in patch:match("@@\n(.*)"):gmatch "[^\n]+" do
        if line:sub(1, 1) == "-" then
          taken = taken + 1
          assert.is_truthy(source:find("\n" .. line:sub(2) .. "\n", 1, true), line)
        elseif line:sub(1, 1) == "+" then
          given = given + 1
        end
      end
      assert.is_true(taken <= 2 and given <= 2 and taken + given > 0)
    end)
  end
end)

describe("P:verify", function()
  for n, problem in ipairs(dofile "scripts/standard.lua") do
    if n % 3 ~= 1 then goto continue end -- scripts/mutate begins with all of them
    it("finds nothing wrong with the standard problem: " .. problem[1], function()
      local found = problem[2]():verify{rounds = 1}
      assert.is_true(found.ok, tostring(found))
    end)
    ::continue::
  end
end)
