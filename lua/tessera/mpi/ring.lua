-- ring.lua -- keys and values on their way around the ranks, each to the one with the next number.

local layout = require "tessera.mpi.layout"
local ranks = require "tessera.mpi.core"
local route = require "tessera.mpi.route"
local ts = require "tessera"

local ring = {}
ring.__index = ring

local me, size = ranks.rank, ranks.size

-- What all ranks want, of which each finds its own part. The collector by itself would wait until memory has doubled.
local function meet_wanted(D)
  local own, wanted = {}, {}
  for o, rows in ipairs(route.wanted(D, D.queries[me + 1], collectgarbage)) do
    own[o] = rows and ("%d-%d"):format(rows[1], rows[2]) or "0-0"
  end
  for r, text in ipairs(ranks.texts(table.concat(own, " "))) do
    wanted[r] = {}
    for first, last in text:gmatch "(%d+)%-(%d+)" do
      table.insert(wanted[r], first ~= "0" and {math.tointeger(first), math.tointeger(last)})
    end
  end
  return wanted
end

--- Nothing has moved: at step 0 every rank has its own.
---@param D table
---@return table
function ring.begin(D)
  local self = setmetatable({D = D, route = route.new(meet_wanted(D)), requests = {}, rooms = {}}, ring)
  self.coming = {K = D.K, V = D.V, keys = D.keys[me + 1], rows = {1, D.K.rows}}
  return self
end

-- Room for these rows of rank o's keys, in one of two places in turn: those at hand are in the other.
local function room(self, o, rows, step)
  local D, count, place = self.D, rows[2] - rows[1] + 1, self.rooms[step % 2]
  if not place then
    local most = self.route:rooms(me)
    place = {K = ts.matrix(most, D.K.cols, {dtype = D.dtype}), V = ts.matrix(most, D.V.cols, {dtype = D.dtype})}
    self.rooms[step % 2] = place
  end
  return {K = place.K:slice(1, count), V = place.V:slice(1, count), keys = layout.slice(D.keys[o + 1], rows[1], rows[2]), rows = rows}
end

local function wait(self)
  for _, request in ipairs(self.requests) do request:wait() end
  self.requests = {}
end

--- What is at hand at a step, once it is all there; nil where nothing came. Sends on what goes on, and begins to receive what
--- comes next.
---@param step integer from 0, one after the other
---@return {K: matrix, V: matrix, keys: integer[][]}?
function ring:pass(step)
  wait(self)
  local at_hand, before = self.coming, (me - 1) % size
  local comes, goes = self.route:goes_on(before, step), self.route:goes_on(me, step)
  self.coming = comes and room(self, self.route:origin(before, step), comes, step)
  for _, name in ipairs{"K", "V"} do
    if comes then table.insert(self.requests, ranks.receive(self.coming[name], before)) end
    if goes then
      local first, last = goes[1] - at_hand.rows[1] + 1, goes[2] - at_hand.rows[1] + 1
      table.insert(self.requests, ranks.send(at_hand[name]:slice(first, last), (me + 1) % size))
    end
  end
  return at_hand
end

--- Lets messages move: to be called between pieces of work.
function ring:progress()
  for _, request in ipairs(self.requests) do request:test() end
end

return ring
