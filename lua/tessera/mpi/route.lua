-- route.lua -- which keys pass which rank of a ring at which step: at step 0 every rank has its own, and then those that the
-- rank before it had.

local part = require "tessera.mpi.part"

local route = {}
route.__index = route

--- Between which of each rank's keys, by their rows, those lie that these queries may use, as {first, last}; false for none.
---@param D table
---@param queries integer[][]
---@param between? fun() called after each rank's, as the search leaves masks behind
---@return (integer[]|false)[]
function route.wanted(D, queries, between)
  local list = {}
  for o, keys in ipairs(D.keys) do
    local first, last = part.used(D.from, queries, keys)
    list[o] = first and {first, last} or false
    if between then between() end
  end
  return list
end

--- The route of `size` ranks; wanted[r + 1] is what rank r wants, as of route.wanted.
---@param wanted (integer[]|false)[][]
---@return table
function route.new(wanted) return setmetatable({wanted = wanted, size = #wanted}, route) end

--- Whose keys rank r has at hand at a step.
---@param r integer
---@param step integer
---@return integer
function route:origin(r, step) return (r - step) % self.size end

--- Whether rank r's queries may use the keys that it has at hand at a step.
---@param r integer
---@param step integer
---@return boolean
function route:is_wanted(r, step) return self.wanted[r + 1][self:origin(r, step) + 1] and true end

--- What goes on of what rank r has at hand at a step: the rows from the first to the last that a rank further on wants, or nil.
---@param r integer
---@param step integer
---@return integer[]?
function route:goes_on(r, step)
  local first, last, o = math.maxinteger, 0, self:origin(r, step)
  for later = step + 1, self.size - 1 do
    local rows = self.wanted[(o + later) % self.size + 1][o + 1]
    if rows then first, last = math.min(first, rows[1]), math.max(last, rows[2]) end
  end
  return last > 0 and {first, last} or nil
end

--- How many rows rank r sends at a step.
---@param r integer
---@param step integer
---@return integer
function route:rows_sent(r, step)
  local rows = self:goes_on(r, step)
  return rows and rows[2] - rows[1] + 1 or 0
end

--- The most rows that come to rank r at any step, and at how many of the first two steps any do: as many rooms it needs.
---@param r integer
---@return integer most, integer rooms
function route:rooms(r)
  local most, places = 0, {}
  for step = 0, self.size - 2 do
    local rows = self:rows_sent((r - 1) % self.size, step)
    if rows > 0 then most, places[step % 2] = math.max(most, rows), true end
  end
  return most, (places[0] and 1 or 0) + (places[1] and 1 or 0)
end

return route
