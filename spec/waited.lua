-- How long threads stood ready while other processes had the processors: so that limits of time hold on busy machines, too.
local lfs = require "lfs"

--- Seconds that the threads of this process have waited for a processor so far, all together; 0 where the system does not tell.
return function()
  local nanoseconds = 0
  for task in lfs.dir "/proc/self/task" do
    local file <close> = io.open("/proc/self/task/" .. task .. "/schedstat")
    local _, waited = 0, 0
    if file then _, waited = file:read("n", "n") end
    nanoseconds = nanoseconds + (waited or 0)
  end
  return nanoseconds / 1e9
end
