--- files.lua -- files of matrices, whose names tell the format by their ending.

local check = require "tessera.check"
local core = require "tessera.core"
local replacing = require "tessera.replacing"
local source = require "tessera.source"

-- By ending: the module, loaded when it is needed, whether a file holds one matrix or many by name, and whether it keeps
-- metadata.
-- A module of one has read(from, options) and write(write, m); a module of many has list(from), which
-- checks the file's whole plan, read(from, entry, options) and write(write, matrices, metadata).
local formats = {
  npy = {module = "npy"},
  csv = {module = "csv"},
  npz = {module = "npz", many = true},
  safetensors = {module = "safetensors", many = true, metadata = true},
}

local function format_of(path, name)
  check.arg(type(path) == "string", 1, name, "string expected, got %s", check.type_of(path))
  local ending = path:match("%.([^./]*)$")
  local format = formats[ending and ending:lower()]
  check.arg(format, 1, name, "the ending of '%s' is none of .npy, .npz, .safetensors, .csv", path)
  return require("tessera." .. format.module), format.many, format.metadata
end

-- Calls use(source) on the file, which is closed whatever happens.
local function reading(path, use)
  local function opened()
    local from <close> = source.open(path)
    return use(from)
  end
  local results = table.pack(pcall(opened))
  if results[1] then return table.unpack(results, 2, results.n) end
  local err = results[2]
  check.that(not source.refused(err), "cannot load '%s': %s", path, source.refused(err))
  error(err, 0)
end

local function find(entries, name)
  for _, entry in ipairs(entries) do
    if entry.name == name then return entry end
  end
  local names = {}
  for i, entry in ipairs(entries) do names[i] = entry.name end
  local near = check.near(name, names)
  source.refuse("it holds no '%s'%s", name, near and (" (did you mean '%s'?)"):format(near) or "")
end

-- The matrix of an entry nobody named: a refusal tells which it is, as the others may well be read.
local function read_entry(format, from, entry, options)
  local ok, m = pcall(format.read, from, entry, options)
  if ok then return m end
  local why = source.refused(m)
  if not why then error(m, 0) end
  local is_named = why:find("'" .. entry.name .. "'", 1, true)
  source.refuse("%s%s; ts.load(path, name) loads one alone", is_named and "" or ("array '%s': "):format(entry.name), why)
end

local function read_all(format, from, options)
  local matrices, entries, metadata = {}, format.list(from)
  for _, entry in ipairs(entries) do matrices[entry.name] = read_entry(format, from, entry, options) end
  if metadata then return matrices, metadata end
  return matrices -- alone, or a prompt would show a nil behind it
end

-- The two counts of a reshape as integers, in a copy of the options.
local function check_reshape(options, n)
  local shape = options.reshape
  if not shape then return options end
  local rows, cols = check.whole(shape[1], 0), check.whole(shape[2], 0)
  check.arg(rows and cols and #shape == 2, n, "load", "field 'reshape': {rows, columns} expected")
  return {reshape = {rows, cols}, limit = options.limit}
end

local files = {}

--- What a `.npy`, `.csv`, `.safetensors` or `.npz` file holds. Of the first two it is a matrix; of the others
--- the matrix `name`, or, without a name, a table from names to matrices and, where the file has any, its
--- metadata, a table of strings.
--- Half precision and bfloat16 come as f32, integers and booleans as f64; integers that a double cannot
--- hold are refused. An array without axes is 1 x 1, one with a single axis 1 x n; more than two axes
--- need `reshape`, which keeps the order of numbers: transpose heads before they are saved, so that they
--- come to lie side by side in the columns (the manual's page "Coming from NumPy" shows how). Nothing in a
--- file is trusted: a file that is not in order is an error that tells why.
---
---     local Q = ts.load "queries.npy"
---     local W = ts.load("layer.safetensors", "query.weight", {reshape = {384, 384}})
---@param path string
---@param name? string
---@param options? {reshape: integer[]?, limit: integer?} limit: bytes that a compressed array may fill
---@return matrix|table<string, matrix>
---@return table<string, string>? metadata
function files.load(path, name, options)
  local format, many = format_of(path, "load")
  local at = 3
  if type(name) == "table" and options == nil then name, options, at = nil, name, 2 end
  check.arg(name == nil or type(name) == "string", 2, "load", "string expected, got %s", check.type_of(name))
  check.arg(many or not name, 2, "load", "'%s' holds one matrix, without a name", path)
  options = core.options(options, at, "load", {reshape = "table", limit = "count"})
  options = check_reshape(options, at)
  return reading(path, function(from)
    if not many then return format.read(from, options) end
    if not name then return read_all(format, from, options) end
    return format.read(from, find(format.list(from), name), options)
  end)
end

--- The names in a file, in its order: of the matrices in a `.safetensors` or `.npz`, of the columns in a
--- `.csv` with a header. None for `.npy`.
---
---     for _, name in ipairs(ts.names "layer.safetensors") do print(name) end
---@param path string
---@return string[]
function files.names(path)
  local format, many = format_of(path, "names")
  return reading(path, function(from)
    if not many then return format.names and format.names(from) or {} end
    local names = {}
    for i, entry in ipairs(format.list(from)) do names[i] = entry.name end
    return names
  end)
end

--- The metadata of a `.safetensors` file, a table of strings; empty where there is none.
---@param path string
---@return table<string, string>
function files.metadata(path)
  local format, many = format_of(path, "metadata")
  return many and reading(path, function(from) return select(2, format.list(from)) end) or {}
end

local function is_matrix(x) return check.type_of(x) == "matrix" end

local function check_matrices(matrices)
  check.arg(check.type_of(matrices) == "table", 2, "save", "matrix or table of matrices expected, got %s",
    check.type_of(matrices))
  for name, m in pairs(matrices) do
    check.arg(type(name) == "string", 2, "save", "name expected, got %s", check.type_of(name))
    check.arg(is_matrix(m), 2, "save", "field '%s': matrix expected, got %s", name, check.type_of(m))
  end
end

--- Writes matrices by name to a `.safetensors` or `.npz` file, or one matrix to any format (a file of
--- many then holds it as "matrix"). `metadata`, a table of strings, is for `.safetensors` alone. The file is
--- written beside the old one and then takes its place: an interrupted save leaves the old one whole.
---
---     ts.save("run.safetensors", {O = O, lse = lse}, {metadata = {seed = "7"}})
---@param path string
---@param matrices matrix|table<string, matrix>
---@param options? {metadata: table<string, string>?}
function files.save(path, matrices, options)
  check.arg(not is_matrix(path), 1, "save", "string expected, got matrix; the path comes first")
  local format, many, keeps_metadata = format_of(path, "save")
  options = core.options(options, 3, "save", {metadata = "table"})
  check.arg(keeps_metadata or not options.metadata, 3, "save", "field 'metadata': '%s' keeps none, .safetensors does", path)
  if is_matrix(matrices) then
    if not many then return replacing(path, function(write) format.write(write, matrices) end) end
    matrices = {matrix = matrices}
  end
  check_matrices(matrices)
  check.arg(many, 2, "save", "'%s' holds one matrix, without a name", path)
  for key, value in pairs(options.metadata or {}) do
    check.arg(type(key) == "string" and type(value) == "string", 3, "save",
      "field 'metadata': strings by name expected")
  end
  replacing(path, function(write) format.write(write, matrices, options.metadata) end)
end

return files
