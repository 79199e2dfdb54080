-- schemes.lua -- attention over ranks, in four ways. Each begins and ends alike: a rank holds its queries, keys and values, and
-- gets the output and lse of its queries. They differ in what travels.

local exchange = require "tessera.mpi.exchange"
local merge = require "tessera.mpi.merge"
local part = require "tessera.mpi.part"
local ranges = require "tessera.ranges"
local ranks = require "tessera.mpi.core"
local ring = require "tessera.mpi.ring"
local running = require "tessera.mpi.running"
local shard = require "tessera.mpi.shard"
local together = require "tessera.mpi.together"
local ts = require "tessera"

local schemes = {}

local me, size = ranks.rank, ranks.size

local function room(D, rows, cols) return ts.matrix(rows, cols, {dtype = D.dtype}) end

-- Keys ----------------------------------------------------------------------------------------------

-- The summary of these queries over this rank's keys.
local function summary_of_mine(D, Q, queries)
  local list = part.pieces(D.K, D.V, D.keys[me + 1])
  for n, piece in ipairs(list) do
    piece.Q, piece.queries = Q, queries
    list[n] = D:part(piece):summary()
  end
  return ts.fold(list)
end

--- Queries travel: every rank summarises its own keys for them, and ⋆ reduces the summaries (Shyam et al. 2024, "tree
--- attention"). Where all ranks hold the queries, nothing else travels.
function schemes.keys(D)
  if not D.are_queries_spread then
    local S = merge.allreduce(together.call(function() return summary_of_mine(D, D.Q, D.queries[me + 1]) end))
    return together.call(function() return D:part{}:finish(S) end)
  end
  local mine
  for r = 0, size - 1 do
    local queries = D.queries[r + 1]
    local Q = r == me and D.Q or room(D, ranges.count(queries), D.Q.cols)
    ranks.broadcast(Q, r)
    local S = merge.reduce(together.call(function() return summary_of_mine(D, Q, queries) end), r)
    if r == me then mine = S end
  end
  return together.call(function() return D:part{}:finish(mine) end)
end

-- Ring ----------------------------------------------------------------------------------------------

--- Keys and values travel, from rank to rank around a ring; at each step a rank adds those at hand to the summaries of its
--- queries, while they go on to the next one and those of the one before come in (Liu et al. 2023, "ring attention"). What
--- the mask makes empty is not computed, and keys that no rank further on may use do not travel.
function schemes.ring(D)
  local journey = ring.begin(D)
  local own = running.new(D, journey.route)
  for step = 0, size - 1 do
    own:add(step, journey:pass(step), function() journey:progress() end)
  end
  return own:results()
end

-- Queries -------------------------------------------------------------------------------------------

--- All keys and values come to every rank, which then answers its own queries.
function schemes.queries(D)
  local K, V, keys = D.K, D.V, D.keys[me + 1]
  if D.are_keys_spread then
    K, V = exchange.gather_rows(K, D:rows_of_keys()), exchange.gather_rows(V, D:rows_of_keys())
    keys = D:whole_keys()
  end
  local own = D:part{K = K, V = V, keys = keys}
  return together.call(function() return own:attention() end)
end

-- Heads ---------------------------------------------------------------------------------------------

-- The columns of these heads, each `width` wide.
local function columns(M, heads, width) return M:slice(1, M.rows, (heads[1] - 1) * width + 1, heads[2] * width) end

-- All rows of the columns of our heads: every rank sends those of its rows, where rows are spread.
local function gather_columns(D, M, all, heads, width)
  if not all then return columns(M, heads[me + 1], width) end
  local n = 0
  for _, list in ipairs(all) do n = n + ranges.count(list) end
  local cols = (heads[me + 1][2] - heads[me + 1][1] + 1) * width
  local whole = room(D, n, cols)
  exchange.all_to_all(function(r) return columns(M, heads[r + 1], width) end,
    function(r) return room(D, ranges.count(all[r + 1]), cols) end,
    function(r, some) exchange.place(whole, all[r + 1], some) end)
  return whole
end

-- The other way: all columns of our rows.
local function gather_heads(D, M, heads, width)
  local rows = ranges.count(D.queries[me + 1])
  local whole = room(D, rows, D.from.heads * width)
  exchange.all_to_all(function(r) return exchange.rows(M, D.queries[r + 1]) end,
    function(r) return columns(whole, heads[r + 1], width) end,
    function(r, some) if r == me then columns(whole, heads[r + 1], width):assign(some) end end)
  return whole
end

--- Heads are dealt: each rank gets all rows of its heads' columns, answers them, and rows go back (Jacobs et al. 2023,
--- "Ulysses"). A rank with no key head of its own waits.
function schemes.heads(D)
  local kv, heads, group = shard.heads(D.from.kv_heads, D.ranks, size), {}, D.from.heads // D.from.kv_heads
  for r, own in ipairs(kv) do heads[r] = {(own[1] - 1) * group + 1, own[2] * group} end
  local Q = gather_columns(D, D.Q, D.are_queries_spread and D.queries, heads, D.d)
  local K = gather_columns(D, D.K, D.are_keys_spread and D:rows_of_keys(), kv, D.d)
  local V = gather_columns(D, D.V, D.are_keys_spread and D:rows_of_keys(), kv, D.d_v)
  local O, lse = together.call(function()
    if heads[me + 1][2] < heads[me + 1][1] then return room(D, D.n_q, 0), room(D, D.n_q, 0) end
    return D:part{Q = Q, queries = D:whole_queries(), K = K, V = V, keys = D:whole_keys(), heads = heads[me + 1]}:attention()
  end)
  return gather_heads(D, O, heads, D.d_v), gather_heads(D, lse, heads, 1)
end

return schemes
