-- exchange.lua -- matrices and summaries from one rank to all, from all to one.

local check = require "tessera.check"
local core = require "tessera.core"
local parcel = require "tessera.mpi.parcel"
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

local function row_numbers(ranges)
  local list = {}
  for _, range in ipairs(ranges) do
    for i = range[1], range[2] do list[#list + 1] = i end
  end
  return list
end

--- The rows of these ranges: a view where that is one range.
function exchange.rows(M, ranges)
  if #ranges == 0 then return M:slice(1, 0) end
  if #ranges == 1 then return M:slice(ranges[1][1], ranges[1][2]) end
  return M:take(row_numbers(ranges))
end

--- Puts the rows of `part` where these ranges say.
function exchange.place(M, ranges, part)
  local at = 1
  for _, range in ipairs(ranges) do
    local count = range[2] - range[1] + 1
    M:slice(range[1], range[2]):assign(part:slice(at, at + count - 1))
    at = at + count
  end
end

--- One matrix of parts whose rows these ranges number, `all` a list of them.
function exchange.assemble(parts, all, n)
  local M = core.matrix.matrix(n, parts[1].cols, {dtype = parts[1].dtype})
  for r, part in ipairs(parts) do
    local rows = #row_numbers(all[r])
    check.that(part.rows == rows, "rank %d gave %d row(s) for the %d that its ranges hold", r - 1, part.rows, rows)
    exchange.place(M, all[r], part)
  end
  return M
end

return exchange
