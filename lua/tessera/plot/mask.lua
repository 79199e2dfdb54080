--- mask.lua -- the picture of a mask: which query may use which key.

local check = require "tessera.check"
local colour = require "tessera.plot.colour"
local grid = require "tessera.plot.grid"
local labels_of = require "tessera.plot.labels"

-- What part of the cells is kept: a class where it is none or all.
local function reader(m)
  return function(i1, i2, j1, j2)
    if i1 == i2 and j1 == j2 then return m(i1, j1) and "kept" or "masked" end
    local kept, cells = m:count(i1, i2, j1, j2), (i2 - i1 + 1) * (j2 - j1 + 1)
    return kept == 0 and "masked" or kept == cells and "kept" or kept / cells
  end
end

--- A grid of at most `most` {rows, columns} cells.
return function(m, o, most)
  check.type(m, "mask", 1, "mask")
  local h = check.whole(o.h or 1, 1)
  check.arg(h and h <= (m.heads or 1), 2, "mask", "field 'h': there is no head %s", o.h)
  local one = m.heads and m:head(h) or m
  local g = grid.new(m.rows, m.cols, most, reader(one))
  g.labels = labels_of(o.labels, m.rows, m.cols, "mask")
  g.scale, g.palette, g.scale_name, g.pooling = {0, 1}, colour.kept, o.zlabel or "part kept", "the part kept"
  g.shades = {"░", "▒", "▓"} -- a blank would look emptier than a dot
  g.title = o.title or ("mask %d × %d%s"):format(m.rows, m.cols, m.heads and (", head %d of %d"):format(h, m.heads) or "")
  g.xlabel, g.ylabel, g.legend = o.xlabel or "key j", o.ylabel or "query i", {kept = true, masked = true}
  return g
end
