require "spec.helper"
local ts = require "tessera"

describe("ts.rope", function()
  it("leaves row 1 and turns the others, pair by pair, by hand", function()
    local c1, s1, c2, s2 = math.cos(1), math.sin(1), math.cos(0.01), math.sin(0.01) -- 10000^(-2/4) = 0.01
    local X = ts.matrix{{1, 2, 3, 4}, {1, 2, 3, 4}}
    assert.within_bound({{1, 2, 3, 4}, {c1 - 3 * s1, 2 * c2 - 4 * s2, 3 * c1 + s1, 4 * c2 + 2 * s2}}, ts.rope(X), 1e-15)
    assert.within_bound({{1, 2, 3, 4}, {c1 - 2 * s1, 2 * c1 + s1, 3 * c2 - 4 * s2, 4 * c2 + 3 * s2}},
      ts.rope(X, {layout = "interleaved"}), 1e-15)
  end)

  it("turns by base and offset", function()
    -- One pair turns by its position whatever the base; the second one of base 16 by a quarter of it.
    local X = ts.matrix{{1, 1, 0, 0}}
    local t = 3
    assert.within_bound({{math.cos(t), math.cos(t / 4), math.sin(t), math.sin(t / 4)}}, ts.rope(X, {base = 16, offset = 3}), 1e-15)
    assert.within_bound({{math.cos(t), math.cos(t / 4), -math.sin(t), -math.sin(t / 4)}},
      ts.rope(X, {base = 16, offset = -3}), 1e-15)
  end)

  it("leaves scores that depend on the distance alone", function()
    for _, options in ipairs{{}, {layout = "interleaved"}, {base = 100, dims = 4}, {offset = 50, layout = "interleaved", dims = 2}} do
      local q, k = ts.ones(20, 1) * ts.randn(1, 6, {seed = 1}), ts.ones(20, 1) * ts.randn(1, 6, {seed = 2})
      local s = ts.rope(q, options) * ts.rope(k, options):t()
      for i = 2, 20 do
        for j = 2, 20 do assert.is_true(math.abs(s(i, j) - s(i - 1, j - 1)) < 2e-13) end
      end
      assert.is_true(math.abs(s(1, 1) - s(5, 1)) > 1e-3)
    end
  end)

  it("keeps the length of every pair", function()
    local X = ts.randn(9, 8, {seed = 3})
    assert.within_bound(X:mul(X):sum("rows"), (function(Y) return Y:mul(Y):sum("rows") end)(ts.rope(X)), 1e-14)
  end)

  it("turns all heads alike, and the first dims columns of each only", function()
    local X = ts.randn(5, 12, {seed = 4})
    for _, layout in ipairs{"half", "interleaved"} do
      local whole = ts.rope(X, {heads = 2, dims = 4, layout = layout})
      for h = 0, 1 do
        assert.matrix_identical(ts.rope(X:slice(1, 5, 6 * h + 1, 6 * h + 6), {dims = 4, layout = layout}),
          whole:slice(1, 5, 6 * h + 1, 6 * h + 6))
        assert.matrix_identical(X:slice(1, 5, 6 * h + 5, 6 * h + 6), whole:slice(1, 5, 6 * h + 5, 6 * h + 6))
      end
    end
    assert.matrix_identical(X, ts.rope(X, {dims = 0}))
  end)

  it("leaves the last column of an odd width, and works in f32 and without rows", function()
    local X = ts.randn(4, 5, {seed = 5, dtype = "f32"})
    local Y = ts.rope(X)
    assert.equal("f32", Y.dtype)
    assert.matrix_identical(X:col(5), Y:col(5))
    assert.within_bound(ts.rope(X:to "f64"), Y, 1e-6)
    assert.same({0, 4}, {ts.rope(ts.zeros(0, 4)):shape()})
  end)

  it("does not change its argument", function()
    local X = ts.ones(3, 4)
    ts.rope(X)
    assert.matrix_equal(ts.ones(3, 4), X)
  end)

  it("names what is wrong", function()
    local X = ts.ones(2, 6)
    assert.error_matches(function() ts.rope(5) end, "bad argument #1 to 'rope' %(matrix expected, got number%)")
    assert.error_matches(function() ts.rope(X, {heads = 4}) end, "bad argument #2 to 'rope' %(6 columns, which 4 heads do not divide%)")
    assert.error_matches(function() ts.rope(X, {dims = 3}) end, "field 'dims': 3 is no even number up to the 6 columns")
    assert.error_matches(function() ts.rope(X, {dims = 8}) end, "field 'dims': 8")
    assert.error_matches(function() ts.rope(X, {base = 0}) end, "field 'base'")
    assert.error_matches(function() ts.rope(X, {layout = "x"}) end, "field 'layout': .- expected, got 'x'")
    assert.error_matches(function() ts.rope(X, {theta = 1}) end, "invalid field 'theta'")
  end)
end)
