-- The operator `*` of two matrices.
local helper = require "spec.helper"
local ts = require "tessera"

describe("the matrix product", function()
  -- By the definition, summed in order.
  local function naive(A, B)
    return ts.matrix(A.rows, B.cols, function(i, j)
      local sum = 0
      for k = 1, A.cols do sum = sum + A(i, k) * B(k, j) end
      return sum
    end, {dtype = A.dtype})
  end

  it("is exact on small integers, for any shape, strides and dtype", function()
    for _, shape in ipairs{{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {17, 17, 17}, {33, 65, 9}, {64, 130, 100}} do
      for _, dtype in ipairs{"f64", "f32"} do
        local m, k, n = table.unpack(shape)
        local A = ts.matrix(m, k, function(i, j) return (7 * i + 3 * j) % 11 - 5 end, {dtype = dtype})
        local B = ts.matrix(k, n, function(i, j) return (5 * i + 2 * j) % 13 - 6 end, {dtype = dtype})
        local want = naive(A, B)
        for _, a in ipairs(helper.layouts(A)) do
          for _, b in ipairs(helper.layouts(B)) do assert.matrix_equal(want, a * b, table.concat(shape, "x")) end
        end
      end
    end
  end)

  it("stays within the bound of a sum of k products", function()
    for _, dtype in ipairs{"f64", "f32"} do
      local A, B = ts.randn(40, 70, {seed = 5, dtype = dtype}), ts.randn(70, 30, {seed = 6, dtype = dtype})
      local u = dtype == "f32" and 2.0 ^ -24 or 2.0 ^ -53
      local want, size = naive(A:to "f64", B:to "f64"), naive(A:to "f64":abs(), B:to "f64":abs())
      assert.within_bound(want, (A * B):to "f64", function(i, j) -- gamma_k sum |a b|, for both
        return 2 * 71 * u / (1 - 71 * u) * size(i, j)
      end)
    end
  end)

  it("with axes of length zero is empty, or zeros (S05)", function()
    assert.same({0, 2}, {(ts.zeros(0, 3) * ts.zeros(3, 2)):shape()})
    assert.is_true(ts.zeros(2, 0) * ts.zeros(0, 3) == ts.zeros(2, 3))
    assert.same({2, 0}, {(ts.zeros(2, 3) * ts.zeros(3, 0)):shape()})
  end)

  it("of a matrix with itself or its own transpose is right (S07)", function()
    assert.is_true(ts.ones(17, 17) * ts.ones(17, 17) == ts.matrix(17, 17, 17))
    local A = ts.matrix(5, 5, function(i, j) return i - 2 * j end)
    assert.matrix_equal(naive(A, A), A * A)
    assert.matrix_equal(naive(A, A:t()), A * A:t())
  end)

  it("refuses shapes that do not fit, naming both", function()
    assert.error_matches(function() return ts.zeros(2, 3) * ts.zeros(2, 3) end,
      "bad argument #2 to 'mul' %(shapes 2x3 and 2x3 do not fit: the product of rows and columns; A:mul%(B%) is elementwise%)")
  end)
end)
