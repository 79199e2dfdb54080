-- lift.lua -- the door to lifting: a Lua predicate becomes a mask.

local core = require "tessera.core"

local lift = {}

-- The mask of `predicate` (checked arguments).
function lift.mask(n_q, n_k, heads, predicate)
  return core.mask.called(n_q, n_k, heads, predicate, "lifting is not built yet")
end

return lift
