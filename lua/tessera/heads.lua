--- heads.lua -- multi-head attention layers: Concat(H_1 … H_h) W^O with H_i = Attn(Q W_i^Q, K W_i^K, V W_i^V).

local check = require "tessera.check"
local core = require "tessera.core"
local projections = require "tessera.projections"
local rope = require "tessera.rope"

local heads = {}
local methods = {}

-- Every layer's sizes, weights, biases, rope and lists of views, out of the user's reach.
local states = setmetatable({}, {__mode = "k"})

local size_names = {"heads", "kv_heads", "d_q", "d_k", "d_v", "d_h", "d_vh", "d_o"}

-- Calls ------------------------------------------------------------------------------------------

local call_fields = {
  mask = "any", score = "any", scale = "any", sink = "any", base = "any", first_key = "positive", tiling = "table",
  empty = {"error", "zero"}, nonfinite = {"error", "propagate"},
}

-- (X), (X, Y) or (Q, K, V), and options, as a record; `names` are what errors call the inputs.
local function arguments(fname, ...)
  local given, count, options = {...}, select("#", ...), nil
  if count > 1 and (given[count] == nil or type(given[count]) == "table") then
    options, given[count], count = given[count], nil, count - 1
  end
  check.arg(count >= 1 and count <= 3, math.min(count, 4), fname, "X, or X and Y, or Q, K and V expected")
  for n = 1, count do check.type(given[n], "matrix", n, fname) end
  local Q, K, V = given[1], given[2] or given[1], given[3] or given[2] or given[1]
  return {
    Q = Q, K = K, V = V, options = options, n = count + 1,
    names = ({{"X", "X", "X"}, {"X", "Y", "Y"}, {"Q", "K", "V"}})[count],
    places = ({{1, 1, 1}, {1, 2, 2}, {1, 2, 3}})[count],
  }
end

local function check_inputs(state, call, fname)
  for at, name in ipairs{"Q", "K", "V"} do
    local m, width = call[name], state.sizes["d_" .. name:lower()]
    check.arg(m.cols == width, call.places[at], fname, "%s is %dx%d, W_%s takes %d columns", call.names[at], m.rows,
      m.cols, name, width)
    check.arg(m.dtype == state.sizes.dtype, call.places[at], fname, "%s is %s, the layer %s", call.names[at], m.dtype,
      state.sizes.dtype)
  end
  check.arg(call.K.rows == call.V.rows, 3, fname, "V is %dx%d, K has %d rows", call.V.rows, call.V.cols, call.K.rows)
end

-- Q W^Q, K W^K and V W^V of all heads, with as few products as there are inputs.
local function project(state, call)
  local sizes, weights, biases = state.sizes, state.weights, state.biases
  local shapes = projections.shapes(sizes)
  local function apply(name, X) return projections.apply(weights, biases, name, X) end
  local function columns(m, first, count) return m:slice(1, m.rows, first + 1, first + count) end
  local q, k, v = shapes.q.cols, shapes.k.cols, shapes.v.cols
  if weights.qkv and rawequal(call.Q, call.K) and rawequal(call.K, call.V) then
    local all = apply("qkv", call.Q)
    return columns(all, 0, q), columns(all, q, k), columns(all, q + k, v)
  end
  local Q = apply("q", call.Q)
  if weights.kv and rawequal(call.K, call.V) then
    local both = apply("kv", call.K)
    return Q, columns(both, 0, k), columns(both, k, v)
  end
  return Q, apply("k", call.K), apply("v", call.V)
end

-- The layer's rope with positions shifted by `by`.
local function turn(state, X, count, by)
  if not state.rope then return X end
  local settings = setmetatable({offset = state.rope.offset + by}, {__index = state.rope})
  return rope.turn(X, settings, count)
end

-- A function with one parameter, where a list with one a head may stand: its values for the heads.
function heads.spread(value, count)
  if type(value) ~= "function" or debug.getinfo(value, "u").nparams ~= 1 then return value end
  local list = {}
  for h = 1, count do list[h] = value(h) end
  return list
end

-- The problem between the projections and W^O.
local function problem_of(state, call, options)
  local sizes = state.sizes
  local Q, K, V = project(state, call)
  local first = options.first_key or 1
  return require "tessera.problem"{
    Q = turn(state, Q, sizes.heads, first - 1 + K.rows - Q.rows), K = turn(state, K, sizes.kv_heads, first - 1), V = V,
    heads = sizes.heads, kv_heads = sizes.kv_heads, first_key = options.first_key,
    mask = heads.spread(options.mask, sizes.heads), score = options.score,
    scale = heads.spread(options.scale, sizes.heads), sink = heads.spread(options.sink, sizes.heads),
    base = options.base, empty = options.empty, nonfinite = options.nonfinite,
  }
