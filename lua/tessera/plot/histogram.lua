--- histogram.lua -- how often numbers fall where.

local axis = require "tessera.plot.axis"
local chart = require "tessera.plot.chart"
local check = require "tessera.check"
local sentence = require "tessera.sentence"
local series = require "tessera.plot.series"
local words = require "tessera.plot.words"

local histogram = {}
histogram.__index = histogram

local SMALLEST, LARGEST = 2.0 ^ -1074, (2 - 2.0 ^ -52) * 2.0 ^ 1023

-- The numbers of any matrix, or of a list; those with a place, and how many have none.
local function values(x, logarithmic)
  local all = {}
  if check.type_of(x) == "matrix" then
    for i = 1, x.rows do
      for j = 1, x.cols do all[#all + 1] = x(i, j) end
    end
  else
    all = series.numbers(x, "numbers", 1, "histogram")
  end
  local list = {}
  for _, v in ipairs(all) do
    if v - v == 0 and (not logarithmic or v > 0) then list[#list + 1] = v end
  end
  return list, #all - #list
end

-- The range, and how many bins it is cut into: few distinct whole numbers have a bin each, others round edges.
local function span(list, bins, logarithmic)
  local lo, hi, whole = math.huge, -math.huge, true
  for _, v in ipairs(list) do lo, hi, whole = math.min(lo, v), math.max(hi, v), whole and v == math.floor(v) end
  if #list == 0 then return 0, 1, bins or 1 end
  if logarithmic then
    if lo == hi then lo, hi = math.max(lo / 2, SMALLEST), math.min(hi * 2, LARGEST) end
    return lo, hi, bins or 24
  end
  local pad = math.max(0.5, math.abs(lo) * 2.0 ^ -20) -- far from 0 a half more is nothing
  if whole and not bins and hi - lo < 40 and pad == 0.5 then return lo - 0.5, hi + 0.5, math.tointeger(hi - lo) + 1 end
  if lo == hi then return lo - pad, hi + pad, bins or 1 end
  if bins then return lo, hi, bins end
  local ticks = axis.ticks(lo, hi, 24)
  if #ticks < 3 then return lo, hi, 24 end
  local step = ticks[2] - ticks[1]
  local first, last = math.floor(lo / step), math.ceil(hi / step)
  return first * step, last * step, math.tointeger(last - first)
end

-- The edges of the bins, and how many numbers lie in each.
local function count(list, lo, hi, bins, logarithmic)
  local function edge(n)
    local part = n / bins
    return logarithmic and lo ^ (1 - part) * hi ^ part or lo * (1 - part) + hi * part
  end
  local counts = {}
  for n = 1, bins do counts[n] = 0 end
  for _, v in ipairs(list) do
    local part = logarithmic and (math.log(v) - math.log(lo)) / (math.log(hi) - math.log(lo))
      or hi - lo < math.huge and (v - lo) / (hi - lo) or (v / 2 - lo / 2) / (hi / 2 - lo / 2)
    local n = math.min(math.max(math.floor(part * bins) + 1, 1), bins)
    counts[n] = counts[n] + 1
  end
  return edge, counts
end

function histogram:top()
  local most = 0
  for _, n in ipairs(self.counts) do most = math.max(most, n) end
  return most
end

function histogram:script()
  local s = {x = {}, y = {}, bars = {}}
  for n, c in ipairs(self.counts) do
    local a, b = self.edge(n - 1), self.edge(n)
    s.x[n], s.y[n], s.bars[n] = a / 2 + b / 2, c + 0.0, b - a
  end
  local low = self.log_y and 0.5 or 0
  if self.log_y then -- an empty bin has no place there, and is no mistake
    for n = #s.y, 1, -1 do
      if s.y[n] == 0 then for _, list in pairs(s) do table.remove(list, n) end end
    end
  end
  return chart.new{
    series = {s}, title = self.title .. (self.note and "\n(" .. self.note .. ")" or ""), xlabel = self.xlabel, ylabel = self.ylabel,
    counts = true, log_x = self.log_x, log_y = self.log_y, x_range = {self.edge(0), self.edge(#self.counts)},
    y_range = {low, math.max(1, self:top() * 1.08)},
  }:script()
end

local eighths = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"}

-- A bar of `length` characters, a fraction too; what is not 0 is seen.
local function bar(length)
  local whole = math.floor(length)
  local rest = math.floor((length - whole) * 8)
  if whole == 0 and rest == 0 and length > 0 then rest = 1 end
  return ("█"):rep(whole) .. (eighths[rest] or "")
end

--- Lines of characters: a bin a line.
function histogram:text(style)
  local lines, width = {words.clean(self.title)}, math.max(10, style.width - 36)
  local function long(n) return self.log_y and math.log(1 + n) or n end
  local most = math.max(long(self:top()), 1e-9)
  for n, c in ipairs(self.counts) do
    lines[#lines + 1] = ("%s to %s │%s %d"):format(words.pad(words.number(self.edge(n - 1)), -10),
      words.pad(words.number(self.edge(n)), 10), bar(long(c) / most * width), c)
  end
  lines[#lines + 1] = (" "):rep(10) .. words.clean(self.xlabel)
  if self.note then lines[#lines + 1] = self.note end
  return table.concat(lines, "\n")
end

--- A picture of numbers.
return function(x, o)
  local self = setmetatable({log_x = o.log == "x" or o.log == "xy", log_y = o.log == "y" or o.log == "xy"}, histogram)
  local list
  list, self.outside = values(x, self.log_x)
  check.arg(not o.bins or o.bins <= 4096, 2, "histogram", "field 'bins' is above 4096")
  local lo, hi, bins = span(list, o.bins, self.log_x)
  self.edge, self.counts = count(list, lo, hi, bins, self.log_x)
  self.title = o.title or sentence("%d number(s)", #list)
  if self.outside > 0 then
    self.note = ("%d more %s"):format(self.outside, self.log_x and "not above 0, or not finite" or "not finite")
  end
  self.xlabel, self.ylabel = o.xlabel or "value", o.ylabel or "how many"
  return self
end
