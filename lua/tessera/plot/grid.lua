--- grid.lua -- a picture of cells: each has a place on a scale, or is of a class ("masked", "NaN", "full" ..).
--
-- A grid has `rows` × `cols` cells, each standing for `per` × `per` of the `n_rows` × `n_cols` that it shows; `cells[r][c]` is a
-- number from 0 to 1 or the key of a class; `scale` {lo, hi} says what 0 and 1 are. `marks[r][c]` is written on a cell.

local axis = require "tessera.plot.axis"
local colour = require "tessera.plot.colour"
local gnuplot = require "tessera.plot.gnuplot"
local words = require "tessera.plot.words"

local grid = {}
grid.__index = grid

--- How many cells an edge may have, `most` at most: how many each stands for, and how many there are.
function grid.pooled(n_rows, n_cols, most_rows, most_cols)
  local per = math.max(1, -(-n_rows // most_rows), -(-n_cols // most_cols))
  return per, -(-n_rows // per), -(-n_cols // per)
end

--- A grid of n_rows × n_cols, of at most `most` {rows, cols} cells; at(i1, i2, j1, j2) tells the cell of rows i1..i2 and
--- columns j1..j2.
function grid.new(n_rows, n_cols, most, at)
  local per, rows, cols = grid.pooled(n_rows, n_cols, most[1], most[2])
  local self = setmetatable({rows = rows, cols = cols, per = per, n_rows = n_rows, n_cols = n_cols, cells = {}}, grid)
  for r = 1, rows do
    local line, i1, i2 = {}, (r - 1) * per + 1, math.min(r * per, n_rows)
    for c = 1, cols do line[c] = at(i1, i2, (c - 1) * per + 1, math.min(c * per, n_cols)) end
    self.cells[r] = line
  end
  return self
end

function grid:palette_of() return self.palette or colour.viridis end

-- The colour of a cell.
local function colour_of(self, cell)
  return type(cell) == "number" and colour.at(self:palette_of(), cell) or colour.classes[cell].rgb
end

-- The classes that stand in it, in a legend's order; and whether it has cells on the scale.
local function used(self)
  local seen, list = {}, {}
  for _, line in ipairs(self.cells) do
    for _, cell in ipairs(line) do seen[type(cell) == "number" and 0 or cell] = true end
  end
  for _, class in ipairs(colour.classes) do
    if seen[class.key] or self.legend and self.legend[class.key] then list[#list + 1] = class end
  end
  return list, seen[0] ~= nil
end

local function class_name(self, class) return self.names and self.names[class.key] or class.name end

--- What one cell stands for, where that is more than one.
function grid:note()
  if self.per == 1 then return nil end
  return ("a cell is %d × %d%s"):format(self.per, self.per, self.pooling and ": " .. self.pooling or "")
end

-- gnuplot -------------------------------------------------------------------------------------------

local raster = 480 -- pixels that a small grid is drawn in, so that no viewer blurs its cells into each other
local gap = "\255\255\255\0"
local darker = "\128\128\128\65" -- on white it is the grey of a class that is the paper

-- The pixels: each cell `repeats` times in both directions, with a gap on its far sides where there is room for one.
local function pixels(self, repeats)
  local lines = {}
  local between = self.gaps and repeats >= 16 and repeats // 16 or 0
  for _, line in ipairs(self.cells) do
    local parts = {}
    for c, cell in ipairs(line) do
      local class = colour.classes[cell]
      local pixel = class and class.paper and darker or string.char(table.unpack(colour_of(self, cell))) .. "\255"
      parts[c] = pixel:rep(repeats - between) .. gap:rep(between)
    end
    local row = table.concat(parts)
    lines[#lines + 1] = row:rep(repeats - between) .. gap:rep(self.cols * repeats):rep(between)
  end
  return table.concat(lines)
end

local function ratio(self) return math.min(math.max(self.n_rows / self.n_cols, 0.25), 2.5) end

local function room(pixel_count) return math.max(4, pixel_count // 16) end

local function ticks(self, width, height)
  local labels = self.labels or {}
  local tall = height * 0.75
  local wide = math.min(width * 0.75, tall / ratio(self))
  local xs, turned = axis.cells(self.n_cols, labels.cols, room(wide))
  local ys = axis.cells(self.n_rows, labels.rows, room(math.min(tall, wide * ratio(self))))
  return axis.set("x", xs, turned and "out nomirror rotate by 90 right" or "out nomirror") .. axis.set("y", ys, "out nomirror")
end

-- The scale's colours and numbers, on the right.
local function scale_box(self)
  local lo, hi = self.scale[1], self.scale[2]
  local parts = {}
  for n, c in ipairs(self:palette_of()) do parts[n] = ("%d '%s'"):format(n, colour.hex(c)) end
  local list = {}
  for _, x in ipairs(lo < hi and axis.ticks(lo, hi, 6) or {lo}) do
    list[#list + 1] = {lo < hi and (x / 2 - lo / 2) / (hi / 2 - lo / 2) or 0.5, words.number(x)}
  end
  return ("set palette defined (%s)\nset cbrange [0:1]\n"):format(table.concat(parts, ", ")) .. axis.set("cb", list)
    .. (self.scale_name and ("set cblabel %s\n"):format(gnuplot.quote(self.scale_name)) or "")
end

local function marks(self, width, height)
  local parts = {}
  local size = math.min(width * 0.7 / self.cols, height * 0.7 / self.rows)
  if not self.marks or size < 12 then return "" end
  for r, line in pairs(self.marks) do
    for c, text in pairs(line) do
      local class = colour.classes[self.cells[r][c]]
      parts[#parts + 1] = ("set label %s at %d,%d center front font ',%d' tc rgb '#%s'\n"):format(gnuplot.quote_line(text), c, r,
        math.floor(math.min(11, size / 2.5)), class and class.ink or "111111")
    end
  end
  table.sort(parts)
  return table.concat(parts)
end

local function empty_script(self)
  return {axis.titles(self), "unset key\nset xrange [0:1]\nset yrange [0:1]\nunset xtics\nunset ytics\n",
    "set label 'no cells' at graph 0.5, 0.5 center\nplot NaN notitle\n"}
end

--- gnuplot's commands for a picture of this many pixels.
---@return string[]
function grid:script(width, height)
  if self.rows == 0 or self.cols == 0 then return empty_script(self) end
  local repeats = math.max(1, raster // math.max(self.rows, self.cols))
  local step = self.per / repeats
  local function edge(n) return gnuplot.number(n * self.per + 0.5) end
  local classes, scaled = used(self)
  local plots = {("'-' binary array=(%d,%d) origin=(%s,%s) dx=%s dy=%s format='%%uchar' with rgbalpha notitle"):format(
    self.cols * repeats, self.rows * repeats, gnuplot.number(0.5 + step / 2), gnuplot.number(0.5 + step / 2),
    gnuplot.number(step), gnuplot.number(step))}
  for _, class in ipairs(classes) do
    plots[#plots + 1] = ("keyentry with boxes fs solid border lc rgb '#555555' fc rgb '%s' title %s"):format(
      colour.hex(class.rgb), gnuplot.quote_line(class_name(self, class)))
  end
  if scaled then plots[#plots + 1] = "'-' using 1:2:3 with points palette notitle" end
  return {
    axis.titles(self, self:note()), ticks(self, width, height), marks(self, width, height),
    scaled and scale_box(self) or "unset colorbox\n",
    ("set size ratio %s\nset xrange [0.5:%s]\nset yrange [%s:0.5]\n"):format(gnuplot.number(ratio(self)), edge(self.cols),
      edge(self.rows)),
    #classes > 0 and "set key below center horizontal reverse Left width 2 samplen 1.5\n" or "unset key\n", "set border lw 0.5\n",
    "plot ", table.concat(plots, ", "), "\n", {pixels(self, repeats)}, scaled and "-1 -1 0\ne\n" or "",
  }
end

-- The terminal --------------------------------------------------------------------------------------

local shades = {" ", "░", "▒", "▓", "█"}
local is_shade = {}
for _, shade in ipairs(shades) do is_shade[shade] = true end

-- The character that fills a cell.
local function filling(self, cell)
  if type(cell) ~= "number" then return colour.classes[cell].mark end
  local list = self.shades or shades
  return list[math.min(#list, 1 + math.floor(cell * #list))]
end

-- A cell, `wide` characters; `mark` stands at its left where there is one.
local function drawn(self, cell, wide, mark, style)
  mark = mark or ""
  local fill = filling(self, cell)
  local rest = fill:rep(wide - words.width(mark))
  if not style.coloured then return mark .. rest end
  local c, parts = colour_of(self, cell), {}
  if mark ~= "" then parts[1] = colour.on(mark, c, style.deep) end
  if rest ~= "" then parts[#parts + 1] = (is_shade[fill] and colour.under or colour.on)(rest, c, style.deep) end
  return table.concat(parts)
end

-- The scale: its lowest number, its colours or characters, its highest.
local function ramp(self, style)
  local steps, last = {}, nil
  for n = 0, 4 do
    local step = drawn(self, n / 4, style.coloured and 2 or 1, nil, style)
    if step ~= last then steps[#steps + 1] = step end
    last = step
  end
  return ("%s%s %s %s"):format(self.scale_name and self.scale_name .. ": " or "", words.number(self.scale[1]),
    table.concat(steps, style.coloured and "" or " "), words.number(self.scale[2]))
end

local function legend(self, style)
  local classes, scaled = used(self)
  local parts = {scaled and ramp(self, style) or nil}
  for _, class in ipairs(classes) do
    parts[#parts + 1] = drawn(self, class.key, 1, nil, style) .. " " .. class_name(self, class)
  end
  parts[#parts + 1] = self:note()
  return words.wrapped(parts, style.width)
end

-- What stands left of a row: its label, or its number every now and then.
local function row_labels(self)
  local labels, at, width = self.labels and self.labels.rows, {}, 0
  local all = labels and self.per == 1
  for _, i in ipairs(all and {} or axis.places(self.n_rows, 8)) do at[(i - 1) // self.per + 1] = tostring(i) end
  for r = 1, self.rows do
    at[r] = all and words.cut(words.clean(labels[r] or ""), 16) or at[r] or ""
    width = math.max(width, words.width(at[r]))
  end
  return at, width
end

-- The numbers of columns, each over the left edge of its cell.
local function column_line(self, wide)
  local line = ""
  for _, j in ipairs(axis.places(self.n_cols, math.max(3, self.cols * wide // 8))) do
    local place = (j - 1) // self.per * wide
    local gap_left = place - #line
    if gap_left >= (line == "" and 0 or 1) and place + #tostring(j) <= math.max(self.cols * wide, 1) then
      line = line .. (" "):rep(gap_left) .. j
    end
  end
  return line
end

--- The picture as lines of characters. `style` has `coloured` and `deep` (a terminal of all colours), `width`.
---@return string
function grid:text(style)
  local lines = {words.clean(self.title)}
  if self.rows == 0 or self.cols == 0 then return lines[1] .. "\nno cells" end
  local labels, left = row_labels(self)
  local wide = math.max(1, math.min(self.widest or 2, (style.width - left - 2) // self.cols))
  local margin = (" "):rep(left + 1)
  lines[2] = (margin .. column_line(self, wide)):gsub("%s+$", "")
  for r, line in ipairs(self.cells) do
    local parts = {words.pad(labels[r], -left), " "}
    for c, cell in ipairs(line) do
      local mark = self.marks and self.marks[r] and self.marks[r][c]
      parts[#parts + 1] = drawn(self, cell, wide, mark and words.width(mark) <= wide and mark or nil, style)
    end
    lines[#lines + 1] = table.concat(parts)
  end
  lines[#lines + 1] = legend(self, style)
  return table.concat(lines, "\n")
end

return grid
