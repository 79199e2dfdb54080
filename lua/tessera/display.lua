--- display.lua -- a matrix as text: a line that tells its shape, then aligned values, cut as NumPy cuts.

local number = require "tessera.number"

local threshold = 1000 -- elements; a matrix of more shows its edges only
local edge = 3         -- rows and columns shown at each
local precision = 8    -- decimals at most
local whole = 2 ^ 53   -- integers up to here are shown in full

-- The indices shown of 1 .. n; 0 stands for those left out.
local function shown(n, cut)
  if cut and n > 2 * edge then return {1, 2, 3, 0, n - 2, n - 1, n} end
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

-- x in the matrix's own dtype: what tells whether a text of fewer digits still means the same number.
local function rounded(x, dtype)
  return dtype == "f32" and string.unpack("<f", string.pack("<f", x)) or x
end

-- The fewest digits behind the point, at most `precision`, that tell every x of the list from its
-- neighbours in `dtype`; `conversion` is "f" or "e".
local function digits_needed(list, dtype, conversion)
  local digits = 0
  for _, x in ipairs(list) do
    while digits < precision
      and rounded(tonumber(number.format("%." .. digits .. conversion, x)), dtype) ~= x do
      digits = digits + 1
    end
  end
  return digits
end

-- `1.5e+00` with as many digits in the exponent as the longest of the list has.
local function scientific(list, dtype)
  local format = "%." .. digits_needed(list, dtype, "e") .. "e"
  local widest = 2
  for _, x in ipairs(list) do
    widest = math.max(widest, #number.format(format, x):match("%d+$"))
  end
  return function(x)
    return (number.format(format, x):gsub("(e[+-])(%d+)$", function(sign, exponent)
      return sign .. ("0"):rep(widest - #exponent) .. exponent
    end))
  end
end

-- A function from a number to its text, chosen for the finite numbers of the list. Scientific where
-- NumPy would: a number of 1e8 or more, one below 1e-4, or two more than a thousandfold apart.
local function chosen_format(list, dtype)
  local integers, largest, smallest = true, 0, math.huge
  for _, x in ipairs(list) do
    local size = math.abs(x)
    integers = integers and size <= whole and x == math.floor(x)
    largest = math.max(largest, size)
    if size > 0 then smallest = math.min(smallest, size) end
  end
  if integers then return function(x) return number.format("%.0f", x) end end
  if largest >= 1e8 or smallest < 1e-4 or largest / smallest > 1000 then
    return scientific(list, dtype)
  end
  local format = "%." .. digits_needed(list, dtype, "f") .. "f"
  return function(x) return number.format(format, x) end
end

local function finite_values(m, rows, cols)
  local list = {}
  for _, i in ipairs(rows) do
    for _, j in ipairs(cols) do
      local x = i > 0 and j > 0 and m(i, j)
      if x and x - x == 0 then list[#list + 1] = x end
    end
  end
  return list
end

local display = {}

--- What `tostring(m)` says: `matrix 512x64 f64`, then a line a row. Over 1000 elements, three rows and
--- columns at each edge. All integers are shown without decimals; otherwise fixed or scientific, as
--- NumPy decides, with the digits that the numbers shown need, at most 8.
---@param m matrix
---@return string
function display.text(m)
  local lines = {("matrix %dx%d %s"):format(m.rows, m.cols, m.dtype)}
  if m.rows == 0 or m.cols == 0 then return lines[1] end
  local cut = m.rows * m.cols > threshold
  local rows, cols = shown(m.rows, cut), shown(m.cols, cut)
  local format = chosen_format(finite_values(m, rows, cols), m.dtype)
  local cells, width = {}, 0
  for r, i in ipairs(rows) do
    cells[r] = {}
    for c, j in ipairs(cols) do
      local text = (i == 0 or j == 0) and "..." or format(m(i, j))
      cells[r][c], width = text, math.max(width, #text)
    end
  end
  for _, row in ipairs(cells) do
    for c, text in ipairs(row) do row[c] = (" "):rep(width - #text) .. text end
    lines[#lines + 1] = "  " .. table.concat(row, "  ")
  end
  return table.concat(lines, "\n")
end

return display
