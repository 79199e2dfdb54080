--- safetensors.lua -- the .safetensors format: a JSON header, then tensors that cover the rest exactly.

local check = require "tessera.check"
local elements = require "tessera.elements"
local json = require "tessera.json"
local source = require "tessera.source"
local refuse = source.refuse

local longest_header = 100000000 -- bytes, as in the reference reader
local depth = 4                  -- of the header: entries, tensors, shapes, and one to spare

-- Kinds of elements.lua by their names here, and, so that their ranges are checked too, the sizes of
-- those that no matrix holds.
local kinds = {
  F64 = "f8", F32 = "f4", F16 = "f2", BF16 = "bf16", BOOL = "b1",
  I64 = "i8", I32 = "i4", I16 = "i2", I8 = "i1", U64 = "u8", U32 = "u4", U16 = "u2", U8 = "u1",
}
local other_sizes = {F8_E4M3 = 1, F8_E5M2 = 1, F8_E8M0 = 1, C64 = 8}

local function is_count(x) return math.type(x) == "integer" and x >= 0 end

local function is_list_of_counts(list)
  if getmetatable(list) ~= json.list then return false end
  for _, x in ipairs(list) do
    if not is_count(x) then return false end
  end
  return true
end

local function is_object(x) return type(x) == "table" and getmetatable(x) ~= json.list end

