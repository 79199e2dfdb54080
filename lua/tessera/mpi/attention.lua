-- attention.lua -- one of the schemes on a problem, whole or stated in parts: computed, or what it would cost.

local check = require "tessera.check"
local cost = require "tessera.mpi.cost"
local exchange = require "tessera.mpi.exchange"
local ranks = require "tessera.mpi.core"
local schemes = require "tessera.mpi.schemes"
local spread = require "tessera.mpi.spread"

local attention = {}

-- What a scheme spreads of a problem that every rank holds: then nothing travels that need not.
local spreads = {
  keys = {queries = false, keys = true}, ring = {queries = true, keys = true},
  queries = {queries = true, keys = false}, heads = {queries = false, keys = false},
}

-- How a whole problem is to be spread for a scheme.
local function plan_of(scheme, o)
  return {queries = spreads[scheme].queries, keys = spreads[scheme].keys, shard = o.shard, width = o.width, ranks = o.ranks}
end

-- Whether P was stated in parts; then no option may say how to deal it.
local function is_stated(P, o, fname)
  if getmetatable(P) ~= spread then
    check.type(P, "problem", 1, fname)
    return false
  end
  check.arg(not (o.shard or o.width or o.ranks), 2, fname, "the problem says already who holds what")
  return true
end

-- The scheme for a problem stated in parts. Where every rank holds all keys none need be reduced or passed on.
local function fitting(D, scheme)
  return not D.are_keys_spread and (scheme == "keys" or scheme == "ring") and "queries" or scheme
end

---@param P problem|table
---@param o {scheme: string?, shard: string?, width: integer?, ranks: integer?}
---@return matrix O, matrix lse
function attention.run(P, o)
  local scheme = o.scheme or "ring"
  if is_stated(P, o, "attention") then return schemes[fitting(P, scheme)](P) end
  check.arg(not o.ranks or o.ranks <= ranks.size, 2, "attention", "field 'ranks': %d of %d", o.ranks, ranks.size)
  local D = spread.deal(P, plan_of(scheme, o))
  local O, lse = schemes[scheme](D)
  if not D.are_queries_spread then return O, lse end
  return exchange.gather_rows(O, D.queries), exchange.gather_rows(lse, D.queries)
end

---@param P problem|table
---@param o table
---@return table
function attention.cost(P, o)
  local scheme = o.scheme or "ring"
  if is_stated(P, o, "cost") then return cost.of(P, fitting(P, scheme), false) end
  local plan = plan_of(scheme, o)
  plan.size = o.ranks
  return cost.of(spread.plan(P, plan), scheme, plan.queries)
end

return attention
