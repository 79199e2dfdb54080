-- meaning.lua -- laws about what the numbers mean: counts, weights, hulls, and parts that stand alone.

local context = require "tessera.verify.context"
local per_head = require "tessera.per_head"
local ts = require "tessera"

local columns = per_head.columns

local laws = {}

-- How many keys row i of head h may use, and the sums of their values, counted cell by cell.
local function counted(P, i, h)
  local _, ask = per_head.mask(P, h)
  local V, count, sums = per_head.values(P, h), 0, {}
  for c = 1, P.d_v do sums[c] = 0 end
  for n = 1, P.n_k do
    if ask(i, n + P.first_key - 1) then
      count = count + 1
      for c = 1, P.d_v do sums[c] = sums[c] + V(n, c) end
    end
  end
  return count, sums
end

--- Zero scores in base 2 and whole values: ℓ counts the allowed keys, and z adds up their values, exactly.
laws[#laws + 1] = {"cover", function(c, t)
  local P = c.small
  local o = {dtype = P.dtype}
  local V = ts.matrix(P.n_k, P.V.cols, function(n, col) return (n * 7 + col * 3) % 11 - 5 end, o)
  local zero = P:with{Q = ts.zeros(P.n_q, P.Q.cols, o), K = ts.zeros(P.n_k, P.K.cols, o), V = V, base = 2,
    score = false, sink = false}
  local S = zero:summary()
  local norm, value = ts.zeros(P.n_q, P.heads, o), ts.zeros(P.n_q, P.heads * P.d_v, o)
  local rows = c:some(P.n_q, math.max(4, (1 << 17) // math.max(1, P.n_k * P.heads * (P.d_v + 4))))
  for _, i in ipairs(rows) do
    for h = 1, P.heads do
      local count, sums = counted(zero, i, h)
      norm:set(i, h, count)
      for col = 1, P.d_v do value:set(i, (h - 1) * P.d_v + col, sums[col]) end
    end
  end
  t:of(rows)
  t:same(S.norm:take(rows), norm:take(rows), "ℓ")
  t:same(S.value:take(rows), value:take(rows), "z")
  for _, tiling in ipairs(c.tilings) do
    local O = context.attention(zero, tiling)[1]
    local quotient = ts.matrix(#rows, value.cols, function(n, col)
      local l = norm(rows[n], (col - 1) // P.d_v + 1)
      return l > 0 and value(rows[n], col) / l or 0
    end, o)
    t:same(O:take(rows), quotient, "z / ℓ by tiles")
  end
end}

-- The least and the largest value that row i of head h may use, in each column; 0 too where there is a sink
-- or no key: all that it may use have scores of -inf.
local function hull(P, i, h, lse)
  local _, ask = per_head.mask(P, h)
  local V, low, high = per_head.values(P, h), {}, {}
  for n = 1, P.n_k do
    if ask(i, n + P.first_key - 1) then
      for c = 1, P.d_v do
        local v = V(n, c)
        low[c], high[c] = math.min(low[c] or v, v), math.max(high[c] or v, v)
      end
    end
  end
  for c = 1, P.d_v do
    if P.sink or lse == -math.huge then low[c], high[c] = math.min(low[c] or 0, 0), math.max(high[c] or 0, 0) end
  end
  return low, high
end

--- Outputs lie in the hull of the values that the row may use.
laws[#laws + 1] = {"convexity", function(c, t)
  local P = c.small
  local answers = {{context.softmax(P), false, "softmax"}, {context.attention(P), {}, "tiles"}}
  local rows = c:some(P.n_q, math.max(4, (1 << 16) // math.max(1, P.n_k * P.heads * (P.d_v + 4))))
  t:of(rows)
  for _, a in ipairs(answers) do
    local O, bound = a[1][1]:take(rows):to "f64", context.bound(P, a[2], rows)
    local nearest = ts.matrix(#rows, O.cols, 0)
    for n, i in ipairs(rows) do
      for h = 1, P.heads do
        local low, high = hull(P, i, h, a[1][2](i, h))
        for col = 1, P.d_v do
          local at = (h - 1) * P.d_v + col
          local o = O(n, at)
          local propagated = o ~= o and P.nonfinite == "propagate" -- NaN lies in no hull, and is right there
          nearest:set(n, at, propagated and o or math.max(low[col], math.min(high[col], o)))
        end
      end
    end
    t:near(O, nearest, bound.output, nil, a[3])
  end
end}

--- Weights sum to 1 (with a sink: to what it leaves), and weights · V is the output.
laws[#laws + 1] = {"weights", function(c, t)
  local P = c.small
  local bound, answer = context.bound(P, false), context.softmax(P)
  local u = P.dtype == "f32" and 2.0 ^ -24 or 2.0 ^ -53
  local slack = 1.01 * (u + (P.n_k + 3) * 2.0 ^ -53) -- a rounded weight; a sum in double
  local least = P.dtype == "f32" and 2.0 ^ -149 or 2.0 ^ -1074 -- how far a weight below the normal range is off
  for _, h in ipairs(c:some(P.heads, 4)) do
    t:of(nil, h)
    local W = P:weights(h):to "f64"
    local V = per_head.values(P, h):to "f64"
    local first, last = (h - 1) * P.d_v + 1, h * P.d_v
    local limit = bound.output:slice(1, P.n_q, first, last) + (W * V:abs()) * slack + V:abs():sum("cols") * least + P.n_k * least
    if V:abs():sum() < math.huge then
      t:near(answer[1]:slice(1, P.n_q, first, last):to "f64", W * V, limit, nil, "weights · V")
    end
    if not P.sink then
      local one = ts.matrix(P.n_q, 1, function(i)
        local lse = answer[2](i, h)
        return lse ~= lse and lse or lse > -math.huge and 1 or 0
      end)
      t:near(W:sum("rows"), one, ts.matrix(P.n_q, 1, slack + P.n_k * least), nil, "sum")
    end
  end
end}

local function alone(P, h)
  local g = per_head.key_head(P, h)
  local m, f = per_head.single_mask(P, h), per_head.of(P.score, h)
  return P:with{
    Q = columns(P.Q, h, P.heads), K = columns(P.K, g, P.kv_heads), V = columns(P.V, g, P.kv_heads),
    heads = 1, kv_heads = 1, mask = m or false, scale = per_head.of(P.scale, h), sink = per_head.of(P.sink, h) or false,
    score = f and function(s, i, j) return f(s, i, j, h) end or false,
  }
end

--- The answer is the concatenation of its heads, each alone with its columns, scale, mask, score and sink.
laws[#laws + 1] = {"heads", function(c, t)
  local P = c.small
  local all, limit = context.attention(P), context.bound(P, {})
  for _, h in ipairs(c:some(P.heads, math.max(8, c.rounds))) do
    local part = {output = columns(limit.output, h, P.heads), lse = limit.lse:col(h), max = limit.max:col(h),
      exact = limit.exact:col(h)}
    local single = alone(P, h)
    t:of(nil, h)
    t:answers(context.attention(single), {columns(all[1], h, P.heads), all[2]:col(h)},
      context.either(part, context.bound(single, {})), "alone")
  end
end}

--- A few queries alone give what they give among the others.
laws[#laws + 1] = {"independence", function(c, t)
  local P = c.small
  local all, limit = context.attention(P), context.bound(P, {})
  for _ = 1, P.n_q > 0 and c.rounds or 0 do
    local rows = c:some(P.n_q, c:draw(5))
    local few = context.with_rows(P, rows)
    t:of(rows)
    local part = {output = limit.output:take(rows), lse = limit.lse:take(rows), max = limit.max:take(rows),
      exact = limit.exact:take(rows)}
    t:answers(context.attention(few), {all[1]:take(rows), all[2]:take(rows)},
      context.either(part, context.bound(few, {})), "a few queries")
  end
end}

return laws
