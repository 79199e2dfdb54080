--- diff.lua -- how far apart two matrices are: the cell of most ulps.

local check = require "tessera.check"
local core = require "tessera.core"
local number = require "tessera.number"

local record = {__name = "tessera.diff"}

-- Of shapes that differ there is no cell.
local cell = {i = true, j = true, a = true, b = true, shapes = true}

function record.__index(_, name)
  if not cell[name] then check.no_field("a diff", name, {"abs", "rel", "ulps", "i", "j", "a", "b"}) end
end

--- One sentence: `worst at (3, 7): 0.1 against 0.10000000000000002, 1 ulp apart (absolute 1.39e-17, ..)`.
function record:__tostring()
  if self.shapes then return ("infinitely far apart: %s against %s"):format(table.unpack(self.shapes)) end
  if self.ulps == 0 then return "no cell differs" end
  return ("worst at (%d, %d): %s against %s, %s %s apart (absolute %s, relative %s)"):format(
    self.i, self.j, number.shortest(self.a), number.shortest(self.b),
    number.format("%.10g", self.ulps), self.ulps == 1 and "ulp" or "ulps",
    number.format("%.3g", self.abs), number.format("%.3g", self.rel))
end

-- Both operands as matrices of one dtype; a number is a 1x1 one.
local function operands(A, B, name)
  local function as_matrix(x, n, other)
    if type(x) == "number" then
      return core.matrix.matrix(1, 1, x, {dtype = check.type_of(other) == "matrix" and other.dtype or "f64"})
    end
    local kind = check.type_of(x)
    return check.arg(kind == "matrix" and x, n, name, "matrix expected, got %s%s", kind,
      kind == "summary" and "; S:output() gives one" or "")
  end
  A, B = as_matrix(A, 1, B), as_matrix(B, 2, A)
  check.arg(A.dtype == B.dtype, 2, name, "%s against %s; `to` converts", A.dtype, B.dtype)
  return A, B
end

local function shape(m) return ("%dx%d"):format(m.rows, m.cols) end

local diff = {}

--- How far A lies from B, as a record of the cell of most ulps (the first of them): its place `i`, `j`,
--- its numbers `a` and `b`, `abs` = |a - b|, `rel` = |a - b| / |b|, and `ulps`, how many numbers of the
--- dtype lie between. Two NaNs are 0 apart; NaN and a number, an infinity and anything else, and
--- matrices of different shapes are infinitely far apart (`i` and `j` are then nil for shapes). The
--- record prints as a sentence. Many ulps of a number near zero are a small distance: the largest is
--- `(A - B):abs():max()`, and P:bound tells what rounding can do. Further arguments are ignored, so that
--- `ts.diff(O, P:softmax())` works.
---
---     print(ts.diff(P:attention(), P:softmax()))
---@param A matrix|number
---@param B matrix|number of A's dtype
---@return {abs: number, rel: number, ulps: number, i: integer?, j: integer?, a: number?, b: number?}
function diff.diff(A, B)
  A, B = operands(A, B, "diff")
  if A.rows ~= B.rows or A.cols ~= B.cols then
    local far = math.huge
    return setmetatable({abs = far, rel = far, ulps = far, shapes = {shape(A), shape(B)}}, record)
  end
  local i, j, ulps = core.matrix.worst(A, B)
  if not i then return setmetatable({abs = 0.0, rel = 0.0, ulps = 0.0}, record) end
  local a, b = A(i, j), B(i, j)
  local abs, rel = ulps, ulps -- 0 or infinite, as the ulps are
  if ulps > 0 and ulps < math.huge then
    abs = math.abs(a - b)
    rel = b == 0 and math.huge or abs / math.abs(b)
  end
  return setmetatable({abs = abs, rel = rel, ulps = ulps, i = i, j = j, a = a, b = b}, record)
end

--- How many ulps lie between each cell of A and of B, in double (inf and NaN as `ts.diff` has them);
--- of two numbers, a number.
---
---     ts.ulps(1, 1 + 2 ^ -52) --> 1.0
---@param A matrix|number
---@param B matrix|number of A's shape and dtype
---@return matrix|number
function diff.ulps(A, B)
  local numbers = type(A) == "number" and type(B) == "number"
  A, B = operands(A, B, "ulps")
  check.arg(A.rows == B.rows and A.cols == B.cols, 2, "ulps", "shapes differ: %s against %s",
    shape(A), shape(B))
  local distances = core.matrix.ulps(A, B)
  return numbers and distances(1, 1) or distances
end

return diff
