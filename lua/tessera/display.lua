--- display.lua -- a matrix as text: a line that tells its shape, then aligned values, as many as fit.

local core = require "tessera.core"
local number = require "tessera.number"

local threshold = 1000 -- elements; a matrix of more shows its edges only
local edge = 3         -- rows and columns shown at each
local lines_at_most = 60
local other_lines, fewest = 4, 6 -- of a terminal: what was typed, the shape, the next prompt; lines that always stand
local line_width = 75  -- of a matrix where no terminal tells another; NumPy's
local precisions = {8, 4} -- decimals at most; the second where lines are too wide with the first
local dots = "..."
local whole = 2 ^ 53   -- integers up to here are shown in full

-- The indices shown of 1 .. n, at most `most`, from both ends; 0 stands for those left out.
local function shown(n, most)
  local list = {}
  local first = n > most and (most + 1) // 2 or n
  for i = 1, first do list[i] = i end
  if n <= most then return list end
  list[first + 1] = 0
  for i = n - most // 2 + 1, n do list[#list + 1] = i end
  return list
end

-- x in the matrix's own dtype: what tells whether a text of fewer digits still means the same number.
local function rounded(x, dtype)
  return dtype == "f32" and string.unpack("<f", string.pack("<f", x)) or x
end

-- The fewest digits behind the point, at most `precision`, that tell every x of the list from its
-- neighbours in `dtype`; `conversion` is "f" or "e".
local function digits_needed(list, dtype, conversion, precision)
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
local function scientific(list, dtype, precision)
  local format = "%." .. digits_needed(list, dtype, "e", precision) .. "e"
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
local function chosen_format(list, dtype, precision)
  local integers, largest, smallest = true, 0, math.huge
  for _, x in ipairs(list) do
    local size = math.abs(x)
    integers = integers and size <= whole and x == math.floor(x)
    largest = math.max(largest, size)
    if size > 0 then smallest = math.min(smallest, size) end
  end
  if integers then return function(x) return number.format("%.0f", x) end end
  if largest >= 1e8 or smallest < 1e-4 or largest / smallest > 1000 then
    return scientific(list, dtype, precision)
  end
  local format = "%." .. digits_needed(list, dtype, "f", precision) .. "f"
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

-- The lines of those rows and columns. Columns are as wide as the widest number; dots alone are narrower.
local function lines_of(m, rows, cols, precision)
  local format = chosen_format(finite_values(m, rows, cols), m.dtype, precision)
  local cells, widest = {}, 0
  for r, i in ipairs(rows) do
    cells[r] = {}
    for c, j in ipairs(cols) do
      local text = (i == 0 or j == 0) and dots or format(m(i, j))
      cells[r][c], widest = text, math.max(widest, j == 0 and 0 or #text)
    end
  end
  local lines = {}
  for r, row in ipairs(cells) do
    for c, text in ipairs(row) do row[c] = (" "):rep(cols[c] > 0 and widest - #text or 0) .. text end
    lines[r] = "  " .. table.concat(row, "  ")
  end
  return lines
end

-- The lines of at most `most` columns that fit the width: with fewer decimals, then with fewer columns. As those left may
-- take more room than the others did, each step looks anew; one at each edge always stays.
local function fitting_lines(m, rows, most, width)
  for _, precision in ipairs(most <= width // 3 and precisions or {}) do
    local lines = lines_of(m, rows, shown(m.cols, most), precision)
    if #lines[1] <= width then return lines end
  end
  local lines
  most = math.min(most, width // 3 + 1) -- a column takes three characters at least
  repeat
    most = math.max(2, most - 1)
    lines = lines_of(m, rows, shown(m.cols, most), precisions[#precisions])
  until #lines[1] <= width or most == 2
  return lines
end

local display = {}

--- What `tostring(m)` says: `matrix 512x64 f64`, then a line a row. Over 1000 elements, three rows and columns at each edge;
--- else as many as fit the terminal together with what was typed, or 60 lines of 75 characters where there is none. All integers are
--- shown without decimals; otherwise fixed or scientific, as NumPy decides, with the digits that the numbers shown need: at
--- most 8, or 4 where 8 would leave out columns.
---@param m matrix
---@return string
function display.text(m)
  local head = ("matrix %dx%d %s"):format(m.rows, m.cols, m.dtype)
  if m.rows == 0 or m.cols == 0 then return head end
  local cut, width = m.rows * m.cols > threshold, core.width()
  local height = width and core.height()
  local most = height and math.max(height - other_lines, fewest) or lines_at_most
  local rows = shown(m.rows, cut and 2 * edge or m.rows > most and most - 1 or m.rows)
  local lines = fitting_lines(m, rows, cut and 2 * edge or m.cols, width or line_width)
  return head .. "\n" .. table.concat(lines, "\n")
end

return display
