-- layout.lua -- where the rows of a part stand in the whole: its row i is the whole's number at(i).

local ranges = require "tessera.ranges"

local layout = {}

-- Ranges of one width at one distance, but that the last may be shorter: their width and distance; nil where they are none.
local function regular(list)
  local first = list[1]
  local width, step = first[2] - first[1] + 1, list[2] and list[2][1] - first[1] or 1
  for n, range in ipairs(list) do
    local own = range[2] - range[1] + 1
    if range[1] ~= first[1] + (n - 1) * step or own > width or own < width and n < #list then return nil end
  end
  return width, step
end

local function numbers(list)
  local all = {}
  for _, range in ipairs(list) do
    for i = range[1], range[2] do all[#all + 1] = i end
  end
  return all
end
layout.numbers = numbers

--- The function at(i) of these ranges. It can be lifted, and where few numbers say what they are, so can bounds on it: then
--- tiles of a part are found empty or full as they are of the whole.
---@param list integer[][]
---@return fun(i: integer): integer
function layout.of(list)
  if #list == 0 then return function(i) return i end end
  local first, width, step = list[1][1], regular(list)
  if #list == 1 then return function(i) return i + (first - 1) end end
  if width == 1 then return function(i) return (i - 1) * step + first end end
  if width then return function(i) return (i - 1) // width * step + (i - 1) % width + first end end
  if #list == 2 then
    local count, second = ranges.count{list[1]}, list[2][1]
    return function(i) return i <= count and i + (first - 1) or i + (second - 1 - count) end
  end
  local all = numbers(list)
  return function(i) return all[i] end
end

--- The part of these ranges that rows from .. to of theirs are.
---@param list integer[][]
---@param from integer
---@param to integer
---@return integer[][]
function layout.slice(list, from, to)
  local some, before = {}, 0
  for _, range in ipairs(list) do
    local first, last = math.max(range[1], range[1] + from - 1 - before), math.min(range[2], range[1] + to - 1 - before)
    if first <= last then some[#some + 1] = {first, last} end
    before = before + range[2] - range[1] + 1
  end
  return some
end

return layout
