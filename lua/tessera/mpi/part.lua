-- part.lua -- the problem of some queries, keys and heads of a larger one, masked and scored as where they stand in that.

local core = require "tessera.core"
local layout = require "tessera.mpi.layout"
local per_head = require "tessera.per_head"
local ranges = require "tessera.ranges"
local ts = require "tessera"

local part = {}
part.__index = part

-- Entries from .. to of a list with one a head; what all heads share as it is.
local function of_heads(field, heads)
  if type(field) ~= "table" then return field end
  return table.move(field, heads[1], heads[2], 1, {})
end

-- Masks and scores ----------------------------------------------------------------------------------

local function placed_mask(m, self, I, J)
  local n_q, n_k = ranges.count(self.queries), ranges.count(self.keys)
  if not m.heads then return ts.mask(n_q, n_k, function(i, j) return m(I(i), J(j)) end) end
  local before = self.heads[1] - 1
  return ts.mask(n_q, n_k, function(i, j, h) return m(I(i), J(j), h + before) end, {heads = self.heads[2] - before})
end

local function placed_score(f, self, I, J)
  local before = self.heads[1] - 1
  return function(s, i, j, h) return f(s, I(i), J(j), h + before) end
end

-- `place` of what all heads share, or of each entry of the list for these heads, equal ones once.
local function placed(field, place, self, I, J)
  if not field then return nil end
  if type(field) ~= "table" then return place(field, self, I, J) end
  local known, list = {}, {}
  for n, x in ipairs(of_heads(field, self.heads)) do
    known[x] = known[x] or place(x, self, I, J)
    list[n] = known[x]
  end
  return list
end

local function masks(self, from)
  if not from.mask then return nil end
  return placed(from.mask, placed_mask, self, layout.of(self.queries), layout.of(self.keys))
end

-- The same of all heads: nil, one mask, or a list with one a head.
local function masks_between(from, queries, keys)
  return masks({queries = queries, keys = keys, heads = {1, from.heads}}, from)
end

-- Pieces --------------------------------------------------------------------------------------------

--- Keys and values as pieces, each of which masks see at one distance from their own numbers: then they are as fast as of
--- the whole. Stripes, and many ranges, are one piece.
---@param K matrix
---@param V matrix
---@param keys integer[][]
---@return {K: matrix, V: matrix, keys: integer[][]}[]
function part.pieces(K, V, keys)
  if #keys ~= 2 then return {{K = K, V = V, keys = keys}} end
  local first = ranges.count{keys[1]}
  return {
    {K = K:slice(1, first), V = V:slice(1, first), keys = {keys[1]}},
    {K = K:slice(first + 1, K.rows), V = V:slice(first + 1, V.rows), keys = {keys[2]}},
  }
end

-- Making one ----------------------------------------------------------------------------------------

--- A part of the problem that `from` says (fields as of ts.problem, and of heads that are all there): Q, K and V hold the rows
--- of `queries` and `keys`, lists of {first, last}, and the columns of `heads` = {first, last}, all unless given.
---@param from table
---@param piece {Q: matrix, K: matrix, V: matrix, queries: integer[][], keys: integer[][], heads: integer[]?}
---@return table
function part.of(from, piece)
  local self = setmetatable({from = from, queries = piece.queries, keys = piece.keys, heads = piece.heads or {1, from.heads}}, part)
  local heads = self.heads[2] - self.heads[1] + 1
  self.problem = ts.problem{
    Q = piece.Q, K = piece.K, V = piece.V, heads = heads, kv_heads = heads * from.kv_heads // from.heads,
    scale = of_heads(from.scale, self.heads), sink = of_heads(from.sink, self.heads) or nil, base = from.base,
    mask = masks(self, from), score = placed(from.score, placed_score, self, layout.of(self.queries), layout.of(self.keys)),
    empty = from.empty, nonfinite = from.nonfinite,
  }
  return self
end

--- How many cells of these queries and keys are allowed, over all heads.
---@param from table
---@param queries integer[][]
---@param keys integer[][]
---@return integer
function part.count(from, queries, keys)
  local cells = ranges.count(queries) * ranges.count(keys)
  if not from.mask or cells == 0 then return cells * from.heads end
  local m, all = masks_between(from, queries, keys), 0
  for h = 1, from.heads do
    local own = per_head.of(m, h)
    all = all + (own.heads and own:count(1, own.rows, 1, own.cols, h) or own:count())
  end
  return all
