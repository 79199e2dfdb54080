--- zip.lua -- the ZIP container: entries, stored or deflated, behind which stands their directory.

local attempt = require "tessera.attempt"
local source = require "tessera.source"
local refuse = source.refuse

local has_zlib, zlib = pcall(require, "zlib")
if not has_zlib then zlib = nil end

local piece = 1 << 14 -- bytes inflated at a time: a thousandfold of it stays small

-- CRC-32 of bytes in Lua, for where there is no zlib.
local crc_table
local function crc_in_lua()
  if not crc_table then
    crc_table = {}
    for byte = 0, 255 do
      local crc = byte
      for _ = 1, 8 do crc = crc & 1 == 1 and crc >> 1 ~ 0xEDB88320 or crc >> 1 end
      crc_table[byte] = crc
    end
  end
  local state = 0xFFFFFFFF
  return function(bytes)
    for at = 1, #bytes do
      state = crc_table[(state ~ bytes:byte(at)) & 0xFF] ~ state >> 8
    end
    return state ~ 0xFFFFFFFF
  end
end

local zip = {}

--- A function that takes the next bytes and returns the CRC-32 of all so far.
function zip.crc()
  if not zlib then return crc_in_lua() end
  local update = zlib.crc32()
  return function(bytes) return math.tointeger((update(bytes))) end
end

local function at_offset(from, offset, count, what)
  if offset < 0 or offset > from.size then refuse("%s lies outside the file", what) end
  from:seek(offset)
  return from:read(count, what)
end

