-- draw.lua -- masks and their tiles as pictures of characters.
--
-- A dropped cell is a dot or an empty half, a kept one is solid, and a legend says so: nothing that is
-- masked can be taken for a number.

local core = require "tessera.core"

local draw = {}

local MOST_LINES = 48

-- What stands for the part of a block that is kept: none, up to a third, two thirds, less than all, all.
local NONE, SHADES, ALL = "·", {"░", "▒", "▓"}, "█"

local function shade(kept, cells)
  if kept == 0 then return NONE end
  if kept == cells then return ALL end
  return SHADES[math.min(3, 1 + 3 * kept // cells)]
end

-- A line between tiles of k cells, n cells wide, with `per` cells a character.
local function border(n, k)
  local line = {}
  for j = 1, n do
    line[#line + 1] = "─"
    if k and j % k == 0 and j < n then line[#line + 1] = "┼" end
  end
  return table.concat(line)
end

local halves = {[true] = {[true] = "█", [false] = "▀"}, [false] = {[true] = "▄", [false] = NONE}}

-- Two rows of cells a line; `below` is nil behind the last row of an odd tile.
local function pair_line(m, h, above, below, k)
  local line = {}
  for j = 1, m.cols do
    line[#line + 1] = halves[m(above, j, h)][below ~= nil and m(below, j, h)]
    if k and j % k == 0 and j < m.cols then line[#line + 1] = "│" end
  end
  return table.concat(line)
end

local function in_full(m, h, q, k)
  local lines, first = {}, 1
  while first <= m.rows do
    local last = math.min(m.rows, q and first + q - 1 or m.rows)
    for i = first, last, 2 do
      lines[#lines + 1] = pair_line(m, h, i, i < last and i + 1 or nil, k)
    end
    if last < m.rows then lines[#lines + 1] = border(m.cols, k) end
    first = last + 1
  end
  lines[#lines + 1] = "█ kept  · dropped (a character is two queries high)"
  return lines
end

-- The last of the places of block b, of `size` each, along n.
local function block_end(b, size, n) return math.min(b * size, n) end

local function scaled(m, h, rows, cols)
  local lines = {}
  for r = 1, (m.rows + rows - 1) // rows do
    local line, i1, i2 = {}, (r - 1) * rows + 1, block_end(r, rows, m.rows)
    for c = 1, (m.cols + cols - 1) // cols do
      local j1, j2 = (c - 1) * cols + 1, block_end(c, cols, m.cols)
      line[c] = shade(m:count(i1, i2, j1, j2, h), (i2 - i1 + 1) * (j2 - j1 + 1))
    end
    lines[r] = table.concat(line)
  end
  lines[#lines + 1] = ("a character is %d x %d cells: · none  ░ ▒ ▓ a third, two, more  █ all kept"):format(rows, cols)
  return lines
end

local function width_of(options) return options.width or core.width() or 80 end

--- The picture of a mask (of head options.h, the first unless given), with a line at its end.
---@param m userdata
---@param options {h: integer?, q: integer?, k: integer?, width: integer?}
---@return string
function draw.picture(m, options)
  local width, h = width_of(options), m.heads and (options.h or 1) or nil
  local title = ("mask %dx%d%s"):format(m.rows, m.cols, h and (", head %d of %d"):format(h, m.heads) or "")
  if m.rows == 0 or m.cols == 0 then return title .. ", no cells\n" end
  local lines
  local borders = options.k and (m.cols - 1) // options.k or 0
  if m.cols + borders <= width and m.rows <= 2 * MOST_LINES then
    lines = in_full(m, h, options.q, options.k)
  else
    local cols = options.k or (m.cols + width - 1) // width
    local rows = options.q or math.max(2 * cols, (m.rows + MOST_LINES - 1) // MOST_LINES)
    lines = scaled(m, h, rows, cols)
  end
  return title .. "\n" .. table.concat(lines, "\n") .. "\n"
end

-- Tiles -----------------------------------------------------------------------------------------

local covers = {[0] = NONE, [1] = "▒", [2] = ALL}

-- The map, several tiles a character where it is too wide: of these, what they have in common, else partial.
local function tile_lines(map, width)
  local per = math.max(1, (map.cols + width - 1) // width, (map.rows + MOST_LINES - 1) // MOST_LINES)
  local lines = {}
  for r = 1, map.rows, per do
    local line = {}
    for c = 1, map.cols, per do
      local part = map:slice(r, math.min(r + per - 1, map.rows), c, math.min(c + per - 1, map.cols))
      local least, most = part:min(), part:max()
      line[#line + 1] = covers[least == most and math.tointeger(least) or 1]
    end
    lines[#lines + 1] = table.concat(line)
  end
  return lines, per
end

local function tiles_text(t)
  local maps = type(t.map) == "table" and t.map or {t.map}
  local text = {("tiles of %d x %d: %d empty, %d partial, %d full"):format(t.q, t.k, t.empty, t.partial, t.full)}
  for h, map in ipairs(maps) do
    if #maps > 1 then text[#text + 1] = ("head %d"):format(h) end
    local lines, per = tile_lines(map, core.width() or 80)
    for _, line in ipairs(lines) do text[#text + 1] = line end
    if per > 1 then text[#text + 1] = ("a character is %d x %d tiles"):format(per, per) end
  end
  text[#text + 1] = "· empty  ▒ partial  █ full"
  return table.concat(text, "\n")
end

--- The metatable of what m:tiles returns.
draw.tiles = {__tostring = tiles_text, __name = "tessera.tiles"}

return draw
