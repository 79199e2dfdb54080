-- Masks and their tiles: which tiles need no work, and which need no look at their cells.
--
-- A mask is never stored cell by cell. Tessera bounds its predicate on whole tiles, and so finds those that are empty
-- (skipped) and full (computed without asking the mask).
local ts = require "tessera"

local causal = ts.mask.causal(16)
ts.plot.tiles(causal:tiles(4, 4), {title = "causal, in tiles of 4 x 4", width = 60})
--> 1 ▒▒▒▒············
--> 2 ████▒▒▒▒········
--> 3 ████████▒▒▒▒····
--> 4 ████████████▒▒▒▒

-- The library has the masks of the literature, and they combine: and, or, not, but not.
local sliding = ts.mask.window(16, 3, 0) | ts.mask.global(16, {1}) & causal
ts.plot.mask(sliding, {title = "a window, and the first token", width = 60})
print(sliding <= causal, sliding:count(), (causal - sliding):count())       --> true	70	66

-- Smaller tiles fit a mask more closely: fewer cells are computed in vain.
local n = 4096
local window = ts.mask.window(n, 255, 0)
for _, size in ipairs{512, 128, 32} do
  local t = window:tiles(size, size)
  local computed = (t.partial + t.full) * size * size
  print(("tiles of %3d: %5d of %5d visited, %2.0f %% of what they compute is needed"):format(size, t.partial + t.full,
    t.empty + t.partial + t.full, 100 * window:count() / computed))
end
--> tiles of 512:    15 of    64 visited, 26 % of what they compute is needed
--> tiles of 128:    93 of  1024 visited, 67 % of what they compute is needed
--> tiles of  32:  1116 of 16384 visited, 89 % of what they compute is needed

-- The order in which a tiling visits the tiles that are not empty, here from the last key back to the first.
local X = ts.randn(16, 8, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, mask = causal}
ts.plot.tiles(P, {tiling = {q = 4, k = 4, order = "backward"}, title = "numbered by visit", width = 60})
--> 4 4███3███2███1▒▒▒
