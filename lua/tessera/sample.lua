--- Samples: things drawn by chance, from a seed. Without one, each draw of a process is another.
--     ts.sample.permutation(3, {seed = 1})[1] == ts.sample.permutation(3, {seed = 1})[1]    --> true

local core = require "tessera.core"
local check = require "tessera.check"
local listed = require "tessera.listed"
local ts = require "tessera"

local sample = {}

-- A function that draws whole numbers from 0 to bound - 1: `count` of them at most.
local function dice(count, seed)
  local numbers, at = ts.rand(1, math.max(count, 1), {seed = seed}), 0
  return function(bound)
    at = at + 1
    return math.floor(numbers(1, at) * bound)
  end
end

local function seed_of(options, n, name) return core.options(options, n, name, {seed = "integer"}).seed end

--- An order of 1 .. n, each as likely as any other.
--     P:attention{k = 4, order = ts.sample.permutation(P.n_k // 4, {seed = 1})}
---@param n integer
---@param options? {seed: integer}
---@return integer[]
function sample.permutation(n, options)
  n = check.count(n, 1, "permutation", "n", 0, 1 << 24)
  local draw = dice(n, seed_of(options, 2, "permutation"))
  local p = {}
  for i = 1, n do p[i] = i end
  for i = n, 2, -1 do
    local j = draw(i) + 1
    p[i], p[j] = p[j], p[i]
  end
  return listed(p)
end

-- The tree below `node` as a nested table; leaves take their numbers from the left.
local function nested(link, node, next_leaf)
  if node % 2 == 0 then return next_leaf() end
  local left = nested(link, link[node], next_leaf)
  return {left, nested(link, link[node + 1], next_leaf)}
end

--- A bracketing of n, each of the Catalan(n - 1) as likely as any other (Rémy 1985; algorithm R in
-- Knuth 4A, 7.2.1.6: node 2k - 1 has the children link[2k - 1] and link[2k]; even numbers are leaves).
--     ts.fold(list, ts.sample.bracketing(#list, {seed = 1}))
---@param n integer from 1
---@param options? {seed: integer}
---@return table
function sample.bracketing(n, options)
  n = check.count(n, 1, "bracketing", "n", 1, 1 << 16)
  local draw = dice(n, seed_of(options, 2, "bracketing"))
  if n == 1 then return listed{1} end
  local link = {[0] = 0}
  for k = 1, n - 1 do
    local x = draw(4 * k - 2)
    local at, side = x // 2, x % 2
    link[2 * k - side] = 2 * k
    link[2 * k - 1 + side] = link[at]
    link[at] = 2 * k - 1
  end
  local leaf = 0
  return listed(nested(link, link[0], function()
    leaf = leaf + 1
    return leaf
  end))
end

-- Stirling numbers of the second kind: ways to part n keys into k sets, as doubles.
local function stirling(n)
  local rows = {[0] = {[0] = 1.0}}
  for m = 1, n do
    rows[m] = {[0] = 0.0}
    for k = 1, m do rows[m][k] = k * (rows[m - 1][k] or 0.0) + rows[m - 1][k - 1] end
  end
  return rows
end

-- A number of sets for n keys, in proportion to the partitions that have it.
local function draw_sets(ways, n, draw)
  local total = 0.0
  for k = 0, n do total = total + ways[n][k] end
  local x = draw(2 ^ 53) / 2 ^ 53 * total
  for k = 0, n do
    x = x - ways[n][k]
    if x < 0 then return k end
  end
  return n
end

--- A partition of the keys 1 .. n into k sets (any number without k), each as likely as any other.
-- A set is a list of {first, last}, as the tiling's `k` takes it.
--     P:attention{k = ts.sample.partition(P.n_k, 3, {seed = 1})}
---@param n integer up to 200
---@param k? integer
---@param options? {seed: integer}
---@return integer[][][]
function sample.partition(n, k, options)
  n = check.count(n, 1, "partition", "n", 0, 200)
  local draw, ways = dice(2 * n + 1, seed_of(options, 3, "partition")), stirling(n)
  k = k or draw_sets(ways, n, draw)
  k = math.tointeger(k) or k
  check.arg((ways[n][k] or 0) > 0, 2, "partition", "there is no partition of %d key(s) into %s", n, k)
  local set = {} -- of each key; the last key is alone in S(n - 1, k - 1) of S(n, k) partitions
  local sets = k
  for key = n, 1, -1 do
    if draw(2 ^ 53) / 2 ^ 53 * ways[key][sets] < ways[key - 1][sets - 1] then
      set[key] = sets
      sets = sets - 1
    else
      set[key] = draw(sets) + 1
    end
  end
  return require "tessera.bracketing".sets(set, n)
end

-- The mask of a problem: `density` of all cells, by chance; nil for all of them.
local function random_mask(n_q, n_k, density, seed)
  if not density then return nil end
  return ts.mask.random({n_q, n_k}, density, {seed = seed})
end

-- Whole numbers from -size to size; in columns (of `width`) behind `kept`, 0.
local function integers(rows, heads, width, kept, size, seed, dtype)
  local draw = ts.rand(rows, heads * width, {seed = seed})
  return ts.matrix(rows, heads * width, function(i, j)
    return (j - 1) % width < kept and math.floor(draw(i, j) * (2 * size + 1)) - size or 0
  end, {dtype = dtype})
end

--- A problem whose rows are exact: on every road, in every order and with every bracketing, summaries and
-- outputs have the same bits. Base 2, scale 1, whole numbers so small that nothing is rounded: with
-- scores from -r to r and values up to v, n_k · v · 2^(2r) ≤ 2^24 (f32) or 2^53 (f64).
--     local P = ts.sample.exact{n_q = 3, n_k = 12, dtype = "f32", seed = 1}
---@param options? {n_q: integer, n_k: integer, d: integer, d_v: integer, heads: integer, kv_heads: integer,
---   dtype: string, density: number, sink: boolean, seed: integer}
---@return problem
function sample.exact(options)
  local o = core.options(options, 1, "exact", {
    n_q = "count", n_k = "count", d = "count", d_v = "count", heads = "positive", kv_heads = "positive",
    dtype = "dtype", density = "number", sink = "boolean", seed = "integer", empty = {"error", "zero"},
  })
  local n_q, n_k, d, d_v = o.n_q or 4, o.n_k or 8, o.d or 4, o.d_v or 3
  local heads = o.heads or 1
  local kv_heads, dtype = o.kv_heads or heads, o.dtype or "f64"
  local seed = o.seed or math.floor(ts.rand(1, 1)(1, 1) * 2 ^ 31)
  local bits, size = dtype == "f32" and 24 or 53, 4
  -- n_k + 1 for a sink; scores are at most `reach` in size.
  local reach = math.min(d, (bits - math.ceil(math.log(math.max(1, n_k + 1) * size, 2))) // 2, 8)
  check.arg(reach >= math.min(d, 1), 1, "exact", "n_k = %d is too large for %s", n_k, dtype)
  local stream = seed * 8
  return ts.problem{
    Q = integers(n_q, heads, d, d, 1, stream + 1, dtype),
    K = integers(n_k, kv_heads, d, reach, 1, stream + 2, dtype), -- so a score has at most `reach` terms
    V = integers(n_k, kv_heads, d_v, d_v, size, stream + 3, dtype),
    scale = 1, base = 2, heads = heads, kv_heads = kv_heads, empty = o.empty,
    mask = random_mask(n_q, n_k, o.density, stream + 4),
    sink = o.sink and math.floor(ts.rand(1, 1, {seed = stream + 5})(1, 1) * 3) - 1 or nil,
  }
end

return check.closed(sample, "ts.sample")
