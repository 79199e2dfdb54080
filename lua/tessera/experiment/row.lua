-- row.lua -- a CSV's fields as text that reads back as the same values (RFC 4180).

local number = require "tessera.number"

local row = {}

--- Whether x can be written down: a number, string or boolean.
function row.is_plain(x) return type(x) == "number" or type(x) == "string" or type(x) == "boolean" end

--- A number, string or boolean as a field; floats so that every bit comes back.
function row.text(x)
  if x == nil then return "" end
  if math.type(x) == "float" then
    local text = number.shortest(x)
    return text:find "^[+-]?%d+$" and text .. ".0" or text -- still a float when read
  end
  return tostring(x)
end

--- The value that a field stands for.
function row.value(text)
  if text == "true" then return true end
  if text == "false" then return false end
  if text:find "^[+-]?%d+$" then return math.tointeger(tonumber(text)) or tonumber(text) end
  return number.parse(text) or text
end

local function quoted(field)
  if not field:find '[",\r\n]' then return field end
  return '"' .. field:gsub('"', '""') .. '"'
end

--- Fields as a line, without its end.
function row.line(fields)
  local cells = {}
  for n, field in ipairs(fields) do cells[n] = quoted(field) end
  return table.concat(cells, ",")
end

--- All lines of a text that ends with a newline: lists of fields. Quoted fields may hold anything.
function row.parse(text)
  local lines, fields, at = {}, {}, 1
  while at <= #text do
    local field, stop
    if text:sub(at, at) == '"' then
      local pieces = {}
      repeat
        local piece
        piece, stop = text:match('^"([^"]*)"()', at)
        if not piece then return lines end -- a quote that was never closed: the line is not whole
        pieces[#pieces + 1], at = piece, stop
      until text:sub(at, at) ~= '"'
      field = table.concat(pieces, '"')
    else
      field, stop = text:match("^([^,\r\n]*)()", at)
    end
    fields[#fields + 1] = field
    local mark
    mark, at = text:match("^(\r?\n)()", stop)
    if mark then
      lines[#lines + 1], fields = fields, {}
    else
      at = stop + 1
    end
  end
  return lines
end

return row
