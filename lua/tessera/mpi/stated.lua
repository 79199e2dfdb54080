-- stated.lua -- a problem of which each rank states its own rows: what mpi.problem makes.

local check = require "tessera.check"
local contents = require "tessera.mpi.contents"
local core = require "tessera.core"
local merge = require "tessera.mpi.merge"
local ranges = require "tessera.ranges"
local ranks = require "tessera.mpi.core"
local spread = require "tessera.mpi.spread"
local together = require "tessera.mpi.together"
local ts = require "tessera"

local kinds = {
  Q = "matrix", K = "matrix", V = "matrix", scale = "any", mask = "any", score = "any", sink = "any",
  heads = "positive", kv_heads = "positive", base = "any", empty = {"error", "zero"}, nonfinite = {"error", "propagate"},
  queries = "table", keys = "table",
}

local function check_ranges(list, rows, name)
  local last = 0
  for _, range in ipairs(list) do
    local from, to = check.whole(range[1], last + 1), check.whole(range[2], last)
    check.arg(from and to and to >= from - 1, 1, "problem", "field '%s': a list of {first, last}, ascending and apart, expected", name)
    last = to
  end
  local count = ranges.count(list)
  check.arg(count == rows, 1, "problem", "field '%s': ranges of %d for %d row(s)", name, count, rows)
end

-- The ranges of all ranks, which must follow each other from `first` (nil: the least) without a hole; then how many, and the first.
local function meet_ranges(list, what, first)
  local all, sorted = {}, {}
  for r, text in ipairs(ranks.texts(ranges.code(list))) do
    all[r] = {}
    for from, to in text:gmatch "(%d+)%-(%d+)" do
      local range = {math.tointeger(from), math.tointeger(to), r - 1}
      table.insert(all[r], range)
      sorted[#sorted + 1] = range
    end
  end
  table.sort(sorted, function(a, b) return a[1] < b[1] end)
  first = first or sorted[1] and sorted[1][1] or 1
  local before = {first, first - 1, 0}
  for _, range in ipairs(sorted) do
    check.that(range[1] > before[2], "ranks %d and %d: both hold %s %d", before[3], range[3], what, range[1])
    check.that(range[1] == before[2] + 1, "no rank holds %s %d", what, before[2] + 1)
    before = range
  end
  return all, before[2] - first + 1, first
end

-- The mask of all queries and keys, or the list with one a head.
local function whole_mask(given, n_q, last, heads)
  if type(given) == "function" then
    return ts.mask(n_q, last, given, debug.getinfo(given, "u").nparams >= 3 and {heads = heads} or nil)
  elseif type(given) == "table" then
    local list = {}
    for h, m in ipairs(given) do list[h] = whole_mask(m, n_q, last, heads) end
    check.arg(#list == heads, 1, "problem", "field 'mask': %d mask(s) for %d head(s)", #list, heads)
    return list
  elseif given ~= nil then
    check.arg(check.type_of(given) == "mask", 1, "problem", "mask or function expected, got %s", check.type_of(given))
    check.arg(given.rows == n_q and given.cols >= last, 1, "problem", "mask is %dx%d, %dx%d expected", given.rows, given.cols, n_q, last)
  end
  return given
end

-- What each rank can say of its own fields, before it hears of the others: the problem of its queries and no key.
local function read(fields)
  check.arg(type(fields) == "table", 1, "problem", "table expected, got %s", check.type_of(fields))
  local f = core.options(fields, 1, "problem", kinds)
  for _, name in ipairs{"Q", "K", "V"} do check.arg(f[name], 1, "problem", "field '%s' is missing", name) end
  check.arg(f.K.rows == f.V.rows, 1, "problem", "K is %dx%d, V is %dx%d: as many rows expected", f.K.rows, f.K.cols, f.V.rows, f.V.cols)
  if f.queries then check_ranges(f.queries, f.Q.rows, "queries") end
  if f.keys then check_ranges(f.keys, f.K.rows, "keys") end
  local own = {Q = f.queries and f.Q:slice(1, 0) or f.Q, K = f.K:slice(1, 0), V = f.V:slice(1, 0)}
  for _, name in ipairs(spread.settings) do if name ~= "mask" then own[name] = f[name] end end
  return f, ts.problem(own)
end

--- The problem of which each rank gives its own rows.
---@param fields table as of mpi.problem
---@return table
return function(fields)
  local f, P = together.call(function() return read(fields) end)
  spread.agree(("queries %s, keys %s"):format(f.queries ~= nil, f.keys ~= nil),
    "ranks 0 and %d: all give ranges, or none does (%s; %s)")
  merge.meet(P:bottom())
  local self = setmetatable({from = {}, ranks = ranks.size, size = ranks.size, Q = f.Q, K = f.K, V = f.V, n_q = f.Q.rows,
    n_k = f.K.rows, d = P.d, d_v = P.d_v, dtype = P.dtype, first_key = 1, are_queries_spread = f.queries ~= nil,
    are_keys_spread = f.keys ~= nil, queries = spread.everywhere(1, f.Q.rows),
    keys = spread.everywhere(1, f.K.rows)}, spread)
  for _, name in ipairs(spread.settings) do self.from[name] = P[name] end
  if f.queries then self.queries, self.n_q = meet_ranges(f.queries, "query", 1) end
  if f.keys then self.keys, self.n_k, self.first_key = meet_ranges(f.keys, "key") end
  self.from.mask = together.call(function()
    return whole_mask(f.mask, self.n_q, self.first_key + self.n_k - 1, P.heads)
  end)
  local said = {mask = self.from.mask, heads = P.heads, n_q = self.n_q, first_key = self.first_key, n_k = self.n_k}
  contents.agree(said, not f.keys and f.K or nil, not f.keys and f.V or nil)
  return self
end
