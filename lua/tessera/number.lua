--- number.lua -- numbers as text that is the same in every locale.

local number = {}

--- `string.format(format, x)` for one float conversion, with "." whatever the locale says. NaN is
--- `nan` whatever its sign, infinities are `inf` and `-inf`.
---@param format string a single conversion, such as "%.3f"
---@param x number
---@return string
function number.format(format, x)
  if x ~= x then return "nan" end
  if x == math.huge then return "inf" end
  if x == -math.huge then return "-inf" end
  local text = string.format(format, x)
  if not text:find("[^%d.e+-]") then return text end
  return (text:gsub("[^%de+-]+", ".")) -- the locale's point, which may be several bytes
end

--- The shortest of 15, 16 or 17 digits that reads back as the same double.
---@param x number
---@return string
function number.shortest(x)
  for digits = 15, 16 do
    local text = number.format("%." .. digits .. "g", x)
    if tonumber(text) == x then return text end
  end
  return number.format("%.17g", x)
end

local special = {
  nan = 0 / 0, ["+nan"] = 0 / 0, ["-nan"] = 0 / 0,
  inf = math.huge, ["+inf"] = math.huge, ["-inf"] = -math.huge,
  infinity = math.huge, ["+infinity"] = math.huge, ["-infinity"] = -math.huge,
}

--- The number that a decimal text such as `-1.5e3`, `nan` or `-Inf` stands for, as a float (`-0` keeps
--- its sign); nil where it is none. Hexadecimal, and a locale's comma, are none.
---@param text string without surrounding space
---@return number?
function number.parse(text)
  if not text:find("^[+-]?%.?%d[%d.eE+-]*$") then return special[text:lower()] end
  local x = tonumber(text)
  if x == 0 and text:byte() == 45 then return -0.0 end -- "-0" is the integer 0
  return x and x + 0.0
end

return number
