--- summary_file.lua -- summaries in files, so that parts computed elsewhere or another day can be merged.

local check = require "tessera.check"
local core = require "tessera.core"
local files = require "tessera.files"
local wire = require "tessera.wire"

local summary_file = {}

local function check_path(path, name)
  check.arg(type(path) == "string" and path:lower():find("%.safetensors$"), 1, name, "a name that ends in .safetensors expected")
end

--- Writes S to a `.safetensors` file. Merging it later, here or elsewhere, is checked as if it had never left:
--- overlapping keys, or another problem's summary, are an error. Score functions are known by a fingerprint.
---     P:summary(1, 6):save "part-1.safetensors"
---@param S userdata summary
---@param path string
function summary_file.save(S, path)
  check_path(path, "save")
  files.save(path, wire.parts(S), {metadata = wire.metadata(S)})
end

-- The score functions for a summary of so many heads: those that the caller names, if they are the ones the file knows.
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
  check.that(wire.knows(metadata, list), "cannot load '%s': its problem has another score function", path)
  return list
end

--- The summary in a file that `S:save` wrote. `score`: the problem's score function or functions, if it has any.
---     local S = ts.summary.load "part-1.safetensors" * ts.summary.load "part-2.safetensors"
---@param path string
---@param options? {score: any}
---@return summary
function summary_file.load(path, options)
  check_path(path, "load")
  options = core.options(options, 2, "load", {score = "any"})
  local parts, metadata = files.load(path)
  check.that(wire.is_summary(metadata), "cannot load '%s': it holds no summary", path)
  check.that(parts.max, "cannot load '%s': the summary in it is damaged", path)
  local S, why = wire.summary(parts, metadata, read_scores(path, metadata, options.score, parts.max.cols))
  check.that(S, "cannot load '%s': the summary in it is %s", path, why)
  return S
end

return summary_file
