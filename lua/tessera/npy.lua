--- npy.lua -- the .npy format: NumPy's NEP 1, versions 1 to 3.

local core = require "tessera.core"
local elements = require "tessera.elements"
local source = require "tessera.source"
local words = require "tessera.plot.words"
local refuse = source.refuse

local magic = "\x93NUMPY"
local longest_header = 1 << 20 -- bytes; NumPy's own are below 200

-- The header is a Python dictionary of three entries. These read the four kinds of value it may hold;
-- each takes the text and a position, and returns the value and where it ends, or nil.
local function read_string(text, at)
  local body, stop = text:match("^'([^'\\\n]*)'()", at)
  if not body then body, stop = text:match('^"([^"\\\n]*)"()', at) end
  return body, stop
end

local function read_boolean(text, at)
  local word, stop = text:match("^(%a+)()", at)
  if word == "True" then return true, stop end
  if word == "False" then return false, stop end
end

-- A tuple of whole numbers: `()`, `(3,)`, `(2, 3)`, as Python 2 writes them too: `(2L, 3L)`.
local function read_shape(text, at)
  local body, stop = text:match("^%(([%d,L ]*)%)()", at)
  if not body then return nil end
  local shape = {}
  for item in (body:gsub(",? *$", "") .. ","):gmatch("([^,]*),") do
    local digits = item:match("^ *(%d+)L? *$")
    local n = digits and math.tointeger(tonumber(digits))
    if item:find("%S") and not n then return nil end
    if n then shape[#shape + 1] = n elseif body:find("%S") then return nil end
  end
  if #shape == 1 and not body:find(",") then return nil end -- (3) is a number
  return shape, stop
end

local readers = {descr = read_string, fortran_order = read_boolean, shape = read_shape}

-- One `'key': value` at `at`, into fields; returns where it ends.
local function read_entry(text, at, fields)
  local key, behind = read_string(text, at)
  local start = key and text:match("^ *: *()", behind)
  local read = readers[key]
  if not (start and read) then refuse("bad header: 'descr', 'fortran_order' or 'shape' expected") end
  if fields[key] ~= nil then refuse("bad header: '%s' stands twice", key) end
  if key == "descr" and text:sub(start, start) == "[" then refuse("structured dtypes are not supported") end
  local value, stop = read(text, start)
  if value == nil then refuse("bad header: '%s' is %s", key, words.cut(words.clean(text:match("^[^\n]*", start)), 30)) end
  fields[key] = value
  return stop
end

local function read_dictionary(text)
  local fields = {}
  local at = text:match("^ *{ *()")
  while at and not text:find("^}", at) do
    at = read_entry(text, at, fields)
    at = text:match("^ *, *()", at) or text:match("^ *()}", at)
  end
  if not (at and text:find("^}[ \n]*$", at)) then refuse("bad header: not a dictionary") end
  for key in pairs(readers) do
    if fields[key] == nil then refuse("bad header: '%s' is missing", key) end
  end
  return fields
end

-- `<f8` and its like: the kind of elements.lua, and whether the bytes are big-endian.
local function read_type(descr)
  local order, code = descr:match("^([<>|=]?)(%a%d+)$")
  if descr:find("^[<>|=]?%?$") then order, code = "|", "b1" end
  local kind = elements.kinds[code]
  if not kind or code == "bf16" then refuse("dtype '%s' is not supported", descr) end
  return code, order == ">"
end

local function read_header(from)
  if from:read(6, "the magic string") ~= magic then refuse("not a .npy file") end
  local major, minor = from:read(2, "the version"):byte(1, 2)
  if major < 1 or major > 3 or minor ~= 0 then refuse("unsupported version %d.%d", major, minor) end
  local format = major == 1 and "<I2" or "<I4"
  local length = string.unpack(format, from:read(string.packsize(format), "the header's length"))
  if length > from:left() then
    refuse("truncated: the header says %d byte(s), the file has %d", length, from:left())
  end
  if length > longest_header then refuse("a header of %d bytes is too long", length) end
  return read_dictionary(from:read(length, "the header"))
end

-- The rows x cols matrix of an array of more axes whose first axis runs fastest; `flat` holds it in the
-- file's order. Axes are reshaped as NumPy does: as if the last one ran fastest.
local function from_fortran(flat, shape, rows, cols)
  return core.matrix.matrix(rows, cols, function(i, j)
    local place, offset, stride = (i - 1) * cols + j - 1, 0, flat.cols
    for axis = #shape, 1, -1 do
      stride = stride // shape[axis]
      offset, place = offset + place % shape[axis] * stride, place // shape[axis]
    end
    return flat(1, offset + 1)
  end, {dtype = flat.dtype})
end

local npy = {}

--- Reads the array in a source (see source.lua), which must end where the array does.
---@param from table
---@param options {reshape: integer[]?}
---@return matrix
function npy.read(from, options)
  local header = read_header(from)
  local kind, swapped = read_type(header.descr)
  local shape, reshape = header.shape, options.reshape
  local bytes = elements.bytes(shape, elements.kinds[kind].size)
  if bytes > from:left() then refuse("truncated: %d of %d bytes of data", from:left(), bytes) end
  if bytes < from:left() then refuse("%d byte(s) follow the data", from:left() - bytes) end
  local rows, cols = elements.rows_and_columns(shape, reshape)
  local layout = {rows = rows, cols = cols, kind = kind, swapped = swapped}
  if header.fortran_order and reshape then
    layout.rows, layout.cols = 1, rows * cols
    return from_fortran(elements.read(from, layout), shape, rows, cols)
  end
  layout.by_columns = header.fortran_order
  return elements.read(from, layout)
end

--- Writes m as version 1.0, row-major and little-endian, its data at a multiple of 64 bytes.
---@param write fun(bytes: string)
---@param m matrix
function npy.write(write, m)
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }"):format(
    m.dtype == "f32" and "<f4" or "<f8", m.rows, m.cols)
  local before = #magic + 4
  header = header .. (" "):rep(-(before + #header + 1) % 64) .. "\n"
  write(magic .. "\1\0" .. string.pack("<s2", header))
  elements.write(write, m)
end

return npy
