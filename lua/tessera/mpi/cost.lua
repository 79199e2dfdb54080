-- cost.lua -- what a scheme takes, told before it runs: bytes, steps, and who computes how much.

local part = require "tessera.mpi.part"
local ranges = require "tessera.ranges"
local route = require "tessera.mpi.route"
local shard = require "tessera.mpi.shard"

local cost = {}

-- Numbers -------------------------------------------------------------------------------------------

local function rounds(size)
  local n = 0
  while 1 << n < size do n = n + 1 end
  return n
end

-- How many messages each rank sends where `root` sends the same to all by a binomial tree.
local function tree_sends(size, root)
  local list = {}
  for r = 0, size - 1 do
    local place, count, reach = (r - root) % size, 0, 1
    while reach < size do
      if place < reach and place + reach < size then count = count + 1 end
      reach = 2 * reach
    end
    list[r + 1] = count
  end
  return list
end

-- Bytes of a row: of Q, of K and V, of a summary, of the output and lse.
local function widths(D)
  local size, heads, kv = D.dtype == "f32" and 4 or 8, D.from.heads, D.from.kv_heads
  return {q = heads * D.d * size, kv = kv * (D.d + D.d_v) * size, summary = heads * (2 + D.d_v) * size, out = heads * (1 + D.d_v) * size}
end

local function add(list, amounts, times)
  for r, n in ipairs(amounts) do list[r] = list[r] + n * times end
end

-- What each rank sends when it sends its own rows, of so many bytes each, to all others.
local function add_rows_to_all(c, all, width)
  for r, list in ipairs(all) do c.sent[r] = c.sent[r] + (c.ranks - 1) * ranges.count(list) * width end
end

-- Each rank's cells of its own queries and the keys that `keys_of` says.
local function count_pairs(D, c, keys_of)
  for r, queries in ipairs(D.queries) do
    for _, keys in ipairs(keys_of(r)) do c.pairs[r] = c.pairs[r] + part.count(D.from, queries, keys) end
  end
end

-- Schemes -------------------------------------------------------------------------------------------

local schemes = {}

-- Reductions and broadcasts are counted as binomial trees: MPI may choose others, of as many messages in all.
function schemes.keys(D, c, width)
  if not D.are_queries_spread then
    local rows = D.n_q
    for r = 2, c.ranks do c.sent[r] = c.sent[r] + rows * width.summary end
    add(c.sent, tree_sends(c.ranks, 0), rows * width.summary)
    c.steps = 2 * rounds(c.ranks)
    count_pairs(D, c, function(r) return {D.keys[r]} end)
    for r = 1, c.ranks do c.buffers[r] = rows * width.summary end
    return
  end
  for root, queries in ipairs(D.queries) do
    local rows = ranges.count(queries)
    add(c.sent, tree_sends(c.ranks, root - 1), rows * width.q)
    for r = 1, c.ranks do
      if r ~= root then c.sent[r] = c.sent[r] + rows * width.summary end
      c.pairs[r] = c.pairs[r] + part.count(D.from, queries, D.keys[r])
      c.buffers[r] = math.max(c.buffers[r], rows * (width.summary + width.q))
    end
  end
  c.steps = 2 * rounds(c.ranks) * c.ranks
end

function schemes.ring(D, c, width)
  local wanted = {}
  for r, queries in ipairs(D.queries) do wanted[r] = route.wanted(D, queries) end
  local way = route.new(wanted)
  for step = 0, c.ranks - 2 do
    local all = 0
    for r = 0, c.ranks - 1 do
      local rows = way:rows_sent(r, step)
      c.sent[r + 1], all = c.sent[r + 1] + rows * width.kv, all + rows
    end
    if all > 0 then c.steps = step + 1 end
  end
  for r = 0, c.ranks - 1 do
    local most, rooms = way:rooms(r)
    c.buffers[r + 1] = most * rooms * width.kv
  end
  count_pairs(D, c, function() return D.keys end)
end

function schemes.queries(D, c, width)
  if D.are_keys_spread then
    add_rows_to_all(c, D.keys, width.kv)
    for r = 1, c.ranks do c.buffers[r] = D.n_k * width.kv end
    c.steps = 1
  end
  count_pairs(D, c, function() return {D:whole_keys()} end)
end

function schemes.heads(D, c, width)
  local dealt = shard.heads(D.from.kv_heads, D.ranks, c.ranks)
  local function part_of(r) return (dealt[r][2] - dealt[r][1] + 1) / D.from.kv_heads end
  local all = part.count(D.from, D:whole_queries(), D:whole_keys())
  for r = 1, c.ranks do
    local elsewhere = 1 - part_of(r)
    if D.are_queries_spread then c.sent[r] = c.sent[r] + ranges.count(D.queries[r]) * width.q * elsewhere end
    if D.are_keys_spread then c.sent[r] = c.sent[r] + ranges.count(D.keys[r]) * width.kv * elsewhere end
    local rows = 0 -- of the output, that go elsewhere
    for other = 1, c.ranks do if other ~= r then rows = rows + ranges.count(D.queries[other]) end end
    c.sent[r] = math.tointeger(c.sent[r] + rows * width.out * part_of(r))
    c.pairs[r] = math.tointeger(all * part_of(r)) or all * part_of(r)
    c.buffers[r] = math.tointeger(part_of(r) * (D.n_q * width.out + (D.are_queries_spread and D.n_q * width.q or 0)
      + (D.are_keys_spread and D.n_k * width.kv or 0)))
  end
  c.steps = D.are_queries_spread and 2 or 1
end

-- The whole -----------------------------------------------------------------------------------------

--- What `scheme` takes on D; with `gathers`, all rows of the results come to every rank in the end.
---@param D table
---@param scheme string
---@param gathers boolean
---@return table
function cost.of(D, scheme, gathers)
  local c = {scheme = scheme, ranks = D.size, steps = 0, sent = {}, pairs = {}, buffers = {}, gathered = 0, bytes = 0}
  for r = 1, c.ranks do c.sent[r], c.pairs[r], c.buffers[r] = 0, 0, 0 end
  local width = widths(D)
  schemes[scheme](D, c, width)
  if gathers then
    add_rows_to_all(c, D.queries, width.out)
    c.gathered = (c.ranks - 1) * D.n_q * width.out
    c.steps = c.steps + (c.ranks > 1 and 1 or 0)
  end
  local most, all = 0, 0
  for r = 1, c.ranks do
    c.bytes, all, most = c.bytes + c.sent[r], all + c.pairs[r], math.max(most, c.pairs[r])
  end
  c.balance = most > 0 and all / (most * c.ranks) or 1.0
  return c
end

return cost
