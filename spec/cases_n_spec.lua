-- Group N of the public cases: numbers. Each test names its case.
local helper = require "spec.helper"
local every_way = require "spec.every_way"
local ts = require "tessera"

local both, scored = every_way.both, every_way.scored
local inf, nan = math.huge, 0 / 0

describe("N02: loading the module", function()
  -- Subnormal numbers and the rounding of 1/3, before and after, in a fresh process.
  local function state(after)
    return helper.lua([[
      local function state()
        local x = 2.0 ^ -1022
        return x / 2 > 0 and 5e-324 * 1.0 > 0 and ("%.17g"):format(1 / 3) .. ("%.17g"):format(-1 / 3)
      end
      local before = state()
      local ts = require "tessera"
      ]] .. after .. [[
      assert(before and state() == before)
      coroutine.wrap(function() assert(state() == before) end)()
      print "unchanged"]])
  end
  it("leaves the host's arithmetic as it was", function() assert.equal("unchanged\n", (state "")) end)
  it("and so does each long call", function()
    assert.equal("unchanged\n", (state [[
      local X = ts.randn(300, 64, {seed = 1})
      local P = ts.problem{Q = X, K = X, V = X}
      for _, call in ipairs{"softmax", "attention", "summary"} do P[call](P) assert(state() == before, call) end
      local _ = X * X:t() assert(state() == before, "product")
      P:oracle{rows = {1, 2}} assert(state() == before, "oracle")
    ]]))
  end)
end)

describe("N04: a sum of many small weights in f32", function()
  it("goes on growing, by tiles and in full", function()
    local n = 2 ^ 20 + 1
    local o = {dtype = "f32"}
    local K, V = ts.matrix(n, 1, -17.328679513998633, o), ts.ones(n, 1, o)
    K:set(1, 1, 0)
    V:set(1, 1, 0)
    local P = ts.problem{Q = ts.ones(1, 1, o), K = K, V = V, scale = 1}
    -- The score is rounded to f32, by at most 2^-20, which moves o by p(1 - p) of that.
    local from_score = 2.0 ^ -20 * 32 / 33 / 33
    for _, tiling in ipairs{{}, {k = 512}, {k = 4096, merge = "tree"}, {k = 1000, order = "backward"}} do
      local limit = P:bound(tiling).output(1, 1)
      assert.is_true(limit < 1e-5)
      assert.within_bound(1 / 33, (P:attention(tiling))(1, 1), limit + from_score)
    end
    assert.within_bound(1 / 33, (P:softmax())(1, 1), from_score + 2.0 ^ -29)
    assert.within_bound(1.03125, P:summary().norm(1, 1), 1e-5)
  end)
end)

describe("N05: one input, many thread counts", function()
  it("gives the same bits in 20 runs each", function()
    local P = ts.problem{Q = ts.randn(64, 32, {seed = 1}), K = ts.randn(4097, 32, {seed = 2}), V = ts.randn(4097, 16, {seed = 3})}
    local O, lse = P:attention{threads = 1}
    for _, threads in ipairs{1, 2, 3, 4, 8} do
      for _ = 1, 20 do
        local A, l = P:attention{threads = threads}
        assert.is_true(A:identical(O) and l:identical(lse), threads .. " threads")
      end
    end
  end)
  it("gives the same bits whatever OpenMP is told", function()
    local code = [[
      local ts = require "tessera"
      local function m(n, c, seed) return ts.randn(n, c, {seed = seed, dtype = "f32"}) end
      local P = ts.problem{Q = m(64, 32, 1), K = m(1025, 32, 2), V = m(1025, 16, 3), heads = 2}
      local sum = 0
      for _, M in ipairs{P:attention(), (P:softmax())} do for i, row in M:each() do
        for j = 1, M.cols do sum = (sum * 31 + string.unpack("i4", string.pack("f", row(1, j)))) & 0x7fffffffffff end
      end end
      print(sum)]]
    local want
    for _, environment in ipairs{"OMP_NUM_THREADS=1", "OMP_NUM_THREADS=2 OMP_SCHEDULE=static",
      "OMP_NUM_THREADS=3 OMP_SCHEDULE=dynamic", "OMP_NUM_THREADS=8 OMP_DYNAMIC=true"} do
      local said, status = helper.lua(code, environment)
      assert.equal(0, status, said)
      assert.matches("^%d+\n$", said)
      want = want or said
      assert.equal(want, said, environment)
    end
  end)
end)

describe("N06: a scale of zero, and below", function()
  it("zero gives the mean of the allowed values, whatever is masked", function()
    for _, third in ipairs{false, inf, -inf, nan} do
      both(function(dtype)
        local fields = {scale = 0, mask = third and function(_, j) return j < 3 end or nil}
        return scored(dtype, third and {5, -3, third} or {5, -3}, third and {1, 3, 7} or {1, 3}, fields)
      end, function(answer, name) assert.equal(2, answer()(1, 1), name) end)
    end
  end)
  it("a negative one makes the least key the largest score", function()
    both(function(dtype) return scored(dtype, {0, 1000}, {1, 3}, {scale = -1}) end, function(answer, name)
      local O, lse = answer()
      assert.equal(1, O(1, 1), name)
      assert.equal(0, lse(1, 1), name)
    end)
  end)
  it("masked infinities stay out of it", function()
    both(function(dtype)
      return scored(dtype, {0, inf, -inf, 1000}, {1, 5, 7, 3}, {scale = -1, mask = function(_, j) return j == 1 or j == 4 end})
    end, function(answer, name) assert.equal(1, answer()(1, 1), name) end)
  end)
end)

describe("N07: a comparison that NaN passes", function()
  it("is none of ours: the helper fails on it", function()
    for _, pair in ipairs{{nan, 1}, {1, nan}, {inf, 1}, {inf, -inf}} do
      assert.is_false((helper.within_bound(pair[1], pair[2], 1e300)))
      assert.is_false((helper.matrix_equal(pair[1], pair[2])))
    end
    assert.is_true((helper.within_bound(inf, inf, 0)))
    assert.is_false((helper.matrix_equal(ts.zeros(0, 1), ts.zeros(1, 1))))
  end)
  it("nor does the judge of verify pass it", function()
    local judge = require "tessera.core".problem.judge
    local function ratio(a, b) return (judge(ts.matrix{{a}}, ts.matrix{{b}}, ts.matrix{{1e300}})) end
    assert.equal(inf, ratio(nan, 1))
    assert.equal(inf, ratio(1, nan))
    assert.is_true(ratio(inf, 1) > 1)
    assert.is_true(ratio(inf, -inf) > 1)
    assert.equal(0, ratio(inf, inf))
    assert.equal(0, ratio(nan, nan)) -- propagated on both roads
    assert.has_error(function() judge(ts.zeros(0, 1), ts.zeros(1, 1)) end)
    assert.has_error(function() judge(ts.ones(1, 7), ts.ones(1, 7), ts.ones(1, 7), ts.ones(1, 3)) end) -- 7 columns, 3 heads
  end)
end)
