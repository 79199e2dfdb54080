--- csv.lua -- numbers as comma- or tab-separated text (RFC 4180), written so that every bit comes back.

local core = require "tessera.core"
local elements = require "tessera.elements"
local number = require "tessera.number"
local progress = require "tessera.progress"
local refuse = require "tessera.source".refuse

local function count_quotes(line) return select(2, line:gsub('"', "")) end

-- The lines of a source that are not blank, with their numbers; a quoted field may hold newlines.
local function lines_of(from)
  local row = 0
  return function()
    local line
    repeat
      line, row = from:line(), row + 1
      if not line then return nil end
    until line:find("%S")
    local first = row
    while count_quotes(line) % 2 == 1 do
      local more = from:line() or refuse("line %d: a quote that is not closed", first)
      line, row = line .. "\n" .. more, row + 1
    end
    return line, first
  end
end

-- The quoted text whose opening quote stands at `at`, and where it ends; "" inside stands for ".
local function read_quoted(line, at)
  local pieces = {}
  repeat
    pieces[#pieces + 1], at = line:match('^"([^"]*)"()', at)
  until line:sub(at, at) ~= '"'
  return table.concat(pieces, '"'), line:match("^%s*()", at)
end

local function trimmed(text)
  if text:find("^%S") and text:find("%S$") then return text end
  return text:match("^%s*(.-)%s*$")
end

-- The fields of a line with quotes somewhere.
local function split_quoted(line, separator, row)
  local fields, at = {}, 1
  local plain = "^([^" .. separator .. "]*)()"
  repeat
    local text, stop
    local start = line:match("^ *()", at)
    if line:sub(start, start) == '"' then
      text, stop = read_quoted(line, start)
    else
      text, stop = line:match(plain, at)
      if text:find('"', 1, true) then refuse("line %d: a quote inside a field", row) end
    end
    local mark = line:sub(stop, stop)
    if mark ~= separator and mark ~= "" then refuse("line %d: text behind a quoted field", row) end
    fields[#fields + 1] = trimmed(text)
    at = stop + 1
  until mark == ""
  return fields
end

-- The fields of a line, without quotes and the space around them.
local function split(line, separator, row)
  if line:find('"', 1, true) then return split_quoted(line, separator, row) end
  local fields, n = {}, 0
  for text in line:gmatch("[^" .. separator .. "]*") do
    n = n + 1
    fields[n] = trimmed(text)
  end
  return fields
end

-- A first line in which nothing is a number, or begins like one, names the columns.
local function is_header(fields)
  for _, field in ipairs(fields) do
    if number.parse(field) or field:find("^[+-]?%.?%d") then return false end
  end
  return true
end

-- Goes through the rows: each(fields, line number); returns the header's names, or nil without one.
local function walk(from, each)
  local separator, names, cols
  for line, row in lines_of(from) do
    if not separator then
      line = line:gsub("^\xEF\xBB\xBF", "") -- a byte order mark
      separator = line:find("\t") and not line:find(",") and "\t" or ","
    end
    local fields = split(line, separator, row)
    if not cols and is_header(fields) then
      names = fields
    elseif each(fields, row) then
      return names
    end
    cols = cols or #fields
    if #fields ~= cols then refuse("line %d has %d field(s), those before have %d", row, #fields, cols) end
  end
  return names
end

local csv = {}

--- The names in the header, or an empty list without one.
function csv.names(from) return walk(from, function() return true end) or {} end

--- Reads a source (see source.lua) as a matrix of f64. A first line in which nothing is a number is a
--- header; every other field must be a number, `nan` or `inf`. Blank lines are skipped.
---@param from table
---@param options {reshape: integer[]?}
---@return matrix
function csv.read(from, options)
  local values, rows, cols = {}, 0, 0
  local tell = progress()
  local names = walk(from, function(fields, row)
    for c, field in ipairs(fields) do
      values[#values + 1] = number.parse(field)
        or refuse("line %d, field %d: '%s' is no number", row, c, field)
    end
    rows, cols = rows + 1, #fields
    tell(from.offset / from.size)
  end)
  if rows == 0 and names then cols = #names end
  rows, cols = elements.rows_and_columns({rows, cols}, options.reshape)
  return core.matrix.matrix(rows, cols, function(i, j) return values[(i - 1) * cols + j] end)
end

--- Writes m, a line a row, with 17 digits. A matrix without cells has no form here, and is refused.
---@param write fun(bytes: string)
---@param m matrix
function csv.write(write, m)
  if m.rows * m.cols == 0 then refuse("a %dx%d matrix would lose its shape in this format", m.rows, m.cols) end
  local tell = progress()
  for i = 1, m.rows do
    local cells = {}
    for j = 1, m.cols do cells[j] = number.format("%.17g", m(i, j)) end
    write(table.concat(cells, ",") .. "\n")
    tell(i / m.rows)
  end
end

return csv
