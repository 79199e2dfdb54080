--- wire.lua -- a summary as a message: the form that files hold, and that processes send each other.
--
-- The tensors max, norm and value of a .safetensors file, and in its metadata the keys, the base and whose summary it is:
-- hashes of the queries, scale and sink, and fingerprints of the score functions, which no message can hold.

local attempt = require "tessera.attempt"
local core = require "tessera.core"
local fingerprint = require "tessera.fingerprint"
local number = require "tessera.number"
local ranges = require "tessera.ranges"

local wire = {}

local version = "summary 1"

-- Writing -------------------------------------------------------------------------------------------

local function fingerprints(scores)
  local list = {}
  for h, f in ipairs(scores) do list[h] = f and fingerprint(f) or "-" end
  return table.concat(list, " ")
end

local function hexadecimal(owner)
  local list = {}
  for i, n in ipairs(owner) do list[i] = ("%016x"):format(n) end
  return table.concat(list, " ")
end

local function decimals(list)
  local texts = {}
  for i, x in ipairs(list) do texts[i] = number.format("%.17g", x) end
  return table.concat(texts, " ")
end

--- What is told of S beside its numbers.
---@param S summary
---@return table<string, string>
function wire.metadata(S)
  local owner = core.summary.owner(S)
  return {tessera = version, base = S.base == 2 and "2" or "e", keys = ranges.code(S:keys()),
    owner = hexadecimal(owner), bound = tostring(owner.bound), keyed = tostring(owner.keyed), zero = tostring(owner.zero),
    sink = owner.sink and decimals(owner.sink), score = owner.score and fingerprints(owner.score)}
end

--- Its numbers, by the names of their tensors.
---@param S summary
---@return {max: matrix, norm: matrix, value: matrix}
function wire.parts(S) return {max = S.max, norm = S.norm, value = S.value} end

-- Reading -------------------------------------------------------------------------------------------

--- Is this the metadata of a summary, of the version that we know?
---@param metadata table<string, string>?
---@return boolean
function wire.is_summary(metadata) return metadata ~= nil and metadata.tessera == version end

local function parse_list(text, pattern, convert)
  local list = {}
  for word in text:gmatch "%S+" do
    local item = word:match(pattern) and convert(word)
    if not item then return nil end
    list[#list + 1] = item
  end
  return list
end

local function parse_range(word)
  local first, last = word:match "^(%d+)%-(%d+)$"
  first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last))
  return first and last and first >= 1 and last >= first and {first, last} or nil
end

-- Two halves, as tonumber reads no more than 63 bits.
local function parse_hexadecimal(word) return tonumber(word:sub(1, 8), 16) << 32 | tonumber(word:sub(9), 16) end

-- The owner that the metadata tells, but for the score functions; nil where something is amiss.
local function read_owner(metadata, heads)
  local owner = parse_list(metadata.owner, "^" .. ("%x"):rep(16) .. "$", parse_hexadecimal)
  if not owner or #owner ~= 8 then return nil end
  for _, name in ipairs{"bound", "keyed", "zero"} do owner[name] = metadata[name] == "true" end
  if metadata.sink then
    owner.sink = parse_list(metadata.sink, "", number.parse)
    if not owner.sink or #owner.sink ~= heads then return nil end
  end
  return owner
end

local function is_sound(parts, metadata)
  local max, norm, value = parts.max, parts.norm, parts.value
  return max and norm and value and metadata.owner and metadata.keys and max.cols > 0
    and norm.rows == max.rows and norm.cols == max.cols and value.rows == max.rows and value.cols % max.cols == 0
    and norm.dtype == max.dtype and value.dtype == max.dtype
end

--- Whether these score functions (a list with one a head) are those that the metadata knows.
---@param metadata table<string, string>
---@param scores (function|false)[]
---@return boolean
function wire.knows(metadata, scores) return metadata.score == fingerprints(scores) end

--- The summary of these numbers and metadata, whose owner has these score functions (nil: none); else nil, and why not.
---@param parts table<string, matrix>
---@param metadata table<string, string>
---@param scores (function|false)[]?
---@return summary?
---@return string? why
function wire.summary(parts, metadata, scores)
  local keys = is_sound(parts, metadata) and parse_list(metadata.keys, "", parse_range)
  local owner = keys and read_owner(metadata, parts.max.cols)
  if not owner then return nil, "damaged" end
  owner.score = scores
  local ok, S = attempt(core.summary.new, {max = parts.max, norm = parts.norm, value = parts.value,
    two = metadata.base == "2", keys = owner.keyed and keys or nil, owner = owner})
  if ok then return S end
  return nil, "damaged: " .. tostring(S)
end

return wire
