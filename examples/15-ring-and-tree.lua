-- Ring or tree? What both take on up to 1,024 ranks, by a model of three numbers, beside what was measured on the ranks at hand.
--
-- A message of b bytes takes α + β b seconds; a pair of query and key takes γ. The ring passes keys and values on, p - 1 times, while
-- others are computed (Liu et al. 2023); the tree leaves them where they are, and merges summaries in 2 ⌈log₂ p⌉ rounds (Shyam et
-- al. 2024). `mpirun -n 4 scripts/tessera examples/15-ring-and-tree.lua` measures α, β, γ and both schemes; without MPI the
-- model has numbers of a cluster.
local ts = require "tessera"

local has_ranks = os.getenv "OMPI_COMM_WORLD_SIZE" or os.getenv "PMI_SIZE"
local mpi = has_ranks and require "tessera.mpi" or {rank = 0, size = 1, print = print}

local d, heads, bytes = 64, 8, 4
local cluster = {alpha = 5e-6, beta = 1 / 10e9, gamma = heads * 4 * d / 1e12} -- 5 µs, 10 GB/s, 10^12 operations a second

-- The model -----------------------------------------------------------------------------------------

-- Seconds for n_q queries, spread over p ranks, and n keys: a step of the ring takes as long as the longer of its two halves.
local function ring(m, p, n_q, n)
  local compute = m.gamma * (n_q / p) * (n / p)
  local pass = m.alpha + m.beta * (n / p) * heads * 2 * d * bytes
  return compute + (p - 1) * math.max(compute, pass)
end

-- Every rank has all queries.
local function tree(m, p, n_q, n)
  local rounds = p > 1 and 2 * math.ceil(math.log(p, 2)) or 0
  return m.gamma * n_q * n / p + rounds * (m.alpha + m.beta * n_q * heads * (d + 2) * bytes)
end

local ranks = {}
for k = 0, 10 do ranks[k + 1] = 2 ^ k end

local function curve(f, m, n_q, n, label)
  local y = {}
  for k, p in ipairs(ranks) do y[k] = f(m, p, n_q, n) end
  return {x = ranks, y = y, label = label}
end

local function tell(m, n)
  for _, case in ipairs{{"decoding, one query", 1}, {"a prompt of 4,096", 4096}, {("a prompt of %d"):format(n), n}} do
    local name, n_q = case[1], case[2]
    local least_ring, least_tree = math.huge, math.huge
    for _, p in ipairs(ranks) do
      least_ring, least_tree = math.min(least_ring, ring(m, p, n_q, n)), math.min(least_tree, tree(m, p, n_q, n))
    end
    print(("%-22s best ring %.3g ms, best tree %.3g ms: %s"):format(name, 1e3 * least_ring, 1e3 * least_tree,
      least_ring < least_tree and "ring" or "tree"))
  end
end

-- What was measured ---------------------------------------------------------------------------------

-- The least of some times that f takes, on the rank that takes longest.
local function seconds(f)
  local best = math.huge
  for _ = 1, 5 do
    mpi.barrier()
    local began = ts.clock()
    f()
    mpi.barrier()
    best = math.min(best, ts.clock() - began)
  end
  return best
end

local function random(rows, seed) return ts.randn(rows, heads * d, {seed = seed, dtype = "f32"}) end

-- α, β and γ of this machine: of a broadcast over ⌈log₂ p⌉ rounds, and of attention alone.
local function measured_model(P)
  local rounds = math.ceil(math.log(mpi.size, 2))
  local small, large = ts.ones(1, 1), random(8192, 4)
  local alpha = seconds(function() mpi.broadcast(small) end) / rounds
  local beta = math.max(0, seconds(function() mpi.broadcast(large) end) / rounds - alpha) / (8192 * heads * d * bytes)
  local gamma = seconds(function() P:attention() end) / (P.n_q * P.n_k)
  return {alpha = alpha, beta = beta, gamma = gamma}
end

local function measure()
  ts.threads(1)
  local n = 4096
  local P = ts.problem{Q = random(n, 1), K = random(n, 2), V = random(n, 3), heads = heads}
  local one = P:with{Q = random(1, 1)}
  local m = measured_model(P)
  local mine = mpi.shard(n)
  local function rows(M) return M:slice(mine[1][1], mine[1][2]) end
  local spread = mpi.problem{Q = rows(P.Q), K = rows(P.K), V = rows(P.V), queries = mine, keys = mine, heads = heads}
  local of_ring = seconds(function() mpi.attention(spread, {scheme = "ring"}) end)
  local of_tree = seconds(function() mpi.attention(P, {scheme = "keys"}) end)
  local of_one = seconds(function() mpi.attention(one, {scheme = "keys"}) end)
  if mpi.rank > 0 then return end
  print(("Measured on %d ranks: α = %.1f µs, 1/β = %.2f GB/s, γ = %.2f ns"):format(mpi.size, 1e6 * m.alpha, 1e-9 / m.beta, 1e9 * m.gamma))
  for _, row in ipairs{{"ring, 4,096 queries", of_ring, ring, n}, {"tree, 4,096 queries", of_tree, tree, n},
    {"tree, one query", of_one, tree, 1}} do
    print(("  %-22s model %8.2f ms, measured %8.2f ms"):format(row[1], 1e3 * row[3](m, mpi.size, row[4], n), 1e3 * row[2]))
  end
  return m
end

-- The answer ----------------------------------------------------------------------------------------

local m = mpi.size > 1 and measure() or cluster
if mpi.rank > 0 then return end

local n = 2 ^ 20
print "2^20 keys over 1 to 1,024 ranks of a cluster:"
tell(cluster, n)
--> decoding, one query    best ring 2.15 ms, best tree 0.0897 ms: tree
--> a prompt of 4,096      best ring 425 ms, best tree 26 ms: tree
--> a prompt of 1048576    best ring 2.2e+03 ms, best tree 6.63e+03 ms: ring
ts.plot.curves({
  curve(ring, m, 1, n, "ring, one query"), curve(tree, m, 1, n, "tree, one query"),
  curve(ring, m, n, n, "ring, a prompt"), curve(tree, m, n, n, "tree, a prompt"),
}, {log = "xy", title = ("2^20 keys, %s"):format(m == cluster and "on a cluster" or "by what was measured"), xlabel = "ranks",
  ylabel = "seconds", file = arg[1], width = 76})
print [[
The tree wins where queries are few: summaries are then small, and keys need not move at all. The ring wins on long prompts: its
messages hide behind the work of each step, while the tree's summaries grow with the number of queries and with log p.]]
