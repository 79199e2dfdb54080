--- chart.lua -- a picture of series over two axes.
--
-- A chart has `series`, a list of {x =, y =, low =, high =, label =, bars = width?}, and `log_x`, `log_y`. A number without a place
-- on its axis (not finite, or not above 0 on a logarithmic one) leaves a gap; where only y has none, a mark at the x axis.

local axis = require "tessera.plot.axis"
local colour = require "tessera.plot.colour"
local gnuplot = require "tessera.plot.gnuplot"
local words = require "tessera.plot.words"

local chart = {}
chart.__index = chart

local function placed(x, logarithmic) return x - x == 0 and (not logarithmic or x > 0) end

-- From the least to the largest that has a place, and a little more; never empty, never infinite.
local function range(lists, logarithmic)
  local lo, hi = math.huge, -math.huge
  for _, list in ipairs(lists) do
    for _, x in ipairs(list) do
      if placed(x, logarithmic) then lo, hi = math.min(lo, x), math.max(hi, x) end
    end
  end
  if lo > hi then return 0.1, 1.0 end
  if logarithmic then
    local room = lo == hi and 2.0 or math.min((hi / lo) ^ 0.04, 1e10)
    return math.max(lo / room, 1e-307), math.min(hi * room, 1e307)
  end
  local room = lo == hi and math.max(math.abs(lo) * 0.5, 0.5) or (hi / 2 - lo / 2) * 0.08
  return math.max(lo - room, -1e307), math.min(hi + room, 1e307)
end