end

-- The checked arguments of a method, the problem they make, and the options.
local function prepared(layer, fname, ...)
  local state, call = states[layer], arguments(fname, ...)
  check_inputs(state, call, fname)
  local options = core.options(call.options, call.n, fname, call_fields)
  return problem_of(state, call, options), options
end

--- Self-attention's Q, K and V of all heads, not yet turned; for caches.
function heads.project(layer, X, fname)
  local call = arguments(fname, X)
  check_inputs(states[layer], call, fname)
  return project(states[layer], call)
end

--- Q and K turned, where the layer has a rope, as rows `before` + 1 and on of a sequence.
function heads.turn(layer, Q, K, before)
  local state = states[layer]
  return turn(state, Q, state.sizes.heads, before), turn(state, K, state.sizes.kv_heads, before)
end

--- All heads side by side times W^O, plus the bias.
function heads.finish(layer, concat)
  return projections.apply(states[layer].weights, states[layer].biases, "o", concat)
end

-- The layer's output: all heads side by side times W^O.
local function output(layer, ...)
  local P, options = prepared(layer, "layer", ...)
  return heads.finish(layer, (P:attention(options.tiling)))
end

--- The problem between the projections and W^O, for everything that can be asked of one. Arguments as of
--- the layer itself.
---     layer:problem(X, {mask = mask}):verify()
---@return userdata problem
function methods:problem(...) return (prepared(self, "problem", ...)) end

--- H_1 … H_h, each n_q x d_vh, before W^O. Arguments as of the layer itself.
---     local H = layer:heads_output(X); print(H[3])
---@return matrix[]
function methods:heads_output(...)
  local P, options = prepared(self, "heads_output", ...)
  local concat, list = P:attention(options.tiling), {}
  for h = 1, P.heads do list[h] = concat:slice(1, concat.rows, (h - 1) * P.d_v + 1, h * P.d_v) end
  return list
end

--- The attention weights of each head, n_q x n_k. Arguments as of the layer itself.
---     ts.plot.matrix(layer:weights(X)[3])
---@return matrix[]
function methods:weights(...)
  local P, list = prepared(self, "weights", ...), {}
  for h = 1, P.heads do list[h] = P:weights(h) end
  return list
end

--- How alike the heads attend, as a heads x heads matrix of cosines: of their attention weights, taken as
--- long vectors, 1 for two heads that attend alike and 0 for two that share no key. A head whose weights are
--- all 0 is like none, 0 to itself too. Arguments as of the layer itself.
---     print(layer:similarity(X))
---@return matrix
function methods:similarity(...)
  local P, weights, norms = prepared(self, "similarity", ...), {}, {}
  for h = 1, P.heads do
    weights[h] = P:weights(h)
    norms[h] = weights[h]:norm()
  end
  local result = core.matrix.zeros(P.heads, P.heads, {dtype = P.dtype})
  for g = 1, P.heads do
    for h = g, P.heads do
      local size = norms[g] * norms[h]
      local cosine = size > 0 and weights[g]:mul(weights[h]):sum() / size or 0
      result:set(g, h, cosine)
      result:set(h, g, cosine)
    end
  end
  return result
end

--- How many numbers the layer has learnt or would learn: all weights and biases.
---@return integer
function methods:parameters()
  local state, count = states[self], 0
  local shapes = projections.shapes(state.sizes)
  for name, shape in pairs(shapes) do
    count = count + shape.rows * shape.cols + (state.has_bias[name] and shape.cols or 0)
  end
  return count
end

-- Fields -----------------------------------------------------------------------------------------

-- What layer.WQ, layer.bK and so on are: the letter of the projection, and whether it is the bias.
local parts = {}
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

