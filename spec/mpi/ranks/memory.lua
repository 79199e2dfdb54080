-- On every rank: the memory that attention around a ring takes. Arguments: keys, and the window (0: dense). Prints a line a rank: MiB
-- by which a process that has run a small problem grows for a large one, with what MPI took when it was joined; MiB of that which
-- only serve the exchange, MPI's among them; and seconds.
local ts = require "tessera"

-- MiB: the largest size so far, and that now. Pages of program code, which all processes share, are not counted.
local function sizes()
  local kib = {}
  for line in io.lines "/proc/self/status" do
    local name, value = line:match "^(%w+):%s*(%d+) kB"
    if name then kib[name] = tonumber(value) end
  end
  return (kib.VmHWM - kib.RssFile) / 1024, (kib.VmRSS - kib.RssFile) / 1024
end

local _, without_mpi = sizes()
require "tessera.mpi.core"
local _, with_mpi = sizes()
local mpi = require "tessera.mpi"
local n, window, d = tonumber(arg[1]), tonumber(arg[2]), 64

-- The largest size that a problem of so many keys led to, the bytes set aside for keys that pass by, and seconds.
local function run(keys)
  local mine = mpi.shard(keys)
  local rows = mine[1][2] - mine[1][1] + 1
  local function random(stream) return ts.rand(rows, d, {seed = 100 * stream + mpi.rank, dtype = "f32"}) end
  local D = mpi.problem{Q = random(1), K = random(2), V = random(3), queries = mine, keys = mine,
    mask = window > 0 and ts.mask.window(keys, window - 1, 0) or nil}
  mpi.barrier()
  local began = ts.clock()
  mpi.attention(D, {scheme = "ring"})
  local seconds, most = ts.clock() - began, sizes()
  return most, mpi.cost(D, "ring").buffers[mpi.rank + 1], seconds
end

run(4096)
collectgarbage()
local _, before = sizes()
local most, buffers, seconds = run(n)
local of_mpi = with_mpi - without_mpi
mpi.print(("%.2f MiB, %.2f MiB for the exchange, %.1f s"):format(most - before + of_mpi, buffers / 2 ^ 20 + of_mpi, seconds))
