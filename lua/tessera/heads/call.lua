--- call.lua -- what a call of a layer asks: its inputs, projected, as a problem.

local attempt = require "tessera.attempt"
local blamed = require "tessera.blamed"
local check = require "tessera.check"
local core = require "tessera.core"
local exact = require "tessera.exact"
local layer = require "tessera.heads.layer"
local make = require "tessera.problem.make"
local projections = require "tessera.heads.projections"
local rope = require "tessera.rope"

require "tessera.problem" -- gives problems their methods

local call = {}

local call_fields = {
  mask = "any", score = "any", scale = "any", sink = "any", base = "any", first_key = "positive", tiling = "table",
  empty = {"error", "zero"}, nonfinite = {"error", "propagate"},
}

-- (X), (X, Y) or (Q, K, V), and options, as a record: `names` are what errors call the inputs, `places` which
-- arguments they are, `n` which one the options are.
local function arguments(fname, ...)
  local given, count, options = {...}, select("#", ...), nil
  if count > 1 and (given[count] == nil or type(given[count]) == "table") then
    options, given[count], count = given[count], nil, count - 1
  end
  check.arg(count >= 1 and count <= 3, math.max(1, math.min(count, 4)), fname, "X, or X and Y, or Q, K and V expected")
  for n = 1, count do check.type(given[n], "matrix", n, fname) end
  local Q, K, V = given[1], given[2] or given[1], given[3] or given[2] or given[1]
  return {
    Q = Q, K = K, V = V, options = options, n = count + 1,
    names = ({{"X", "X", "X"}, {"X", "Y", "Y"}, {"Q", "K", "V"}})[count],
    places = ({{1, 1, 1}, {1, 2, 2}, {1, 2, 3}})[count],
  }
end

local function check_inputs(state, asked, fname)
  for at, name in ipairs{"Q", "K", "V"} do
    local m, width = asked[name], state.sizes["d_" .. name:lower()]
    check.arg(m.cols == width, asked.places[at], fname, "%s is %dx%d, W_%s takes %d column(s)", asked.names[at], m.rows,
      m.cols, name, width)
    check.arg(m.dtype == state.sizes.dtype, asked.places[at], fname, "%s is %s, the layer %s", asked.names[at], m.dtype,
      state.sizes.dtype)
  end
  check.arg(asked.K.rows == asked.V.rows, 3, fname, "V is %dx%d, K has %d row(s)", asked.V.rows, asked.V.cols, asked.K.rows)
end

-- Q W^Q, K W^K and V W^V of all heads, with as few products as there are inputs.
local function project(state, asked)
  local sizes, weights, biases = state.sizes, state.weights, state.biases
  local shapes = projections.shapes(sizes)
  local function apply(name, X) return projections.apply(weights, biases, name, X) end
  local function columns(m, first, count) return m:slice(1, m.rows, first + 1, first + count) end
  local q, k, v = shapes.q.cols, shapes.k.cols, shapes.v.cols
  if weights.qkv and rawequal(asked.Q, asked.K) and rawequal(asked.K, asked.V) then
    local all = apply("qkv", asked.Q)
    return columns(all, 0, q), columns(all, q, k), columns(all, q + k, v)
  end
  local Q = apply("q", asked.Q)
  if weights.kv and rawequal(asked.K, asked.V) then
    local both = apply("kv", asked.K)
    return Q, columns(both, 0, k), columns(both, k, v)
  end
  return Q, apply("k", asked.K), apply("v", asked.V)
end

-- The layer's rope with positions shifted by `by`.
local function turn(state, X, count, by)
  if not state.rope then return X end
  local settings = setmetatable({offset = state.rope.offset + by}, {__index = state.rope})
  return rope.turn(X, settings, count)
end

-- What may stand where a list with one a head may: a function of h that gives each head its own. A function of
-- one parameter may also be a predicate or a score itself; what it gives for 1 tells.
local function is_of_head(value, kinds)
  if type(value) ~= "function" or exact.is_ours(value) or debug.getinfo(value, "u").nparams ~= 1 then return false end
  local ok, first = attempt(value, 1)
  return ok and kinds[check.type_of(first)] or false
end

local kinds_of_values = {
  mask = {mask = true, ["function"] = true}, score = {["function"] = true},
  scale = {number = true}, sink = {number = true},
}

--- The option `name` with a function of h as the list of its values.
function call.spread(name, value, heads)
  if not is_of_head(value, kinds_of_values[name]) then return value end
  local list = {}
  for h = 1, heads do list[h] = value(h) end
  return list
end

-- The problem between the projections and W^O; errors blame the options of `fname`.
local function problem_of(state, asked, options, fname)
  local sizes = state.sizes
  local Q, K, V = project(state, asked)
  local first = options.first_key or 1
  local fields = {
    Q = turn(state, Q, sizes.heads, first - 1 + K.rows - Q.rows), K = turn(state, K, sizes.kv_heads, first - 1), V = V,
    heads = sizes.heads, kv_heads = sizes.kv_heads, first_key = options.first_key, base = options.base,
    empty = options.empty, nonfinite = options.nonfinite,
  }
  for name in pairs(kinds_of_values) do fields[name] = call.spread(name, options[name], sizes.heads) end
  return make(fields, asked.n, fname)
end

--- The problem that the arguments of a call make, its options, and which argument these are.
---@param self table layer
---@param fname string for errors
---@return problem, table options, integer n
function call.problem(self, fname, ...)
  local state, asked = layer.state(self), arguments(fname, ...)
  check_inputs(state, asked, fname)
  local options = core.options(asked.options, asked.n, fname, call_fields)
  return problem_of(state, asked, options, fname), options, asked.n
end

--- P's attention under `tiling`, an option in argument `n` of `fname`.
---@return matrix
function call.attention(P, tiling, n, fname)
  return (blamed({n = n, fname = fname, what = "tiling: "}, "attention", P.attention, P, tiling))
end

--- Self-attention's Q, K and V of all heads, not yet turned.
function call.project(self, X, fname)
  local asked = arguments(fname, X)
  check_inputs(layer.state(self), asked, fname)
  return project(layer.state(self), asked)
end

--- Q and K turned, where the layer has a rope, as rows `before` + 1 and on of a sequence.
function call.turn(self, Q, K, before)
  local state = layer.state(self)
  return turn(state, Q, state.sizes.heads, before), turn(state, K, state.sizes.kv_heads, before)
end

--- All heads side by side times W^O, plus the bias.
function call.finish(self, concat)
  local state = layer.state(self)
  return projections.apply(state.weights, state.biases, "o", concat)
end

return call
