-- Sums, extremes, norms and softmax of a matrix: of all of it, of its rows, of its columns.
require "spec.helper"
local ts = require "tessera"

local inf, nan = math.huge, 0 / 0
local u = 2.0 ^ -53

local function row_of(list) return ts.matrix({list}) end

local numbers = {"sum", "mean", "max", "min", "logsumexp", "norm"}

describe("a reduction", function()
  local A = ts.matrix{{1, 2, 3}, {4, 5, -6}}

  it("gives a number for all, a column for the rows, a row for the columns", function()
    assert.equal(9, A:sum())
    assert.same({{6}, {3}}, A:sum("rows"):table())
    assert.same({{5, 7, -3}}, A:sum("cols"):table())
    assert.equal(1.5, A:mean())
    assert.same({{2}, {1}}, A:mean("rows"):table())
    assert.same({{2.5, 3.5, -1.5}}, A:mean("cols"):table())
    assert.equal(5, A:max())
    assert.same({{4, 5, 3}}, A:max("cols"):table())
    assert.equal(-6, A:min())
    assert.same({{1}, {-6}}, A:min("rows"):table())
    assert.equal(5, row_of{3, -4}:norm())
    assert.same({{5}, {13}}, ts.matrix{{3, 4}, {5, 12}}:norm("rows"):table())
  end)

  it("argmax gives row and column, or the places in each line", function()
    assert.same({2, 2}, {A:argmax()})
    assert.same({{3}, {2}}, A:argmax("rows"):table())
    assert.same({{2, 2, 1}}, A:argmax("cols"):table())
    assert.same({1, 1}, {ts.ones(3, 3):argmax()}) -- the first of equal ones
    assert.same({1, 1}, {ts.matrix(2, 2, -inf):argmax()})
    assert.equal("f64", A:to("f32"):argmax("rows").dtype)
  end)

  it("of a view is that of its copy, bit for bit, along either axis", function()
    for _, shape in ipairs{{7, 300}, {300, 7}, {33, 257}, {1, 9}, {9, 1}} do
      for _, dtype in ipairs{"f64", "f32"} do
        local m = ts.randn(shape[1] + 2, shape[2] + 3, {seed = 8, dtype = dtype})
        local v = m:slice(2, shape[1] + 1, 3, shape[2] + 2)
        for _, name in ipairs(numbers) do
          assert.equal(v:copy()[name](v:copy()), v[name](v))
          assert.matrix_identical(v:copy()[name](v:copy(), "rows"), v[name](v, "rows"), name)
          assert.matrix_identical(v[name](v, "rows"), v[name](v:t(), "cols"):t(), name)
          assert.matrix_identical(v[name](v, "cols"), v[name](v:t():copy(), "rows"):t(), name)
          for i, row in v:each() do
            local one = v[name](v, "rows")(i, 1)
            assert.equal(dtype == "f32" and row_of{row[name](row)}:to("f32")(1, 1) or row[name](row), one)
          end
        end
      end
    end
  end)

  it("keeps the dtype, and refuses an axis that is none", function()
    assert.equal("f32", A:to("f32"):sum("rows").dtype)
    assert.error_matches(function() A:sum "row" end, "bad argument #1 to 'sum' %(\"rows\" or \"cols\" expected, got row%)")
    assert.error_matches(function() A:sum(1) end, "\"rows\" or \"cols\" expected, got number")
    assert.error_matches(function() A:softmax "all" end, "bad argument #1 to 'softmax'")
  end)

  it("of nothing has its neutral value, or is an error where there is none (S05)", function()
    for _, shape in ipairs{{0, 3}, {3, 0}, {0, 0}} do
      local E = ts.zeros(shape[1], shape[2])
      assert.same({0, 0, -inf}, {E:sum(), E:norm(), E:logsumexp()})
      assert.is_true(E:mean() ~= E:mean())
      for _, name in ipairs{"max", "min", "argmax"} do
        assert.error_matches(function() return E[name](E) end,
          ("a %dx%d matrix has no such element"):format(shape[1], shape[2]))
      end
    end
    assert.is_true(ts.zeros(0, 3):sum "cols" == ts.zeros(1, 3))
    assert.same({0, 1}, {ts.zeros(0, 3):max("rows"):shape()})
    assert.same({1, 0}, {ts.zeros(3, 0):argmax("cols"):shape()})
    assert.error_matches(function() ts.zeros(0, 3):max "cols" end, "a 0x3 matrix")
    assert.error_matches(function() ts.zeros(3, 0):argmax "rows" end, "a 3x0 matrix")
    assert.is_true(ts.zeros(2, 0):logsumexp "rows" == ts.matrix(2, 1, -inf))
    assert.same({0, 3}, {ts.zeros(0, 3):softmax("cols"):shape()})
  end)
end)

