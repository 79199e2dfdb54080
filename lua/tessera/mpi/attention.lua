-- attention.lua -- one of the schemes on a problem, whole or stated in parts.

local check = require "tessera.check"
local exchange = require "tessera.mpi.exchange"
local ranks = require "tessera.mpi.core"
local schemes = require "tessera.mpi.schemes"
local spread = require "tessera.mpi.spread"

-- What a scheme spreads of a problem that every rank holds: then nothing travels that need not.
local spreads = {
  keys = {queries = false, keys = true}, ring = {queries = true, keys = true},
  queries = {queries = true, keys = false}, heads = {queries = false, keys = false},
}

---@param P problem|table
---@param o {scheme: string?, shard: string?, width: integer?, ranks: integer?}
---@return matrix O, matrix lse
return function(P, o)
  local scheme = o.scheme or "ring"
  if getmetatable(P) == spread then
    check.arg(not (o.shard or o.width or o.ranks), 2, "attention", "the problem says already who holds what")
    return schemes[scheme](P)
  end
  check.type(P, "problem", 1, "attention")
  check.arg(not o.ranks or o.ranks <= ranks.size, 2, "attention", "field 'ranks': %d of %d", o.ranks, ranks.size)
  local how = spreads[scheme]
  local D = spread.deal(P, {queries = how.queries, keys = how.keys, shard = o.shard, width = o.width, ranks = o.ranks})
  local O, lse = schemes[scheme](D)
  if not how.queries then return O, lse end
  return exchange.gather_rows(O, D.queries), exchange.gather_rows(lse, D.queries)
end