local function field_names()
  local names = table.move(size_names, 1, #size_names, 1, {"dtype", "rope"})
  for name in pairs(parts) do names[#names + 1] = name end
  for name in pairs(methods) do names[#names + 1] = name end
  return names
end

local metatable = {__name = "tessera.layer", __metatable = false, __call = output}

function metatable.__index(layer, name)
  local state = states[layer]
  if methods[name] then return methods[name] end
  if state.sizes[name] ~= nil then return state.sizes[name] end
  if parts[name] then return read_part(state, name) end
  if name == "rope" then return state.rope end
  return check.no_field("a layer", name, field_names())
end

-- Writes a matrix to all of a part, or a list of matrices to its heads.
local function set_part(state, name, value)
  local all, letter = part_of(state, name)
  check.that(all, "%s: the layer has no such bias", name)
  if letter == "o" or type(value) ~= "table" then return projections.set(all, value, name) end
  local list = read_part(state, name)
  check.that(#value == #list, "%s: %d matrices for %d heads", name, #value, #list)
  for i = 1, #list do list[i] = value[i] end
end

function metatable.__newindex(layer, name, value)
  if not parts[name] then
    local names = {}
    for part in pairs(parts) do names[#names + 1] = part end
    return check.no_field("a layer", name, names)
  end
  set_part(states[layer], name, value)
end

-- A line a projection: how many matrices of what shape, and the bias.
local function part_line(state, letter)
  local shape = projections.shapes(state.sizes)[letter]
  local text = ("  W_%s  %3d of %dx%d"):format(letter:upper(), shape.heads or 1, shape.rows, shape.cols // (shape.heads or 1))
  if not state.has_bias[letter] then return text end
  return ("%-24s + bias 1x%d"):format(text, shape.cols // (shape.heads or 1))
end

--- The layer's sizes as a table: a line for each projection.
function metatable.__tostring(layer)
  local state = states[layer]
  local lines = {("layer of %d heads on %d, %s, %d parameters"):format(state.sizes.heads, state.sizes.kv_heads,
    state.sizes.dtype, layer:parameters())}
  for letter in ("qkvo"):gmatch "." do lines[#lines + 1] = part_line(state, letter) end
  local turned = state.rope
  if turned then
    lines[#lines + 1] = ("  rope  base %g, %s, %d of %d columns, offset %d"):format(turned.base, turned.layout, turned.dims,
      state.sizes.d_h, turned.offset)
  end
  return table.concat(lines, "\n")
end

-- Making -----------------------------------------------------------------------------------------

--- A layer of these sizes, with weights and biases of zeros; for the modules that fill it.
---@param sizes table all of size_names, and dtype
---@param has_bias table<string, boolean> by "q", "k", "v", "o"
---@param turned? table a complete rope
---@return table layer
---@return table state
function heads.blank(sizes, has_bias, turned)
  local layer = setmetatable({}, metatable)
  states[layer] = {
    sizes = sizes, has_bias = has_bias, rope = turned,
    weights = projections.weights(sizes), biases = projections.biases(sizes, has_bias),
  }
  return layer, states[layer]
end

--- The state of a layer, for the modules that make others of it; nil of anything else.
function heads.state(layer) return states[layer] end

local kinds = {
  heads = "positive", kv_heads = "positive", d_q = "count", d_k = "count", d_v = "count", d_h = "count", d_vh = "count",
  d_o = "count", bias = "any", dtype = "dtype", seed = "integer", rope = "any",
}
for name in pairs(parts) do kinds[name] = "any" end

local function need(ok, fmt, ...) return check.arg(ok, 1, "heads", fmt, ...) end

-- A size told by the matrices that were given for a part: a list of one a head, or one matrix in whose columns
-- `count` heads lie; nil where none was given.
local function told(f, name, axis, count)
  local listed = type(f[name]) == "table"
  local m = listed and f[name][1] or f[name]
  if m == nil then return nil end
  need(check.type_of(m) == "matrix", "field '%s': matrix or list of matrices expected, got %s", name, check.type_of(m))
  if axis == "rows" or listed then return m[axis] end
  need(m.cols % count == 0, "%s has %d columns, which %d heads do not divide", name, m.cols, count)
  return m.cols // count
end

local function sizes_of(f)
  local h = need(f.heads, "field 'heads' is missing")
  local kv = f.kv_heads or h
  need(h % kv == 0, "heads = %d is no multiple of kv_heads = %d", h, kv)
  local d_q = need(f.d_q or told(f, "WQ", "rows"), "field 'd_q' is missing")
  local d_h = f.d_h or told(f, "WQ", "cols", h) or told(f, "WK", "cols", kv)
  need(d_h or d_q % h == 0, "field 'd_h' is missing: d_q = %d is no multiple of %d heads", d_q, h)
  local d_k = f.d_k or told(f, "WK", "rows") or d_q
  local d_vh = f.d_vh or told(f, "WV", "cols", kv) or d_h or d_q // h
  return {
    heads = h, kv_heads = kv, d_q = d_q, d_k = d_k, d_v = f.d_v or told(f, "WV", "rows") or d_k, d_h = d_h or d_q // h,
    d_vh = d_vh, d_o = f.d_o or told(f, "WO", "cols", 1) or d_q, dtype = f.dtype or "f64",
  }
end

-- `bias` as a set of letters; a bias that is given is one that there is.
local function biases_of(f)
  local has, bias = {}, f.bias
  need(bias == nil or type(bias) == "boolean" or type(bias) == "table", "field 'bias': boolean or list expected, got %s",
    check.type_of(bias))
  for _, letter in ipairs(bias == true and {"q", "k", "v", "o"} or bias or {}) do
    need(letter == "q" or letter == "k" or letter == "v" or letter == "o", "field 'bias': '%s' is none of q, k, v, o",
      tostring(letter))
    has[letter] = true
  end
  for name, part in pairs(parts) do
    if part.of == "biases" and f[name] ~= nil then has[part.letter] = true end
  end
  return has
end

-- The seed of the n-th matrix of a layer: far from those of other layers and other matrices.
local function stream(seed, n) return seed * 0x5851F42D4C957F2D + n * 0x9E3779B97F4A7C15 end

-- Fills m with numbers uniform in (-bound, bound).
local function fill_uniform(m, bound, seed)
  local u = core.matrix.rand(m.rows, m.cols, {dtype = m.dtype, seed = seed})
  m:assign((u * 2 - 1) * bound)
end

-- As PyTorch's MultiheadAttention: Glorot's ±√(6 / (rows + columns)) for what is multiplied at once, and
-- ±1/√rows for W^O. Biases stay 0.
local function initialise(state, seed)
  local weights = state.weights
  for n, name in ipairs(weights.qkv and {"qkv"} or weights.kv and {"q", "kv"} or {"q", "k", "v"}) do
    local m = weights[name]
    fill_uniform(m, math.sqrt(6 / math.max(1, m.rows + m.cols)), stream(seed, n))
  end
  fill_uniform(weights.o, 1 / math.sqrt(math.max(1, weights.o.rows)), stream(seed, 4))
end

local function rope_of(f, d_h)
  if f.rope == nil or f.rope == false then return nil end
  local options = core.options(f.rope ~= true and f.rope or nil, 1, "heads",
    {base = "number", layout = {"half", "interleaved"}, dims = "count", offset = "integer"})
  return rope.settings(options, d_h, 1, "heads")
end

--- A multi-head attention layer. `heads` and `d_q` must be given; the other sizes follow:
--- * `kv_heads` = heads, a divisor of it: heads that share keys and values (grouped-query attention);
--- * `d_q`, `d_k`, `d_v`: the widths of its three inputs; `d_k` = d_q, `d_v` = d_k;
--- * `d_h` = d_q / heads: the width of a head's queries and keys; `d_vh` = d_h: that of its values;
--- * `d_o` = d_q: the width of the output.
--- `bias`: true, or a list of "q", "k", "v", "o". `rope`: true, or a table as of `ts.rope`; queries stand at the end of
--- the keys. `dtype`, and `seed` for the weights, which are drawn as PyTorch's MultiheadAttention draws them,
--- unless they are given: `WQ`, `WK`, `WV` as a list with one a head or as one matrix with the heads side by
--- side, `WO`, and `bQ`, `bK`, `bV`, `bO` likewise.
---
---     local layer = ts.heads{heads = 8, d_q = 512, bias = true, seed = 1}
---     local O = layer(X, {mask = ts.mask.causal(X.rows)})       -- or layer(X, Y), or layer(Q, K, V)
---     layer.WQ[3] = layer.WQ[3] * 2
---
--- A call takes the options `mask`, `score`, `scale`, `sink`, `base`, `empty`, `nonfinite`, `first_key` of `ts.problem`, and
--- `tiling`. mask, scale and sink may be functions of h alone, which give each head its own.
---@param fields table
---@return table layer
local function new(_, fields)
  check.arg(type(fields) == "table", 1, "heads", "table expected, got %s", check.type_of(fields))
  local f = core.options(fields, 1, "heads", kinds)
  local sizes = sizes_of(f)
  local layer, state = heads.blank(sizes, biases_of(f), rope_of(f, sizes.d_h))
  initialise(state, f.seed or core.matrix.next_seed())
  for name in pairs(parts) do
    if f[name] ~= nil then set_part(state, name, f[name]) end
  end
  return layer
end

-- Methods and functions that live in files of their own, loaded when they are first asked for.
local elsewhere = {
  without = "ablation", only = "ablation", group = "ablation", cache = "cache", step = "cache",
}
for name, file in pairs(elsewhere) do
  methods[name] = function(...) return require("tessera." .. file)[name](...) end
end

--- See checkpoint.lua.
function heads.load(...) return require "tessera.checkpoint".load(...) end

return setmetatable(heads, {__call = new})
