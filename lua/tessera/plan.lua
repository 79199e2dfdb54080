-- plan.lua -- what a tiling comes to on a problem, its errors told as those of the function that was called.

local blamed = require "tessera.blamed"
local core = require "tessera.core"

--- The plan of a tile of queries (from 1): {q =, tiles =, parts =, threads =, exp =, memory =, blocks = {{{first, last}, ..}, ..},
--- word = {block numbers, 0 for ⋆}}.
---@param place {n: integer, fname: string, what: string?} the tiling, as of tessera.blamed
return function(P, tiling, tile, place) return blamed(place, "plan", core.problem.plan, P, tiling, tile) end
