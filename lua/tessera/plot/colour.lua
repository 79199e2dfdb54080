--- colour.lua -- the colours of pictures: told apart by colour-blind people, and in grey.
--
-- Numbers go from dark to light through viridis (van der Walt and Smith 2015), in which lightness grows evenly; series and
-- classes have the colours of Okabe and Ito (2008). What is no number (masked, −∞, NaN, ∞) is grey, white or red: nowhere
-- on the scale.

local colour = {}

local function rgb(hex) return {tonumber(hex:sub(1, 2), 16), tonumber(hex:sub(3, 4), 16), tonumber(hex:sub(5, 6), 16)} end

local function stops(text)
  local list = {}
  for hex in text:gmatch "%x+" do list[#list + 1] = rgb(hex) end
  return list
end

colour.viridis = stops "440154 472c7a 3b518b 2c718e 21908d 27ad81 5cc863 aadc32 fde725"
--- From nothing kept to all kept.
colour.kept = stops "dedede 0072b2"

--- For series, in this order; `dashes` and `points` tell them apart without colours.
colour.series = stops "0072b2 d55e00 009e73 cc79a7 e69f00 56b4e9 000000"

--- Classes of cells, in the order of a legend: `name`, `rgb`, the character on a terminal without colours, and the colour
--- of what is written on it. `paper`: it is the paper, a little darker, so that on a dark page it is dark, too.
colour.classes = {
  {key = "kept", name = "kept", rgb = rgb "0072b2", mark = "█", ink = "ffffff"},
  {key = "full", name = "full", rgb = rgb "0072b2", mark = "█", ink = "ffffff"},
  {key = "partial", name = "partial", rgb = rgb "8cc8ee", mark = "▒", ink = "111111"},
  {key = "empty", name = "empty", rgb = rgb "dedede", paper = true, mark = "·", ink = "111111"},
  {key = "masked", name = "masked", rgb = rgb "dedede", paper = true, mark = "·", ink = "111111"},
  {key = "low", name = "−∞", rgb = rgb "a8a8a8", mark = "-", ink = "111111"},
  {key = "high", name = "+∞", rgb = rgb "ffffff", mark = "+", ink = "111111"},
  {key = "nan", name = "NaN", rgb = rgb "d55e00", mark = "?", ink = "ffffff"},
}
for _, class in ipairs(colour.classes) do colour.classes[class.key] = class end

--- The colour at t (0 to 1) of a list of colours that lie evenly apart.
---@param palette integer[][]
---@param t number
---@return integer[]
function colour.at(palette, t)
  local place = math.min(math.max(t, 0), 1) * (#palette - 1)
  local n = math.min(math.floor(place), #palette - 2)
  local a, b, part = palette[n + 1], palette[n + 2], place - n
  local mixed = {}
  for k = 1, 3 do mixed[k] = math.floor(a[k] + (b[k] - a[k]) * part + 0.5) end
  return mixed
end

--- `#rrggbb`.
function colour.hex(c) return ("#%02x%02x%02x"):format(c[1], c[2], c[3]) end

-- Terminals -----------------------------------------------------------------------------------------

-- The nearest of the 6 x 6 x 6 colours that every terminal of today has.
local function cube(c)
  local function level(x) return x < 48 and 0 or x < 115 and 1 or (x - 35) // 40 end
  return 16 + 36 * level(c[1]) + 6 * level(c[2]) + level(c[3])
end

--- `text` on that background, in an ink that can be read on it.
---@param text string
---@param c integer[]
---@param deep boolean whether the terminal has all colours
---@return string
function colour.on(text, c, deep)
  local ink = c[1] * 299 + c[2] * 587 + c[3] * 114 > 140000 and 30 or 97
  local back = deep and ("48;2;%d;%d;%d"):format(c[1], c[2], c[3]) or ("48;5;%d"):format(cube(c))
  return ("\27[%d;%sm%s\27[0m"):format(ink, back, text)
end

--- `text` in that colour on a background of it: seen only where a picture is copied without its colours.
---@param text string
---@param c integer[]
---@param deep boolean
---@return string
function colour.under(text, c, deep)
  local place = deep and ("2;%d;%d;%d"):format(c[1], c[2], c[3]) or ("5;%d"):format(cube(c))
  return ("\27[38;%s;48;%sm%s\27[0m"):format(place, place, text)
end

return colour
