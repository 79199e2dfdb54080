-- ring.lua -- keys and values on their way around the ranks, each to the one with the next number.

local part = require "tessera.mpi.part"
local ranges = require "tessera.ranges"
local ranks = require "tessera.mpi.core"
local ts = require "tessera"

local ring = {}
ring.__index = ring

local me, size = ranks.rank, ranks.size

-- Whose keys rank r has at hand at a step.
local function origin(r, step) return (r - step) % size end

-- wanted[r + 1][o + 1]: whether r's queries may use any of o's keys. Every rank finds its own row.
local function meet_wanted(D)
  local own = {}
  for o, keys in ipairs(D.keys) do own[o] = part.is_empty(D.from, D.queries[me + 1], keys) and "0" or "1" end
  local wanted = {}
  for r, text in ipairs(ranks.texts(table.concat(own))) do
    wanted[r] = {}
    for o = 1, size do wanted[r][o] = text:sub(o, o) == "1" end
  end
  return wanted
end

--- Nothing has moved: at step 0 every rank has its own.
---@param D table
---@return table
function ring.begin(D)
  local self = setmetatable({D = D, wanted = meet_wanted(D), requests = {}, rooms = {}}, ring)
  self.coming = {K = D.K, V = D.V, keys = D.keys[me + 1]}
  return self
end

--- Whether rank r's queries may use the keys that it has at hand at a step.
---@param r integer
---@param step integer
---@return boolean
function ring:is_wanted(r, step) return self.wanted[r + 1][origin(r, step) + 1] end

--- Whether what rank r has at hand at a step goes on: a rank further on wants it.
---@param r integer
---@param step integer
---@return boolean
function ring:goes_on(r, step)
  for later = step + 1, size - 1 do
    if self:is_wanted((r + later - step) % size, later) then return true end
  end
  return false
end

-- Room for the keys of rank o, in one of two places in turn: those at hand are in the other.
function ring:room(o, step)
  local D, rows, most = self.D, ranges.count(self.D.keys[o + 1]), 0
  for _, keys in ipairs(D.keys) do most = math.max(most, ranges.count(keys)) end
  local place = self.rooms[step % 2] or {K = ts.matrix(most, D.K.cols, {dtype = D.dtype}), V = ts.matrix(most, D.V.cols, {dtype = D.dtype})}
  self.rooms[step % 2] = place
  return {K = place.K:slice(1, rows), V = place.V:slice(1, rows), keys = D.keys[o + 1]}
end

function ring:wait()
  for _, request in ipairs(self.requests) do request:wait() end
  self.requests = {}
end

--- What is at hand at a step, once it is all there; nil where nothing came. Sends it on, and begins to receive what comes next.
---@param step integer from 0, one after the other
---@return {K: matrix, V: matrix, keys: integer[][]}?
function ring:pass(step)
  self:wait()
  local at_hand, before = self.coming, (me - 1) % size
  self.coming = nil
  if self:goes_on(before, step) then
    self.coming = self:room(origin(before, step), step)
    for _, name in ipairs{"K", "V"} do table.insert(self.requests, ranks.receive(self.coming[name], before)) end
  end
  if self:goes_on(me, step) then
    for _, name in ipairs{"K", "V"} do table.insert(self.requests, ranks.send(at_hand[name], (me + 1) % size)) end
  end
  return at_hand
end

--- Lets messages move: to be called between pieces of work.
function ring:progress()
  for _, request in ipairs(self.requests) do request:test() end
end

return ring
