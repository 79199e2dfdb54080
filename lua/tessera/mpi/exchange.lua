-- exchange.lua -- matrices and summaries from one rank to all, from all to one.

local core = require "tessera.core"
local layout = require "tessera.mpi.layout"
local parcel = require "tessera.mpi.parcel"
local ranges = require "tessera.ranges"
local ranks = require "tessera.mpi.core"

local exchange = {}

-- One parcel ----------------------------------------------------------------------------------------

-- Sends the matrices of a parcel, without waiting: a list of requests.
local function send(list, rank)
  local requests = {}
  for n, entry in ipairs(list) do requests[n] = ranks.send(entry.matrix, rank) end
  return requests
end

-- What the header tells, received from `rank`.
local function receive(header, rank, scores)
  local tensors, metadata = parcel.read(header)
  local parts = parcel.room(tensors)
  for _, tensor in ipairs(tensors) do ranks.receive(parts[tensor.name], rank):wait() end
  return parcel.unpack(parts, metadata, scores and metadata and scores(parts.max.cols))
end

local function wait(requests)
  for _, request in ipairs(requests) do request:wait() end
end

-- All of them ---------------------------------------------------------------------------------------

--- Rank `root`'s x, on every rank.
function exchange.broadcast(x, root, scores)
  local header, list
  if ranks.rank == root then header, list = parcel.pack(x) end
  local tensors, metadata = parcel.read(ranks.share(header, root))
  local parts = list and {} or parcel.room(tensors)
  for _, entry in ipairs(list or {}) do parts[entry.name] = entry.matrix end
  for _, tensor in ipairs(tensors) do ranks.broadcast(parts[tensor.name], root) end
  if list then return x end
  return parcel.unpack(parts, metadata, scores and metadata and scores(parts.max.cols))
end

--- Element r + 1 of root's list, on rank r.
function exchange.scatter(list, root, scores)
  local headers, parcels = {}, {}
  for r = 1, ranks.rank == root and ranks.size or 0 do headers[r], parcels[r] = parcel.pack(list[r]) end
  local packed = ranks.share(ranks.rank == root and string.pack(("s8"):rep(ranks.size), table.unpack(headers)) or nil, root)
  headers = {string.unpack(("s8"):rep(ranks.size), packed)}
  if ranks.rank ~= root then return receive(headers[ranks.rank + 1], root, scores) end
  local requests = {}
  for r = 1, ranks.size do
    if r ~= root + 1 then requests[#requests + 1] = send(parcels[r], r - 1) end
  end
  for _, some in ipairs(requests) do wait(some) end
  return list[root + 1]
end

--- The list of what all ranks gave, rank r's at r + 1, on rank `root`; on every other, nothing.
function exchange.gather(x, root, scores)
  local header, list = parcel.pack(x)
  local headers = ranks.texts(header)
  if ranks.rank ~= root then return wait(send(list, root)) end
  local all = {}
  for r = 1, ranks.size do all[r] = r == root + 1 and x or receive(headers[r], r - 1, scores) end
  return all
end

-- Rows ----------------------------------------------------------------------------------------------

--- The rows of these ranges: a view where that is one range.
---@param M matrix
---@param list integer[][]
---@return matrix
function exchange.rows(M, list)
  if #list == 0 then return M:slice(1, 0) end
  if #list == 1 then return M:slice(list[1][1], list[1][2]) end
  return M:take(layout.numbers(list))
end

--- Puts the rows of `some` where these ranges say.
---@param M matrix
---@param list integer[][]
---@param some matrix
function exchange.place(M, list, some)
  local at = 1
  for _, range in ipairs(list) do
    local count = range[2] - range[1] + 1
    M:slice(range[1], range[2]):assign(some:slice(at, at + count - 1))
    at = at + count
  end
end

--- Sends outgoing(r) to each rank r, and receives into incoming(r) what rank r sends here: matrices, of which those without
--- elements are left out on both sides. Calls arrived(r, m) for each, our own too.
---@param outgoing fun(rank: integer): matrix
---@param incoming fun(rank: integer): matrix
---@param arrived fun(rank: integer, m: matrix)
function exchange.all_to_all(outgoing, incoming, arrived)
  local requests, rooms = {}, {}
  local function has_elements(m) return m.rows > 0 and m.cols > 0 end
  for r = 0, ranks.size - 1 do
    if r == ranks.rank then
      arrived(r, outgoing(r))
    else
      rooms[r] = incoming(r)
      if has_elements(rooms[r]) then requests[#requests + 1] = ranks.receive(rooms[r], r) end
      local out = outgoing(r)
      if has_elements(out) then requests[#requests + 1] = ranks.send(out, r) end
    end
  end
  wait(requests)
  for r, m in pairs(rooms) do arrived(r, m) end
end

--- One matrix on every rank of rows that the ranks hold: `mine` those of all[rank + 1], a list of ranges.
---@param mine matrix
---@param all integer[][][]
---@return matrix
function exchange.gather_rows(mine, all)
  local n = 0
  for _, list in ipairs(all) do n = n + ranges.count(list) end
  local function room(rows) return core.matrix.matrix(rows, mine.cols, {dtype = mine.dtype}) end
  local M = room(n)
  exchange.all_to_all(function() return mine end, function(r) return room(ranges.count(all[r + 1])) end,
    function(r, some) exchange.place(M, all[r + 1], some) end)
  return M
end

return exchange
