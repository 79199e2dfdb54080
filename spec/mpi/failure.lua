local core = require "tessera.core"
local helper = require "spec.helper"
local mpirun = require "spec.mpirun"
local ts = require "tessera"

-- A hundred runs of each under the switch, some without.
local runs = os.getenv "TESSERA_MPI_ALL" and 100 or 6

-- A number from 0 to 1 by chance, a new one each time.
local function chance(seed) return ts.rand(1, 1, {seed = seed})(1, 1) end

-- Runs that many ranks until one fails, or Ctrl-C comes: what was said, the status, and the seconds from the failure to the end.
local function run(how, seed)
  local n = 2 + seed % 3
  local who, after, mark = seed % n, math.max(0, chance(seed) * 0.6 - 0.05), ("mark-%d-%s-%d"):format(os.time(), how, seed)
  local command = mpirun.command(n, ("spec/mpi/ranks/failing.lua %s %d %.3f %s"):format(how, who, after, mark))
  local is_interrupt, began = how == "stay", core.clock()
  if is_interrupt then command = ("timeout -s INT %.3f %s"):format(0.05 + after * 3, command) end
  local said, status = helper.run(command, mpirun.environment)
  local failed_at = is_interrupt and began + 0.05 + after * 3 or tonumber(said:match "failing at ([%d%.]+)")
  assert(failed_at, said)
  return said, status, core.clock() - failed_at, mark
end

local function assert_none_left(mark, note)
  local until_then = core.clock() + 5 * helper.slow
  repeat
    local pipe <close> = io.popen("pgrep -f " .. mark)
    local left = pipe:read "a" -- the shell that asks names it, too, but pgrep leaves itself out
    local list = {}
    for pid in left:gmatch "%d+" do
      local file <close> = io.open(("/proc/%s/cmdline"):format(pid))
      local line = file and file:read "a" or ""
      if line:find "lua5.4" or line:find "mpirun" then list[#list + 1] = line:gsub("\0", " ") end
    end
    if #list == 0 then return end
    os.execute "sleep 0.05"
  until core.clock() > until_then
  error("left: " .. note)
end

local function each(how, check)
  for seed = 1, runs do
    local said, status, seconds, mark = run(how, seed)
    local note = ("seed %d: status %s after %.1f s\n%s"):format(seed, status, seconds, said)
    assert.is_true(seconds < 5 * helper.slow, note)
    assert.are_not.equal(0, status, note)
    assert_none_left(mark, note)
    check(said, note)
  end
end

describe("all ranks end", function()
  it("where one raises an error, with its message", function()
    each("raise", function(said, note) assert.is_truthy(said:find("raised on purpose", 1, true), note) end)
  end)

  it("where one leaves with a status", function() each("exit", function() end) end)

  it("where one is killed", function() each("kill", function() end) end)

  it("where Ctrl-C comes", function() each("stay", function() end) end)
end)
