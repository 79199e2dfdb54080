--- options.lua -- every field of an option table, found in the comments that tell of it.

local reference = require "tessera.reference"

local function add(options, name, topic, text)
  options[name] = options[name] or {}
  table.insert(options[name], {option = name, topic = topic, text = text})
end

-- The options that a piece tells of: those before a colon, and of an item those that it begins with, as in "`threads`,
-- `empty`, `seed` (1 unless given)."
local function told_names(piece)
  local names = {}
  for _, pattern in ipairs{"`([%w_]+)`:", "`([%w_]+) = [^`]*`:"} do
    for name in piece.text:gmatch(pattern) do names[#names + 1] = name end
  end
  local rest = piece.kind == "item" and piece.text or ""
  repeat
    local name, after = rest:match "^`([%w_]+)`([^:].*)$"
    names[#names + 1] = name
    rest = name and after:gsub("^[,%s]+", ""):gsub("^and ", "")
  until not name
  return names
end

local options

--- Every field of an option table, by name: lists of {option, topic, text}.
---@return table<string, table[]>
return function()
  if options then return options end
  options = {}
  for _, topic in ipairs(reference.topics()) do
    local told = {}
    for _, piece in ipairs(topic.body) do
      for _, name in ipairs(piece.kind ~= "code" and told_names(piece) or {}) do
        if not told[name] then add(options, name, topic, piece.text) end
        told[name] = true
      end
    end
    for _, p in ipairs(topic.params) do
      for name, kind in (p.type:match "{(.*)}" or ""):gmatch "([%w_]+)%??: ([^,{}]+)" do
        if not told[name] then add(options, name, topic, kind) end
      end
    end
  end
  return options
end
