-- merge.lua -- the summaries of all ranks merged into one.

local bracketing = require "tessera.bracketing"
local check = require "tessera.check"
local core = require "tessera.core"
local parcel = require "tessera.mpi.parcel"
local ranks = require "tessera.mpi.core"
local wire = require "tessera.wire"

local merge = {}

-- Meeting -------------------------------------------------------------------------------------------

-- A function from the fingerprints of score functions to such functions: our own where they are ours, else some that stand
-- for them.
local function namer(S, own)
  local known = {[own or false] = core.summary.owner(S).score}
  return function(fingerprints)
    if fingerprints and not known[fingerprints] then
      local stranger = {}
      for h = 1, S.heads do stranger[h] = function(s) return s end end
      known[fingerprints] = stranger
    end
    return known[fingerprints or false]
  end
end

-- Raises what `*` raises on the first two summaries that cannot be merged, by the ranks that hold them.
local function refuse(list)
  for b = 2, #list do
    for a = 1, b - 1 do
      local x, y = list[a], list[b]
      local ok, why = pcall(function() return x.like * y.like end)
      why = not ok and tostring(why):gsub("^[^:]*:%d+: ", "")
        or x.n_q ~= y.n_q and "summaries are of different problems: they differ in the number of queries"
      check.that(not why, "ranks %d and %d: %s", a - 1, b - 1, why)
    end
  end
end

--- What every rank's summary is, told to all before a number moves: a list of {n_q, like}, where `like` is of the same keys
--- and problem, but has no row. The same on every rank, and so is the error where two of them cannot be merged.
---@param S summary
---@return {n_q: integer, like: summary}[]
function merge.meet(S)
  local header = parcel.pack(S)
  local _, own = parcel.read(header)
  local named, list = namer(S, own.score), {}
  for r, text in ipairs(ranks.texts(header)) do
    local tensors, metadata = parcel.read(text)
    list[r] = {n_q = tensors[1].shape[1], like = parcel.unpack(parcel.room(tensors, 0), metadata, named(metadata.score))}
  end
  refuse(list)
  return list
end

local function like_all(list)
  local all = list[1].like
  for r = 2, #list do all = all * list[r].like end
  return all
end

-- The summary of these numbers that is in all else as `like`.
local function summary_like(like, parts)
  return parcel.unpack(parts, wire.metadata(like), core.summary.owner(like).score)
end

local function each_part(parts, act)
  for _, name in ipairs{"max", "norm", "value"} do act(parts[name]) end
end

-- By MPI's own order --------------------------------------------------------------------------------

--- The summary of all keys, on rank `root`; on every other, nothing.
---@param S summary
---@param root integer
---@return summary?
function merge.reduce(S, root)
  local all, parts = like_all(merge.meet(S)), wire.parts(S)
  ranks.reduce(parts.max, parts.norm, parts.value, S.base == 2, root)
  if ranks.rank == root then return summary_like(all, parts) end
end

--- The summary of all keys, on every rank: reduced to rank 0 and sent from there, so that all have the same bits, whatever
--- the order in which MPI merges.
---@param S summary
---@return summary
function merge.allreduce(S)
  local all, parts = like_all(merge.meet(S)), wire.parts(S)
  ranks.reduce(parts.max, parts.norm, parts.value, S.base == 2, 0)
  each_part(parts, function(m) ranks.broadcast(m, 0) end)
  return summary_like(all, parts)
end

-- By an order of the user's -------------------------------------------------------------------------

-- A summary that one rank holds, and that all know of. The product of two moves the right one to where the left one is.
local remote = {}

-- Room for the numbers of a summary of S's shape.
local function room_like(S)
  local function room(cols) return core.matrix.matrix(S.n_q, cols, {dtype = S.dtype}) end
  return {max = room(S.heads), norm = room(S.heads), value = room(S.heads * S.d_v)}
end

function remote.__mul(a, b)
  local S = a.S
  if ranks.rank == b.holder then
    each_part(wire.parts(b.S), function(m) ranks.send(m, a.holder):wait() end)
  elseif ranks.rank == a.holder then
    local parts = room_like(a.S)
    each_part(parts, function(m) ranks.receive(m, b.holder):wait() end)
    S = a.S * summary_like(b.like, parts)
  end
  return setmetatable({holder = a.holder, like = a.like * b.like, S = S}, remote)
end

--- The summary of all keys, on every rank, merged in an order and with a bracketing of positions, of which rank r is r + 1:
--- bit for bit what ts.fold makes of the list of these summaries.
---@param S summary
---@param how? string|table
---@return summary
function merge.fold(S, how)
  local list = {}
  for r, known in ipairs(merge.meet(S)) do list[r] = setmetatable({holder = r - 1, like = known.like, S = S}, remote) end
  local all = bracketing.fold(list, how)
  local parts = ranks.rank == all.holder and wire.parts(all.S) or room_like(S)
  each_part(parts, function(m) ranks.broadcast(m, all.holder) end)
  return summary_like(all.like, parts)
end

return merge
