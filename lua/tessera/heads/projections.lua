--- projections.lua -- the weights of a layer, those of all heads side by side.
--
-- What may be multiplied with one and the same input lies in one matrix, so that it takes one product:
-- W_Q, W_K and W_V where the three inputs are of one width (self-attention), W_K and W_V where keys and
-- values are (cross-attention). The matrices of the definition, W_Q[i] and so on, are views of its columns.

local check = require "tessera.check"
local core = require "tessera.core"

local projections = {}

--- The columns of each projection of a layer of these `sizes`, and the rows: the width of its input.
function projections.shapes(sizes)
  return {
    q = {rows = sizes.d_q, cols = sizes.heads * sizes.d_h, heads = sizes.heads},
    k = {rows = sizes.d_k, cols = sizes.kv_heads * sizes.d_h, heads = sizes.kv_heads},
    v = {rows = sizes.d_v, cols = sizes.kv_heads * sizes.d_vh, heads = sizes.kv_heads},
    o = {rows = sizes.heads * sizes.d_vh, cols = sizes.d_o},
  }
end

-- Matrices of zeros named by the letters of `group`, side by side in one that is named by all of them.
local function side_by_side(into, group, rows, shapes, dtype)
  local cols, at = 0, 0
  for name in group:gmatch "." do cols = cols + shapes[name].cols end
  local all = core.matrix.zeros(rows, cols, {dtype = dtype})
  into[group] = all
  for name in group:gmatch "." do
    into[name] = all:slice(1, rows, at + 1, at + shapes[name].cols)
    at = at + shapes[name].cols
  end
  if group == "qkv" then into.kv = all:slice(1, rows, shapes.q.cols + 1, cols) end
end

local function groups(sizes)
  if sizes.d_k ~= sizes.d_v then return {"q", "k", "v", "o"} end
  return sizes.d_q == sizes.d_k and {"qkv", "o"} or {"q", "kv", "o"}
end

--- Weights of zeros: by "q", "k", "v", "o", and by "qkv" or "kv" what lies side by side.
function projections.weights(sizes)
  local shapes, weights = projections.shapes(sizes), {}
  for _, group in ipairs(groups(sizes)) do
    side_by_side(weights, group, shapes[group:sub(1, 1)].rows, shapes, sizes.dtype)
  end
  return weights
end

--- Biases of zeros, laid out like the weights; nil for the projections that have none, unless what lies
--- beside them has one.
---@param has table<string, boolean> by "q", "k", "v", "o"
function projections.biases(sizes, has)
  local shapes, biases = projections.shapes(sizes), {}
  for _, group in ipairs(groups(sizes)) do
    side_by_side(biases, group, 1, shapes, sizes.dtype)
  end
  for name in pairs(biases) do
    local any = false
    for letter in name:gmatch "." do any = any or has[letter] end
    if not any then biases[name] = nil end
  end
  return biases
end

--- X times the weights of that name, plus the bias.
function projections.apply(weights, biases, name, X)
  local Y = X * weights[name]
  return biases[name] and Y + biases[name] or Y
end

local function check_fits(M, view, name)
  check.that(check.type_of(M) == "matrix", "%s: matrix expected, got %s", name, check.type_of(M))
  check.that(M.rows == view.rows and M.cols == view.cols, "%s is %dx%d, got %dx%d", name, view.rows, view.cols,
    M.rows, M.cols)
  check.that(M.dtype == view.dtype, "%s is %s, got %s; `to` converts", name, view.dtype, M.dtype)
end

--- Copies the values of M to the weights or bias `view`; shape and dtype must be the same.
function projections.set(view, M, name)
  check_fits(M, view, name)
  view:assign(M)
end

--- The matrices of the heads as a list of views of `all`: read by list[i], set by list[i] = M.
---@param all matrix heads side by side
---@param heads integer
---@param name string for errors: "WQ" and so on
function projections.list(all, heads, name)
  local width = all.cols // heads
  local function view(i)
    if math.type(i) ~= "integer" or i < 1 or i > heads then return nil end
    return all:slice(1, all.rows, (i - 1) * width + 1, i * width)
  end
  local function set(_, i, M)
    local target = view(i)
    check.that(target, "%s: a head from 1 to %d expected, got %s", name, heads,
      type(i) == "number" and tostring(i) or check.type_of(i))
    projections.set(target, M, ("%s[%d]"):format(name, i))
  end
  local function step(_, i)
    if i < heads then return i + 1, view(i + 1) end
  end
  return setmetatable({}, {
    __index = function(_, i) return view(i) end,
    __newindex = set,
    __len = function() return heads end,
    __pairs = function() return step, nil, 0 end,
    __tostring = function() return ("%s: %d of %dx%d"):format(name, heads, all.rows, width) end,
  })
end

return projections
