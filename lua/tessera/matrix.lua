--- Matrices: two axes of f64 or f32 numbers, row by row in memory, and views of them.
--
-- Rows i and columns j count from 1; -1 is the last one. Nothing is ever copied unless it is said:
-- `row`, `col`, `slice` and `t` are views, through which the matrix itself is read and written, and
-- which keep it alive. Axes of length zero are legal.
--
-- m(i, j) is one number. A + B and A - B go cell by cell, a single row or column as often as need be; A * B is the matrix
-- product.
--
-- An f32 matrix computes in double and rounds each result once. Operands of two dtypes are an
-- error that names both; `to` converts. A number is a 1 × 1 operand of the matrix's own dtype.

local core = require "tessera.core"
local check = require "tessera.check"
local exact = require "tessera.exact"

--- What every matrix has.
---     local A = ts.ones(2, 3)
---     A.rows, A.cols, #A, A.dtype --> 2  3  2  f64
---     (A * A:t())(1, 2)           --> 3.0
---@class matrix
---@field rows integer how many rows; `#A` is the same
---@field cols integer how many columns
---@field dtype "f64"|"f32" what each number is stored as
---@operator call(integer, integer): number
---@operator len: integer
---@operator unm: matrix
---@operator add(matrix|number): matrix
---@operator sub(matrix|number): matrix
---@operator mul(matrix|number): matrix
---@operator div(number): matrix
local methods = core.matrix.methods

local matrix = {}

-- Making ----------------------------------------------------------------------------------------

--- A matrix of given numbers: a list of rows, all of one length; or one list, which is one row.
--- With `rows` and `cols`: zeros, or one number everywhere, or what a function of (i, j) returns.
--- Errors: rows of several lengths, anything but numbers, a size that does not fit memory.
---
---     ts.matrix{{1, 2}, {3, 4}}(2, 1)                                     --> 3.0
---     ts.matrix({1, 2, 3}, {dtype = "f32"}):shape()                       --> 1  3
---     ts.matrix(2, 2, function(i, j) return 10 * i + j end):table()[2][1] --> 21.0
---@overload fun(rows: integer, cols: integer, x?: number|fun(i: integer, j: integer): number, options?: {dtype: "f64"|"f32"}): matrix
---@param numbers number[]|number[][]
---@param options? {dtype: "f64"|"f32"}
---@return matrix
matrix.matrix = core.matrix.matrix

--- A rows × cols matrix of zeros.
---
---     ts.zeros(2, 3):sum() --> 0.0
---@param rows integer
---@param cols integer
---@param options? {dtype: "f64"|"f32"}
---@return matrix
matrix.zeros = core.matrix.zeros

--- A rows × cols matrix of ones.
---
---     ts.ones(2, 3):sum() --> 6.0
---@param rows integer
---@param cols integer
---@param options? {dtype: "f64"|"f32"}
---@return matrix
matrix.ones = core.matrix.ones

--- The n × n identity matrix.
---
---     ts.eye(3) * ts.ones(3, 1) == ts.ones(3, 1) --> true
---@param n integer
---@param options? {dtype: "f64"|"f32"}
---@return matrix
matrix.eye = core.matrix.eye

--- A 1 × n matrix of n numbers at equal distances; the first is a, the last (where n > 1) b.
---
---     ts.linspace(0, 1, 5)(1, 2) --> 0.25
---@param a number
---@param b number
---@param n integer
---@param options? {dtype: "f64"|"f32"}
---@return matrix
matrix.linspace = core.matrix.linspace

--- Random numbers, uniform in [0, 1). Element (i, j) is number (i - 1) · cols + j of the stream
--- `seed` (any integer) of Philox 4x32-10: the same on every machine and for any number of threads.
--- Without a seed, the n-th random call of a process uses seed n. An f32 is the f64 cut to 24 bits.
---
---     ts.rand(1, 1, {seed = 42})(1, 1) --> 0.4685865183391
---@param rows integer
---@param cols integer
---@param options? {dtype: "f64"|"f32", seed: integer}
---@return matrix
matrix.rand = core.matrix.rand

