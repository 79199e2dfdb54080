local ts = require "tessera"

local nan, inf = 0 / 0, math.huge
local tiny = 5e-324 -- the smallest double
local eps = 2.0 ^ -52

local function row(...) return ts.matrix{{...}} end

describe("ts.diff", function()
  it("is the record of the cell of most ulps", function()
    local d = ts.diff(row(1, 1, 1), row(1, 1 + 3 * eps, 1 + eps))
    assert.same({3, 1, 2, 1, 1 + 3 * eps}, {d.ulps, d.i, d.j, d.a, d.b})
    assert.equal(3 * eps, d.abs)
    assert.equal(3 * eps / (1 + 3 * eps), d.rel)
  end)

  it("counts the cell of most ulps, not the one of the largest difference", function()
    local d = ts.diff(row(1e300, 1), row(1e300 * (1 + eps), 1 + 9 * eps))
    assert.same({2, 9}, {d.j, d.ulps})
  end)

  it("counts ulps in the dtype of its operands", function()
    local a = ts.matrix({{1}}, {dtype = "f32"})
    local b = ts.matrix({{1 + 2.0 ^ -23}}, {dtype = "f32"})
    assert.equal(1, ts.diff(a, b).ulps)
  end)

  it("counts through zero: -tiny and tiny are two apart, and so for floats", function()
    assert.equal(2, ts.diff(row(-tiny), row(tiny)).ulps)
    local t = 2.0 ^ -149
    assert.equal(2, ts.diff(ts.matrix({{-t}}, {dtype = "f32"}), ts.matrix({{t}}, {dtype = "f32"})).ulps)
  end)

  it("counts all doubles without wrapping", function()
    local most = 0x1.fffffffffffffp+1023
    assert.equal(2.0 ^ 64 - 2.0 ^ 53, ts.diff(row(-most), row(most)).ulps)
  end)

  it("takes -0 and 0 for the same", function()
    assert.equal(0, ts.diff(row(-0.0), row(0.0)).ulps)
  end)

  it("cannot be passed by NaN or infinities (case N07)", function()
    for _, case in ipairs{
      {nan, 1, inf}, {1, nan, inf}, {nan, nan, 0}, {inf, 1, inf}, {inf, -inf, inf}, {inf, inf, 0},
      {-inf, -inf, 0}, {nan, inf, inf}, {inf, 0x1.fffffffffffffp+1023, inf},
    } do
      local d = ts.diff(row(0, case[1]), row(0, case[2]))
      assert.equal(case[3], d.ulps)
      assert.equal(case[3], d.abs)
      assert.equal(case[3], d.rel)
    end
  end)

  it("puts matrices of different shapes infinitely far apart, empty ones too", function()
    for _, pair in ipairs{{ts.zeros(0, 0), row(1)}, {ts.zeros(0, 3), ts.zeros(3, 0)}, {ts.ones(2, 3), ts.ones(3, 2)}} do
      local d = ts.diff(pair[1], pair[2])
      assert.same({inf, inf, inf}, {d.abs, d.rel, d.ulps})
      assert.is_nil(d.i)
    end
    assert.matches("2x3 against 3x2", tostring(ts.diff(ts.ones(2, 3), ts.ones(3, 2))))
  end)

  it("finds no difference between empty matrices of one shape", function()
    assert.equal(0, ts.diff(ts.zeros(0, 3), ts.zeros(0, 3)).ulps)
  end)

  it("compares numbers as 1x1 matrices", function()
    assert.equal(1, ts.diff(1, 1 + eps).ulps)
    assert.equal(0, ts.diff(ts.matrix({{2}}, {dtype = "f32"}), 2).ulps)
  end)

  it("prints as a sentence", function()
    assert.equal("worst at (1, 2): 1 against 1.0000000000000002, 1 ulp apart (absolute 2.22e-16, relative 2.22e-16)",
      tostring(ts.diff(row(0, 1), row(0, 1 + eps))))
    assert.equal("worst at (1, 1): nan against 1, inf ulps apart (absolute inf, relative inf)",
      tostring(ts.diff(row(nan), row(1))))
    assert.equal("no cell differs", tostring(ts.diff(row(1, 2), row(1, 2))))
  end)

  it("names the near field, where it has none of that name", function()
    assert.error_matches(function() return ts.diff(row(1), row(2)).ulp end, "a diff has no field 'ulp' %(did you mean 'ulps'%?%)")
    assert.is_nil(ts.diff(row(1), row(1, 2)).i)
  end)

  it("ignores further arguments", function()
    assert.equal(0, ts.diff(row(1), row(1), row(2), "x").ulps)
  end)

  it("refuses operands of two dtypes, naming both, and what is no matrix", function()
    assert.error_matches(function() ts.diff(row(1), ts.matrix({{1}}, {dtype = "f32"})) end,
      "bad argument #2 to 'diff' %(f64 against f32")
    assert.error_matches(function() ts.diff(row(1), "x") end, "bad argument #2 to 'diff' %(matrix expected, got string")
    local S = ts.problem{Q = row(1), K = row(1), V = row(1)}:summary()
    assert.error_matches(function() ts.diff(S, S) end, "bad argument #1 to 'diff' %(matrix expected, got summary; S:output%(%) gives one%)")
    assert.error_matches(function() ts.diff() end, "bad argument #1 to 'diff' %(matrix expected, got nil")
  end)

  it("compares views, and large matrices quickly", function()
    local A = ts.randn(500, 400, {seed = 1})
    local B = A:copy()
    B:set(400, 300, A(400, 300) * (1 + 4 * eps))
    local d = ts.diff(A:t(), B:t())
    assert.same({300, 400}, {d.i, d.j})
  end)
end)

describe("ts.ulps", function()
  it("is the distance of two numbers, or of every pair of cells", function()
    assert.equal(1, ts.ulps(1, 1 + eps))
    local u = ts.ulps(row(1, nan, nan), row(1 + 2 * eps, nan, 1))
    assert.same({2, 0, inf}, {u(1, 1), u(1, 2), u(1, 3)})
  end)

  it("refuses different shapes", function()
    assert.error_matches(function() ts.ulps(row(1), row(1, 2)) end, "1x1 against 1x2")
  end)
end)
