-- How long a thread stood ready while other processes had the processors: so that limits of time hold on busy machines, too.
local lfs = require "lfs"

-- Seconds that each thread of this process has waited for a processor so far, by its number; {} where the system does not tell.
local function waits()
  local seconds = {}
  for task in lfs.dir "/proc/self/task" do
    local file <close> = io.open("/proc/self/task/" .. task .. "/schedstat")
    local _, nanoseconds = nil, nil
    if file then _, nanoseconds = file:read("n", "n") end
    if nanoseconds then seconds[task] = nanoseconds / 1e9 end
  end
  return seconds
end

--- From now on: a function that tells for how many seconds since then the thread that waited longest has waited. Not all of
--- them together: they wait at the same time, and the sum would excuse any delay.
return function()
  local before = waits()
  return function()
    local longest = 0
    for task, seconds in pairs(waits()) do longest = math.max(longest, seconds - (before[task] or 0)) end
    return longest
  end
end