--- Random numbers, normal with mean 0 and variance 1 (Box and Muller). Streams and seeds as `rand`
--- has them; the two are independent at one seed. An f32 is the f64 rounded.
---
---     ts.randn(1, 1, {seed = 42})(1, 1) --> -0.48595370776513
---@param rows integer
---@param cols integer
---@param options? {dtype: "f64"|"f32", seed: integer}
---@return matrix
matrix.randn = core.matrix.randn

--- Matrices side by side: as many rows each, the columns added up. Also of one list of them.
---
---     ts.hcat(ts.zeros(2, 3), ts.ones(2, 1)):shape() --> 2  4
---@param ... matrix one at least, of one dtype
---@return matrix
matrix.hcat = core.matrix.hcat

--- Matrices one above the other: as many columns each, the rows added up. Also of one list of them.
---
---     ts.vcat{ts.zeros(1, 3), ts.ones(2, 3)}:shape() --> 3  3
---@param ... matrix one at least, of one dtype
---@return matrix
matrix.vcat = core.matrix.vcat

-- Reading and writing ---------------------------------------------------------------------------

--- Writes x to row i, column j. `m(i, j)` reads it. Errors: an index that is no whole number, or
--- outside the matrix.
---
---     local m = ts.zeros(2, 2); m:set(1, -1, 5); return m(1, 2) --> 5.0
---@param i integer
---@param j integer
---@param x number rounded once to the matrix's dtype
methods.set = core.matrix.methods.set

--- Rows and columns, as two values.
---
---     ts.zeros(2, 3):shape() --> 2  3
---@return integer rows
---@return integer cols
methods.shape = core.matrix.methods.shape

--- All numbers, as a list of rows.
---
---     ts.matrix{{1, 2}, {3, 4}}:table()[2][1] --> 3.0
---@return number[][]
methods.table = core.matrix.methods.table

--- Walks over the rows: i from 1, and row i as a view.
---
---     local s = 0; for i, row in ts.ones(3, 2):each() do s = s + i * row(1, 2) end; return s --> 6.0
---@return fun(m: matrix, i: integer): integer?, matrix?
---@return matrix
---@return integer
methods.each = core.matrix.methods.each

--- x in every cell; gives the matrix back.
---
---     ts.zeros(2, 2):fill(3):sum() --> 12.0
---@param x number
---@return matrix
methods.fill = core.matrix.methods.fill

--- The numbers of B in every cell, also through a view; gives the matrix back. A B of one row, one
--- column or one number repeats. B may be a part of the matrix itself: `A:assign(A:t())` is right.
--- Errors: another dtype, or a shape that does not fit.
---
---     local A = ts.zeros(2, 3); A:col(2):assign(ts.matrix{{1}, {2}}); return A:sum() --> 3.0
---@param B matrix|number
---@return matrix
methods.assign = core.matrix.methods.assign

-- Views -----------------------------------------------------------------------------------------

--- Row i, as a 1 × cols view.
---
---     ts.matrix{{1, 2}, {3, 4}}:row(-1)(1, 1) --> 3.0
---@param i integer
---@return matrix
methods.row = core.matrix.methods.row

--- Column j, as a rows × 1 view.
---
---     ts.matrix{{1, 2}, {3, 4}}:col(2)(1, 1) --> 2.0
---@param j integer
---@return matrix
methods.col = core.matrix.methods.col

--- Rows i1 to i2, and columns j1 to j2 where they are given, as a view; both ends belong to it, and
--- i2 = i1 - 1 is an empty one. Errors: an end outside the matrix.
---
---     ts.matrix{{1, 2, 3}, {4, 5, 6}}:slice(1, 2, 2, -1):shape() --> 2  2
---@param i1 integer
---@param i2 integer
---@param j1? integer
---@param j2? integer
---@return matrix
methods.slice = core.matrix.methods.slice

--- The transpose, as a cols × rows view.
---
---     ts.matrix{{1, 2, 3}}:t():shape() --> 3  1
---@return matrix
methods.t = core.matrix.methods.t

-- Copies ----------------------------------------------------------------------------------------

--- The same numbers in memory of their own, packed row by row.
---
---     local A = ts.eye(2); local B = A:t():copy(); A:fill(9); return B:sum() --> 2.0
---@return matrix
methods.copy = core.matrix.methods.copy

--- The same numbers in another dtype, each rounded once.
---
---     ts.matrix{0.1}:to("f32").dtype --> f32
---@param dtype "f64"|"f32"
---@return matrix
methods.to = core.matrix.methods.to

