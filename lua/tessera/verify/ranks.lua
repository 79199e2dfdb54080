-- ranks.lua -- the law of many processes: spread over ranks, in whatever way, the problem has the same answer.

local context = require "tessera.verify.context"
local ts = require "tessera"

local laws = {}

local schemes, shards = {"keys", "ring", "heads", "queries"}, {"blocks", "striped", "zigzag"}

-- The key sets of the first n ranks, by P's numbers of keys, and of all.
local function key_sets(mpi, P, n, scheme)
  local _, all = mpi.shard(P.n_k, {scheme = scheme, ranks = n})
  local some = {}
  for _, set in ipairs(all) do
    for _, range in ipairs(set) do range[1], range[2] = range[1] + P.first_key - 1, range[2] + P.first_key - 1 end
    if #set > 0 then some[#some + 1] = set end
  end
  return some, all
end

-- A bound that holds for any order and bracketing of these sets, as MPI's is not known: in the two left folds together, from
-- the front and from the back, every key passes through at least as many merges.
local function bound_of(P, sets)
  local function left(order) return context.bound(P, {k = #sets > 0 and sets or nil, order = order, merge = "online"}) end
  return context.either(left "forward", left "backward")
end

local function try_schemes(mpi, c, t)
  local P = c.small:with{empty = "zero"}
  local full, limit = context.softmax(P), context.bound(P, false)
  for n = c.rounds > 1 and 1 or mpi.size, mpi.size do -- one round: over all of them only
    local shard = shards[n % #shards + 1]
    local bound = context.either(limit, bound_of(P, (key_sets(mpi, P, n, shard))))
    for _, scheme in ipairs(schemes) do
      t:answers({mpi.attention(P, {scheme = scheme, shard = shard, ranks = n})}, full, bound, ("%s, %s, %d ranks"):format(scheme, shard, n))
    end
  end
end

local function try_folds(mpi, c, t)
  local P = c.small
  for _, shard in ipairs(shards) do
    local _, sets = key_sets(mpi, P, mpi.size, shard)
    local list = {}
    for r, set in ipairs(sets) do list[r] = P:summary(set) end
    for _, how in ipairs{"left", "right", "tree", ts.sample.bracketing(mpi.size, {seed = c:next_seed()})} do
      t:holds(mpi.fold(list[mpi.rank + 1], how) == ts.fold(list, how), ("fold, %s"):format(shard))
    end
  end
end

--- Over 1 ... all ranks, every scheme gives what full softmax gives, and mpi.fold what ts.fold gives, in bits.
laws[#laws + 1] = {"ranks", function(c, t)
  local mpi = package.loaded["tessera.mpi"]
  if not mpi then return end
  try_schemes(mpi, c, t)
  try_folds(mpi, c, t)
end, needs = "tessera.mpi"}

return laws
