-- On every rank: the bits of attention by every scheme do not depend on how many threads a rank has. (The ring summarises 512 rows
-- a thread at once: so the rows are few, or end with one more than some number of ranks and threads takes.)
local ts = require "tessera"
local mpi = require "tessera.mpi"

local function problem(n_q, n_k, dtype, mask)
  local function numbers(rows, cols, seed) return ts.randn(rows, cols, {seed = seed, dtype = dtype}) end
  return ts.problem{Q = numbers(n_q, 4 * 9, 1), K = numbers(n_k, 2 * 9, 2), V = numbers(n_k, 2 * 16, 3), heads = 4, kv_heads = 2,
    mask = mask, empty = "zero"}
end

local function same_bits(P, how, note)
  local O, lse
  for threads = 1, 3 do
    ts.threads(threads)
    local o, l = mpi.attention(P, how)
    O, lse = O or o, lse or l
    assert(o:identical(O) and l:identical(lse), ("%s: other bits by %d threads than by one"):format(note, threads))
  end
end

for _, n_q in ipairs{1, 7, 511, 513, 1025, 2 * 513, 3 * 1025} do
  for n, dtype in ipairs{"f64", "f32"} do
    local n_k = 700 + n_q % 3
    local mask = (n_q + n) % 2 == 0 and ts.mask.window({n_q, n_k}, 300, 100) or nil
    local P = problem(n_q, n_k, dtype, mask)
    for _, scheme in ipairs{"keys", "ring", "heads", "queries"} do
      local shard = ({"blocks", "striped", "zigzag"})[n_q % 3 + 1]
      same_bits(P, {scheme = scheme, shard = shard}, ("%d queries, %s, %s, %s"):format(n_q, dtype, scheme, shard))
    end
  end
end
