--- json.lua -- a strict reader of JSON (RFC 8259) for text that nobody vouches for.
--
-- It keeps the order of keys, refuses duplicate ones, and nests only as deep as it is told, so that no
-- text can exhaust the stack.

local number = require "tessera.number"
local refuse = require "tessera.source".refuse

local json = {}

local escapes = {
  ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t",
}

local read_value -- a value of any kind, below

--- Stands for null; a function, so that nothing takes it for a list or an object.
function json.null() return "null" end

--- The metatable of lists, which tells an empty one from an empty object.
json.list = {__name = "tessera.json.list"}

local function skip_space(text, at) return text:match("^[ \t\n\r]*()", at) end

local function expect(text, at, character)
  if text:sub(at, at) ~= character then refuse("JSON: '%s' expected at byte %d", character, at) end
  return skip_space(text, at + 1)
end

-- \uXXXX at `at`, which stands behind the u: the code point, pairs of surrogates joined, and where it ends.
local function read_unicode(text, at)
  local high = tonumber(text:match("^%x%x%x%x", at) or "", 16)
  if high and (high < 0xD800 or high > 0xDFFF) then return high, at + 4 end
  local low = high and high < 0xDC00 and tonumber(text:match("^\\u([dD][c-fC-F]%x%x)", at + 4) or "", 16)
  if not low then refuse("JSON: bad \\u escape at byte %d", at) end
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), at + 10
end

-- A string whose opening quote stands at `at`.
local function read_string(text, at)
  if text:sub(at, at) ~= '"' then refuse("JSON: string expected at byte %d", at) end
  local pieces = {}
  at = at + 1
  while true do
    local plain, stop = text:match('^([^"\\%c]*)()', at)
    pieces[#pieces + 1] = plain
    local mark = text:sub(stop, stop)
    if mark == '"' then return table.concat(pieces), skip_space(text, stop + 1) end
    local escape = text:sub(stop + 1, stop + 1)
    if mark == "\127" then -- %c counts DEL as a control character; JSON does not
      pieces[#pieces + 1], at = mark, stop + 1
    elseif mark ~= "\\" then
      refuse("JSON: string not closed, or with a control character, at byte %d", stop)
    elseif escape == "u" then
      local code
      code, at = read_unicode(text, stop + 2)
      pieces[#pieces + 1] = utf8.char(code)
    else
      pieces[#pieces + 1] = escapes[escape] or refuse("JSON: bad escape at byte %d", stop)
      at = stop + 2
    end
  end
end

-- Whole numbers that fit 64 bits come as integers, all others as floats.
local function read_number(text, at)
  local body, stop = text:match("^(-?%d[%d.eE+-]*)()", at)
  local digits = body and body:match("^-?(%d+)")
  local valid = body and (digits == "0" or digits:sub(1, 1) ~= "0")
    and not body:find("%.%D") and not body:find("%.$") and number.parse(body)
  if not valid then refuse("JSON: bad value at byte %d", at) end
  local integer = body:find("^-?%d+$") and body ~= "-0" and math.tointeger(tonumber(body))
  return integer or valid, skip_space(text, stop)
end

local function read_array(text, at, depth)
  local list = setmetatable({}, json.list)
  at = expect(text, at, "[")
  if text:sub(at, at) == "]" then return list, expect(text, at, "]") end
  while true do
    list[#list + 1], at = read_value(text, at, depth)
    if text:sub(at, at) == "]" then return list, expect(text, at, "]") end
    at = expect(text, at, ",")
  end
end

local function read_object(text, at, depth)
  local object, keys = {}, {}
  at = expect(text, at, "{")
  if text:sub(at, at) == "}" then return object, expect(text, at, "}"), keys end
  while true do
    local key
    key, at = read_string(text, at)
    if object[key] ~= nil then refuse("JSON: duplicate key '%s'", key) end
    at = expect(text, at, ":")
    object[key], at = read_value(text, at, depth)
    keys[#keys + 1] = key
    if text:sub(at, at) == "}" then return object, expect(text, at, "}"), keys end
    at = expect(text, at, ",")
  end
end

local words = {["true"] = true, ["false"] = false}

function read_value(text, at, depth)
  local first = text:sub(at, at)
  if first == '"' then return read_string(text, at) end
  if first == "{" or first == "[" then
    if depth == 0 then refuse("JSON: nested too deeply at byte %d", at) end
    local read = first == "{" and read_object or read_array
    return read(text, at, depth - 1)
  end
  local word = text:match("^%l+", at)
  if word == "null" then return json.null, skip_space(text, at + 4) end
  if words[word] ~= nil then return words[word], skip_space(text, at + #word) end
  return read_number(text, at)
end

--- The value that `text` holds, and nothing but it: an object is a table of its fields, an array a list.
--- For an object, a second value lists its keys in order. Refuses (see source.lua) all that is not JSON,
--- is not UTF-8, names a key twice or nests deeper than `depth`.
---@param text string
---@param depth integer
---@return any value, string[]? keys
function json.read(text, depth)
  if not utf8.len(text) then refuse("JSON: not UTF-8") end
  local at = skip_space(text, 1)
  local value, stop, keys = read_value(text, at, depth)
  if stop <= #text then refuse("JSON: something follows the value at byte %d", stop) end
  return value, keys
end

--- A string as JSON: control characters, quotes and backslashes are escaped. Refuses what is not UTF-8.
---@param text string
---@return string
function json.quoted(text)
  if not utf8.len(text) then refuse("JSON: '%s' is not UTF-8", text) end
  return '"' .. text:gsub('[%c"\\]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

return json
