-- On two ranks: how long two of one thread take, as a part of what one of two threads takes, turn by turn on the same problem: in
-- wall time, which other programs disturb, and in processor time of the rank that works most. The best of some rounds (argument).
local ts = require "tessera"
local mpi = require "tessera.mpi"

local rounds = tonumber(arg[1]) or 5
local heads, d = 4, 64

-- Seconds of wall time, and those of all threads of the rank that took most.
local function timed(f)
  mpi.barrier()
  local began, worked = ts.clock(), os.clock()
  f()
  worked = os.clock() - worked
  mpi.barrier()
  local wall, most = ts.clock() - began, 0
  for _, m in ipairs(mpi.gather(ts.matrix{{worked}}) or {}) do most = math.max(most, m(1, 1)) end
  return wall, most
end

local function alone(P)
  if mpi.rank > 0 then return end
  ts.threads(2)
  P:attention()
  ts.threads(1)
end

ts.threads(1)
for _, case in ipairs{{"dense", nil, "blocks", 8192}, {"causal", ts.mask.causal(16384), "zigzag", 16384}} do
  local X = {}
  for k = 1, 3 do X[k] = ts.randn(case[4], heads * d, {seed = k, dtype = "f32"}) end
  local P = ts.problem{Q = X[1], K = X[2], V = X[3], heads = heads, mask = case[2]}
  for _, scheme in ipairs{"keys", "ring", "heads", "queries"} do
    local ratio, work = math.huge, math.huge
    for _ = 1, rounds do
      local one, one_work = timed(function() alone(P) end)
      local two, two_work = timed(function() mpi.attention(P, {scheme = scheme, shard = case[3]}) end)
      ratio, work = math.min(ratio, two / one), math.min(work, two_work / (one_work / 2))
    end
    if mpi.rank == 0 then print(("%-7s %-8s wall %.3f, processor time %.3f"):format(case[1], scheme, ratio, work)) end
  end
end
