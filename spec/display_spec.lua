local core = require "tessera.core"
local ts = require "tessera"

local nan, inf = 0 / 0, math.huge

local function lines(m)
  local list = {}
  for line in (tostring(m) .. "\n"):gmatch("(.-)\n") do list[#list + 1] = line end
  return list
end

describe("tostring of a matrix", function()
  it("tells shape and dtype, then aligns integers without decimals", function()
    assert.equal("matrix 2x3 f64\n    1    2   -3\n    4    5  600", tostring(ts.matrix{{1, 2, -3}, {4, 5, 600}}))
  end)

  it("shows as many decimals as the numbers need", function()
    assert.same({"matrix 1x3 f64", "   0.500  -1.250   2.125"}, lines(ts.matrix{{0.5, -1.25, 2.125}}))
  end)

  it("shows 8 decimals at most", function()
    assert.same({"matrix 1x2 f64", "  3.14159265  0.50000000"}, lines(ts.matrix{{math.pi, 0.5}}))
  end)

  it("shows the digits that tell floats apart, not those of their doubles", function()
    assert.same({"matrix 1x2 f32", "  0.1  0.7"}, lines(ts.matrix({{0.1, 0.7}}, {dtype = "f32"})))
  end)

  it("turns to scientific where NumPy does: from 1e8, below 1e-4, over a thousandfold apart", function()
    assert.same({"matrix 1x2 f64", "  1.0e+08  2.5e-01"}, lines(ts.matrix{{1e8, 0.25}}))
    assert.same({"matrix 1x2 f64", "  9.5e-05  1.0e-04"}, lines(ts.matrix{{9.5e-5, 1e-4}}))
    assert.same({"matrix 1x2 f64", "  1.500e+00  1.501e+03"}, lines(ts.matrix{{1.5, 1501}}))
    assert.same({"matrix 1x2 f64", "     1.5  1499.5"}, lines(ts.matrix{{1.5, 1499.5}}))
  end)

  it("shows exponents of one width", function()
    assert.same({"matrix 1x2 f64", "  1.5e+300  1.0e-002"}, lines(ts.matrix{{1.5e300, 0.01}}))
  end)

  it("shows large integers in full while a double counts them", function()
    assert.same({"matrix 1x2 f64", "  9007199254740992                 1"}, lines(ts.matrix{{2 ^ 53, 1}}))
  end)

  it("writes nan without a sign, infinities and -0", function()
    assert.same({"matrix 1x5 f64", "   nan   nan   inf  -inf    -0"}, lines(ts.matrix{{nan, -nan, inf, -inf, -0.0}}))
  end)

  it("chooses the format from the finite numbers alone", function()
    assert.same({"matrix 1x3 f64", "  0.5  inf  nan"}, lines(ts.matrix{{0.5, inf, nan}}))
    assert.same({"matrix 2x2 f64", "      -inf  1.0e+300", "  2.5e-300       nan"}, lines(ts.matrix{{-inf, 1e300}, {2.5e-300, nan}}))
  end)

  it("shows 1000 elements whole", function()
    assert.equal(51, #lines(ts.ones(50, 20)))
    assert.equal(20, select(2, lines(ts.ones(50, 20))[2]:gsub("1", "")))
  end)

  it("leaves out the middle columns of what is wider than 75 characters", function()
    local m = ts.matrix(2, 40, function(i, j) return 100 * i + j end)
    assert.same({
      "matrix 2x40 f64",
      "  101  102  103  104  105  106  107  ...  134  135  136  137  138  139  140",
      "  201  202  203  204  205  206  207  ...  234  235  236  237  238  239  240",
    }, lines(m))
    assert.equal(75, #lines(m)[2])
  end)

  it("shows fewer decimals before it leaves out columns", function()
    local m = ts.matrix(1, 9, function(_, j) return 1 / (j + 1) end)
    assert.equal("  0.5000  0.3333  0.2500  0.2000  0.1667  0.1429  0.1250  0.1111  0.1000", lines(m)[2])
    assert.equal("  0.5000  0.3333  0.2500  0.2000  ...  0.1250  0.1111  0.1000  0.0909", lines(ts.hcat(m, m:slice(1, 1, 9, 9) / 1.1))[2])
    assert.equal("  0.50000000  0.33333333  0.25000000", lines(m:slice(1, 1, 1, 3))[2])
  end)

  it("is as wide as the terminal where there is one", function()
    local width = core.width
    finally(function() core.width = width end)
    function core.width() return 40 end
    assert.equal("   1   2   3   4  ...  37  38  39  40", lines(ts.linspace(1, 40, 40))[2])
    function core.width() return 200 end
    assert.equal(40, select(2, lines(ts.ones(1, 40))[2]:gsub("1", "")))
    function core.width() return 1 end
    assert.equal("  1  ...  9", lines(ts.linspace(1, 9, 9))[2])
  end)

  it("fits the width whatever the numbers that are left need", function()
    local m = ts.matrix(1, 100, function(_, j) return j > 40 and j < 60 and 1e9 or 1 / j end) -- scientific only as a whole
    local known = core.width
    finally(function() core.width = known end)
    for columns = 20, 120 do
      function core.width() return columns end
      assert.is_true(#lines(m)[2] <= columns)
    end
  end)

  it("leaves out the middle of more than 60 rows", function()
    assert.equal(61, #lines(ts.ones(60, 3)))
    local shown = lines(ts.linspace(1, 61, 61):t())
    assert.equal(61, #shown)
    assert.same({"   30", "  ...", "   33"}, {table.unpack(shown, 31, 33)})
  end)

  it("leaves out the middle of more than a terminal's height, so that what was typed stays in sight", function()
    local width, height = core.width, core.height
    finally(function() core.width, core.height = width, height end)
    function core.width() return 80 end
    for high, rows in pairs{[24] = 20, [50] = 46, [3] = 6} do
      function core.height() return high end
      assert.equal(1 + rows, #lines(ts.ones(rows, 3)))
      assert.equal(1 + rows, #lines(ts.ones(rows + 1, 3)))
      assert.equal("  ...", lines(ts.ones(64, 1))[2 + rows // 2])
    end
  end)

  it("shows three rows and columns at each edge of more than 1000", function()
    local m = ts.matrix(100, 11, function(i, j) return i + j / 100 end)
    assert.same({
      "matrix 100x11 f64",
      "    1.01    1.02    1.03  ...    1.09    1.10    1.11",
      "    2.01    2.02    2.03  ...    2.09    2.10    2.11",
      "    3.01    3.02    3.03  ...    3.09    3.10    3.11",
      "     ...     ...     ...  ...     ...     ...     ...",
      "   98.01   98.02   98.03  ...   98.09   98.10   98.11",
      "   99.01   99.02   99.03  ...   99.09   99.10   99.11",
      "  100.01  100.02  100.03  ...  100.09  100.10  100.11",
    }, lines(m))
  end)

  it("does not cut an axis of six", function()
    assert.equal("    1    1    1    1    1    1", lines(ts.ones(1000, 6))[2])
  end)

  it("chooses the format from what is shown, not from what is cut away", function()
    local m = ts.ones(100, 100)
    m:set(50, 50, 1e-9)
    assert.equal("    1    1    1  ...    1    1    1", lines(m)[2])
  end)

  it("is one line for a matrix without elements", function()
    assert.equal("matrix 0x3 f64", tostring(ts.zeros(0, 3)))
    assert.equal("matrix 3x0 f32", tostring(ts.zeros(3, 0, {dtype = "f32"})))
  end)

  it("shows views by their own elements", function()
    local m = ts.matrix{{1, 2}, {3, 4}}
    assert.same({"matrix 2x2 f64", "  1  3", "  2  4"}, lines(m:t()))
  end)

  it("shows the extremes of both dtypes (case X10)", function()
    assert.same({"matrix 1x3 f64", "  1.0e+300  1.8e+019  4.9e-324"},
      lines(ts.matrix{{1e300, 1.8e19, 5e-324}}))
    assert.equal("matrix 1x1 f32\n  3.4028235e+38", tostring(ts.matrix({{3.4028234663852886e38}}, {dtype = "f32"})))
  end)
end)
