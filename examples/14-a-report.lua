-- A report: text, pictures and a schedule that can be stepped through, in one HTML file for any browser.
--
--   scripts/tessera examples/14-a-report.lua report.html
local ts = require "tessera"

local n = 24
local Q, K, V = ts.randn(n, 8, {seed = 1}), ts.randn(n, 8, {seed = 2}), ts.randn(n, 3, {seed = 3})
local P = ts.problem{Q = Q, K = K, V = V, mask = ts.mask.window(n, 9, 0)}
local tiling = {q = 4, k = 4, order = "backward", merge = "tree"}

-- What three ways to merge take.
local rows = {}
for _, merge in ipairs{"online", "right", "tree"} do
  local c = P:cost{q = 4, k = 4, merge = merge}
  rows[#rows + 1] = {merge, c.depth, c.visited, c.skipped}
end

local name = os.tmpname()
local file = arg[1] or name .. ".html"
ts.page(file, {
  title = "A window, from its end",
  "# The mask\nA query sees itself and the nine keys before it.",
  {plot = "mask", P.mask, title = "window(24, 9, 0)"},
  {table = rows, head = {"merge", "summaries at once", "tiles visited", "skipped"}, title = "three ways to merge"},
  "# Tile by tile\nThe blocks of keys are visited from the last to the first, and merged as a tree.",
  {tiles = P, tiling = tiling, title = "backward, as a tree"},
  {plot = "matrix", P:weights(), mask = P.mask, title = "weights", xlabel = "key j", ylabel = "query i", zlabel = "weight"},
  "# Every law", P:verify{tilings = {tiling}},
})

local written <close> = assert(io.open(file))
local text = written:read "a"
print("the player is in it:", text:find('class="player"', 1, true) ~= nil)     --> the player is in it:	true
print("it asks for another file:", text:find "src=" ~= nil)                   --> it asks for another file:	false
os.remove(name)
if not arg[1] then os.remove(file) end