--- A chart of these fields; `x_range` and `y_range` are what the series fill, unless given.
function chart.new(fields)
  local self = setmetatable(fields, chart)
  local xs, ys = {}, {}
  for _, s in ipairs(self.series) do
    xs[#xs + 1], ys[#ys + 1] = s.x, s.y
    if s.low then table.move({s.low, s.high}, 1, 2, #ys + 1, ys) end
  end
  self.x_range = self.x_range or {range(xs, self.log_x)}
  self.y_range = self.y_range or {range(ys, self.log_y)}
  return self
end

-- The places on x of points that have none on y.
local function lost(self)
  local list = table.move(self.lost or {}, 1, #(self.lost or {}), 1, {})
  for _, s in ipairs(self.series) do
    for k, y in ipairs(s.y) do
      if placed(s.x[k], self.log_x) and not placed(y, self.log_y) then list[#list + 1] = s.x[k] end
    end
  end
  return list
end

local function lost_name(self) return self.lost_name or self.log_y and "not above 0, or not finite" or "not finite" end

-- gnuplot -------------------------------------------------------------------------------------------

local most_points = 60 -- of a series drawn with its points

local function style_of(self, n, s)
  local c = colour.hex(colour.series[(n - 1) % #colour.series + 1])
  if s.bars then return ("with boxes fs solid 0.8 noborder fc rgb '%s'"):format(c) end
  local line = ("lc rgb '%s' lw 1.8 dt %d"):format(c, (n - 1) // 2 % 4 + 1)
  if #s.y > most_points and self.joined ~= false then return "with lines " .. line end
  return (self.joined == false and "with points" or "with linespoints")
    .. (" %s pt %d ps 0.7"):format(line, ({7, 9, 5, 13, 11, 6, 8})[(n - 1) % 7 + 1])
end

local function data(self, s, columns)
  local lines = {}
  for k in ipairs(s.y) do
    local fine, cells = placed(s.x[k], self.log_x), {}
    for c, list in ipairs(columns) do
      fine = fine and placed(list[k], c > 1 and self.log_y or c == 1 and self.log_x)
      cells[c] = gnuplot.number(list[k])
    end
    lines[k] = fine and table.concat(cells, " ") .. "\n" or "\n" -- an empty line breaks the curve
  end
  return table.concat(lines) .. "e\n"
end

-- The plot command's parts, and the data behind it. Bands first: under the curves.
local function plots(self)
  local parts, behind = {}, {}
  local function add(part, text) parts[#parts + 1], behind[#behind + 1] = part, text end
  for n, s in ipairs(self.series) do
    if s.low then
      add(("'-' using 1:2:3 with filledcurves fs transparent solid 0.2 noborder fc rgb '%s' notitle"):format(
        colour.hex(colour.series[(n - 1) % #colour.series + 1])), data(self, s, {s.x, s.low, s.high}))
    end
  end
  for n, s in ipairs(self.series) do
    local columns = s.bars and {s.x, s.y, s.bars} or {s.x, s.y}
    add(("'-' using %s %s %s"):format(s.bars and "1:2:3" or "1:2", style_of(self, n, s),
      s.label and "title " .. gnuplot.quote_line(s.label) or "notitle"), data(self, s, columns))
  end
  if #parts == 0 then add("NaN notitle", "") end
  if #lost(self) > 0 then
    add(("keyentry with lines lw 3 lc rgb '%s' title '%s'"):format(colour.hex(colour.classes.nan.rgb), lost_name(self)), "")
  end
  return table.concat(parts, ", "), table.concat(behind)
end

local function lost_marks(self)
  local marks = {}
  for n, x in ipairs(lost(self)) do
    if n > 500 then break end
    marks[n] = ("set arrow from first %s, graph 0 rto 0, graph 0.03 nohead lw 3 lc rgb '%s'\n"):format(gnuplot.number(x),
      colour.hex(colour.classes.nan.rgb))
  end
  return table.concat(marks)
end

local function has_legend(self)
  if self.legend == false then return false end
  if #lost(self) > 0 then return true end
  for _, s in ipairs(self.series) do
    if s.label then return true end
  end
  return false
end

local function whole(list)
  local kept = {}
  for _, x in ipairs(list) do kept[#kept + 1] = x == math.floor(x) and x or nil end
  return kept
end

-- The numbers at an axis, about `most`; on a logarithmic x axis of few places, these.
local function numbers(self, name, most)
  local r, logarithmic = self[name .. "_range"], self["log_" .. name]
  if not logarithmic then
    local list = axis.ticks(r[1], r[2], most)
    return name == "y" and self.counts and whole(list) or list
  end
  local seen, list = {}, {}
  for _, s in ipairs(name == "x" and self.series or {}) do
    if s.bars then return axis.log_ticks(r[1], r[2]) end
    for _, x in ipairs(s.x) do
      if placed(x, true) and not seen[x] then seen[x], list[#list + 1] = true, x end
    end
  end
  return #list > 1 and #list <= 8 and list or axis.log_ticks(r[1], r[2])
end

-- What stands at an axis: a list of {number, text}.
local function labelled(self, name, most)
  if name == "x" and self.x_ticks then return self.x_ticks end
  local list = numbers(self, name, most)
  for n, x in ipairs(list) do list[n] = {x, words.number(x)} end
  return list
end

local room = 50 -- characters of labels that fit side by side below a chart, also on a page

-- Would these labels run into each other?
local function is_crowded(labels)
  local widest = 0
  for _, label in ipairs(labels) do widest = math.max(widest, words.width(label[2])) end
  return #labels * (widest + 1) > room
end

local function ticks(self)
  local turned = self.x_ticks and is_crowded(self.x_ticks)
  return axis.set("x", labelled(self, "x", 8), turned and "out nomirror rotate by 90 right" or "out nomirror norotate")
    .. axis.set("y", labelled(self, "y", self.most_y or 8), "out nomirror")
end

--- gnuplot's commands, for a picture of this many pixels.
function chart:script()
  local plot, behind = plots(self)
  local function log(name, on) return (on and "set logscale %s\n" or "unset logscale %s\n"):format(name) end
  local function bounds(name, r) return ("set %srange [%s:%s]\n"):format(name, gnuplot.number(r[1]), gnuplot.number(r[2])) end
  return {
    axis.titles(self), "set border 3 lw 0.7\n", ticks(self),
    "set grid back lt 1 lw 0.5 lc rgb '#dddddd'\n", log("x", self.log_x), log("y", self.log_y), bounds("x", self.x_range),
    bounds("y", self.y_range), has_legend(self) and "set key below center horizontal reverse Left width 2 samplen 2.5\n"
      or "unset key\n", "unset arrow\n", lost_marks(self), "plot ", plot, "\n", {behind},
  }
end

-- The terminal --------------------------------------------------------------------------------------

local marks = {"●", "▲", "■", "◆", "○", "△", "□"}
local lines_high = 16

-- A function from a number to its place among 1 .. n.
local function placer(r, logarithmic, n)
  local function at(x) return logarithmic and math.log(x) or x / 2 end
  local lo, hi = at(r[1]), at(r[2])
  return function(x) return math.floor((at(x) - lo) / (hi - lo) * (n - 1) + 1.5) end
end

-- A field of characters: put(column, line from below, text).
local function canvas(width, height)
  local field = {}
  for l = 1, height do
    field[l] = {}
    for c = 1, width do field[l][c] = " " end
  end
  return field, function(c, l, text)
    if c >= 1 and c <= width and l >= 1 and l <= height then field[height + 1 - l][c] = text end
  end
end

-- A line of dots between two places.
local function join(put, c1, l1, c2, l2, dot)
  local steps = math.max(math.abs(c2 - c1), math.abs(l2 - l1))
  for k = 1, steps - 1 do
    put(math.floor(c1 + (c2 - c1) * k / steps + 0.5), math.floor(l1 + (l2 - l1) * k / steps + 0.5), dot)
  end
end

local function inked(text, n, style)
  if not style.coloured then return text end
  local c = colour.series[(n - 1) % #colour.series + 1]
  return ("\27[38;2;%d;%d;%dm%s\27[0m"):format(c[1], c[2], c[3], text)
end

local function draw_series(self, put, width, style)
  local column, line = placer(self.x_range, self.log_x, width), placer(self.y_range, self.log_y, lines_high)
  local function each(use)
    for n, s in ipairs(self.series) do
      local c, l
      for k, y in ipairs(s.y) do
        local fine = placed(s.x[k], self.log_x) and placed(y, self.log_y)
        local c2, l2 = fine and column(s.x[k]), fine and line(y)
        use(n, c, l, c2, l2)
        c, l = c2, l2
      end
    end
  end
  each(function(n, c, l, c2, l2) if c and c2 then join(put, c, l, c2, l2, inked("·", n, style)) end end)
  each(function(n, _, _, c2, l2) if c2 then put(c2, l2, inked(marks[(n - 1) % #marks + 1], n, style)) end end)
  for _, x in ipairs(lost(self)) do put(column(x), 1, "?") end
end

-- What stands left of each line of the field, from above; on every other line at most.
local function y_texts(self)
  local at, texts, last = placer(self.y_range, self.log_y, lines_high), {}, -1
  for _, tick in ipairs(labelled(self, "y", 6)) do
    local line = at(tick[1])
    if line >= last + 2 then texts[lines_high + 1 - line], last = tick[2], line end
  end
  return texts
end

-- The line below the field: each number in the middle of its place, as many as have room.
local function x_line(self, width)
  local at, line = placer(self.x_range, self.log_x, width), ""
  for _, tick in ipairs(labelled(self, "x", 8)) do
    local text = tick[2]
    local start = math.max(0, math.min(at(tick[1]) - 1 - words.width(text) // 2, width - words.width(text)))
    if line == "" or start > words.width(line) + 1 then line = words.pad(line, start) .. text end
  end
  return line
end

local function legend(self, style)
  local parts = {}
  for n, s in ipairs(self.series) do
    if s.label then parts[#parts + 1] = inked(marks[(n - 1) % #marks + 1], n, style) .. " " .. words.clean(s.label) end
  end
  if #lost(self) > 0 then parts[#parts + 1] = "? " .. lost_name(self) end
  return table.concat(parts, "   ")
end

--- The picture as lines of characters.
---@return string
function chart:text(style)
  local left = 11
  local width = math.max(10, style.width - left - 2)
  local field, put = canvas(width, lines_high)
  draw_series(self, put, width, style)
  local lines = {words.clean(self.title), words.pad(words.cut(words.clean(self.ylabel), style.width), 0)}
  local texts, margin = y_texts(self), (" "):rep(left + 2)
  for l, row in ipairs(field) do
    lines[#lines + 1] = words.pad(texts[l] or "", -left) .. (texts[l] and " ┤" or " │") .. table.concat(row)
  end
  lines[#lines + 1] = (" "):rep(left) .. " └" .. ("─"):rep(width)
  lines[#lines + 1] = margin .. x_line(self, width)
  local name = words.cut(words.clean(self.xlabel) .. (self.log_x and " (logarithmic)" or ""), width)
  lines[#lines + 1] = margin .. (" "):rep((width - words.width(name)) // 2) .. name
  local names = legend(self, style)
  if names ~= "" then lines[#lines + 1] = margin .. names end
  return table.concat(lines, "\n")
end

return chart