-- One tensor of the header as {name, dtype, shape, first, last}: bytes first .. last - 1 of the data.
local function checked_tensor(name, entry)
  local function require_that(ok, what) if not ok then refuse("tensor '%s': %s", name, what) end end
  require_that(is_object(entry), "not an object")
  local dtype, shape, offsets = entry.dtype, entry.shape, entry.data_offsets
  for key in pairs(entry) do
    require_that(key == "dtype" or key == "shape" or key == "data_offsets", "unknown field")
  end
  local size = kinds[dtype] and elements.kinds[kinds[dtype]].size or other_sizes[dtype]
  require_that(size, ("unknown dtype '%s'"):format(tostring(dtype)))
  require_that(is_list_of_counts(shape), "shape must be a list of whole numbers, none negative")
  require_that(is_list_of_counts(offsets) and #offsets == 2, "data_offsets must be two whole numbers of 63 bits")
  require_that(offsets[1] <= offsets[2], "data_offsets run backwards")
  local bytes = elements.bytes(shape, size)
  if offsets[2] - offsets[1] ~= bytes then
    refuse("tensor '%s': %d byte(s) for a shape that needs %d", name, offsets[2] - offsets[1], bytes)
  end
  return {name = name, dtype = dtype, shape = shape, first = offsets[1], last = offsets[2]}
end

-- Every byte of the data must belong to one tensor.
local function check_cover(tensors, size)
  local sorted = table.move(tensors, 1, #tensors, 1, {})
  table.sort(sorted, function(a, b)
    if a.first ~= b.first then return a.first < b.first end
    if a.last ~= b.last then return a.last < b.last end
    return a.name < b.name
  end)
  local covered, before = 0, nil
  for _, tensor in ipairs(sorted) do
    if tensor.last > size then
      refuse("tensor '%s' ends at byte %d, the data has %d", tensor.name, tensor.last, size)
    end
    if tensor.first < covered then refuse("tensors '%s' and '%s' overlap", before.name, tensor.name) end
    if tensor.first > covered then refuse("bytes %d to %d belong to no tensor", covered, tensor.first) end
    covered, before = tensor.last, tensor
  end
  if covered < size then refuse("%d byte(s) follow the last tensor", size - covered) end
end

local function checked_metadata(metadata)
  if metadata == nil then return nil end
  if not is_object(metadata) then refuse("__metadata__ is not an object") end
  for _, value in pairs(metadata) do
    if type(value) ~= "string" then refuse("__metadata__ holds more than strings") end
  end
  return metadata
end

-- Tensors in the header's order, metadata (or nil), and where the data begins.
local function read_header(from)
  local length = string.unpack("<i8", from:read(8, "the header's length"))
  if length < 0 or length > from:left() then -- unsigned: a negative one is 2^63 or more
    refuse("the header's length is beyond the file's %d bytes", from.size)
  end
  if length > longest_header then refuse("a header of %d bytes is too long", length) end
  local text = from:read(length, "the header")
  if text:sub(1, 1) ~= "{" then refuse("the header is not a JSON object") end
  local header, keys = json.read(text, depth)
  local tensors = {}
  for _, name in ipairs(keys) do
    if name ~= "__metadata__" then tensors[#tensors + 1] = checked_tensor(name, header[name]) end
  end
  check_cover(tensors, from:left())
  return tensors, checked_metadata(header.__metadata__), 8 + length
end

local safetensors = {}

--- The tensors in a source, in the header's order, as {name, dtype, shape}; then the metadata, a table
--- of strings, or nil. The whole header is checked: that no byte is nobody's or two tensors'.
function safetensors.list(from)
  local tensors, metadata, start = read_header(from)
  for _, tensor in ipairs(tensors) do tensor.start = start + tensor.first end
  return tensors, metadata
end

--- One of the tensors that `list` gave, as a matrix.
---@param from table
---@param tensor table
---@param options {reshape: integer[]?}
---@return matrix
function safetensors.read(from, tensor, options)
  local kind = kinds[tensor.dtype]
  if not kind then refuse("tensor '%s': dtype %s is not supported", tensor.name, tensor.dtype) end
  local rows, cols = elements.rows_and_columns(tensor.shape, options.reshape)
  from:seek(tensor.start)
  return elements.read(from, {rows = rows, cols = cols, kind = kind})
end

-- The order of the reference writer: wide numbers first, so that all are aligned, then by name.
local function laid_out(matrices)
  local list = {}
  for name, m in pairs(matrices) do
    if name == "__metadata__" then refuse("the name '%s' is taken: give {metadata = }", name) end
    list[#list + 1] = {name = name, matrix = m}
  end
  table.sort(list, function(a, b)
    if a.matrix.dtype ~= b.matrix.dtype then return a.matrix.dtype == "f64" end
    return a.name < b.name
  end)
  return list
end

local function metadata_text(metadata)
  local fields = {}
  for i, key in ipairs(check.names(metadata)) do fields[i] = json.quoted(key) .. ":" .. json.quoted(metadata[key]) end
  return '"__metadata__":{' .. table.concat(fields, ",") .. "}"
end

--- The header of a file of matrices by name, each in its own dtype, and `metadata`, a table of strings; and the matrices, in
--- the order in which their elements follow it.
---@param matrices table<string, matrix>
---@param metadata? table<string, string>
---@return string header
---@return {name: string, matrix: matrix}[]
function safetensors.header(matrices, metadata)
  local list, fields, at = laid_out(matrices), {}, 0
  if metadata then fields[1] = metadata_text(metadata) end
  for _, entry in ipairs(list) do
    local m = entry.matrix
    local after = at + m.rows * m.cols * (m.dtype == "f64" and 8 or 4)
    fields[#fields + 1] = ('%s:{"dtype":"%s","shape":[%d,%d],"data_offsets":[%d,%d]}'):format(
      json.quoted(entry.name), m.dtype == "f64" and "F64" or "F32", m.rows, m.cols, at, after)
    at = after
  end
  local header = "{" .. table.concat(fields, ",") .. "}"
  return string.pack("<s8", header .. (" "):rep(-#header % 8)), list
end

--- Writes matrices by name, each in its own dtype, and `metadata`, a table of strings.
---@param write fun(bytes: string)
---@param matrices table<string, matrix>
---@param metadata? table<string, string>
function safetensors.write(write, matrices, metadata)
  local header, list = safetensors.header(matrices, metadata)
  write(header)
  for _, entry in ipairs(list) do elements.write(write, entry.matrix) end
end

return safetensors
