--- make.lua -- makes a problem of its fields, each checked against the others.

local check = require "tessera.check"
local core = require "tessera.core"
local exact = require "tessera.exact"

local function shape(name, m) return ("%s is %dx%d"):format(name, m.rows, m.cols) end

-- Shapes ------------------------------------------------------------------------------------------

local function check_dtypes(f, need)
  for _, name in ipairs{"K", "V"} do
    need(f[name].dtype == f.Q.dtype, "Q is %s, %s is %s", f.Q.dtype, name, f[name].dtype)
  end
end

-- The widths d and d_v of one head.
local function widths(f, heads, kv_heads, need)
  local Q, K, V = f.Q, f.K, f.V
  need(heads % kv_heads == 0, "heads = %d is no multiple of kv_heads = %d", heads, kv_heads)
  need(Q.cols % heads == 0, "%s, which %d heads do not divide", shape("Q", Q), heads)
  local d = Q.cols // heads
  if heads == 1 then
    need(K.cols == d, "%s, %s: as many columns expected", shape("Q", Q), shape("K", K))
  else
    need(K.cols == kv_heads * d, "%s, %s: with heads = %d and kv_heads = %d, K takes %d column(s)",
      shape("Q", Q), shape("K", K), heads, kv_heads, kv_heads * d)
  end
  need(K.rows == V.rows, "%s, %s: as many rows expected", shape("K", K), shape("V", V))
  need(V.cols % kv_heads == 0, "%s, which %d heads do not divide", shape("V", V), kv_heads)
  return d, V.cols // kv_heads
end

-- Numbers -----------------------------------------------------------------------------------------

local function number(x)
  if type(x) ~= "number" then return check.type_of(x) end
  return x ~= x and "nan" or tostring(x)
end

