-- changes.lua -- laws about changed problems: what a change of the input must do, and must not.

local context = require "tessera.verify.context"
local number = require "tessera.number"
local per_head = require "tessera.per_head"
local ts = require "tessera"

local laws = {}

-- An answer by tiles, and its bound.
local function answer(P) return context.attention(P), context.bound(P, {}) end

local function keys_from(P, list)
  local J = context.identity(P.first_key - 1)
  for n = 1, #list do J[#J + 1] = list[n] > 0 and list[n] + P.first_key - 1 or 0 end
  return J
end

-- P with rows `list` of K and V as its keys.
local function with_keys(P, list)
  return context.arranged(P, nil, keys_from(P, list), {K = P.K:take(list), V = P.V:take(list)})
end

--- A number added to every score moves m and lse by it, and nothing else.
laws[#laws + 1] = {"gauge", function(c, t)
  local P = c.small
  local one = {k = math.max(1, P.n_k)}
  local S, limit = P:summary(), context.bound(P, one)
  local function bound_of_max(of) return context.bound(of:with{sink = false}, one) end -- m has no part in a sink
  for _, g in ipairs{3, -40} do
    local moved = context.shifted(P, g)
    if P.sink then moved = moved:with{sink = context.map(P.sink, function(x) return x + g end)} end
    local T = moved:summary()
    local bound, of_max = context.either(limit, context.bound(moved, one)), context.either(bound_of_max(P), bound_of_max(moved))
    local shift = g * (P.base == 2 and math.log(2) or 1)
    t:near(T.max:to "f64", S.max:to "f64" + g, of_max.max, of_max.exact, "m")
    t:rounded(T:lse():to "f64", S:lse():to "f64" + shift, bound.lse, "lse")
    t:near(T:output{empty = "zero"}, S:output{empty = "zero"}, bound.output, bound.exact, "output")
  end
end}

-- Whether all numbers but 0 lie well within the normal range, so that powers of two round nothing.
local function is_plain(m)
  if m.rows * m.cols == 0 then return true end
  local largest, least = m:abs():max(), m:abs():map(function(x) return x == 0 and 1 or x end):min()
  return largest < 1e25 and least > 1e-25
end

--- V · 2^k multiplies the output by 2^k; Q · 2^k with scale · 2^-k changes nothing: in bits.
laws[#laws + 1] = {"power of two", function(c, t)
  local P = c.small:with{sink = false} -- beside a sink an output may be below any range
  local S = P:summary()
  if is_plain(P.V) and is_plain(S.value) then
    for _, k in ipairs{3, -2} do
      local T = P:with{V = P.V * 2.0 ^ k}:summary()
      t:same(T.value, S.value * 2.0 ^ k, "z of V · 2^" .. k)
      t:same(T:output{empty = "zero"}, S:output{empty = "zero"} * 2.0 ^ k, "output of V · 2^" .. k)
    end
  end
  if is_plain(P.Q) then
    local scale = P.scale
    if type(scale) == "number" then scale = {scale} for h = 2, P.heads do scale[h] = scale[1] end end
    for _, k in ipairs{3, -2} do
      local other = {}
      for h = 1, P.heads do other[h] = scale[h] * 2.0 ^ -k end
      t:holds(P:with{Q = P.Q * 2.0 ^ k, scale = other}:summary().value:identical(S.value), "Q · 2^" .. k)
    end
  end
end}

--- Keys and values may be reordered together.
laws[#laws + 1] = {"permutation", function(c, t)
  local P = c.small
  local before, limit = answer(P)
  for _ = 1, c.rounds do
    local after, other = answer(with_keys(P, ts.sample.permutation(P.n_k, {seed = c:next_seed()})))
    t:answers(after, before, context.either(limit, other), "random order")
  end
end}

--- Every key twice: the output stays, and lse rises by ln 2 (without a sink).
laws[#laws + 1] = {"repetition", function(c, t)
  local P = c.small:with{sink = false}
  local list = context.identity(P.n_k)
  table.move(list, 1, P.n_k, P.n_k + 1)
  local before, limit = answer(P)
  local after, other = answer(with_keys(P, list))
  local bound = context.either(limit, other)
  t:near(after[1], before[1], bound.output, bound.exact, "output")
  t:rounded(after[2]:to "f64", before[2]:to "f64" + math.log(2), bound.lse, "lse")
end}

