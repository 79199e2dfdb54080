--- tiles.lua -- the picture of tiles: empty, partial or full, and the order in which they are visited.

local check = require "tessera.check"
local grid = require "tessera.plot.grid"
local tiling_of = require "tessera.plot.tiling"

local classes = {[0] = "empty", [1] = "partial", [2] = "full"}

-- What several tiles have in common, else "partial".
local function common(content)
  return function(i1, i2, j1, j2)
    local first = content(i1, j1)
    for i = i1, i2 do
      for j = j1, j2 do
        if content(i, j) ~= first then return "partial" end
      end
    end
    return first
  end
end

local function finished(g, o, title)
  g.gaps, g.widest = true, 4
  g.legend, g.pooling = {empty = true, partial = true, full = true}, "partial unless all are alike"
  g.title = o.title or title
  g.xlabel, g.ylabel = o.xlabel or "block of keys", o.ylabel or "tile of queries"
  return g
end

-- Of what m:tiles(q, k) gives.
local function of_map(t, o, most)
  local maps, h = type(t.map) == "table" and t.map or {t.map}, o.h or 1
  check.arg(maps[h] ~= nil, 2, "tiles", "field 'h': there is no head %s", h)
  local map = check.type(maps[h], "matrix", 1, "tiles")
  local g = grid.new(map.rows, map.cols, most, common(function(r, c) return classes[map(r, c)] or "partial" end))
  return finished(g, o, ("tiles of %s × %s: %s empty, %s partial, %s full"):format(t.q, t.k, t.empty, t.partial, t.full))
end

-- Of a problem and a tiling: with the number of each visit.
local function of_problem(P, o, most)
  local t = tiling_of(P, o.tiling, o.h, 2, "tiles")
  local g = grid.new(#t.rows, #t.blocks, most, common(function(r, c) return t.rows[r].content[c] end))
  if g.per == 1 then
    g.marks = {}
    for r, row in ipairs(t.rows) do
      g.marks[r] = {}
      for b, number in pairs(row.visit) do g.marks[r][b] = tostring(number) end
    end
  end
  return finished(g, o, "tiles, numbered as each tile of queries visits them")
end

--- A grid of at most `most` {rows, columns} tiles.
return function(x, o, most)
  local kind = check.type_of(x)
  check.arg(kind == "problem" or kind == "tiles" and x.map ~= nil and math.type(x.q), 1, "tiles",
    "problem, or what mask:tiles(q, k) gives, expected, got %s", kind)
  if kind == "problem" then return of_problem(x, o, most) end
  check.arg(not o.tiling, 2, "tiles", "field 'tiling' needs a problem")
  return of_map(x, o, most)
end
