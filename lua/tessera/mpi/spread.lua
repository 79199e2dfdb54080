-- spread.lua -- a problem spread over the ranks: the queries and keys that this one holds, and which ones the others do.

local check = require "tessera.check"
local contents = require "tessera.mpi.contents"
local exchange = require "tessera.mpi.exchange"
local merge = require "tessera.mpi.merge"
local part = require "tessera.mpi.part"
local ranks = require "tessera.mpi.core"
local sentence = require "tessera.sentence"
local shard = require "tessera.mpi.shard"

local spread = {__name = "tessera.spread"}
spread.__index = spread

--- What a part of the problem takes over (see part.lua).
spread.settings = {"scale", "mask", "score", "sink", "base", "empty", "nonfinite", "heads", "kv_heads"}

--- Raises, on every rank alike, unless all give the same text: `fmt` is of the other rank, rank 0's text, and its own.
---@param text string
---@param fmt string
function spread.agree(text, fmt)
  local all = ranks.texts(text)
  for r, other in ipairs(all) do check.that(other == all[1], fmt, r - 1, all[1], other) end
end

--- `count` numbers from `first` on, held by each of `size` ranks (all of them unless given).
---@param first integer
---@param count integer
---@param size? integer
---@return integer[][][]
function spread.everywhere(first, count, size)
  local list, all = count > 0 and {{first, first + count - 1}} or {}, {}
  for r = 1, size or ranks.size do all[r] = list end
  return all
end

-- Of a problem that every rank holds ----------------------------------------------------------------

-- Ranges that count from 1, counted from `first`.
local function shifted(all, first)
  local moved = {}
  for r, list in ipairs(all) do
    moved[r] = {}
    for n, range in ipairs(list) do moved[r][n] = {range[1] + first - 1, range[2] + first - 1} end
  end
  return moved
end

-- Raises, on every rank alike, unless all hold the same queries, settings, keys and masks.
local function check_same(P)
  merge.meet(P:bottom())
  spread.agree(sentence("%d key(s) from %d on", P.n_k, P.first_key), "ranks 0 and %d: problems of %s, and of %s")
  contents.agree(P, P.K, P.V)
end

--- How P would be spread over `size` ranks: all but the rows that this one would hold.
---@param P problem
---@param o {queries: boolean, keys: boolean, shard: string?, width: integer?, ranks: integer?, size: integer?}
---@return table spread
---@return integer[][][] rows of K and V, of each rank
function spread.plan(P, o)
  local size = o.size or ranks.size
  local how = {scheme = o.shard, width = o.width, ranks = o.ranks or size, size = size}
  local rows = o.keys and shard.deal(P.n_k, how) or spread.everywhere(1, P.n_k, size)
  local self = setmetatable({from = {}, ranks = how.ranks, size = size, n_q = P.n_q, n_k = P.n_k, d = P.d, d_v = P.d_v,
    dtype = P.dtype, first_key = P.first_key, are_queries_spread = o.queries, are_keys_spread = o.keys,
    queries = o.queries and shard.deal(P.n_q, how) or spread.everywhere(1, P.n_q, size), keys = shifted(rows, P.first_key)}, spread)
  for _, name in ipairs(spread.settings) do self.from[name] = P[name] end
  return self, rows
end

--- P, which every rank holds, as if its queries, keys or both had been dealt to them.
---@param P problem
---@param o table as of spread.plan
---@return table
function spread.deal(P, o)
  check_same(P)
  local self, rows = spread.plan(P, o)
  local mine = rows[ranks.rank + 1]
  self.Q, self.K, self.V = exchange.rows(P.Q, self.queries[ranks.rank + 1]), exchange.rows(P.K, mine), exchange.rows(P.V, mine)
  return self
end

-- Numbers -----------------------------------------------------------------------------------------

--- All queries, and all keys, as ranges.
---@return integer[][]
function spread:whole_queries() return self.n_q > 0 and {{1, self.n_q}} or {} end
function spread:whole_keys() return self.n_k > 0 and {{self.first_key, self.first_key + self.n_k - 1}} or {} end

--- Each rank's keys by their rows in a matrix of all keys.
---@return integer[][][]
function spread:rows_of_keys() return shifted(self.keys, 2 - self.first_key) end

-- Parts ---------------------------------------------------------------------------------------------

--- The part of some queries and keys, of which Q, K and V hold the rows, and of some heads; this rank's and all unless given.
---@param piece {Q: matrix?, queries: integer[][]?, K: matrix?, V: matrix?, keys: integer[][]?, heads: integer[]?}
---@return table
function spread:part(piece)
  return part.of(self.from, {
    Q = piece.Q or self.Q, queries = piece.queries or self.queries[ranks.rank + 1],
    K = piece.K or self.K, V = piece.V or self.V, keys = piece.keys or self.keys[ranks.rank + 1], heads = piece.heads,
  })
end

return spread
