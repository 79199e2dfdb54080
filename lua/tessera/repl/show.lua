--- show.lua -- values as the prompt shows them.

local core = require "tessera.core"
local reference = require "tessera.reference"

local MOST = 20 -- elements of a list that are shown
local NAMES = 40 -- and of a table: all of a library's
local LINE = 75 -- characters, where no terminal tells another

local show

local function is_name(key) return type(key) == "string" and key:find "^[%a_][%w_]*$" ~= nil end

-- Keys in an order that does not change from run to run: numbers, then names by the alphabet.
local function sorted_keys(t, from)
  local keys = {}
  for key in next, t do
    if not (math.type(key) == "integer" and key >= 1 and key <= from) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "number" or type(a) == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- In one line; names that do not fit the terminal so have a line each.
local function table_text(t, seen, inside)
  if seen[t] then return "{…}" end
  seen[t] = true
  local parts, length = {}, rawlen(t) -- what is there, not what a metatable makes of it
  for n = 1, math.min(length, MOST) do parts[n] = show(rawget(t, n), seen, true) end
  if length > MOST then parts[#parts + 1] = ("… %d in all"):format(length) end
  local keys = sorted_keys(t, length)
  for n, key in ipairs(keys) do
    if n > NAMES then parts[#parts + 1] = ("… %d names in all"):format(#keys) break end
    parts[#parts + 1] = (is_name(key) and key or "[" .. show(key, seen, true) .. "]") .. " = " .. show(rawget(t, key), seen, true)
  end
  seen[t] = nil
  local text = "{" .. table.concat(parts, ", ") .. "}"
  if inside or #keys == 0 or (utf8.len(text) or #text) <= (core.width() or LINE) then return text end
  return "{\n  " .. table.concat(parts, ",\n  ") .. "\n}"
end

-- What is known of a value that has lines of its own, in one line: its first.
local function first_line(text) return text:match "^[^\n]*" end

-- How one of ours is called: a method that is named without its parentheses is no answer.
local function function_text(f)
  local topic = reference.topic_of(f)
  return topic and "function " .. reference.signature(topic) or "function"
end

function show(x, seen, inside)
  local kind = type(x)
  if kind == "string" then return inside and ("%q"):format(x):gsub("\\\n", "\\n") or x end
  local meta = debug.getmetatable(x)
  local has_text = meta and (rawget(meta, "__tostring") or rawget(meta, "__name"))
  if kind == "table" and not has_text then return table_text(x, seen, inside) end
  local ok, text = pcall(tostring, x)
  text = ok and text or kind
  if kind == "thread" or kind == "function" and inside then text = kind end
  if kind == "function" and not inside then text = function_text(x) end
  return inside and first_line(text) or text
end

--- A value as text: tables with what is in them, everything else as `print` has it.
---@param x any
---@return string
return function(x)
  local ok, text = pcall(core.guarded, show, x, {}, false) -- the user's own metamethods may fail, or never end
  return ok and text or type(x)
end
