-- running.lua -- the summaries of this rank's queries while keys come by: their values stand in what is to be the output, their
-- maxima in what is to be lse, so that little more memory is taken than the results need.

local layout = require "tessera.mpi.layout"
local part = require "tessera.mpi.part"
local ranks = require "tessera.mpi.core"
local together = require "tessera.mpi.together"
local ts = require "tessera"

local running = {}
running.__index = running

-- The rows go in chunks, from 1: so many rows are summarised at once before they are merged with what there is: enough to keep all
-- threads at work. A row's bits do not depend on those that it is summarised with.
local function rows_at_once() return 512 * ts.threads() end

-- The first and the last row of a chunk, and which queries they are.
local function rows_of(self, chunk) return (chunk - 1) * self.at_once + 1, math.min(self.D.Q.rows, chunk * self.at_once) end
local function queries_of(self, chunk) return layout.slice(self.D.queries[ranks.rank + 1], rows_of(self, chunk)) end

local function find_steps(self, chunk)
  local D, me, queries = self.D, ranks.rank, queries_of(self, chunk)
  self.last_step[chunk] = 0
  for step = 0, ranks.size - 1 do
    if self.route:is_wanted(me, step) and not part.is_empty(D.from, queries, D.keys[self.route:origin(me, step) + 1]) then
      self.steps[step] = self.steps[step] or {}
      self.steps[step][chunk], self.last_step[chunk] = true, step
    end
  end
end

--- No key has come yet.
---@param D table
---@param route table as of route.new
---@return table
function running.new(D, route)
  local rows, heads, dtype, at_once = D.Q.rows, D.from.heads, {dtype = D.dtype}, rows_at_once()
  local self = setmetatable({D = D, route = route, work = together.new(), at_once = at_once, chunks = (rows + at_once - 1) // at_once,
    norm = {},      -- of each chunk that has begun and may still be given keys
    steps = {},     -- at each step: which chunks may use keys at hand
    last_step = {}, -- of each chunk, of those; 0: none after the first
  }, running)
  for chunk = 1, self.chunks do
    self.work:try(function() find_steps(self, chunk) end)
    collectgarbage() -- which by itself would wait until memory has doubled
  end
  self.O, self.lse = ts.matrix(rows, heads * D.d_v, dtype), ts.matrix(rows, heads, dtype)
  return self
end

-- A chunk's summary: max, norm and value.
local function numbers(self, chunk)
  return self.lse:slice(rows_of(self, chunk)), self.norm[chunk], self.O:slice(rows_of(self, chunk))
end

-- It becomes ⊥.
local function empty(self, chunk)
  local first, last = rows_of(self, chunk)
  self.norm[chunk] = ts.zeros(last - first + 1, self.lse.cols, {dtype = self.D.dtype})
  local max, _, value = numbers(self, chunk)
  max:fill(-math.huge)
  value:fill(0)
end

-- It is merged with that of the keys at hand.
local function add(self, chunk, at_hand)
  local D, Q, queries = self.D, self.D.Q:slice(rows_of(self, chunk)), queries_of(self, chunk)
  local max, norm, value = numbers(self, chunk)
  for _, piece in ipairs(part.pieces(at_hand.K, at_hand.V, at_hand.keys)) do
    piece.Q, piece.queries = Q, queries
    ranks.merge(max, norm, value, D.from.base == 2, D:part(piece):own_summary())
  end
end

-- It becomes output and lse.
local function finish(self, chunk)
  local max, norm, value = numbers(self, chunk)
  local own = self.D:part{Q = self.D.Q:slice(rows_of(self, chunk)), queries = queries_of(self, chunk)}
  local o, l = own:finish_numbers(max, norm, value)
  value:assign(o)
  max:assign(l)
  self.norm[chunk] = nil
end

local function take_step(self, chunk, step, at_hand)
  if step == 0 then empty(self, chunk) end
  if self.steps[step] and self.steps[step][chunk] then add(self, chunk, at_hand) end
  if step == self.last_step[chunk] then finish(self, chunk) end
end

--- Adds the keys at hand at a step, for those queries that may use any; calls between() between pieces of the work. An error is
--- kept for `results`, as others wait for what this rank passes on.
---@param step integer
---@param at_hand {K: matrix, V: matrix, keys: integer[][]}?
---@param between fun()
function running:add(step, at_hand, between)
  for chunk = 1, self.chunks do
    self.work:try(function() take_step(self, chunk, step, at_hand) end)
    between()
    if step == 0 or at_hand then collectgarbage() end
  end
end

--- The output and lse of this rank's queries; or, on every rank, the first error of any.
---@return matrix O, matrix lse
function running:results()
  self.work:agree()
  return self.O, self.lse
end

return running
