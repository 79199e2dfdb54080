-- On every rank: work without end, until one of them fails. Arguments: how, which rank, after how many seconds; the last one
-- is for whoever looks for processes that are left.
local how, who, after = arg[1], tonumber(arg[2]), tonumber(arg[3])
local ts = require "tessera"
local began = ts.clock()

local function own_pid()
  local file <close> = io.open "/proc/self/stat"
  return file:read "n"
end

local fail = {
  raise = function() error("raised on purpose") end,
  kill = function() os.execute("kill -KILL " .. own_pid()) end,
  exit = function() os.exit(3) end,
  stay = function() end, -- Ctrl-C comes from outside
}

-- Our rank, before MPI tells it; nothing but Open MPI calls it so.
local rank = tonumber(os.getenv "OMPI_COMM_WORLD_RANK")

local function perhaps()
  if rank == who and ts.clock() - began >= after then
    io.stderr:write(("failing at %.6f\n"):format(ts.clock()))
    fail[how]()
  end
end

perhaps() -- after 0 seconds: while the others wait for everybody to join
local mpi = require "tessera.mpi"
local P = ts.problem{Q = ts.randn(64, 8, {seed = 1}), K = ts.randn(64, 8, {seed = 2}), V = ts.randn(64, 8, {seed = 3})}
while true do
  for _, scheme in ipairs{"keys", "ring", "heads", "queries"} do
    perhaps()
    mpi.attention(P, {scheme = scheme})
    perhaps()
    mpi.fold(P:summary(mpi.shard(64)), "tree")
  end
  mpi.print()
end
