--- npz.lua -- the .npz format: a zip file of .npy arrays, as numpy.savez and savez_compressed write it.

local npy = require "tessera.npy"
local refuse = require "tessera.source".refuse
local zip = require "tessera.zip"

local limit = 1 << 32 -- bytes that a compressed array may fill, unless the caller says otherwise

local npz = {}

--- The arrays in a source, in the directory's order, by their names without `.npy`.
function npz.list(from)
  local entries = zip.list(from)
  for _, entry in ipairs(entries) do
    entry.name = entry.name:match("^(.*)%.npy$") or refuse("entry '%s' is no .npy array", entry.name)
  end
  return entries
end

--- One of the arrays that `list` gave, as a matrix.
---@param from table
---@param entry table
---@param options {reshape: integer[]?, limit: integer?}
---@return matrix
function npz.read(from, entry, options)
  if entry.method ~= 0 and entry.size > (options.limit or limit) then
    refuse("array '%s' inflates to %d bytes; {limit = bytes} allows as many", entry.name, entry.size)
  end
  local inner, finish = zip.open(from, entry)
  local m = npy.read(inner, options)
  finish()
  return m
end

--- Writes matrices by name, uncompressed.
---@param write fun(bytes: string)
---@param matrices table<string, matrix>
function npz.write(write, matrices)
  local entries = {}
  for name, m in pairs(matrices) do
    local update, size, crc = zip.crc(), 0, 0
    local function fill(put) npy.write(put, m) end
    fill(function(bytes) crc, size = update(bytes), size + #bytes end)
    entries[#entries + 1] = {name = name .. ".npy", size = size, crc = crc, fill = fill}
  end
  table.sort(entries, function(a, b) return a.name < b.name end)
  zip.write(write, entries)
end

return npz
