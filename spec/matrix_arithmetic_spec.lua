-- Operators and functions of matrices, cell by cell.
local helper = require "spec.helper"
local ts = require "tessera"

local inf, nan = math.huge, 0 / 0

local function f32(x) return (string.unpack("f", string.pack("f", x))) end

describe("elementwise arithmetic", function()
  local operations = {
    ["+"] = {function(A, B) return A + B end, function(a, b) return a + b end},
    ["-"] = {function(A, B) return A - B end, function(a, b) return a - b end},
    mul = {function(A, B) return A:mul(B) end, function(a, b) return a * b end},
    div = {function(A, B) return A:div(B) end, function(a, b) return a / b end},
  }

  it("is the operation of each pair of cells, rounded once, for any strides and both dtypes", function()
    for _, dtype in ipairs{"f64", "f32"} do
      local A, B = ts.randn(7, 300, {seed = 1, dtype = dtype}), ts.randn(7, 300, {seed = 2, dtype = dtype})
      for name, op in pairs(operations) do
        local want = ts.matrix(7, 300, function(i, j) return op[2](A(i, j), B(i, j)) end, {dtype = dtype})
        for _, a in ipairs(helper.layouts(A)) do
          for _, b in ipairs(helper.layouts(B)) do assert.matrix_identical(want, op[1](a, b), name .. dtype) end
        end
      end
    end
  end)

  it("repeats a row, a column and a number on either side", function()
    local A = ts.matrix{{1, 2, 3}, {4, 5, 6}}
    local row, col = ts.matrix{10, 20, 30}, ts.matrix{{100}, {200}}
    assert.same({{11, 22, 33}, {14, 25, 36}}, (A + row):table())
    assert.same({{9, 18, 27}, {6, 15, 24}}, (row - A):table())
    assert.same({{100, 200, 300}, {800, 1000, 1200}}, A:mul(col):table())
    assert.same({{110, 120, 130}, {210, 220, 230}}, (row + col):table())
    assert.same({{2, 3, 4}, {5, 6, 7}}, (1 + A):table())
    assert.same({{0, -1, -2}, {-3, -4, -5}}, (1 - A):table())
    assert.same({{2, 4, 6}, {8, 10, 12}}, (2 * A):table())
    assert.same({{2, 4, 6}, {8, 10, 12}}, (A * 2):table())
    assert.same({{0.5, 1, 1.5}, {2, 2.5, 3}}, (A / 2):table())
    assert.same({{12, 6, 4}, {3, 2.4, 2}}, (12 / A):table())
    assert.same({{2, 3, 4}, {5, 6, 7}}, (A + ts.ones(1, 1)):table())
    assert.same({{0.5, 1, 1.5}, {2, 2.5, 3}}, A:div(2):table())
    assert.same({{-1, -2, -3}, {-4, -5, -6}}, (-A):table())
    assert.same({0, 3}, {(ts.zeros(0, 3) + row):shape()})
    assert.same({0, 3}, {(row + ts.zeros(0, 1)):shape()})
    assert.same({0, 1}, {(ts.zeros(0, 1) + col:row(1)):shape()})
  end)

  it("takes a number in the matrix's dtype", function()
    local A = ts.matrix({{1, 9}}, {dtype = "f32"})
    local x = f32(0.1)
    assert.is_true(f32(9 * x) ~= f32(9 * 0.1))
    assert.same({{x, f32(9 * x)}}, (0.1 * A):table())
    assert.same({{x, f32(9 * x)}}, A:mul(0.1):table())
    assert.same({{f32(1 / x), f32(9 / x)}}, (A / 0.1):table())
    assert.equal("f32", (A + 0.1).dtype)
  end)

  it("divides by zero as numbers do", function()
    assert.matrix_identical(ts.matrix{inf, -inf, nan}, ts.matrix{1, -1, 0} / 0)
  end)

  it("refuses shapes that do not fit and two dtypes, naming both", function()
    local A = ts.zeros(2, 3)
    assert.error_matches(function() return A + ts.zeros(3, 2) end,
      "bad argument #2 to 'add' %(shapes 2x3 and 3x2 do not fit%)")
    assert.error_matches(function() return A:mul(ts.zeros(2, 2)) end, "shapes 2x3 and 2x2 do not fit")
    assert.error_matches(function() return A - ts.zeros(2, 3, {dtype = "f32"}) end, "f64 expected, got f32")
    assert.error_matches(function() return A * ts.zeros(3, 2, {dtype = "f32"}) end, "f64 expected, got f32")
    assert.error_matches(function() return A + {} end, "matrix or number expected, got table")
    assert.error_matches(function() return nil + A end, "matrix or number expected, got nil")
    assert.error_matches(function() return A / A end, "A:div%(B%) is elementwise")
    assert.error_matches(function() return A:mul() end, "bad argument #1 to 'mul'")
  end)
end)

describe("a function of every cell", function()
  it("is that function of numbers, too", function()
    for _, name in ipairs{"exp", "log", "sqrt", "abs", "sin", "cos"} do
      local f = math[name]
      local A = ts.rand(5, 260, {seed = 3})
      local want = ts.matrix(5, 260, function(i, j) return f(A(i, j)) end)
      for _, a in ipairs(helper.layouts(A)) do
        assert.matrix_identical(want, a[name](a), name)
        assert.matrix_identical(want, ts[name](a), name)
      end
      assert.equal(f(0.75), ts[name](0.75))
      local narrow = A:to "f32"
      assert.matrix_identical(ts.matrix(5, 260, function(i, j) return f(narrow(i, j)) end, {dtype = "f32"}),
        narrow[name](narrow), name)
    end
  end)

  it("tanh is odd, near e^2x's quotient, and 1 far out", function()
    local x = ts.linspace(-2, 2, 101)
    local E = (2 * x):exp()
    -- Both sides round some six times numbers of size 8 at most.
    assert.within_bound((E - 1):div(E + 1), x:tanh(), 8 * 2.0 ^ -52)
    assert.matrix_identical(-(x:tanh()), (-x):tanh())
    assert.equal(1, ts.tanh(40))
    assert.equal(-1, ts.tanh(ts.matrix{-inf})(1, 1))
  end)

  it("has the usual values at the edges", function()
    assert.matrix_identical(ts.matrix{0, 1, inf, nan}, ts.matrix{-inf, 0, inf, nan}:exp())
    assert.matrix_identical(ts.matrix{-inf, -inf, nan, inf}, ts.matrix{0, -0.0, -1, inf}:log())
    assert.matrix_identical(ts.matrix{0, inf, 1}, ts.matrix{-0.0, -inf, -1}:abs())
    assert.same({0, 3}, {ts.zeros(0, 3):exp():shape()})
  end)

  it("refuses what is neither matrix nor number", function()
    assert.error_matches(function() ts.exp "x" end, "bad argument #1 to 'exp' %(matrix or number expected, got string%)")
    assert.error_matches(function() ts.exp() end, "bad argument #1 to 'exp'")
  end)

  it("map calls a Lua function of the number alone", function()
    local A = ts.matrix{{1, 2}, {3, 4}}
    assert.same({{2, 5}, {10, 17}}, A:map(function(x) return x * x + 1 end):table())
    assert.matrix_identical(A:log(), A:map(math.log)) -- which has an optional second parameter
    assert.error_matches(function() A:map(function(x) return x < 4 and x or nil end) end,
      "the function must return a number, not nil, at %(2, 2%)")
    assert.error_matches(function() A:map "x" end, "bad argument #1 to 'map'")
    assert.error_matches(function() A:map(function() error("why", 0) end) end, "^why$")
  end)
end)
