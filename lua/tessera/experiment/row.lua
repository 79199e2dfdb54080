-- row.lua -- a CSV's fields as text that reads back as the same values (RFC 4180).

local number = require "tessera.number"

local row = {}

--- Whether x can be written down: a number, string or boolean.
function row.is_plain(x) return type(x) == "number" or type(x) == "string" or type(x) == "boolean" end

local function quoted(text) return '"' .. text:gsub('"', '""') .. '"' end

--- What stands in a field, as text: without the quotes around it, where it has some.
function row.unquoted(field)
  return field:find '^"' and field:sub(2, -2):gsub('""', '"') or field
end

-- What a text without quotes stands for.
local function plain(text)
  if text == "true" then return true end
  if text == "false" then return false end
  if text:find "^[+-]?%d+$" then return math.tointeger(tonumber(text)) or tonumber(text) end
  return number.parse(text) or text
end

--- The value that a field stands for; one in quotes is a string, whatever it looks like.
function row.value(field)
  if field:find '^"' then return row.unquoted(field) end
  return plain(field)
end

--- A number, string or boolean as a field; floats so that every bit comes back.
function row.text(x)
  if x == nil then return "" end
  if type(x) == "string" then return (x:find '[",\r\n]' or plain(x) ~= x) and quoted(x) or x end
  if math.type(x) == "float" then
    local text = number.shortest(x)
    return text:find "^[+-]?%d+$" and text .. ".0" or text -- still a float when read
  end
  return tostring(x)
end

--- Fields as a line, without its end.
function row.line(fields) return table.concat(fields, ",") end

-- Where the quoted field that begins at `at` ends; nil where its quote is never closed.
local function quoted_end(text, at)
  repeat
    at = text:match('^"[^"]*"()', at)
  until not at or text:sub(at, at) ~= '"'
  return at
end

--- All lines of a text that are whole, up to their newline: lists of fields; and how long a part of the text they are.
--- Quoted fields, which may hold anything, keep their quotes.
function row.parse(text)
  local lines, fields, at, whole = {}, {}, 1, 0
  while at <= #text do
    local stop = text:sub(at, at) == '"' and quoted_end(text, at) or text:match("^[^\",\r\n]*()", at)
    if text:sub(stop, stop) == '"' then break end -- a quote that was never closed: the line is not whole
    fields[#fields + 1] = text:sub(at, stop - 1)
    local mark
    mark, at = text:match("^(\r?\n)()", stop)
    if mark then
      lines[#lines + 1], fields, whole = fields, {}, at - 1
    else
      at = stop + 1
    end
  end
  return lines, whole
end

return row
