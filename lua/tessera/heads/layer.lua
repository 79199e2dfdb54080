--- layer.lua -- a layer as an object, whose weights are views that can be assigned.

local check = require "tessera.check"
local projections = require "tessera.heads.projections"
local sentence = require "tessera.sentence"

local layer = {}

--- The methods of every layer; heads.lua fills it.
layer.methods = {}

-- Every layer's sizes, weights, biases and rope, out of the user's reach.
local states = setmetatable({}, {__mode = "k"})

--- The sizes that a layer has.
layer.size_names = {"heads", "kv_heads", "d_q", "d_k", "d_v", "d_h", "d_vh", "d_o", "dtype"}

--- What layer.WQ, layer.bK and so on are: the letter of the projection, and whether it is the bias.
local parts = {}
layer.parts = parts
for letter in ("qkvo"):gmatch "." do
  parts["W" .. letter:upper()] = {letter = letter, of = "weights"}
  parts["b" .. letter:upper()] = {letter = letter, of = "biases"}
end

-- The matrix of a part, or nil for a bias that the layer has not.
local function part_of(state, name)
  local part = parts[name]
  if part.of == "biases" and not state.has_bias[part.letter] then return nil end
  return state[part.of][part.letter], part.letter
end

local function read_part(state, name)
  local all, letter = part_of(state, name)
  if not all or letter == "o" then return all end
  return projections.list(all, projections.shapes(state.sizes)[letter].heads, name)
end

--- Writes a matrix to all of a part, or a list of matrices to its heads.
function layer.set(self, name, value)
  local state = states[self]
  local all, letter = part_of(state, name)
  check.that(all, "%s: the layer has no such bias", name)
  if letter == "o" or type(value) ~= "table" then return projections.set(all, value, name) end
  local list = read_part(state, name)
  check.that(#value == #list, "%s: a list of %d for %d head(s)", name, #value, #list)
  for i = 1, #list do list[i] = value[i] end
end

local function table_copy(t)
  local copy = {}
  for key, value in pairs(t) do copy[key] = value end
  return copy
end

local metatable = {__name = "tessera.layer", __metatable = false}

local function field_names(...)
  local names = {...}
  for part in pairs(parts) do names[#names + 1] = part end
  for method in pairs(layer.methods) do names[#names + 1] = method end
  return table.move(layer.size_names, 1, #layer.size_names, #names + 1, names)
end

function metatable.__index(self, name)
  local state = states[self]
  if layer.methods[name] then return layer.methods[name] end
  if state.sizes[name] ~= nil then return state.sizes[name] end
  if parts[name] then return read_part(state, name) end
  if name == "rope" then return state.rope and table_copy(state.rope) end
  return check.no_field("a layer", name, field_names("rope"))
end

function metatable.__newindex(self, name, value)
  check.that(parts[name], "a layer has no field '%s' to set; WQ, WK, WV, WO, bQ, bK, bV and bO can be", name)
  layer.set(self, name, value)
end

function metatable.__call(self, ...) return layer.output(self, ...) end

-- A line a projection: how many matrices of what shape, and the bias.
local function part_line(state, letter)
  local shape = projections.shapes(state.sizes)[letter]
  local text = ("  W_%s  %3d of %dx%d"):format(letter:upper(), shape.heads or 1, shape.rows, shape.cols // (shape.heads or 1))
  if not state.has_bias[letter] then return text end
  return ("%-24s + bias 1x%d"):format(text, shape.cols // (shape.heads or 1))
end

--- The layer's sizes as a table: a line for each projection.
function metatable.__tostring(self)
  local state = states[self]
  local sizes = state.sizes
  local shared = sizes.kv_heads ~= sizes.heads and (" on %d"):format(sizes.kv_heads) or ""
  local lines = {sentence("layer of %d head(s)%s, %s, %d parameter(s)", sizes.heads, shared, sizes.dtype, self:parameters())}
  for letter in ("qkvo"):gmatch "." do lines[#lines + 1] = part_line(state, letter) end
  local turned = state.rope
  if turned then
    lines[#lines + 1] = sentence("  rope  base %g, %s, %d of %d column(s), offset %d", turned.base, turned.layout, turned.dims,
      sizes.d_h, turned.offset)
  end
  return table.concat(lines, "\n")
end

--- A layer of these sizes, with weights and biases of zeros; for the modules that fill it.
---@param sizes table all of size_names
---@param has_bias table<string, boolean> by "q", "k", "v", "o"
---@param turned? table a complete rope
---@return layer
---@return table state
function layer.blank(sizes, has_bias, turned)
  local self = setmetatable({}, metatable)
  states[self] = {
    sizes = sizes, has_bias = has_bias, rope = turned,
    weights = projections.weights(sizes), biases = projections.biases(sizes, has_bias),
  }
  return self, states[self]
end

--- The state of a layer, for the modules that make others of it; an error of anything else.
function layer.state(self)
  return check.that(self ~= nil and states[self], "layer expected, got %s", check.type_of(self))
end

return layer
