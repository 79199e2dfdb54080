--- The definition of multi-head attention, in matrix algebra, head by head, against `layer`; with the bound that
--- follows from the roundings of both.
require "spec.helper"
local ts = require "tessera"

local function unit_roundoff(dtype) return dtype == "f32" and 2.0 ^ -24 or 2.0 ^ -53 end

local function gamma(n, u) return n * u / (1 - n * u) end

-- Rotary positions as the formula has it, and how far the computed ones may be off: products and sum round, and so
-- do cosine and sine; angles are below 64, and their own error (two roundings and pow's) is multiplied by them.
local function rope(M, dM, first, settings, u)
  if not settings then return M, dM end
  local half = M.cols // 2
  if half == 0 then return M, dM end
  local function pair(j) return (j - 1) % half + 1, j <= half end
  local function angle(i, p) return (first + i - 2) * (settings.base or 10000) ^ (-2 * (p - 1) / (2 * half)) end
  local function cell(m, sign) return function(i, j)
    local p, is_first = pair(j)
    if j > 2 * half then return m(i, j) end
    local c, s = math.cos(angle(i, p)), math.sin(angle(i, p))
    if sign == 1 then c, s = math.abs(c), math.abs(s) end
    if is_first then return m(i, p) * c + sign * m(i, p + half) * s end
    return m(i, p + half) * c + m(i, p) * s
  end end
  local turned = ts.matrix(M.rows, M.cols, cell(M, -1))
  local sizes = ts.matrix(M.rows, M.cols, function(i, j)
    local p = pair(j)
    return j > 2 * half and 0 or math.abs(M(i, p)) + math.abs(M(i, p + half)) + dM(i, p) + dM(i, p + half)
  end)
  return turned, ts.matrix(M.rows, M.cols, cell(dM, 1)) + sizes * (4 * u + 5 * 64 * 2.0 ^ -53)
end

-- X W + b, and the bound on the rounding of it.
local function projection(X, W, b, u)
  local Y, size = X * W, X:abs() * W:abs()
  if b then Y, size = Y + b, size + b:abs() end
  return Y, size * gamma(X.cols + 1, u)
end

-- Weights of one head over the keys that may be used, and the bound on their relative error, a row.
local function weights_of(s, ds, allowed, sink, u)
  local P, r = ts.zeros(s.rows, s.cols), {}
  for i = 1, s.rows do
    local m, worst = sink or -math.huge, 0
    for j = 1, s.cols do if allowed(i, j) then m = math.max(m, s(i, j)) end end
    local total = sink and math.exp(sink - m) or 0
    for j = 1, s.cols do
      if allowed(i, j) then
        P:set(i, j, math.exp(s(i, j) - m))
        total = total + P(i, j)
        worst = math.max(worst, ds(i, j) + 3 * u * (m - s(i, j) + 2 * ds(i, j)))
      end
    end
    if total > 0 then P:row(i):assign(P:row(i) / total) end
    -- SLEEF documents 3.5 ulp (7u) for its exponential; a key is scaled by one more at a merge. Sums of n terms.
    r[i] = math.exp(2 * (worst + 14 * u) + 3 * gamma(s.cols + 8, u)) - 1
  end
  return P, r
end

-- MHA by the definition, in doubles, and the bound on |computed - exact| for a computation with roundoff u.
local function definition(layer, Q, K, V, o, u)
  local H, dH = {}, {}
  for h = 1, layer.heads do
    local g = math.ceil(h * layer.kv_heads / layer.heads)
    local function f64(m) return m and m:to "f64" end
    local q, dq = projection(Q, f64(layer.WQ[h]), layer.bQ and f64(layer.bQ[h]), u)
    local k, dk = projection(K, f64(layer.WK[g]), layer.bK and f64(layer.bK[g]), u)
    local v, dv = projection(V, f64(layer.WV[g]), layer.bV and f64(layer.bV[g]), u)
    q, dq = rope(q, dq, 1 + K.rows - Q.rows, layer.rope, u)
    k, dk = rope(k, dk, 1, layer.rope, u)

    local c = (type(o.scale) == "table" and o.scale[h] or o.scale) or 1 / math.sqrt(math.max(1, q.cols))
    local s = q * k:t() * c
    local aq, ak = q:abs() + dq, k:abs() + dk
    local ds = (dq * ak:t() + aq * dk:t() + aq * ak:t() * gamma(q.cols + 4, u)) * math.abs(c)
    if o.score then
      local t = ts.matrix(s.rows, s.cols, function(i, j) return o.score(s(i, j), i, j, h) end)
      ds, s = ds + (s:abs() + t:abs() + (t - s):abs()) * (3 * u), t
    end
    if o.base == 2 then s, ds = s * math.log(2), ds * math.log(2) + s:abs() * (2 * u) end

    local mask = type(o.mask) == "table" and o.mask[h] or o.mask
    local function allowed(i, j) return not mask or mask(i, j, h) end
    local sink = type(o.sink) == "table" and o.sink[h] or o.sink
    local P, r = weights_of(s, ds, allowed, sink and sink * (o.base == 2 and math.log(2) or 1), u)
    H[h] = P * v
    local av, pdv = P * (v:abs() + dv), P * dv
    dH[h] = ts.matrix(H[h].rows, H[h].cols, function(i, j) return r[i] * av(i, j) + pdv(i, j) + 2 * u * math.abs(H[h](i, j)) end)
  end
  local concat, dconcat = ts.hcat(table.unpack(H)), ts.hcat(table.unpack(dH))
  local WO = layer.WO:to "f64"
  local O, dO = projection(concat, WO, layer.bO and layer.bO:to "f64", u)
  return O, dO + dconcat * WO:abs() * (1 + gamma(concat.cols + 1, u))
end

-- A random configuration: sizes that need not equal or divide one another, and any of the options.
local function configuration(random)
  local kv = random(3)
  local c = {heads = kv * random(3), kv_heads = kv, d_q = random(9), d_k = random(9), d_v = random(9), d_h = random(6),
    d_vh = random(6), d_o = random(9), n_q = random(10), n_k = random(10), dtype = random(2) == 1 and "f32" or "f64",
    bias = ({false, true, {"q", "o"}, {"k"}, {"v", "o"}})[random(5)], rope = random(4) == 1 and {base = 100} or nil,
    form = random(3), options = {}}
  if c.form == 1 then c.d_k, c.d_v, c.n_k = c.d_q, c.d_q, c.n_q end -- self-attention
  if c.form == 2 then c.d_v = c.d_k end -- cross-attention
  local o = c.options
  local some = random(6)
  if some == 1 then o.mask = function(i, j) return j == 1 or j <= i end end
  if some == 2 then o.mask = function(i, j, h) return (i + j + h) % 3 > 0 end; o.empty = "zero" end
  if some == 3 then
    o.mask = {}
    for h = 1, c.heads do o.mask[h] = ts.mask(c.n_q, c.n_k, function(_, j) return j == 1 or (j + h) % 2 == 0 end) end
  end
  if random(4) == 1 then o.score = function(s, i, j, h) return s - 0.25 * h * math.abs(i - j) end end
  if random(4) == 1 then o.scale = random() * 2 - 1 end
  if random(4) == 1 then
    o.sink = {}
    for h = 1, c.heads do o.sink[h] = random() * 4 - 2 end
  end
  if random(5) == 1 then o.base = 2 end
  if random(3) == 1 then o.tiling = {q = random(3), k = random(3)} end
  return c
end

local function describe_configuration(c, seed, n)
  local text = {("seed %d, configuration %d:"):format(seed, n)}
  for _, name in ipairs{"heads", "kv_heads", "d_q", "d_k", "d_v", "d_h", "d_vh", "d_o", "n_q", "n_k", "dtype", "form"} do
    text[#text + 1] = name .. " = " .. c[name]
  end
  for name in pairs(c.options) do text[#text + 1] = name end
  return table.concat(text, " ")
end

-- Packed, or a part of a wider one, or one whose columns lie one behind another.
local function inputs(c, seed)
  local function draw(n, d, salt)
    local o = {seed = seed * 10 + salt, dtype = c.dtype}
    if (seed + salt) % 3 == 0 then return ts.randn(n, d, o) end
    if (seed + salt) % 3 == 1 then return ts.randn(d, n, o):t() end
    return ts.randn(n + 2, d + 3, o):slice(2, n + 1, 3, d + 2)
  end
  local Q = draw(c.n_q, c.d_q, 1)
  local K = c.form == 1 and Q or draw(c.n_k, c.d_k, 2)
  local V = c.form == 3 and draw(c.n_k, c.d_v, 3) or K
  return Q, K, V
end

local function call(layer, c, Q, K, V)
  if c.form == 1 then return layer(Q, c.options) end
  if c.form == 2 then return layer(Q, K, c.options) end
  return layer(Q, K, V, c.options)
end

describe("a layer of heads", function()
  local count = tonumber(os.getenv "TESSERA_CONFIGURATIONS") or 300
  local seed = tonumber(os.getenv "TESSERA_SEED") or 1

  it(("agrees with the definition within the bound, in %d random configurations"):format(count), function()
    math.randomseed(seed)
    for n = 1, count do
      local c = configuration(math.random)
      local layer = ts.heads{heads = c.heads, kv_heads = c.kv_heads, d_q = c.d_q, d_k = c.d_k, d_v = c.d_v, d_h = c.d_h,
        d_vh = c.d_vh, d_o = c.d_o, bias = c.bias, dtype = c.dtype, rope = c.rope, seed = n}
      for _, name in ipairs{"bQ", "bK", "bV"} do
        for g = 1, layer[name] and #layer[name] or 0 do
          layer[name][g] = ts.randn(1, layer[name][g].cols, {seed = n * 7 + g, dtype = c.dtype})
        end
      end
      if layer.bO then layer.bO = ts.randn(1, c.d_o, {seed = n + 5, dtype = c.dtype}) end
      local Q, K, V = inputs(c, n)
      local u = unit_roundoff(c.dtype)
      local q64, k64, v64 = Q:to "f64", K:to "f64", V:to "f64"
      local O, bound = definition(layer, q64, k64, v64, c.options, u)
      local _, own = definition(layer, q64, k64, v64, c.options, 2.0 ^ -53) -- of the definition as computed here
      assert.within_bound(O, call(layer, c, Q, K, V), bound + own, describe_configuration(c, seed, n))
    end
  end)
end)
