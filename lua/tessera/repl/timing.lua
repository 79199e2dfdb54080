--- timing.lua -- how long a call takes: the best and the median of some runs.

local ts = require "tessera"

local timing = {}

local units = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}}

local function text_of(seconds)
  for _, unit in ipairs(units) do
    if seconds >= unit[1] then return ("%.3f %s"):format(seconds / unit[1], unit[2]) end
  end
  return ("%.0f ns"):format(seconds * 1e9)
end

local function time(f)
  local begun = ts.clock()
  f()
  return ts.clock() - begun
end

--- Seconds of each of `count` runs of what has run before: a first one alone touches pages that nobody had touched.
---@param f function
---@param count integer
---@return number[]
function timing.runs(f, count)
  local seconds = {}
  for n = 1, count do
    seconds[n] = time(f)
    collectgarbage() -- so that each run finds the memory of the last one's results
  end
  return seconds
end

--- In words, as `make bench` has it: the best, the median, and how far that lies above the best.
---@param seconds number[] one at least
---@return string
function timing.text(seconds)
  if #seconds == 1 then return text_of(seconds[1]) .. ", one run" end
  local list = table.move(seconds, 1, #seconds, 1, {})
  table.sort(list)
  local best, median = list[1], list[(#list + 1) // 2]
  return ("best %s, median %s, spread %.0f %%, %d runs"):format(text_of(best), text_of(median), (median / best - 1) * 100, #list)
end

return timing
