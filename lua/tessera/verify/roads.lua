-- roads.lua -- laws between the roads: every way to compute the problem gives the same answer.

local core = require "tessera.core"
local context = require "tessera.verify.context"
local per_head = require "tessera.per_head"
local ts = require "tessera"

local laws = {}

local function title(tiling)
  local words = {}
  for _, name in ipairs{"q", "k", "order", "merge", "split", "exp", "seed"} do
    local value = tiling[name]
    if value ~= nil then
      words[#words + 1] = name .. " = " .. (type(value) == "table" and "{..}" or tostring(value))
    end
  end
  return #words > 0 and table.concat(words, ", ") or "default tiles"
end

-- A row in plain Lua, from cells, calling the user's own functions ----------------------------------

local function plain_score(P, f, h, i, j)
  local d, g = P.d, per_head.key_head(P, h) - 1
  local scale = per_head.of(P.scale, h)
  local s = 0.0
  for r = 1, d do s = s + scale * P.Q(i, (h - 1) * d + r) * P.K(j - P.first_key + 1, g * d + r) end
  return f and f(s, i, j, h) or s
end

-- The predicate that was given, else the mask asked cell by cell.
local function plain_mask(P, h)
  local given = core.problem.given(P).predicate
  local f = per_head.of(given, h)
  if type(f) == "function" then return function(i, j) return f(i, j, h) end end
  local _, ask = per_head.mask(P, h)
  return ask
end

local function plain_row(P, h, i)
  local f = per_head.of(P.score, h)
  local allowed, base = plain_mask(P, h), P.base
  local sink = per_head.of(P.sink, h) or -math.huge
  local scores, max = {}, sink
  for j = P.first_key, P.first_key + P.n_k - 1 do
    local s = allowed(i, j) and plain_score(P, f, h, i, j) or -math.huge
    scores[#scores + 1] = s
    if s > max or s ~= s then max = s end
  end
  local V = per_head.values(P, h)
  local norm, z = max > -math.huge and base ^ (sink - max) or 0, {}
  for c = 1, P.d_v do z[c] = 0.0 end
  for j, s in ipairs(scores) do
    if s ~= -math.huge then
      local w = base == 2 and 2.0 ^ (s - max) or math.exp(s - max)
      norm = norm + w
      for c = 1, P.d_v do z[c] = z[c] + w * V(j, c) end
    end
  end
  for c = 1, P.d_v do z[c] = norm ~= 0 and z[c] / norm or 0.0 end
  return z, max == -math.huge and max or max * (base == 2 and math.log(2) or 1) + math.log(norm)
end

local function check_plain_rows(c, t, P, answer, bound)
  for _, i in ipairs(c:some(P.n_q, 4)) do
    for _, h in ipairs(c:some(P.heads, 2)) do
      local o, lse = plain_row(P, h, i)
      local first, last = (h - 1) * P.d_v + 1, h * P.d_v
      local limit = bound.output:slice(i, i, first, last)
      t:of({i}, h)
      if P.d_v > 0 then
        t:near(answer[1]:slice(i, i, first, last), ts.matrix({o}, {dtype = P.dtype}), limit + limit,
          bound.exact:slice(i, i, h, h), "in plain Lua: output")
      end
      local lse_limit = bound.lse:slice(i, i, h, h)
      t:rounded(answer[2]:slice(i, i, h, h), ts.matrix({{lse}}, {dtype = P.dtype}), lse_limit + lse_limit, "in plain Lua: lse")
    end
  end
end

--- Tiles in any order and bracketing give what full softmax gives; and so do sampled rows in plain Lua.
laws[#laws + 1] = {"definition", function(c, t)
  local full, limit = c:picked(context.softmax(c.P)), context.bound(c.P, false, c.rows)
  for _, tiling in ipairs(c.tilings) do
    local bound = context.either(limit, context.bound(c.P, tiling, c.rows))
    t:answers(c:picked(context.attention(c.P, tiling)), full, bound, title(tiling))
  end
  local small = c.rows and context.softmax(c.small) or full
  check_plain_rows(c, t, c.small, small, c.rows and context.bound(c.small, false) or limit)
end}

local function run_word(P, plan)
  local stack = {}
  for _, entry in ipairs(plan.word) do
    if entry > 0 then
      stack[#stack + 1] = P:summary(plan.blocks[entry])
    else
      local top = table.remove(stack)
      stack[#stack] = stack[#stack] * top
    end
  end
  return stack[1] or P:bottom()
end

--- The engine is the fold of the summaries of its blocks, in bits.
laws[#laws + 1] = {"fold", function(c, t)
  local P = c.small
  for _, tiling in ipairs(c.tilings) do
    local whole = {q = math.max(1, P.n_q)} -- one tile, so that one word serves all rows
    for name, value in pairs(tiling) do whole[name] = whole[name] or value end
    whole.exp, whole.degree = nil, nil -- P:summary has the default one
    local S = run_word(P, core.problem.plan(P, whole))
    local by_engine = context.attention(P, whole)
    t:same(by_engine[1], S:output{empty = "zero"}, title(tiling) .. ": output")
    t:same(by_engine[2], S:lse(), title(tiling) .. ": lse")
  end
end}

-- P's answer by tiles where calls take `n` threads unless they are told otherwise; an error leaves no trace.
local function with_threads(n, P)
  local before = ts.threads()
  local _ <close> = setmetatable({}, {__close = function() ts.threads(before) end})
  ts.threads(n)
  return context.attention(P)
end

--- No result depends on the number of threads, whoever says it.
laws[#laws + 1] = {"threads", function(c, t)
  local alone = with_threads(1, c.P)
  for _, threads in ipairs{2, 7} do
    local many = with_threads(threads, c.P)
    t:same(many[1], alone[1], ("ts.threads(%d): output"):format(threads))
    t:same(many[2], alone[2], ("ts.threads(%d): lse"):format(threads))
  end
  for n, tiling in ipairs(c.tilings) do
    if c.rows and n > 1 then break end -- a large problem takes its time
    local one = context.attention(c.P, tiling, {threads = 1})
    for _, threads in ipairs{2, 3, 8} do
      local many = context.attention(c.P, tiling, {threads = threads})
      t:same(many[1], one[1], ("%s, %d threads: output"):format(title(tiling), threads))
      t:same(many[2], one[2], ("%s, %d threads: lse"):format(title(tiling), threads))
    end
  end
end}

-- A mask that says the same, and of which nothing is known but by looking into each tile.
local function veiled(m, heads, rows, cols)
  local function doubt(i, j) return (i + j) * (i + j) - i * i - 2 * i * j - j * j ~= 0 end -- never
  if not m then return ts.mask(rows, cols, function(i, j) return not doubt(i, j) end) end
  if m.heads then
    return ts.mask(rows, cols, function(i, j, h) return m(i, j, h) ~= doubt(i, j) end, {heads = heads})
  end
  return ts.mask(rows, cols, function(i, j) return m(i, j) ~= doubt(i, j) end)
end

--- Leaving out empty tiles, and not masking full ones, changes no bit.
laws[#laws + 1] = {"skipping", function(c, t)
  local P = c.small
  local cols, masks = P.first_key + P.n_k - 1, {}
  for h = 1, P.heads do
    local m = per_head.single_mask(P, h)
    masks[h] = veiled(m, P.heads, P.n_q, cols)
  end
  local looked = P:with{mask = masks}
  for _, tiling in ipairs(c.tilings) do
    local all, some = context.attention(looked, tiling), context.attention(P, tiling)
    t:same(all[1], some[1], title(tiling) .. ": output")
    t:same(all[2], some[2], title(tiling) .. ": lse")
  end
end}

--- Both roads lie within their bounds of the oracle.
laws[#laws + 1] = {"oracle", function(c, t)
  local P = c.small
  local rows = c:some(P.n_q, math.max(1, (1 << 20) // math.max(1, P.n_k * P.heads * (P.d + P.d_v + 8))))
  local judge = {P:oracle{rows = rows, empty = "zero"}}
  t:of(rows)
  local u = P.dtype == "f32" and 2.0 ^ -24 or 2.0 ^ -53
  local function against(answer, tiling, label)
    local bound = context.bound(P, tiling, rows)
    -- the oracle's own rounding
    local function own(m) return m:to "f64":map(function(x) return math.abs(x) < math.huge and math.abs(x) * u or 0 end) end
    t:answers({answer[1]:take(rows), answer[2]:take(rows)}, judge,
      {output = bound.output + own(judge[1]), lse = bound.lse + own(judge[2]), exact = bound.exact}, label)
  end
  against(context.softmax(P), false, "softmax")
  for _, tiling in ipairs(c.tilings) do against(context.attention(P, tiling), tiling, title(tiling)) end
end}

return laws
