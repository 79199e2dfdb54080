--- axis.lua -- where the ticks of an axis stand, and what stands at them.

local gnuplot = require "tessera.plot.gnuplot"
local words = require "tessera.plot.words"

local axis = {}

-- The multiples of `step` from lo to hi.
local function multiples(step, lo, hi)
  local list = {}
  for n = math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9) do list[#list + 1] = n * step end
  return list
end

--- Round numbers (1, 2 or 5 times a power of ten apart) from lo to hi, at most `most` of them.
---@return number[]
function axis.ticks(lo, hi, most)
  local span = hi - lo
  if not (span > 0 and span < math.huge) then return {lo, hi} end
  local step, list = 10.0 ^ math.floor(math.log(span / most, 10)), nil
  for _, factor in ipairs{1, 2, 5, 10} do
    list = multiples(step * factor, lo, hi)
    if #list <= most then break end
  end
  return list
end

--- The powers of ten from lo to hi; with 2 and 5 times them where they are few.
---@return number[]
function axis.log_ticks(lo, hi)
  local first, last = math.floor(math.log(lo, 10)), math.ceil(math.log(hi, 10))
  local step, list = math.max(1, (last - first) // 8), {}
  for n = first, last, step do
    for _, factor in ipairs(last - first <= 4 and {1, 2, 5} or {1}) do
      local x = factor * 10.0 ^ n
      if x >= lo and x <= hi then list[#list + 1] = x end
    end
  end
  return list
end

--- About `most` of the places 1 .. n, evenly apart; the first among them where it has room.
---@return integer[]
function axis.places(n, most)
  local step = 1
  while n / step > most do
    local lead = tostring(step):sub(1, 1)
    step = lead == "2" and step // 2 * 5 or step * 2
  end
  local list = {}
  for i = step, n, step do list[#list + 1] = i end
  if step > 2 then table.insert(list, 1, 1) end
  return list
end

--- The commands that set the ticks of an axis ("x", "y" or "cb").
---@param name string
---@param list {[1]: number, [2]: string}[] places and texts
---@param options? string what else `set xtics` is told
---@return string
function axis.set(name, list, options)
  local parts = {}
  for n, tick in ipairs(list) do
    parts[n] = gnuplot.quote_line((tick[2]:gsub("%%", "%%%%"))) .. " " .. gnuplot.number(tick[1]) -- it is a format to gnuplot
  end
  return ("set %stics scale 0.5 %s (%s)\n"):format(name, options or "", table.concat(parts, ", "))
end

-- The longest label that is drawn in full.
local longest = 24

--- The ticks of cells 1 .. n: at each its label, or the round ones' numbers. `most` is how many find room.
---@param n integer
---@param labels? string[]
---@param most integer
function axis.cells(n, labels, most)
  local list = {}
  if labels and n <= most then
    for i = 1, n do list[i] = {i, words.cut(labels[i] or "", longest)} end
    return list, true
  end
  for k, i in ipairs(axis.places(n, math.min(most, 12))) do
    list[k] = {i, labels and words.cut(labels[i] or "", longest) or tostring(i)}
  end
  return list, labels ~= nil
end

--- The commands for title and axes of a picture; `note` is a second line of the title.
function axis.titles(picture, note)
  local title = note and ("%s\n(%s)"):format(picture.title, note) or picture.title
  local parts = {}
  local xlabel = picture.xlabel .. "\n" -- keeps the legend below away from it
  for command, text in pairs{title = title, xlabel = xlabel, ylabel = picture.ylabel} do
    parts[#parts + 1] = ("set %s %s\n"):format(command, gnuplot.quote(text))
  end
  table.sort(parts)
  return table.concat(parts)
end

return axis