--- The rows of the list (or, with "cols", the columns) in its order, copied.
---
---     ts.matrix{{1, 2}, {3, 4}}:take({2, 1, 2}):shape() --> 3  2
---@param list integer[]
---@param axis? "rows"|"cols"
---@return matrix
methods.take = core.matrix.methods.take

-- Arithmetic ------------------------------------------------------------------------------------
--
-- A + B, A - B, -A: cell by cell. A * B: the matrix product of m × k and k × n. A * x, x * A, A / x,
-- x / A: with a number. A == B: the same shape, dtype and numbers; it never raises, -0 equals 0, and
-- NaN nothing.

--- The product cell by cell. As in A + B and A - B, an operand of one row, of one column or of one
--- number repeats to the shape of the other. Errors: shapes that do not fit, or two dtypes.
---
---     ts.matrix{{1, 2}, {3, 4}}:mul(ts.matrix{10, 100})(2, 2) --> 400.0
---@param B matrix|number
---@return matrix
methods.mul = core.matrix.methods.mul

--- The quotient cell by cell; shapes as for `mul`.
---
---     ts.matrix{{1, 2}, {3, 4}}:div(ts.matrix{{1}, {2}})(2, 2) --> 2.0
---@param B matrix|number
---@return matrix
methods.div = core.matrix.methods.div

--- Whether shape, dtype and all bits are the same; -0 is not 0, and a NaN is itself.
---
---     ts.matrix{0.0}:identical(ts.matrix{-0.0}) --> false
---@param B matrix
---@return boolean
methods.identical = core.matrix.methods.identical

--- f(x) of every cell. Errors: f returns anything but a number.
---
---     ts.matrix{1, 4, 9}:map(math.sqrt):sum() --> 6.0
---@param f fun(x: number): number
---@return matrix
methods.map = core.matrix.methods.map

--- e^x of a number, or of every cell.
---
---     ts.exp(0)             --> 1.0
---     ts.zeros(2, 2):exp():sum() --> 4.0
---@param x matrix|number
---@return matrix|number
matrix.exp = core.matrix.exp
methods.exp = core.matrix.exp

--- The natural logarithm of a number, or of every cell; -inf of 0, and NaN below.
---
---     ts.log(1) --> 0.0
---@param x matrix|number
---@return matrix|number
matrix.log = core.matrix.log
methods.log = core.matrix.log

--- The hyperbolic tangent of a number, or of every cell.
---
---     ts.tanh(math.huge) --> 1.0
---@param x matrix|number
---@return matrix|number
matrix.tanh = core.matrix.tanh
methods.tanh = core.matrix.tanh

--- The sine of a number, or of every cell, in radians.
---
---     ts.sin(0) --> 0.0
---@param x matrix|number
---@return matrix|number
matrix.sin = core.matrix.sin
methods.sin = core.matrix.sin

--- The cosine of a number, or of every cell, in radians.
---
---     ts.cos(0) --> 1.0
---@param x matrix|number
---@return matrix|number
matrix.cos = core.matrix.cos
methods.cos = core.matrix.cos

--- The absolute value of a number, or of every cell.
---
---     ts.matrix{-1, 2}:abs():sum() --> 3.0
---@param x matrix|number
---@return matrix|number
matrix.abs = core.matrix.abs
methods.abs = core.matrix.abs

--- The square root of a number, or of every cell; NaN below 0.
---
---     ts.sqrt(16) --> 4.0
---@param x matrix|number
---@return matrix|number
matrix.sqrt = core.matrix.sqrt
methods.sqrt = core.matrix.sqrt

-- Reductions ------------------------------------------------------------------------------------
--
-- Without an axis: of all numbers, a number. With "rows": one result a row, as a rows × 1 matrix;
-- with "cols": one a column, 1 × cols. Numbers are taken row by row, in double, whatever the dtype
-- and the strides, and the result is rounded once.

--- The sum, compensated (Neumaier 1974): good to about one rounding. 0 of nothing.
---
---     ts.matrix{1e16, 1, -1e16}:sum()                  --> 1.0
---     ts.matrix{{1, 2}, {3, 4}}:sum("rows"):table()[2][1] --> 7.0
---@param axis? "rows"|"cols" with "rows" one a row, as rows × 1; with "cols" one a column; without it, one number of all
---@return number|matrix
methods.sum = core.matrix.methods.sum

