-- parcel.lua -- a matrix or a summary on its way to other ranks: the header of its file as a text, then its matrices.

local check = require "tessera.check"
local core = require "tessera.core"
local safetensors = require "tessera.safetensors"
local source = require "tessera.source"
local wire = require "tessera.wire"

local parcel = {}

local dtypes = {F32 = "f32", F64 = "f64"}

--- The header of x, and its matrices.
---@param x matrix|summary
---@return string header
---@return {name: string, matrix: matrix}[]
function parcel.pack(x)
  if check.type_of(x) == "matrix" then return safetensors.header{matrix = x} end
  return safetensors.header(wire.parts(x), wire.metadata(x))
end

--- What a header tells: the shapes of its tensors, in order, and its metadata (nil: it is a matrix).
---@param header string
---@return {name: string, dtype: string, shape: integer[]}[] tensors
---@return table<string, string>? metadata
function parcel.read(header)
  local size = #header
  for last in header:gmatch '"data_offsets":%[%d+,(%d+)%]' do size = math.max(size, #header + math.tointeger(last)) end
  local at = 1
  local tensors, metadata = safetensors.list(source.new(size, function(count)
    at = at + count
    return header:sub(at - count, at - 1)
  end))
  for _, tensor in ipairs(tensors) do tensor.dtype = dtypes[tensor.dtype] end
  return tensors, metadata
end

--- Room for what such a header tells, by name, to be received into in the order of its tensors.
---@param tensors table
---@param rows? integer so many instead of the header's
---@return table<string, matrix>
function parcel.room(tensors, rows)
  local parts = {}
  for _, tensor in ipairs(tensors) do
    parts[tensor.name] = core.matrix.matrix(rows or tensor.shape[1], tensor.shape[2], {dtype = tensor.dtype})
  end
  return parts
end

--- x again, from its matrices and the metadata; `scores`: the score functions of its problem, a list with one a head, if it
--- has any.
---@param parts table<string, matrix>
---@param metadata? table<string, string>
---@param scores? function[]
---@return matrix|summary
function parcel.unpack(parts, metadata, scores)
  if not metadata then return parts.matrix end
  local S, why = wire.summary(parts, metadata, scores)
  return check.that(S, "a summary from another rank is %s", why)
end

return parcel