describe("sum", function()
  it("loses no small number beside large ones", function()
    assert.equal(1, row_of{1e16, 1, -1e16}:sum())
    assert.equal(2, row_of{1, 1e100, 1, -1e100}:sum())
    assert.equal(3 / 5, row_of{1e16, 1, 1, 1, -1e16}:mean())
  end)

  it("is the exact sum to an ulp", function()
    local m = ts.randn(300, 100, {seed = 9}):map(function(x) return x * 2.0 ^ 48 // 1 end)
    local exact = 0 -- an integer of 64 bits: 30000 numbers below 2^51
    for _, row in m:each() do
      for j = 1, m.cols do exact = exact + math.tointeger(row(1, j)) end
    end
    assert.is_true(math.abs(m:sum() - exact) <= 2 * u * math.abs(exact))
  end)

  it("of f32 is summed in double", function() -- case N04
    local m = ts.matrix(1, 2 ^ 20 + 1, function(_, j) return j == 1 and 1 or 2.0 ^ -25 end, {dtype = "f32"})
    assert.equal(1.03125, m:sum())
    assert.equal(1.03125, m:sum("rows")(1, 1))
  end)

  it("of infinities and NaN is what adding gives", function()
    assert.equal(inf, row_of{1, inf, 2}:sum())
    assert.is_true(row_of{inf, -inf}:sum() ~= row_of{inf, -inf}:sum())
    assert.is_true(row_of{1, nan, 2}:sum() ~= row_of{1, nan, 2}:sum())
    assert.equal(inf, row_of{1.7e308, 1.7e308}:sum())
  end)
end)

describe("max, min and argmax", function()
  it("take NaN for the extreme, wherever it stands", function()
    for n = 1, 40 do
      for _, p in ipairs{1, (n + 1) // 2, n} do
        local m = ts.matrix(1, n, function(_, j) return j == p and nan or j end)
        for _, name in ipairs{"max", "min"} do
          local x = m[name](m)
          assert.is_true(x ~= x)
          x = m[name](m, "rows")(1, 1)
          assert.is_true(x ~= x)
        end
        assert.same({1, p}, {m:argmax()})
        assert.equal(p, m:argmax("rows")(1, 1))
      end
    end
    assert.same({1, 2}, {row_of{1, nan, nan, inf}:argmax()})
  end)
end)

describe("norm", function()
  it("neither overflows nor vanishes", function()
    assert.equal(5e300, row_of{3e300, 4e300}:norm())
    assert.equal(5 * 2.0 ^ -1060, row_of{3 * 2.0 ^ -1060, 4 * 2.0 ^ -1060}:norm())
    assert.equal(2.0 ^ 1000, row_of{2.0 ^ -1000, 1, 2.0 ^ 1000}:norm())
    local grows = ts.matrix(1, 1024, function(_, j) return j > 512 and 2.0 ^ 600 or 2.0 ^ 590 end)
    assert.equal(2.0 ^ 600 * math.sqrt(512 + 512 / 2.0 ^ 20), grows:norm())
  end)

  it("of an infinity is infinite, and of NaN NaN", function()
    assert.equal(inf, row_of{1, -inf}:norm())
    local x = row_of{inf, nan}:norm()
    assert.is_true(x ~= x)
  end)
end)

describe("logsumexp (E14)", function()
  local edges = {
    {{}, -inf}, {{-inf}, -inf}, {{-inf, -inf}, -inf}, {{1e308}, 1e308}, {{-1e308}, -1e308}, {{5e-324}, 5e-324},
    {{-0.0}, 0}, {{inf, 0}, inf}, {{inf, -inf}, inf}, {{inf, inf}, inf}, {{0, 0}, 0.6931471805599453},
    {{1000, 1000}, 1000.6931471805599}, {{nan, 1}, nan}, {{nan, -inf}, nan}, {{-inf, nan}, nan}, {{inf, nan}, nan},
    {{nan, inf}, nan},
  }
  it("has the right value at every edge, of all, of rows and of columns", function()
    for _, edge in ipairs(edges) do
      local m = row_of(edge[1])
      assert.matrix_identical(ts.matrix{edge[2]}, ts.matrix{m:logsumexp()})
      assert.matrix_identical(ts.matrix{edge[2]}, m:logsumexp "rows")
      assert.matrix_identical(ts.matrix{edge[2]}, m:t():copy():logsumexp "cols")
    end
    assert.same({{-15, -inf}}, ts.matrix{{-15, -inf}, {-inf, -inf}}:logsumexp("cols"):table())
  end)

  -- 1024 numbers whose sum is about 1e-10 of the last one's: what was lost of theirs must shrink with them. Beside 1 the sum
  -- is rounded once in the matrix's way and once here, and so is the logarithm.
  it("carries what rounding lost along where the maximum moves", function()
    local function x(j) return -30 + j % 7 / 16 end
    local sum = 0
    for j = 1, 1024 do sum = sum + math.exp(x(j)) end
    local m = ts.matrix(1, 1025, function(_, j) return j <= 1024 and x(j) or 0 end)
    assert.near(math.log(1 + sum), m:logsumexp(), 4 * 2 ^ -53)
  end)

  it("keeps what came before a long stretch of -inf, and sees NaN behind one", function()
    local m = ts.matrix(1, 1200, function(_, j) return j == 1 and 5 or -inf end)
    assert.equal(5, m:logsumexp())
    m:set(1, -1, 5)
    assert.equal(5 + math.log(2), m:logsumexp())
    m:set(1, 700, nan)
    assert.is_true(m:logsumexp() ~= m:logsumexp())
    m:set(1, 900, inf)
    assert.is_true(m:logsumexp() ~= m:logsumexp())
  end)

  it("is ln of the sum of the exponentials, however the largest moves", function()
    for _, step in ipairs{1, -1, 0} do
      local m = ts.matrix(1, 600, function(_, j) return step * j end)
      -- sum of e^(-j), j = 0 .. 599, is 1 / (1 - 1/e) to double; e^0 600 times is 600
      local want = step == 0 and math.log(600) or (step == 1 and 600 or -1) - math.log(1 - math.exp(-1))
      assert.within_bound(want, m:logsumexp(), 4 * u * math.abs(want) + 4 * u)
    end
  end)
end)

describe("softmax", function()
  it("gives weights that add up to 1, along either axis", function()
    local m = ts.randn(9, 300, {seed = 10})
    assert.within_bound(ts.ones(9, 1), m:softmax():sum "rows", 300 * u)
    assert.within_bound(ts.ones(1, 300), m:softmax("cols"):sum "cols", 9 * u)
    assert.matrix_identical(m:t():softmax():t(), m:softmax "cols")
    assert.same({{0.5, 0.5}}, row_of{1000, 1000}:softmax():table())
    assert.within_bound(row_of{1 / (1 + math.exp(-2)), math.exp(-2) / (1 + math.exp(-2))}, row_of{3, 1}:softmax(), 2 * u)
  end)

  it("of -inf alone is zeros, and with NaN or +inf NaN", function()
    assert.matrix_identical(row_of{0, 0}, row_of{-inf, -inf}:softmax())
    assert.matrix_identical(row_of{0, 1}, row_of{-inf, -1e308}:softmax())
    assert.matrix_identical(row_of{nan, nan}, row_of{nan, 0}:softmax())
    assert.matrix_identical(row_of{nan, nan}, row_of{inf, 0}:softmax())
  end)
end)