--- The sum divided by how many there are; NaN of nothing.
---
---     ts.matrix{1, 2, 6}:mean() --> 3.0
---@param axis? "rows"|"cols" with "rows" one a row, as rows × 1; with "cols" one a column; without it, one number of all
---@return number|matrix
methods.mean = core.matrix.methods.mean

--- The largest number; NaN where there is one. Errors: of nothing.
---
---     ts.matrix{{1, 5}, {3, 4}}:max("cols")(1, 1) --> 3.0
---@param axis? "rows"|"cols" with "rows" one a row, as rows × 1; with "cols" one a column; without it, one number of all
---@return number|matrix
methods.max = core.matrix.methods.max

--- The smallest number; NaN where there is one. Errors: of nothing.
---
---     ts.matrix{{1, 5}, {3, 4}}:min() --> 1.0
---@param axis? "rows"|"cols" with "rows" one a row, as rows × 1; with "cols" one a column; without it, one number of all
---@return number|matrix
methods.min = core.matrix.methods.min

--- Where the largest number stands, the first of equal ones; NaN counts as largest. Without an axis
--- its row and column; with "rows" its column in each row, with "cols" its row in each column, as an
--- f64 matrix. Errors: of nothing.
---
---     ts.matrix{{1, 5}, {3, 4}}:argmax() --> 1  2
---@param axis? "rows"|"cols"
---@return integer|matrix
---@return integer?
methods.argmax = core.matrix.methods.argmax

--- ln Σ e^x, without overflow. Of nothing or of -inf alone, -inf; any NaN, NaN; else any +inf, +inf.
---
---     ts.matrix{1000, 1000}:logsumexp()                 --> 1000.6931471806
---     ts.matrix{{-math.huge, -math.huge}}:logsumexp()   --> -inf
---@param axis? "rows"|"cols" with "rows" one a row, as rows × 1; with "cols" one a column; without it, one number of all
---@return number|matrix
methods.logsumexp = core.matrix.methods.logsumexp

--- The root of the sum of squares (of all: the Frobenius norm), without overflow. 0 of nothing.
---
---     ts.matrix{3, -4}:norm() --> 5.0
---@param axis? "rows"|"cols" with "rows" one a row, as rows × 1; with "cols" one a column; without it, one number of all
---@return number|matrix
methods.norm = core.matrix.methods.norm

--- e^x / Σ e^x of each row (or column), without overflow. A row of -inf alone becomes zeros: where
--- nothing is allowed, nothing has weight. One with NaN or +inf becomes NaN.
---
---     ts.matrix{{0, 0}, {7, -math.huge}}:softmax():table()[2][1] --> 1.0
---@param axis? "rows"|"cols" "rows" unless given
---@return matrix
methods.softmax = core.matrix.methods.softmax

-- Text and files --------------------------------------------------------------------------------

--- The numbers, aligned, as `print` shows them.
---
---     ts.zeros(0, 3):tostring() --> matrix 0x3 f64
---@return string
function methods:tostring()
  check.self(self, "matrix", "tostring")
  return require("tessera.display").text(self)
end

--- Writes the matrix to a file, whose ending tells the format: `.npy`, `.csv` (17 digits: every bit comes
--- back), or `.safetensors` and `.npz`, which hold it as "matrix". `ts.load` reads it. An interrupted
--- save leaves the old file whole.
---
---     O:save "output.npy"
---@param path string
function methods:save(path)
  check.self(self, "matrix", "save")
  require("tessera.files").save(path, self)
end

-- Names that are not there ----------------------------------------------------------------------

local fields = {"rows", "cols", "dtype"}

local function names()
  local list = table.move(fields, 1, #fields, 1, {})
  for name in pairs(methods) do list[#list + 1] = name end
  return list
end

-- Called by the __index of matrices, which the user's line called: three levels up.
local function missing(_, key)
  if type(key) ~= "string" then
    error(("a matrix has no element [%s]; m(i, j) is one, m:row(i) a row"):format(math.type(key) and key or check.type_of(key)), 3)
  end
  error(check.unknown_field("a matrix", key, names()), 3)
end

setmetatable(exact.all(methods, 1), {__index = missing})

return matrix
