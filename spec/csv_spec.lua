local helper = require "spec.helper"
local ts = require "tessera"

local inf = math.huge

local function csv(text)
  local path = helper.path(".csv")
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
  return path
end

local function refused(text, words)
  local ok, message = pcall(ts.load, csv(text))
  assert.is_false(ok, text)
  assert.matches(words, message, 1, true)
end

describe(".csv", function()
  it("reads numbers between commas or tabs, with any line ends and space", function()
    for _, text in ipairs{
      "1,2\n3,4\n", "1,2\n3,4", "1,2\r\n3,4\r\n", "1\t2\n3\t4\n", " 1 , 2 \n\n 3,4\n\n", "\xEF\xBB\xBF1,2\n3,4\n",
      '"1","2"\n"3",4\n', "+1,2.0\n3e0,.4e1\n", "1.,2\n3,40e-1\n",
    } do
      assert.matrix_equal({{1, 2}, {3, 4}}, ts.load(csv(text)), text)
    end
  end)

  it("reads nan, inf and -0", function()
    local m = ts.load(csv "nan,NaN,inf,-Infinity,-0\n")
    assert.is_true(m(1, 1) ~= m(1, 1) and m(1, 2) ~= m(1, 2))
    assert.same({inf, -inf, -inf}, {m(1, 3), m(1, 4), 1 / m(1, 5)})
  end)

  it("takes a first line without a number for a header, which ts.names gives", function()
    local path = csv '"a, ""b""",two\n1,2\n'
    assert.matrix_equal({{1, 2}}, ts.load(path))
    assert.same({'a, "b"', "two"}, ts.names(path))
    assert.same({}, ts.names(csv "1,2\n"))
  end)

  it("lets a quoted field run over lines", function()
    local path = csv 'a,"two\nlines"\n1,2\n'
    assert.same({"a", "two\nlines"}, ts.names(path))
    assert.matrix_equal({{1, 2}}, ts.load(path))
  end)

  it("is 0x0 where there is nothing, 0 rows below a header", function()
    assert.matrix_equal(ts.zeros(0, 0), ts.load(csv ""))
    assert.matrix_equal(ts.zeros(0, 2), ts.load(csv "a,b\n"))
  end)

  it("names the line and the field of what is wrong", function()
    refused("1,2\n3\n", "line 2 has 1 field, those before have 2")
    refused("1,2\n\n3,4,5\n", "line 3 has 3 fields")
    refused("1,2\n3,x\n", "line 2, field 2: 'x' is no number")
    refused("1,x\n", "line 1, field 2: 'x' is no number")
    refused("a,b\nc,d\n", "line 2, field 1: 'c' is no number")
    refused("1,\n", "line 1, field 2: '' is no number")
    refused("0x10,1\n", "'0x10' is no number")
    refused("1 2,3\n", "'1 2' is no number")
    refused('1,"2\n', "line 1: a quote that is not closed")
    refused('1,"2"3\n', "line 1: text behind a quoted field")
    refused('1,2"3"\n', "line 1: a quote inside a field")
    refused("1;2\n", "'1;2' is no number")
  end)

  it("reshapes as other files do", function()
    local path = csv "1,2,3\n4,5,6\n"
    assert.matrix_equal({{1, 2}, {3, 4}, {5, 6}}, ts.load(path, {reshape = {3, 2}}))
    assert.error_matches(function() ts.load(path, {reshape = {4, 2}}) end, "2x3 does not reshape to 4x2")
    assert.error_matches(function() ts.load(csv "", {reshape = {1, 1}}) end, "0x0 does not reshape to 1x1")
  end)

  describe("saved", function()
    it("comes back bit for bit (case X10)", function()
      local path = csv ""
      local odd = ts.matrix{{0.1 + 0.2, math.pi, 1e300, 5e-324}, {-0.0, inf, -inf, 0x1.fffffffffffffp+1023}}
      for _, m in ipairs{odd, odd:t(), ts.randn(20, 30, {seed = 4}), ts.matrix{{1}}} do
        m:save(path)
        assert.matrix_identical(m, ts.load(path))
      end
    end)

    it("keeps floats exactly, too", function()
      local path, m = csv "", ts.randn(9, 9, {seed = 5, dtype = "f32"})
      m:save(path)
      assert.matrix_identical(m:to "f64", ts.load(path))
    end)

    it("refuses a matrix that would lose its shape, and leaves the old file", function()
      local path = csv "1,2\n"
      assert.error_matches(function() ts.zeros(0, 3):save(path) end, "a 0x3 matrix would lose its shape")
      assert.matrix_equal({{1, 2}}, ts.load(path))
    end)
  end)
end)
