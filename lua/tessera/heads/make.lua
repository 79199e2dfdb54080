--- make.lua -- a layer from the fields that the user gives: sizes, first weights, biases and rope.

local check = require "tessera.check"
local core = require "tessera.core"
local layer = require "tessera.heads.layer"
local rope = require "tessera.rope"

local kinds = {
  heads = "positive", kv_heads = "positive", d_q = "count", d_k = "count", d_v = "count", d_h = "count", d_vh = "count",
  d_o = "count", bias = "any", dtype = "dtype", seed = "integer", rope = "any",
}
for name in pairs(layer.parts) do kinds[name] = "any" end

local function need(ok, fmt, ...) return check.arg(ok, 1, "heads", fmt, ...) end

-- A size told by the matrices that were given for a part: a list of one a head, or one matrix in whose columns
-- `count` heads lie; nil where none was given.
local function told(f, name, axis, count)
  local listed = check.type_of(f[name]) == "table"
  local m = listed and f[name][1] or f[name]
  if m == nil then return nil end
  need(check.type_of(m) == "matrix", "field '%s': matrix or list of matrices expected, got %s", name, check.type_of(m))
  if axis == "rows" or listed then return m[axis] end
  need(m.cols % count == 0, "%s has %d column(s), which %d heads do not divide", name, m.cols, count)
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
  need(bias == nil or type(bias) == "boolean" or check.type_of(bias) == "table", "field 'bias': boolean or list expected, got %s",
    check.type_of(bias))
  for _, letter in ipairs(bias == true and {"q", "k", "v", "o"} or bias or {}) do
    need(letter == "q" or letter == "k" or letter == "v" or letter == "o", "field 'bias': '%s' is none of q, k, v, o",
      letter)
    has[letter] = true
  end
  for name, part in pairs(layer.parts) do
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

--- The layer of these fields; see heads.lua.
---@param fields table
---@return layer
return function(fields)
  check.type(fields, "table", 1, "heads")
  local f = core.options(fields, 1, "heads", kinds)
  local sizes = sizes_of(f)
  local self, state = layer.blank(sizes, biases_of(f), rope_of(f, sizes.d_h))
  initialise(state, f.seed or core.matrix.next_seed())
  for name in pairs(layer.parts) do
    if f[name] ~= nil then layer.set(self, name, f[name]) end
  end
  return self
end