-- Where the directory lies and how many entries it has: the record at the file's end, behind which only
-- a comment of the length it states may stand; or, where numbers do not fit it, the 64-bit one before it.
local function find_directory(from)
  local tail_size = math.min(from.size, 22 + 0xFFFF)
  local tail = at_offset(from, from.size - tail_size, tail_size, "the directory's end")
  local at = #tail - 21
  while at > 0 and not (tail:sub(at, at + 3) == "PK\5\6" and string.unpack("<I2", tail, at + 20) == #tail - at - 21) do
    at = at - 1
  end
  if at <= 0 then refuse("not a zip file, or its end is missing") end
  local count, size, offset = string.unpack("<I2I4I4", tail, at + 10)
  if count < 0xFFFF and size < 0xFFFFFFFF and offset < 0xFFFFFFFF then return count, size, offset end
  local here = from.size - tail_size + at - 1
  local locator = at_offset(from, here - 20, 20, "the 64-bit directory's locator")
  if locator:sub(1, 4) ~= "PK\6\7" then refuse("the 64-bit directory is missing") end
  local record = at_offset(from, string.unpack("<i8", locator, 9), 56, "the 64-bit directory's end")
  if record:sub(1, 4) ~= "PK\6\6" then refuse("the 64-bit directory is missing") end
  return string.unpack("<i8i8i8", record, 33)
end

-- Replaces what the 32-bit fields of an entry could not hold by the numbers of its 64-bit extra field.
local function widen(entry, extra)
  local at = 1
  while at + 3 <= #extra do
    local id, size = string.unpack("<I2I2", extra, at)
    local body = extra:sub(at + 4, at + 3 + size)
    at = at + 4 + size
    if id == 1 then
      local next_number = 1
      for _, field in ipairs{"size", "packed", "header"} do
        if entry[field] == 0xFFFFFFFF then
          if #body < next_number + 7 then refuse("entry '%s': bad 64-bit field", entry.name) end
          entry[field], next_number = string.unpack("<i8", body, next_number)
        end
      end
    end
  end
end

-- The entry at `at` of the directory, and where the next one stands.
local function read_entry(directory, at)
  if #directory - at + 1 < 46 or directory:sub(at, at + 3) ~= "PK\1\2" then refuse("bad directory") end
  local flags, method, _, _, crc, packed, size, name_size, extra_size, comment_size =
    string.unpack("<I2I2I2I2I4I4I4I2I2I2", directory, at + 8)
  local header = string.unpack("<I4", directory, at + 42)
  local stop = at + 46 + name_size + extra_size + comment_size
  if stop > #directory + 1 then refuse("bad directory") end
  local name = directory:sub(at + 46, at + 45 + name_size)
  local entry = {name = name, flags = flags, method = method, crc = crc, packed = packed, size = size, header = header}
  widen(entry, directory:sub(at + 46 + name_size, at + 45 + name_size + extra_size))
  return entry, stop
end

-- Finds where the bytes of an entry begin, and that they end before `limit`.
local function place(from, entry, limit)
  local header = at_offset(from, entry.header, 30, "an entry's header")
  if header:sub(1, 4) ~= "PK\3\4" then refuse("entry '%s': its header is missing", entry.name) end
  local name_size, extra_size = string.unpack("<I2I2", header, 27)
  entry.start = entry.header + 30 + name_size + extra_size
  if entry.packed < 0 or entry.size < 0 or entry.packed > limit - entry.start then
    refuse("entry '%s' reaches outside the file", entry.name)
  end
end

-- No two entries may share bytes: a small file could otherwise stand for an endless one.
local function check_overlap(entries)
  local sorted = table.move(entries, 1, #entries, 1, {})
  table.sort(sorted, function(a, b) return a.header < b.header end)
  for i = 2, #sorted do
    local before = sorted[i - 1]
    if before.start + before.packed > sorted[i].header then
      refuse("entries '%s' and '%s' overlap", before.name, sorted[i].name)
    end
  end
end

--- The entries of a zip file, in the directory's order.
---@param from table a source
---@return {name: string, size: integer}[]
function zip.list(from)
  local count, size, offset = find_directory(from)
  if count < 0 or size < 0 or offset < 0 or size > from.size or offset > from.size - size or count > size // 46 then
    refuse("the directory reaches outside the file")
  end
  local directory = at_offset(from, offset, size, "the directory")
  local entries, names, at = {}, {}, 1
  for n = 1, count do
    local entry
    entry, at = read_entry(directory, at)
    if names[entry.name] then refuse("duplicate entry '%s'", entry.name) end
    names[entry.name] = true
    place(from, entry, offset)
    entries[n] = entry
  end
  check_overlap(entries)
  return entries
end

-- The deflated bytes of an entry, inflated piece by piece, never beyond the size that it states.
local function inflated(from, entry)
  if not zlib then refuse("entry '%s' is compressed: install lua-zlib to read it", entry.name) end
  local inflate, left = zlib.inflate(-15), entry.packed
  return source.of_pieces(entry.size, function()
    if left == 0 then return nil end
    local bytes = from:read(math.min(piece, left), "the compressed data")
    left = left - #bytes
    local ok, result, ended = attempt(inflate, bytes)
    if not ok then refuse("entry '%s': the compressed data is damaged", entry.name) end
    if ended and left > 0 then refuse("entry '%s': bytes follow the compressed data", entry.name) end
    return result
  end)
end

--- An entry's bytes as a source; finish() checks, once all of it is read, that they are the right ones.
function zip.open(from, entry)
  if entry.flags & 1 ~= 0 then refuse("entry '%s' is encrypted", entry.name) end
  local inner
  from:seek(entry.start)
  if entry.method == 0 then
    if entry.packed ~= entry.size then refuse("entry '%s': two sizes", entry.name) end
    inner = source.new(entry.size, function(count) return from:read(count, "an entry") end)
  elseif entry.method == 8 then
    inner = inflated(from, entry)
  else
    refuse("entry '%s': compression method %d is not supported", entry.name, entry.method)
  end
  local update, sum = zip.crc(), 0
  local fetch = inner.fetch
  inner.fetch = function(count)
    local bytes = fetch(count)
    sum = update(bytes)
    return bytes
  end
  return inner, function()
    if sum ~= entry.crc then refuse("entry '%s': the checksum is wrong", entry.name) end
  end
end

local epoch = 0x0021 -- 1 January 1980: the same matrices give the same file

-- What an entry's header and its line in the directory share.
local function common(entry)
  local utf8_name = entry.name:find("[\x80-\xFF]") and 0x0800 or 0
  return string.pack("<I2I2I2I2I2I4I4I4I2I2", 20, utf8_name, 0, 0, epoch, entry.crc, entry.size, entry.size, #entry.name, 0)
end

--- Writes entries {name, size, crc, fill = function(write)}, stored, and the directory.
---@param write fun(bytes: string)
function zip.write(write, entries)
  local offset, directory = 0, {}
  for n, entry in ipairs(entries) do
    local header = "PK\3\4" .. common(entry) .. entry.name
    directory[n] = "PK\1\2" .. string.pack("<I2", 20) .. common(entry)
      .. string.pack("<I2I2I2I4I4", 0, 0, 0, 0, offset) .. entry.name
    write(header)
    entry.fill(write)
    offset = offset + #header + entry.size
    if offset > 0xFFFFFFFE or n >= 0xFFFF then refuse("more than 4 GiB: use .safetensors") end
  end
  local text = table.concat(directory)
  write(text)
  write("PK\5\6" .. string.pack("<I2I2I2I2I4I4I2", 0, 0, #entries, #entries, #text, offset, 0))
end

return zip
