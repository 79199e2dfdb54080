-- Random matrices: seeds, streams and their numbers.
local helper = require "spec.helper"
local ts = require "tessera"

describe("rand", function()
  it("draws from [0, 1), in f32 as the f64 number cut to 24 bits", function()
    local wide, narrow = ts.rand(100, 100, {seed = 1}), ts.rand(100, 100, {seed = 1, dtype = "f32"})
    assert.is_true(wide:min() >= 0 and wide:max() < 1)
    assert.matrix_identical(wide:map(function(x) return x * 2 ^ 24 // 1 / 2 ^ 24 end), narrow:to "f64")
  end)
end)

describe("randn", function()
  it("in f32 is the f64 number rounded", function()
    assert.matrix_identical(ts.randn(50, 50, {seed = 2}):to "f32", ts.randn(50, 50, {seed = 2, dtype = "f32"}))
  end)

  it("has uncorrelated neighbours, rows and streams", function()
    -- The mean of n products of independent normal numbers has a standard error of 1 / sqrt(n); six of them.
    local m = ts.randn(101, 1001, {seed = 3})
    local function correlation(a, b) return a:mul(b):mean() end
    local base = m:slice(1, 100, 1, 1000)
    local limit = 6 / math.sqrt(1e5)
    for name, other in pairs{
      right = m:slice(1, 100, 2, 1001), below = m:slice(2, 101, 1, 1000),
      seed = ts.randn(100, 1000, {seed = 4}), uniform = (ts.rand(100, 1000, {seed = 3}) - 0.5) * math.sqrt(12),
    } do
      assert(math.abs(correlation(base, other)) < limit, name)
    end
  end)
end)

describe("a seed", function()
  it("fixes every number: element (i, j) is number (i - 1) cols + j of its stream", function()
    for _, name in ipairs{"rand", "randn"} do
      local m = ts[name](6, 10, {seed = 5})
      assert.matrix_identical(m, ts[name](6, 10, {seed = 5}))
      assert.matrix_identical(m:slice(1, 3), ts[name](3, 10, {seed = 5}))
      local line = ts[name](1, 60, {seed = 5})
      for i, row in m:each() do assert.matrix_identical(line:slice(1, 1, 10 * i - 9, 10 * i), row) end
      assert.is_false(m == ts[name](6, 10, {seed = 6}))
    end
  end)

  it("is any integer, negative and large ones too, each a stream of its own", function()
    local seen = {}
    for _, seed in ipairs{0, 1, -1, 1 << 32, math.mininteger, math.maxinteger} do
      local x = ts.rand(1, 1, {seed = seed})(1, 1)
      assert.is_nil(seen[x])
      seen[x] = true
    end
    assert.matrix_identical(ts.rand(1, 1, {seed = 1}), ts.rand(1, 1, {seed = 1.0}))
  end)

  -- These numbers stand for ever: a change here changes what scripts of users give.
  it("gives the same numbers on every machine", function()
    assert.matrix_identical(
      ts.matrix{0x1.dfd524ee73abcp-2, 0x1.5d0acf5c4afd4p-2, 0x1.4ee9b3f7f36c8p-2, 0x1.d1381bee0e3d6p-2},
      ts.rand(1, 4, {seed = 42}))
    assert.matrix_identical(
      ts.matrix{-0x1.f19dd948e2804p-2, -0x1.f9be3d9a4a439p+0, 0x1.45faf95458762p-6, 0x1.08ad9b6f1aa7dp-3},
      ts.randn(1, 4, {seed = 42}))
  end)

  it("without one is n in the n-th draw of a process", function()
    local said = helper.lua [[
      local ts = require "tessera"
      local first, second, third = ts.rand(2, 2), ts.randn(2, 2), ts.rand(2, 2)
      ts.rand(2, 2, {seed = 99})
      local fourth = ts.rand(2, 2)
      print(first == ts.rand(2, 2, {seed = 1}), second == ts.randn(2, 2, {seed = 2}),
        third == ts.rand(2, 2, {seed = 3}), fourth == ts.rand(2, 2, {seed = 4}))]]
    assert.equal("true\ttrue\ttrue\ttrue\n", said)
  end)
end)