--- Keys that nobody may use may as well not be there, whatever stands in them.
laws[#laws + 1] = {"deletion", function(c, t)
  local P = c.small
  local before, limit = answer(P)
  for _, x in ipairs{0 / 0, math.huge, -1e30} do
    local list = context.identity(P.n_k)
    for _ = 1, 3 do list[#list + 1] = 0 end
    local o = {dtype = P.dtype}
    local after, other = answer(context.arranged(P, nil, keys_from(P, list), {
      K = ts.vcat(P.K, ts.matrix(3, P.K.cols, x, o)), V = ts.vcat(P.V, ts.matrix(3, P.V.cols, x, o)),
    }))
    t:answers(after, before, context.either(limit, other), number.format("%g", x) .. " in masked keys")
  end
end}

-- The allowed cells in two parts, by chance: as a problem in which each key stands twice.
local function in_two(P, seed)
  local n, f = P.n_k, P.first_key
  local function half(m, first)
    local coin = ts.mask.random({P.n_q, m and m.cols or f + n - 1}, 0.5, {seed = seed})
    if not m then return first and coin or ~coin end
    return first and m & coin or m - coin
  end
  local masks, doubled = {{}, {}}, {}
  for h = 1, P.heads do
    local m = per_head.single_mask(P, h)
    local a, b = half(m, true), half(m, false)
    masks[1][h], masks[2][h] = a, b
    doubled[h] = ts.mask(P.n_q, f + 2 * n - 1, function(i, j)
      if j < f + n then return a(i, j) end
      return b(i, j - n)
    end)
  end
  local list = context.identity(n)
  table.move(list, 1, n, n + 1)
  return masks, with_keys(P, list):with{mask = doubled}
end

--- Cells allowed in two parts: Σ over the one ⋆ Σ over the other.
laws[#laws + 1] = {"restriction", function(c, t)
  local P = c.small:with{sink = false}
  if P.n_k == 0 then return t:holds(P:bottom() == P:bottom(), "no keys") end
  local n, f = P.n_k, P.first_key
  local whole, limit = P:summary(), context.bound(P, {k = n})
  for _ = 1, c.rounds do
    local masks, twice = in_two(P, c:next_seed())
    local S, T = context.free(P:with{mask = masks[1]}:summary()), context.free(P:with{mask = masks[2]}:summary())
    if S and T then
      local bound = context.bound(twice, {k = {f + n - 1, f + 2 * n - 1}})
      t:summaries(S * T, whole, context.either(limit, bound), "random halves")
    end
  end
end}

-- Cells (i, h) of rows that may not use key j.
local function untouched(P, j)
  local rows = {}
  for h = 1, P.heads do
    local _, ask = per_head.mask(P, h)
    rows[h] = {}
    for i = 1, P.n_q do if not ask(i, j) then rows[h][#rows[h] + 1] = i end end
  end
  return rows
end

local function same_rows(t, P, rows, a, b, label)
  for h = 1, P.heads do
    if #rows[h] > 0 then
      local function part(M) return per_head.columns(M, h, P.heads):take(rows[h]) end
      t:of(rows[h], h)
      t:same(part(a[1]), part(b[1]), label .. ": output")
      t:same(part(a[2]), part(b[2]), label .. ": lse")
    end
  end
end

local function planted(m, row, x)
  local copy = m:copy()
  copy:row(row):fill(x)
  return copy
end

--- What stands in a key reaches only the rows that may use it; what stands in a query, only its own row.
laws[#laws + 1] = {"non-interference", function(c, t)
  local P = c.small:with{nonfinite = "propagate"}
  local before = context.attention(P)
  for _, n in ipairs(P.n_k > 0 and c:some(P.n_k, c.rounds) or {}) do
    local rows = untouched(P, n + P.first_key - 1)
    for _, x in ipairs{0 / 0, math.huge, -math.huge, P.dtype == "f32" and 1e38 or 1e308} do
      local label = number.format("%g", x) .. " in a key"
      same_rows(t, P, rows, context.attention(P:with{K = planted(P.K, n, x), V = planted(P.V, n, x)}), before, label)
    end
  end
  for _, i in ipairs(P.n_q > 0 and c:some(P.n_q, 1) or {}) do
    local others = {}
    for r = 1, P.n_q do if r ~= i then others[#others + 1] = r end end
    local rows = {}
    for h = 1, P.heads do rows[h] = others end
    same_rows(t, P, rows, context.attention(P:with{Q = planted(P.Q, i, 0 / 0)}), before, "nan in a query")
  end
end}

return laws