-- A number, or a list with one a head, as a list; `allowed` says which numbers are.
local function per_head(value, name, heads, allowed, what, need)
  local list, kind = {}, check.type_of(value)
  need(kind == "number" or kind == "table", "field '%s': number or list expected, got %s", name, kind)
  need(kind == "number" or #value == heads, "field '%s': %d number(s) for %d head(s)", name, kind == "table" and #value or 0, heads)
  for h = 1, heads do
    local x = kind == "number" and value or value[h]
    need(type(x) == "number" and allowed(x), "field '%s': %s is not %s", name, number(x), what)
    list[h] = x + 0.0
  end
  return list
end

local function is_finite(x) return x == x and math.abs(x) < math.huge end

-- -inf is none; beyond the range of an f32 (half a step above its largest number) it would be infinite.
local function logit_of(dtype)
  local limit = dtype == "f32" and 0x1.ffffffp127 or math.huge
  return function(x) return x == -math.huge or math.abs(x) < limit end
end

-- Masks -------------------------------------------------------------------------------------------

-- The mask of a predicate over all key numbers up to the last one.
local function from_predicate(predicate, n_q, last, heads)
  local takes_h = debug.getinfo(predicate, "u").nparams >= 3
  return require "tessera.mask"(n_q, last, predicate, takes_h and {heads = heads} or nil)
end

local function check_mask(m, name, n_q, last, first_key, heads, need)
  local fits = m.rows == n_q and (m.cols == last or first_key > 1 and m.cols > last)
  need(fits, "%s, %dx%d expected", shape(name, m), n_q, last)
  need(not m.heads or m.heads == heads, "%s has %d head(s), %d expected", name, m.heads or 0, heads)
end

-- What was given as `mask` -> the mask or list to show, and the list with one a head.
local function masks(given, n_q, n_k, first_key, heads, need)
  if not given then return nil end
  local last = first_key + n_k - 1
  local function one(m, name)
    need(not exact.is_ours(m), "%s: this function makes masks: call it, as in ts.mask.causal(n)", name)
    if type(m) == "function" then m = from_predicate(m, n_q, last, heads) end
    local kind = check.type_of(m)
    need(kind == "mask", "%s: mask or function expected, got %s%s", name, kind,
      kind == "matrix" and "; ts.mask.from(M) is the mask of a matrix" or "")
    check_mask(m, name, n_q, last, first_key, heads, need)
    return m
  end
  local list = {}
  if check.type_of(given) ~= "table" then
    local m = one(given, "mask")
    for h = 1, heads do list[h] = m end
    return m, list
  end
  need(#given == heads, "field 'mask': %d mask(s) for %d head(s)", #given, heads)
  for h = 1, heads do list[h] = one(given[h], ("mask[%d]"):format(h)) end
  return list, list
end

-- Scores ------------------------------------------------------------------------------------------

-- A score as it will run: its program or, where it has to be called, a copy that keeps its upvalues.
local function compile(f, name, n_q, last, heads, need)
  local program, _, wrong = require "tessera.lift".score(f, n_q, last, heads)
  need(not wrong, "%s: number expected from the function, got %s", name, wrong)
  return program or require "tessera.lift.snapshot"(f)
end

-- What was given as `score` -> a list of functions and one of what runs for them, one a head. `compiled` says what runs
-- for those that are known already.
local function scores(given, n_q, last, heads, compiled, need)
  if not given then return nil end
  local functions, runs, kind = {}, {}, check.type_of(given)
  need(kind == "function" or kind == "table", "field 'score': function or list expected, got %s", kind)
  need(kind == "function" or #given == heads, "field 'score': %d function(s) for %d head(s)", kind == "table" and #given or 0, heads)
  for h = 1, heads do
    local f, name = given, "field 'score'"
    if kind == "table" then f, name = given[h], ("score[%d]"):format(h) end
    need(type(f) == "function", "%s: function expected, got %s", name, check.type_of(f))
    need(not exact.is_ours(f), "%s: this function makes score functions: call it, as in ts.score.softcap(50)", name)
    compiled[f] = compiled[f] or compile(f, name, n_q, last, heads, need)
    functions[h], runs[h] = f, compiled[f]
  end
  return functions, runs
end

-- The whole ---------------------------------------------------------------------------------------

--- The problem of these fields; errors blame argument `n` of `fname`.
---@param f table as of ts.problem, each of the right type
---@param n integer
---@param fname string
---@return problem
return function(f, n, fname)
  local function need(ok, fmt, ...) return check.arg(ok, n, fname, fmt, ...) end
  for _, name in ipairs{"Q", "K", "V"} do need(f[name], "field '%s' is missing", name) end
  local heads = f.heads or 1
  local kv_heads, first_key = f.kv_heads or heads, f.first_key or 1
  check_dtypes(f, need)
  local d, d_v = widths(f, heads, kv_heads, need)
  need(first_key <= math.maxinteger - f.K.rows, "field 'first_key': %d is too large", first_key)
  local scale = per_head(f.scale or d > 0 and 1 / math.sqrt(d) or 1, "scale", heads, is_finite, "finite", need)
  local sink = f.sink and per_head(f.sink, "sink", heads, logit_of(f.Q.dtype), "a logit", need)
  local two = check.is_base_two(f.base, n, fname)
  local mask, mask_list = masks(f.mask, f.Q.rows, f.K.rows, first_key, heads, need)
  local given = {compiled = f.compiled or {}}
  for name, value in pairs(f) do given[name] = value end
  local functions, runs = scores(f.score, f.Q.rows, first_key + f.K.rows - 1, heads, given.compiled, need)
  given.predicate = f.predicate or type(f.mask) ~= "userdata" and f.mask or nil
  given.mask, given.score = mask, f.score or nil
  given.empty, given.nonfinite = f.empty or "error", f.nonfinite or "error"
  for _, name in ipairs{"scale", "sink", "score", "predicate"} do
    if type(given[name]) == "table" then given[name] = table.move(given[name], 1, heads, 1, {}) end
  end
  return core.problem.new{
    Q = f.Q, K = f.K, V = f.V, d = d, d_v = d_v, heads = heads, kv_heads = kv_heads,
    first_key = first_key, two = two, zero = f.empty == "zero", propagate = f.nonfinite == "propagate",
    scale = scale, sink = sink, mask = mask, masks = mask_list, scores = functions,
    runs = runs, given = given,
  }
end
