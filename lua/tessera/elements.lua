--- elements.lua -- the numbers of an array in a file, as a matrix.

local core = require "tessera.core"
local progress = require "tessera.progress"
local source = require "tessera.source"

local elements = {}

--- Every kind of number that files hold: bytes each, and the dtype of the matrix that it becomes.
elements.kinds = {
  f8 = {size = 8, dtype = "f64"}, f4 = {size = 4, dtype = "f32"},
  f2 = {size = 2, dtype = "f32"}, bf16 = {size = 2, dtype = "f32"},
  i1 = {size = 1, dtype = "f64"}, i2 = {size = 2, dtype = "f64"},
  i4 = {size = 4, dtype = "f64"}, i8 = {size = 8, dtype = "f64"},
  u1 = {size = 1, dtype = "f64"}, u2 = {size = 2, dtype = "f64"},
  u4 = {size = 4, dtype = "f64"}, u8 = {size = 8, dtype = "f64"},
  b1 = {size = 1, dtype = "f64"},
}

local chunk = 1 << 16 -- bytes read at a time: a multiple of every size, and too few for malloc to map anew each time

--- The product of the axes times `size`, in bytes; refuses one that does not fit 63 bits.
function elements.bytes(shape, size)
  local bytes = size
  for _, n in ipairs(shape) do if n == 0 then return 0 end end
  for _, n in ipairs(shape) do
    if bytes > math.maxinteger // n then source.refuse("the shape %s is too large", elements.shape_text(shape)) end
    bytes = bytes * n
  end
  return bytes
end

--- `2x3x4`; a shape without axes is `()`.
function elements.shape_text(shape)
  return #shape == 0 and "()" or table.concat(shape, "x")
end

--- Rows and columns of the matrix that an array of this shape becomes: 1 x 1 without axes, 1 x n with
--- one, and with more than two only as `reshape` = {rows, cols} says.
function elements.rows_and_columns(shape, reshape)
  if reshape then
    local rows, cols = reshape[1], reshape[2]
    local count = elements.bytes(shape, 1)
    if not (rows == 0 and count == 0 or rows > 0 and count % rows == 0 and count // rows == cols) then
      source.refuse("%s does not reshape to %dx%d", elements.shape_text(shape), rows, cols)
    end
    return rows, cols
  end
  if #shape > 2 then
    source.refuse("it has %d axes (%s): give {reshape = {rows, cols}}", #shape, elements.shape_text(shape))
  end
  return #shape == 2 and shape[1] or 1, shape[#shape] or 1
end

-- Names the first integer that a double cannot hold, by its place in `bytes` from 0.
local function refuse_inexact(bytes, place, layout)
  local sign, size = layout.kind:match("(.)(%d)")
  local format = (layout.swapped and ">" or "<") .. (sign == "u" and "I" or "i") .. size
  local x = string.unpack(format, bytes, place * size + 1)
  local text = ("%d"):format(x)
  if sign == "u" and x < 0 then -- Lua's integers are signed: all digits but the last, then that one
    local tens = (x >> 1) // 5
    text = ("%d%d"):format(tens, x - tens * 10)
  end
  source.refuse("the integer %s is none that a double can hold", text)
end

--- Reads rows * cols numbers of `kind` as a matrix; the caller has checked that the source holds them.
---@param from table a source
---@param layout {rows: integer, cols: integer, kind: string, swapped: boolean?, by_columns: boolean?}
---@return matrix
function elements.read(from, layout)
  local kind = elements.kinds[layout.kind]
  local m = core.matrix.matrix(layout.rows, layout.cols, {dtype = kind.dtype})
  local target = layout.by_columns and m:t() or m
  local size, element = layout.rows * layout.cols * kind.size, 0
  local tell = progress()
  while element * kind.size < size do
    local bytes = from:read(math.min(size - element * kind.size, chunk), "the data")
    local count, inexact = core.matrix.decode(target, element, bytes, layout.kind, layout.swapped)
    if inexact then refuse_inexact(bytes, inexact, layout) end
    element = element + count
    tell(element * kind.size / size)
  end
  return m
end

--- Writes the elements of m, row by row, in its own dtype and little-endian.
---@param write fun(bytes: string)
---@param m matrix
function elements.write(write, m)
  local kind = m.dtype == "f32" and "f4" or "f8"
  local count, at_once = m.rows * m.cols, chunk // elements.kinds[kind].size
  local tell = progress()
  for first = 0, count - 1, at_once do
    write(core.matrix.encode(m, first, math.min(at_once, count - first), kind))
    tell(math.min(first + at_once, count) / count)
  end
end

return elements
