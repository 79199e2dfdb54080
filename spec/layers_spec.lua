-- Which files stand above which: what requires is above what it requires.
local helper = require "spec.helper"

-- The files of the module that each of them requires, at once or later; of init.lua, which opens all to whoever asks, those
-- that are loaded with it.
local function requirements()
  local wanted = {}
  for path in helper.run("find lua/tessera -name '*.lua'"):gmatch "[^\n]+" do
    local list = {}
    for code in helper.read(path):gmatch "[^\n]+" do
      for name in code:gsub("%-%-.*", ""):gmatch 'require[ (]"(tessera[%w_.]*)"' do list[#list + 1] = name end
    end
    wanted[path:match "lua/(.*)%.lua$":gsub("/", ".")] = list
  end
  wanted["tessera.init"], wanted.tessera = nil, {}
  local loaded = helper.lua [[require "tessera" for name in pairs(package.loaded) do print(name) end]]
  for name in loaded:gmatch "tessera%.[%w_.]+" do table.insert(wanted.tessera, name) end
  return wanted
end

-- A chain of requirements from `name` that comes back to a file on it, as text; nil where none does. In `seen`, files on the
-- chain are true, those that are done with false.
local function circle(name, wanted, chain, seen)
  if seen[name] ~= nil then return seen[name] and chain or nil end
  seen[name] = true
  for _, other in ipairs(wanted[name] or {}) do
    local found = circle(other, wanted, chain .. " -> " .. other, seen)
    if found then return found end
  end
  seen[name] = false
end

describe("the files of lua/tessera", function()
  it("require each other one way: none requires what requires it", function()
    local wanted, seen = requirements(), {}
    assert.is_true(#wanted.tessera > 0 and #wanted["tessera.check"] > 0)
    for name in pairs(wanted) do assert.is_nil(circle(name, wanted, name, seen)) end
  end)
end)
