-- plan.lua -- what a tiling comes to on a problem, its errors told as those of the function that was called.

local core = require "tessera.core"

--- The plan of a tile of queries (from 1): {q =, tiles =, parts =, threads =, exp =, memory =, blocks = {{{first, last}, ..}, ..},
--- word = {block numbers, 0 for ⋆}}. The tiling is argument `n` of `fname`.
return function(P, tiling, tile, n, fname)
  local ok, plan = pcall(core.problem.plan, P, tiling, tile)
  if ok then return plan end
  local message = type(plan) == "string" and plan:match "bad argument #%d+ to '%w+' (%(.*)$"
  if message then core.fail(("bad argument #%d to '%s' %s"):format(n, fname, message)) end
  error(plan, 0)
end
