--- summary_file.lua -- summaries in files, so that parts computed elsewhere or another day can be merged.
--
-- A .safetensors file with the tensors max, norm and value, and in its metadata the keys, the base and whose
-- summary it is: hashes of the queries, scale and sink, and fingerprints of the score functions, which no file
-- can hold.

local check = require "tessera.check"
local core = require "tessera.core"
local files = require "tessera.files"
local fingerprint = require "tessera.fingerprint"
local number = require "tessera.number"

local summary_file = {}

-- Score functions -----------------------------------------------------------------------------------

local function fingerprints(scores)
  local list = {}
  for h, f in ipairs(scores) do list[h] = f and fingerprint(f) or "-" end
  return table.concat(list, " ")
end

-- Saving --------------------------------------------------------------------------------------------

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

local function ranges_text(keys)
  local list = {}
  for i, range in ipairs(keys) do list[i] = ("%d-%d"):format(range[1], range[2]) end
  return table.concat(list, " ")
end

--- Writes S to a `.safetensors` file. Merging it later, here or elsewhere, is checked as if it had never left:
--- overlapping keys, or another problem's summary, are an error. Score functions are known by a fingerprint.
---     P:summary(1, 6):save "part-1.safetensors"
---@param S userdata summary
---@param path string
function summary_file.save(S, path)
  check.arg(type(path) == "string" and path:lower():find("%.safetensors$"), 1, "save",
    "a name that ends in .safetensors expected")
  local owner = core.summary.owner(S)
  local metadata = {tessera = "summary 1", base = S.base == 2 and "2" or "e", keys = ranges_text(S:keys()),
    owner = hexadecimal(owner), bound = tostring(owner.bound), keyed = tostring(owner.keyed), zero = tostring(owner.zero),
    sink = owner.sink and decimals(owner.sink), score = owner.score and fingerprints(owner.score)}
  files.save(path, {max = S.max, norm = S.norm, value = S.value}, {metadata = metadata})
end

-- Loading -------------------------------------------------------------------------------------------

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

-- The score functions for an owner: those that the caller names, if they are the ones the file knows.
local function read_scores(path, metadata, given, heads)
  if not metadata.score then
    check.that(given == nil, "cannot load '%s': the summary's problem has no score function", path)
    return nil
  end
  check.that(given ~= nil, "cannot load '%s': its problem has a score function; give the same with {score = f}", path)
  local list = {}
  for h = 1, heads do
    list[h] = type(given) == "table" and given[h] or given
    check.arg(list[h] == false or type(list[h]) == "function", 2, "load", "field 'score': function or list with one a head expected")
  end
  check.that(fingerprints(list) == metadata.score, "cannot load '%s': its problem has another score function", path)
  return list
end

local function is_sound(parts, metadata)
  local max, norm, value = parts.max, parts.norm, parts.value
  return max and norm and value and metadata.owner and metadata.keys and max.cols > 0
    and norm.rows == max.rows and norm.cols == max.cols and value.rows == max.rows and value.cols % max.cols == 0
    and norm.dtype == max.dtype and value.dtype == max.dtype
end

--- The summary in a file that `S:save` wrote. `score`: the problem's score function or functions, if it has any.
---     local S = ts.summary.load "part-1.safetensors" * ts.summary.load "part-2.safetensors"
---@param path string
---@param options? {score: any}
---@return summary
function summary_file.load(path, options)
  check.arg(type(path) == "string" and path:lower():find("%.safetensors$"), 1, "load",
    "a name that ends in .safetensors expected")
  options = core.options(options, 2, "load", {score = "any"})
  local parts, metadata = files.load(path)
  check.that(metadata and metadata.tessera == "summary 1", "cannot load '%s': it holds no summary", path)
  local keys = is_sound(parts, metadata) and parse_list(metadata.keys, "", parse_range)
  local owner = keys and read_owner(metadata, parts.max.cols)
  check.that(owner, "cannot load '%s': the summary in it is damaged", path)
  owner.score = read_scores(path, metadata, options.score, parts.max.cols)
  local ok, S = pcall(core.summary.new, {max = parts.max, norm = parts.norm, value = parts.value,
    two = metadata.base == "2", keys = owner.keyed and keys or nil, owner = owner})
  check.that(ok, "cannot load '%s': the summary in it is damaged: %s", path, S)
  return S
end

return summary_file