end

-- The least of 1 .. n that `holds`, which all above it do; n holds. It is mostly the first: steps grow from there.
local function least(n, holds)
  local low, high, step = 1, 1, 1
  while high < n and not holds(high) do
    low, step = high + 1, 2 * step
    high = math.min(n, high + step)
  end
  while low < high do
    local middle = (low + high) // 2
    if holds(middle) then high = middle else low = middle + 1 end
  end
  return low
end

-- The first and the last key of a mask that any query may use, or nil.
local function used_keys(m)
  local none = ts.mask.none{m.rows, m.cols}
  local function any(keeps) return (m & ts.mask(m.rows, m.cols, keeps)):differs(none) ~= nil end
  if not m:differs(none) then return nil end
  local first = least(m.cols, function(x) return any(function(_, j) return j <= x end) end)
  local from_end = least(m.cols, function(x) return any(function(_, j) return j > m.cols - x end) end)
  return first, m.cols + 1 - from_end
end

--- Whether none of these queries may use any of these keys, under any head.
---@param from table
---@param queries integer[][]
---@param keys integer[][]
---@return boolean
function part.is_empty(from, queries, keys)
  local n_q, n_k = ranges.count(queries), ranges.count(keys)
  if n_q == 0 or n_k == 0 then return true end
  local given = masks_between(from, queries, keys)
  if not given then return false end
  for _, m in ipairs(type(given) == "table" and given or {given}) do
    if m:differs(ts.mask.none{n_q, n_k}) then return false end
  end
  return true
end

--- Between which of these keys those lie that any of these queries may use, under any head, as positions in them; nil where
--- there is none.
---@param from table
---@param queries integer[][]
---@param keys integer[][]
---@return integer? first, integer? last
function part.used(from, queries, keys)
  local n_q, n_k = ranges.count(queries), ranges.count(keys)
  if n_q == 0 or n_k == 0 then return nil end
  local given = masks_between(from, queries, keys)
  if not given then return 1, n_k end
  local first, last = n_k + 1, 0
  for _, m in ipairs(type(given) == "table" and given or {given}) do
    local low, high = used_keys(m)
    if low then first, last = math.min(first, low), math.max(last, high) end
  end
  if first <= last then return first, last end
end

-- Answers -------------------------------------------------------------------------------------------

-- f(...), whose errors speak of rows, keys and heads of the whole.
local function told(self, f, ...)
  local results = table.pack(pcall(f, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local message = results[2]
  if type(message) == "string" then
    local I, J = layout.of(self.queries), layout.of(self.keys)
    local function by(at) return function(word, n) return ("%s %d"):format(word, at(math.tointeger(n))) end end
    message = message:gsub("(query) (%d+)", by(I)):gsub("(row) (%d+)", by(I)):gsub("(key) (%d+)", by(J))
      :gsub("rows [%d, ]+", function(list) return (list:gsub("%d+", function(n) return I(math.tointeger(n)) end)) end)
      :gsub("(head) (%d+)", by(function(h) return h + self.heads[1] - 1 end))
  end
  error(message, 0)
end

--- Σ of its queries over its keys, numbered from 1.
---@return summary
function part:own_summary() return told(self, self.problem.summary, self.problem) end

-- The summary of its queries of these numbers, over these keys.
local function summary_of(self, keys, max, norm, value)
  local P = self.problem
  local none = P:with{K = P.K:slice(1, 0), V = P.V:slice(1, 0), mask = false, score = false}
  return core.summary.new{max = max, norm = norm, value = value, two = P.base == 2, keys = keys,
    owner = core.summary.owner(none:bottom())}
end

--- Σ of its queries over its keys, which have their numbers of the whole. Two parts of the same queries merge.
---@return summary
function part:summary()
  local S = self:own_summary()
  return summary_of(self, self.keys, S.max, S.norm, S.value)
end

--- Its output and lse, where its keys are all that its queries may use.
---@return matrix O, matrix lse
function part:attention() return told(self, self.problem.attention, self.problem) end

--- The output and lse of its queries, whose summary over all keys is S.
---@param S summary
---@return matrix O, matrix lse
function part:finish(S) return told(self, S.output, S), S:lse() end

--- The same of a summary of these numbers.
---@param max matrix
---@param norm matrix
---@param value matrix
---@return matrix O, matrix lse
function part:finish_numbers(max, norm, value) return self:finish(summary_of(self, {}, max, norm, value)) end

return part
