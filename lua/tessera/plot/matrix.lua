--- matrix.lua -- the heat map of a matrix.

local check = require "tessera.check"
local grid = require "tessera.plot.grid"
local labels_of = require "tessera.plot.labels"

-- The class of what is no finite number.
local function class(x) return x ~= x and "nan" or x > 0 and "high" or "low" end

-- The smallest and largest finite value of the cells.
local function range(g)
  local lo, hi = math.huge, -math.huge
  for _, line in ipairs(g.cells) do
    for _, x in ipairs(line) do
      if type(x) == "number" then lo, hi = math.min(lo, x), math.max(hi, x) end
    end
  end
  return lo, hi
end

-- From values to places between 0 and 1; halved, so that hi - lo cannot overflow.
local function place(g, lo, hi)
  local span = hi / 2 - lo / 2
  for _, line in ipairs(g.cells) do
    for c, x in ipairs(line) do
      if type(x) == "number" then line[c] = span > 0 and math.min(math.max((x / 2 - lo / 2) / span, 0), 1) or 0.5 end
    end
  end
end

local function limits(o, g)
  local lo, hi = range(g)
  if not o.range then return lo, hi end
  local a, b = o.range[1], o.range[2]
  check.arg(math.type(a) and math.type(b) and a < b and b - b == 0 and a - a == 0, 2, "matrix", "field 'range': {low, high} expected")
  return a, b
end

-- The largest of the cells that the mask keeps, of which there is one; NaN where one is NaN.
local function largest_kept(m, mask, i1, i2, j1, j2)
  local largest = -math.huge
  for i = i1, i2 do
    for j = j1, j2 do
      local x = mask(i, j) and m(i, j)
      if x and x ~= x then return x end
      if x then largest = math.max(largest, x) end
    end
  end
  return largest
end

-- Reads a cell, or the largest of several (NaN where one is NaN).
local function reader(m, mask)
  return function(i1, i2, j1, j2)
    local kept = mask and mask:count(i1, i2, j1, j2)
    if kept == 0 then return "masked" end
    local x
    if kept and kept < (i2 - i1 + 1) * (j2 - j1 + 1) then
      x = largest_kept(m, mask, i1, i2, j1, j2)
    else
      x = m:slice(i1, i2, j1, j2):max()
    end
    return x - x == 0 and x or class(x)
  end
end

local function mask_of(o, m)
  local mask = o.mask
  if not mask then return nil end
  check.arg(mask.rows == m.rows and mask.cols == m.cols, 2, "matrix", "field 'mask' is %dx%d, the matrix %dx%d", mask.rows,
    mask.cols, m.rows, m.cols)
  local h = check.whole(o.h or 1, 1)
  check.arg(h and h <= (mask.heads or 1), 2, "matrix", "field 'h': there is no head %s", o.h)
  return mask.heads and mask:head(h) or mask
end

--- A grid of at most `most` {rows, columns} cells.
return function(m, o, most)
  check.type(m, "matrix", 1, "matrix")
  local labels, mask = labels_of(o.labels, m.rows, m.cols, "matrix"), mask_of(o, m)
  local g = grid.new(m.rows, m.cols, most, reader(m, mask))
  local lo, hi = limits(o, g)
  place(g, lo, hi)
  g.scale, g.labels, g.pooling, g.scale_name = {lo, hi}, labels, "the largest", o.zlabel
  g.title = o.title or ("matrix %d × %d, %s"):format(m.rows, m.cols, m.dtype)
  g.xlabel, g.ylabel = o.xlabel or "column", o.ylabel or "row"
  return g
end
