--- trace.lua -- the picture of a trace: m, ℓ, and the factors of each merge, step by step.

local axis = require "tessera.plot.axis"
local chart = require "tessera.plot.chart"
local check = require "tessera.check"
local gnuplot = require "tessera.plot.gnuplot"
local words = require "tessera.plot.words"

local picture = {}
picture.__index = picture

local nan = 0 / 0

local function name_of(step) return step.block and "Σ" .. step.block or "⋆" end

local function series(t, pick, label)
  local s = {x = {}, y = {}, label = label}
  for n, step in ipairs(t) do s.x[n], s.y[n] = n + 0.0, pick(step) or nan end
  return s
end

-- A point where there is a number, and no mark where there is none: ⊥ and the first step of a block have no factor.
local function present(s)
  for n = #s.y, 1, -1 do
    if s.y[n] ~= s.y[n] then table.remove(s.x, n) table.remove(s.y, n) end
  end
  return s
end

local function panel(self, fields)
  fields.x_range, fields.x_ticks, fields.xlabel = {0.5, #self.trace + 0.5}, self.ticks, fields.xlabel or ""
  fields.most_y, fields.lost_name = 4, "⊥: no key"
  return chart.new(fields)
end

local function panels(self)
  local t, bottoms = self.trace, {}
  for n, step in ipairs(t) do
    if not step.max then bottoms[#bottoms + 1] = n + 0.0 end
  end
  local from_left = present(series(t, function(s) return s.left end, "left factor"))
  local from_right = present(series(t, function(s) return s.right end, "right factor"))
  return {
    panel(self, {title = self.title, ylabel = "m", legend = false, series = {series(t, function(s) return s.max end)}}),
    panel(self, {title = "", ylabel = "ℓ", legend = false, series = {series(t, function(s) return s.norm end)}}),
    panel(self, {title = "", ylabel = "rescaled by", xlabel = self.xlabel, series = {from_left, from_right}, y_range = {-0.05, 1.1},
      joined = false, lost = bottoms}),
  }
end

local function ticks(t)
  local list = {}
  for k, n in ipairs(axis.places(#t, 48)) do list[k] = {n, name_of(t[n])} end
  return list
end

-- Where the top and the bottom of each panel lie, as parts of the height from below. Pixels are left for the title, for the
-- ticks of each, and for the last one's label and legend; a low picture has less of them.
local function edges(height)
  local pixel = 1 / math.max(height, 360)
  local above, between, below = 40 * pixel, 32 * pixel, 92 * pixel
  local tall, list = (1 - above - below - 2 * between) / 3, {}
  for n = 1, 3 do
    local top = 1 - above - (n - 1) * (tall + between)
    list[n] = {top, top - tall}
  end
  return list
end

--- Three charts over each other, for a picture of that many pixels.
function picture:script(_, height)
  if #self.trace == 0 then
    return {axis.titles(self), "unset tics\nset label 'no steps' at graph 0.5, 0.5 center\n",
      "set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\n"}
  end
  local script = {"set multiplot\nset lmargin 12\nset rmargin 3\n"}
  local place = edges(height)
  for n, c in ipairs(panels(self)) do
    script[#script + 1] = ("set tmargin at screen %s\nset bmargin at screen %s\n"):format(gnuplot.number(place[n][1]),
      gnuplot.number(place[n][2]))
    for _, part in ipairs(c:script()) do script[#script + 1] = part end
  end
  script[#script + 1] = "unset multiplot\n"
  return script
end

local function bar(x, lo, hi, width)
  if not x then return "" end
  return ("█"):rep(math.floor((hi > lo and (x - lo) / (hi - lo) or 1) * (width - 1) + 1.5))
end

local function range(t, name)
  local lo, hi = math.huge, -math.huge
  for _, step in ipairs(t) do
    local x = step[name]
    if x and x - x == 0 then lo, hi = math.min(lo, x), math.max(hi, x) end
  end
  return lo, hi
end

local function factor(x) return x and words.number(x) or "⊥" end

--- Lines of characters: a step a line, with bars for m (from the least to the largest) and ℓ (from 0).
function picture:text(style)
  local t, width = self.trace, math.max(4, (style.width - 56) // 2)
  local m_low, m_high = range(t, "max")
  local _, l_high = range(t, "norm")
  local lines = {words.clean(self.title), words.pad("step", 8) .. words.pad("m", width + 12) .. words.pad("ℓ", width + 12) .. "rescaled by"}
  local function column(x, lo, hi)
    return words.pad(words.number(x), 11) .. words.pad(bar(x - x == 0 and x or nil, lo, hi, width), width + 1)
  end
  for _, step in ipairs(t) do
    local rescaled = step.block and "" or factor(step.left) .. " ⋆ " .. factor(step.right)
    local state = step.max and column(step.max, m_low, m_high) .. column(step.norm, 0, l_high) or words.pad("⊥", 2 * width + 24)
    lines[#lines + 1] = (words.pad(name_of(step), 8) .. state .. rescaled):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

--- A picture of what P:trace gives.
return function(t, o)
  check.arg(check.type_of(t) == "trace" and math.type(t.row) and type(t.word) == "table", 1, "trace", "what P:trace gives expected, got %s",
    check.type_of(t))
  return setmetatable({
    trace = t, ticks = ticks(t), title = o.title or ("row %d, head %d: what the steps leave on top of the stack"):format(t.row, t.head),
    xlabel = o.xlabel or "step: Σ of a block, or a merge ⋆", ylabel = o.ylabel or "",
  }, picture)
end
