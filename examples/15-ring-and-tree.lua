-- Ring or tree? What both take on up to 1,024 ranks, by a model of three numbers, beside what the ranks at hand take.
--
-- A message of b bytes takes α + β b seconds, a pair of query and key γ. The ring passes keys on, p - 1 times, while others are computed
-- (Liu et al. 2023); the tree leaves them where they are, and merges summaries in 2 ⌈log₂ p⌉ rounds (Shyam et al. 2024).
-- `mpirun -n 4 scripts/tessera examples/15-ring-and-tree.lua` measures the three, and both schemes.
local ts = require "tessera"
local mpi = os.getenv "OMPI_COMM_WORLD_SIZE" and require "tessera.mpi" or {rank = 0, size = 1}
local d, heads, ranks = 64, 8, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}

-- Seconds for n_q queries and n keys, of f32. A step of the ring takes as long as the longer of its two halves.
local function ring(m, p, n_q, n)
  local compute, pass = m.gamma * (n_q / p) * (n / p), m.alpha + m.beta * (n / p) * heads * 2 * d * 4
  return compute + (p - 1) * math.max(compute, pass)
end

local function tree(m, p, n_q, n)
  return m.gamma * n_q * n / p + 2 * math.ceil(math.log(p, 2)) * (m.alpha + m.beta * n_q * heads * (d + 2) * 4)
end

-- The least of five times, in seconds.
local function time(f)
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

local m = {alpha = 5e-6, beta = 1 / 10e9, gamma = heads * 4 * d / 1e12} -- of a cluster: 5 µs, 10 GB/s, 10^12 operations a second
if mpi.size > 1 then
  ts.threads(1)
  local n, rounds, mine = 4096, math.ceil(math.log(mpi.size, 2)), mpi.shard(4096)
  local X, one = ts.randn(n, heads * d, {seed = 1, dtype = "f32"}), ts.ones(1, 1)
  local own = X:slice(mine[1][1], mine[1][2])
  local P = ts.problem{Q = X, K = X, V = X, heads = heads}
  local D = mpi.problem{Q = own, K = own, V = own, heads = heads, queries = mine, keys = mine}
  m.alpha, m.gamma = time(function() mpi.broadcast(one) end) / rounds, time(function() P:attention() end) / n ^ 2
  m.beta = time(function() mpi.broadcast(X) end) / rounds / (n * heads * d * 4)
  local of_ring = time(function() mpi.attention(D, {scheme = "ring"}) end)
  local of_tree = time(function() mpi.attention(P, {scheme = "keys"}) end)
  if mpi.rank > 0 then return end
  print(("%d ranks: α = %.1f µs, 1/β = %.2f GB/s, γ = %.1f ns"):format(mpi.size, 1e6 * m.alpha, 1e-9 / m.beta, 1e9 * m.gamma))
  print(("4,096 queries and keys: ring %.0f ms, by the model %.0f; tree %.0f ms, by the model %.0f"):format(1e3 * of_ring,
    1e3 * ring(m, mpi.size, n, n), 1e3 * of_tree, 1e3 * tree(m, mpi.size, n, n)))
end

local curves, n = {}, 2 ^ 20
for _, c in ipairs{{"ring", ring, 1}, {"tree", tree, 1}, {"ring", ring, n}, {"tree", tree, n}} do
  local y = {}
  for k, p in ipairs(ranks) do y[k] = c[2](m, p, c[3], n) end
  curves[#curves + 1] = {x = ranks, y = y, label = ("%s, %s"):format(c[1], c[3] == 1 and "one query" or "all queries")}
  print(("%-22s %9.3g s on 1 rank, %9.3g s on 1,024"):format(curves[#curves].label, y[1], y[#y]))
end --> ring, all queries       2.25e+03 s on 1 rank,       2.2 s on 1,024
ts.plot.curves(curves, {log = "xy", title = "2^20 keys", xlabel = "ranks", ylabel = "seconds", file = arg[1], width = 76})
print "The tree wins where queries are few: summaries are small. The ring wins on prompts: its messages hide behind the work."
