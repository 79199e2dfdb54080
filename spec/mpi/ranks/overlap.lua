-- On two ranks: how long the ring still waits for keys after the work during which they travel, beside how long they take by
-- themselves, and how long it waits where it does not ask for messages between pieces of the work. The medians of some rounds
-- (argument), of the rank that waits longer.
local ts = require "tessera"
local mpi = require "tessera.mpi"
local ring = require "tessera.mpi.ring"
local running = require "tessera.mpi.running"

local rounds, n, heads, d = tonumber(arg[1]) or 5, 8192, 4, 64
local mine = mpi.shard(n)

local function random(stream)
  return ts.randn(n // mpi.size, heads * d, {seed = 100 * stream + mpi.rank, dtype = "f32"})
end
local D = mpi.problem{Q = random(1), K = random(2), V = random(3), heads = heads, queries = mine, keys = mine}

-- Milliseconds for which the keys of step 1 are waited for, after what is done since they were sent.
local function waited(work)
  local journey = ring.begin(D)
  local own = running.new(D, journey.route)
  mpi.barrier()
  local at_hand = journey:pass(0)
  work(own, at_hand, journey)
  local began, most = ts.clock(), 0
  journey:pass(1)
  local own_wait = ts.clock() - began
  for _, m in ipairs(mpi.gather(ts.matrix{{own_wait}}) or {}) do most = math.max(most, m(1, 1)) end
  return 1e3 * most
end

local cases = {
  {"without work", function() end},
  {"after work", function(own, at_hand, journey) own:add(0, at_hand, function() journey:progress() end) end},
  {"after work that never asked", function(own, at_hand) own:add(0, at_hand, function() end) end},
}
for _, case in ipairs(cases) do case.times = {} end
for round = 1, rounds do
  for _, case in ipairs(cases) do case.times[round] = waited(case[2]) end
end
for _, case in ipairs(cases) do
  table.sort(case.times)
  if mpi.rank == 0 then print(("%.2f ms %s"):format(case.times[(rounds + 1) // 2], case[1])) end
end
