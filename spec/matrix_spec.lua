-- Making matrices, reading and writing them, and views of them.
require "spec.helper"
local ts = require "tessera"

local inf, nan = math.huge, 0 / 0

-- Every number of m, row by row, in one list.
local function flat(m)
  local list = {}
  for _, row in m:each() do
    for j = 1, m.cols do list[#list + 1] = row(1, j) end
  end
  return list
end

describe("a matrix", function()
  describe("is made", function()
    it("from a list of rows, or from one list as one row", function()
      local m = ts.matrix{{1, 2, 3}, {4, 5, 6}}
      assert.same({2, 3}, {m:shape()})
      assert.same({1, 2, 3, 4, 5, 6}, flat(m))
      local row = ts.matrix{1, 2, 3}
      assert.same({1, 3}, {row:shape()})
      assert.same({1, 2, 3}, flat(row))
    end)

    it("empty from an empty list, and with the columns that its rows have", function()
      assert.same({0, 0}, {ts.matrix({}):shape()})
      assert.same({2, 0}, {ts.matrix({{}, {}}):shape()})
    end)

    it("of zeros, of one number, or by a function of (i, j)", function()
      assert.same({0, 0, 0, 0}, flat(ts.matrix(2, 2)))
      assert.same({7.5, 7.5}, flat(ts.matrix(1, 2, 7.5)))
      assert.same({11, 12, 21, 22}, flat(ts.matrix(2, 2, function(i, j) return 10 * i + j end)))
    end)

    it("by zeros, ones, eye and linspace", function()
      assert.same({0, 0}, flat(ts.zeros(2, 1)))
      assert.same({1, 1}, flat(ts.ones(1, 2)))
      assert.same({1, 0, 0, 1}, flat(ts.eye(2)))
      assert.same({0, 0.25, 0.5, 0.75, 1}, flat(ts.linspace(0, 1, 5)))
      assert.same({3}, flat(ts.linspace(3, 9, 1)))
      assert.same({0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}, flat(ts.linspace(0, 1, 11)))
      for n = 2, 100 do assert.equal(0.3, ts.linspace(0.1, 0.3, n)(1, -1)) end
      assert.same({1, 0}, {ts.linspace(0, 1, 0):shape()})
    end)

    it("in either dtype, f64 unless said, and f32 rounds once", function()
      assert.equal("f64", ts.zeros(1, 1).dtype)
      local makers = {
        function(o) return ts.matrix({{0.1}}, o) end, function(o) return ts.matrix(1, 1, o) end,
        function(o) return ts.matrix(1, 1, 0.1, o) end,
        function(o) return ts.matrix(1, 1, function() return 0.1 end, o) end,
        function(o) return ts.zeros(1, 1, o) end, function(o) return ts.ones(1, 1, o) end,
        function(o) return ts.eye(1, o) end, function(o) return ts.linspace(0, 1, 1, o) end,
        function(o) return ts.rand(1, 1, o) end, function(o) return ts.randn(1, 1, o) end,
      }
      for _, make in ipairs(makers) do assert.equal("f32", make{dtype = "f32"}.dtype) end
      assert.equal(string.unpack("f", string.pack("f", 0.1)), ts.matrix({{0.1}}, {dtype = "f32"})(1, 1))
    end)

    it("never of a list that is no matrix", function()
      assert.error_matches(function() ts.matrix{{1, 2}, {3}} end,
        "bad argument #1 to 'matrix' %(row 2 has 1 number, row 1 has 2%)")
      assert.error_matches(function() ts.matrix{{1, 2}, {3, "x"}} end, "number expected at %(2, 2%), got string")
      assert.error_matches(function() ts.matrix{{1, 2}, 3} end, "row 2 must be a table, not number")
      assert.error_matches(function() ts.matrix{1, {2}} end, "number expected at %(1, 2%), got table")
      assert.error_matches(function() ts.matrix() end, "bad argument #1 to 'matrix'")
      assert.error_matches(function() ts.matrix("x", 2) end, "bad argument #1 to 'matrix' %(rows: number expected, got string%)")
      assert.error_matches(function() ts.matrix(2, 2, "x") end, "bad argument #3 to 'matrix'")
      assert.error_matches(function() ts.matrix(1, 2, function(_, j) return j == 1 and 1 or nil end) end,
        "bad argument #3 to 'matrix' %(the function must return a number, not nil, for %(1, 2%)%)")
    end)

    it("with errors that have a name and a place, also through pcall", function()
      local _, placed = pcall(function() ts.zeros() end)
      assert.matches("spec/matrix_spec.lua:%d+: bad argument #1 to 'zeros' %(rows: number expected, got no value%)$", placed)
      assert.error_matches(function() ts.linspace(0, 1) end, "bad argument #3 to 'linspace'")
      for name, call in pairs{fill = {}, set = {1, 1}, row = {}, col = {true}, slice = {}, take = {3}, map = {0}, to = {"x"}} do
        local _, message = pcall(ts.zeros(2, 2)[name], ts.zeros(2, 2), table.unpack(call))
        assert.matches("bad argument #%d to '" .. name .. "'", message)
      end
      assert.error_matches(function() ts.zeros(1, 1).row() end, "calling 'row' on bad self %(matrix expected, got no value%)")
    end)

    it("with an error that a function raises unchanged", function()
      local reason = {}
      local ok, raised = pcall(ts.matrix, 2, 2, function() error(reason) end)
      assert.is_false(ok)
      assert.equal(reason, raised)
    end)

    it("with options whose names and values are checked", function()
      assert.error_matches(function() ts.zeros(1, 1, {dtpye = "f32"}) end,
        "bad argument #3 to 'zeros' %(invalid field 'dtpye'%)")
      assert.error_matches(function() ts.zeros(1, 1, {dtype = "f16"}) end, "expected, got 'f16'")
      assert.error_matches(function() ts.zeros(1, 1, {seed = 1}) end, "invalid field 'seed'")
      assert.error_matches(function() ts.zeros(1, 1, "f32") end, "bad argument #3 to 'zeros'")
      assert.error_matches(function() ts.rand(1, 1, {seed = 1.5}) end, "field 'seed'")
    end)

    it("from a list of a million numbers, and from rows in a nearly full stack (L05)", function()
      local list = {}
      for i = 1, 1000000 do list[i] = i end
      local m = ts.matrix(list)
      assert.equal(1000000, m(1, -1))
      assert.equal(500000.5, m:mean())
      local function deep(n) return n == 0 and ts.matrix{{1, 2}, {3, 4}}(2, 2) or (deep(n - 1)) end
      assert.equal(4, coroutine.wrap(function() return deep(5000) end)())
    end)
  end)

  describe("of a size that does not fit (S09)", function()
    it("is an error, never a small matrix", function()
      for _, size in ipairs{{1 << 32, 1 << 32}, {1 << 61, 1}, {1 << 62, 2}, {math.maxinteger, math.maxinteger}} do
        for _, make in ipairs{ts.matrix, ts.zeros, ts.ones, ts.rand, ts.randn} do
          local ok, message = pcall(make, size[1], size[2])
          assert.is_false(ok)
          assert.matches("too large", message)
        end
      end
      assert.error_matches(function() ts.eye(1 << 32) end, "too large")
      assert.error_matches(function() ts.linspace(0, 1, 1 << 61) end, "too large")
      assert.error_matches(function() ts.zeros(-1, 5) end, "bad argument #1 to 'zeros' %(rows %-1 is less than 0%)")
      assert.error_matches(function() ts.zeros(5, -1) end, "bad argument #2 to 'zeros'")
    end)

    it("may be as long as it likes where it is empty", function()
      assert.same({1 << 62, 0}, {ts.zeros(1 << 62, 0):shape()})
      assert.same({0, 1 << 62}, {ts.zeros(1 << 62, 0):t():shape()})
      -- and nothing walks over rows that hold nothing
      local long = ts.matrix(1 << 62, 0, function() error "there is no cell" end)
      assert.is_true(long == ts.zeros(1 << 62, 0) and long:identical(long:copy()))
      for _, m in ipairs{long, long:t()} do
        for _, name in ipairs{"softmax", "exp", "copy", "abs"} do assert.is_true(m[name](m) == m) end
        assert.is_true(m:map(function() end) == m and m + m == m and m:to("f32"):to("f64") == m)
        assert.same({0, 0, -inf}, {m:sum(), m:norm(), m:logsumexp()})
        assert.equal(0, ts.diff(m, m).ulps)
      end
      assert.error_matches(function() long:sum "rows" end, "too large")
    end)

    -- A cell less than 2^40 doubles, which no machine that runs this has.
    it("is an error about memory where only that is missing, and nothing leaks", function()
      local function try() assert.is_false((pcall(ts.zeros, 1 << 20, (1 << 20) - 1))) end
      try()
      collectgarbage()
      local before = collectgarbage "count"
      for _ = 1, 100 do try() end
      collectgarbage()
      assert.is_true(collectgarbage "count" - before < 16)
    end)
  end)

  it("is seen by the collector at its size (L04)", function()
    collectgarbage()
    local before, most = collectgarbage "count", 0
    for _ = 1, 100 do
      ts.zeros(1000, 1000) -- 8 MB each
      most = math.max(most, collectgarbage "count")
    end
    assert.is_true(most < 2 * before + 100 * 1024) -- a collection comes when memory has doubled
  end)

  describe("element", function()
    local m = ts.matrix{{1, 2, 3}, {4, 5, 6}}

    it("is read by m(i, j), from the end with negative indices", function()
      assert.equal(6, m(2, 3))
      assert.equal(6, m(-1, -1))
      assert.equal(1, m(-2, -3))
      assert.equal(4, m(2.0, "1"))
    end)

    it("is written by m:set, through views too", function()
      local a = m:copy()
      a:set(1, 2, 20)
      a:t():set(-1, 2, 60)
      assert.same({1, 20, 3, 4, 5, 60}, flat(a))
    end)

    it("outside is an error that names axis and size", function()
      assert.error_matches(function() return m(3, 1) end, "bad argument #1 to 'm' %(row 3 of a matrix with 2%)")
      assert.error_matches(function() return m(1, 0) end, "bad argument #2 to 'm' %(column 0 of a matrix with 3, which count from 1%)")
      assert.error_matches(function() return m(-3, 1) end, "row %-3 of a matrix with 2")
      assert.error_matches(function() m:set(1, 4, 0) end, "bad argument #2 to 'set' %(column 4 of a matrix with 3%)")
    end)

    it("has no index but a whole number in range, in every function that takes one (L07)", function()
      local wrong = {2.5, nan, inf, -inf, 2.0 ^ 53, 2.0 ^ 63, "x", "1.5", true, {}, 0, 4, -4, math.mininteger,
        math.maxinteger}
      local a = ts.zeros(3, 3)
      local uses = {
        function(i) return a(i, 1) end, function(i) return a(1, i) end,
        function(i) a:set(i, 1, 9) end, function(i) a:set(1, i, 9) end,
        function(i) return a:row(i) end, function(i) return a:col(i) end,
        function(i) return a:take{i} end, function(i) return a:take({1, i}, "cols") end,
        -- (an empty range may end at 0, which is -4 from the end, and begin at 4)
        function(i) return a:slice(1, 3, 1, (i == 0 or i == -4) and 9 or i) end,
        function(i) return a:slice(i == 4 and 5 or i, 3) end,
      }
      for n, use in ipairs(uses) do
        for _, i in ipairs(wrong) do
          local ok, message = pcall(use, i)
          assert(not ok, ("use %d takes %s"):format(n, tostring(i)))
          assert.matches("bad argument #%d to", message)
        end
        if n ~= 7 and n ~= 8 then assert.is_false((pcall(use, nil)), n) end -- a list ends at nil
        assert.is_true((pcall(use, 2.0)), n)
        assert.is_true((pcall(use, "2")), n)
      end
      assert.same({0, 0, 0, 9, 0, 0, 0, 0, 0}, (function() a:set(1, 2, 0); return flat(a) end)())
    end)
  end)

  describe("field", function()
    local m = ts.zeros(2, 3)

    it("rows, cols and dtype say what it is, and # is its rows", function()
      assert.same({2, 3, "f64"}, {m.rows, m.cols, m.dtype})
      assert.equal(2, #m)
    end)

    it("that is none is an error naming the near one", function()
      assert.error_matches(function() return m.sahpe end, "no field 'sahpe' %(did you mean 'shape'%?%)")
      assert.error_matches(function() return m.row_ end, "did you mean 'rows?'")
      assert.error_matches(function() return m:sofmtax() end, "did you mean 'softmax'")
      assert.error_matches(function() return m[1] end, "no element %[1%]; m%(i, j%) is one, m:row%(i%) a row")
      assert.error_matches(function() return m[{1, 2}] end, "no element %[table%]; m%(i, j%) is one")
    end)

    it("cannot be set", function()
      assert.error_matches(function() m.rows = 5 end, "m:set%(i, j, x%)")
      assert.error_matches(function() m[1] = 5 end, "m:set%(i, j, x%)")
      assert.equal(2, m.rows)
    end)

    it("__gc and the metatable are out of reach (L01)", function()
      assert.is_false(getmetatable(m))
      assert.error(function() setmetatable(m, {}) end)
    end)
  end)

  it("becomes a table of rows, and back", function()
    local m = ts.randn(3, 4, {seed = 1})
    assert.is_true(ts.matrix(m:table()) == m)
    assert.same({{1, 3}, {2, 4}}, ts.matrix({{1, 2}, {3, 4}}):t():table())
    assert.same({}, ts.zeros(0, 3):table())
    assert.same({{}, {}}, ts.zeros(2, 0):table())
  end)

  it("is walked row by row with each", function()
    local seen = {}
    for i, row in ts.matrix{{1, 2}, {3, 4}}:each() do seen[i] = {row.rows, row(1, 1), row(1, 2)} end
    assert.same({{1, 1, 2}, {1, 3, 4}}, seen)
    for _ in ts.zeros(0, 5):each() do error "an empty matrix has no rows" end
  end)
end)

describe("a view", function()
  local m
  before_each(function() m = ts.matrix(3, 4, function(i, j) return 10 * i + j end) end)

  it("is a row, a column, a slice or the transpose", function()
    assert.same({21, 22, 23, 24}, flat(m:row(2)))
    assert.same({14, 24, 34}, flat(m:col(-1)))
    assert.same({22, 23, 32, 33}, flat(m:slice(2, 3, 2, 3)))
    assert.same({31, 32, 33, 34}, flat(m:slice(-1, -1)))
    assert.same({11, 21, 31, 12, 22, 32, 13, 23, 33, 14, 24, 34}, flat(m:t()))
  end)

  it("slice is empty where the last is the one before the first, and else checked", function()
    assert.same({0, 4}, {m:slice(1, 0):shape()})
    assert.same({0, 4}, {m:slice(4, 3):shape()})
    assert.same({3, 0}, {m:slice(1, 3, 5, 4):shape()})
    assert.same({0, 4}, {m:slice(1, 0):slice(1, 0):shape()})
    assert.same({0, 4}, {m:slice(1, 0):slice(1, -1):shape()})
    assert.error_matches(function() m:slice(3, 1) end, "bad argument #2 to 'slice' %(row 1 is outside 2..3%)")
    assert.error_matches(function() m:slice(1, 4) end, "bad argument #2 to 'slice'")
    assert.error_matches(function() m:slice(5, 4) end, "bad argument #1 to 'slice'")
    assert.error_matches(function() m:slice() end, "bad argument #1 to 'slice'")
    assert.error_matches(function() m:slice(1, 2, 3) end, "bad argument #4 to 'slice'")
  end)

  it("copies nothing: a change is seen on both sides", function()
    m:slice(2, 3, 2, 3):t():row(1):set(1, 2, 99)
    assert.equal(99, m(3, 2))
    m:set(1, 1, -1)
    assert.equal(-1, m:t():col(1)(1, 1))
  end)

  it("is packed by copy, which is a matrix of its own", function()
    local c = m:t():copy()
    assert.is_true(c == m:t())
    c:set(1, 1, 0)
    assert.equal(11, m(1, 1))
  end)

  it("keeps its parent alive, through chains of views and iterators (L06)", function()
    local views, value = {}, 0
    for i = 1, 100 do
      views[i] = ts.matrix(20, 20, i):t():slice(2, 19, 2, 19):row(5)
    end
    for _ = 1, 3 do collectgarbage() end
    for _ = 1, 200 do ts.matrix(20, 20, -1) end
    for i = 1, 100 do assert.is_true(views[i] == ts.matrix(1, 18, i)) end
    for _, row in ts.matrix(50, 50, 3):each() do
      collectgarbage "step"
      value = value + row(1, 50)
    end
    assert.equal(150, value)
  end)

  it("of a view holds the matrix, not the views between", function()
    local v = m
    collectgarbage()
    local before = collectgarbage "count"
    for _ = 1, 10000 do v = v:t() end
    collectgarbage()
    assert.is_true(collectgarbage "count" - before < 8)
    assert.is_true(v == m)
  end)

  it("frees its parent with the last view", function()
    local view = ts.zeros(1000, 1000):row(1)
    collectgarbage()
    local before = collectgarbage "count"
    assert.equal(0, view(1, 1))
    view = nil -- luacheck: ignore
    collectgarbage()
    assert.is_true(before - collectgarbage "count" > 7000)
  end)
end)

describe("copying", function()
  local m = ts.matrix(3, 4, function(i, j) return 10 * i + j end)

  it("take gives the rows or columns of a list, in its order", function()
    assert.same({31, 32, 33, 34, 11, 12, 13, 14}, flat(m:take{3, -3}))
    assert.same({12, 12, 22, 22, 32, 32}, flat(m:take({2, 2}, "cols")))
    assert.same({0, 4}, {m:take({}):shape()})
    assert.same({3, 0}, {m:take({}, "cols"):shape()})
    assert.error_matches(function() m:take{1, 4} end, "element 2 of the list, 4, is outside 1..3")
    assert.error_matches(function() m:take({1}, "diagonal") end, "bad argument #2 to 'take'")
  end)

  it("to converts between the dtypes, rounding once", function()
    local f = ts.matrix{0.1, 1e300, 1e-50, 2.0 ^ 24 + 1, -0.0}:to "f32"
    assert.equal("f32", f.dtype)
    assert.same({string.unpack("f", string.pack("f", 0.1)), inf, 0, 2.0 ^ 24, -0.0}, flat(f))
    assert.is_true(f:to "f64" == ts.matrix(f:table()))
    assert.error_matches(function() m:to "f16" end, "expected, got 'f16'")
  end)

  it("assign and fill write through a view, and give it back", function()
    local a = m:copy()
    local v = a:slice(1, 2, 1, 2)
    assert.is_true(rawequal(v, v:fill(0)))
    assert.is_true(rawequal(v, v:assign(ts.matrix{{1, 2}, {3, 4}})))
    assert.same({1, 2, 13, 14, 3, 4, 23, 24, 31, 32, 33, 34}, flat(a))
  end)

  it("assign repeats a row, a column or a number", function()
    local a = ts.zeros(2, 3)
    assert.same({1, 2, 3, 1, 2, 3}, flat(a:assign(ts.matrix{1, 2, 3})))
    assert.same({5, 5, 5, 6, 6, 6}, flat(a:assign(ts.matrix{{5}, {6}})))
    assert.same({7, 7, 7, 7, 7, 7}, flat(a:assign(7)))
  end)

  it("assign refuses another shape or dtype, and writes nothing then", function()
    local a = ts.zeros(2, 3)
    assert.error_matches(function() a:assign(ts.ones(3, 2)) end, "shape 3x2 does not fit 2x3")
    assert.error_matches(function() a:assign(ts.ones(2, 3, {dtype = "f32"})) end, "f64 expected, got f32")
    assert.error_matches(function() a:assign "x" end, "matrix expected, got string")
    assert.is_true(a == ts.zeros(2, 3))
  end)

  it("assign is right where both sides are one matrix (S07)", function()
    for _, n in ipairs{1, 2, 3, 5, 17, 33, 64} do
      local a = ts.randn(n, n, {seed = n})
      local turned = a:t():copy()
      assert.is_true(a:assign(a:t()):identical(turned))
      local b = ts.randn(n + 1, n, {seed = n})
      local moved = b:slice(1, n):copy()
      b:slice(2, n + 1):assign(b:slice(1, n))
      assert.is_true(b:slice(2, n + 1):identical(moved))
      local c = ts.randn(n, n, {seed = n})
      local first = c:row(1):copy()
      c:assign(c:row(1))
      for _, row in c:each() do assert.is_true(row:identical(first)) end
    end
  end)

  it("hcat and vcat join, empty ones too", function()
    local A, B = ts.matrix{{1, 2}, {3, 4}}, ts.matrix{{5}, {6}}
    assert.same({1, 2, 5, 3, 4, 6}, flat(ts.hcat(A, B)))
    assert.same({1, 2, 3, 4, 1, 3, 2, 4}, flat(ts.vcat(A, A:t())))
    assert.same({1, 3, 2, 4}, flat(ts.hcat(A:t())))
    assert.is_true(ts.vcat(ts.zeros(0, 2), A, ts.zeros(0, 2)) == A)
    assert.is_true(ts.hcat{A, ts.zeros(2, 0)} == A)
  end)

  it("hcat and vcat refuse what does not join", function()
    assert.error_matches(function() ts.hcat(ts.zeros(2, 2), ts.zeros(3, 2)) end,
      "bad argument #2 to 'hcat' %(shape 3x2 does not join with 2x2%)")
    assert.error_matches(function() ts.vcat(ts.zeros(2, 2), ts.zeros(2, 3)) end, "shape 2x3 does not join with 2x2")
    assert.error_matches(function() ts.vcat(ts.zeros(1, 1), ts.zeros(1, 1, {dtype = "f32"})) end,
      "f64 expected, got f32")
    assert.error_matches(function() ts.vcat{ts.zeros(1, 1), ts.zeros(1, 2)} end, "bad argument #1 to 'vcat'")
    assert.error_matches(function() ts.vcat(ts.zeros(1, 1), 5) end, "bad argument #2 to 'vcat' %(matrix expected")
    assert.error_matches(function() ts.vcat() end, "bad argument #1 to 'vcat'")
    assert.error_matches(function() ts.vcat{} end, "bad argument #1 to 'vcat'")
  end)

  it("vcat joins a thousand, and a list of a hundred thousand (L05)", function()
    local rows = {}
    for i = 1, 100000 do rows[i] = i <= 1000 and ts.matrix{i, -i} or rows[1000] end
    local m1000 = ts.vcat(table.unpack(rows, 1, 1000))
    assert.same({1000, 2}, {m1000:shape()})
    assert.equal(-777, m1000(777, 2))
    assert.same({100000, 2}, {ts.vcat(rows):shape()})
  end)
end)

describe("comparing", function()
  it("== is equality of shape, dtype and numbers, and never raises", function()
    local A = ts.matrix{{1, 2}, {3, 4}}
    assert.is_true(A == ts.matrix{{1, 2}, {3, 4}})
    assert.is_true(A:t():t() == A)
    assert.is_false(A == ts.matrix{{1, 2}, {3, 5}})
    assert.is_false(A == A:row(1))
    assert.is_false(A == A:to "f32")
    assert.is_true(ts.matrix{0.0} == ts.matrix{-0.0})
    assert.is_false(ts.matrix{nan} == ts.matrix{nan})
    assert.is_false(A == 1)
    assert.is_false(A == io.stdout)
    assert.is_false(ts.zeros(0, 3) == ts.zeros(3, 0))
    assert.is_true(ts.zeros(0, 3) == ts.zeros(0, 3))
  end)

  it("identical compares bits", function()
    assert.is_false(ts.matrix{0.0}:identical(ts.matrix{-0.0}))
    assert.is_true(ts.matrix{nan}:identical(ts.matrix{nan}))
    assert.is_false(ts.zeros(1, 1):identical(ts.zeros(1, 1, {dtype = "f32"})))
    assert.is_false(ts.zeros(1, 2):identical(ts.zeros(2, 1)))
    assert.error_matches(function() ts.zeros(1, 1):identical(1) end, "matrix expected, got number")
  end)
end)

describe("the manual of matrices", function()
  it("says something of every function", function()
    local documented, comment = {}, false
    for line in io.lines "lua/tessera/matrix.lua" do
      local name = line:match "^methods%.(%w+) =" or line:match "^matrix%.(%w+) =" or line:match "^function methods:(%w+)"
      if name and comment then documented[name] = true end
      comment = line:find "^%-%-%-" or name
    end
    local public = require "tessera.matrix"
    for name in pairs(require "tessera.core".matrix.methods) do assert(documented[name], name) end
    for name in pairs(public) do assert(documented[name], name) end
  end)
end)
