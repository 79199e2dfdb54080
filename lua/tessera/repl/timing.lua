--- timing.lua -- how long a call takes: the best and the median of as many runs as half a second holds.

local ts = require "tessera"

local LEAST <const> = 0.5 -- seconds

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

--- Seconds of each of `count` runs; without a count, of as many as half a second holds, or of the first one alone where it took
--- as long. That one counts for nothing else: it alone touches pages that nobody had touched.
---@param f function
---@param count? integer
---@param first number seconds
---@return number[]
function timing.runs(f, count, first)
  if not count and first >= LEAST then return {first} end
  local seconds, begun = {}, ts.clock()
  repeat
    seconds[#seconds + 1] = time(f)
    collectgarbage() -- so that each run finds the memory of the last one's results
  until #seconds >= (count or math.huge) or not count and ts.clock() - begun >= LEAST
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
