-- The derived bound: what it says on rows that try to break it, and how tight it is.
require "spec.helper"
local ts = require "tessera"

local inf = math.huge

-- How many rows of a size are judged; TESSERA_LONG=1 takes the numbers of the issue (100,000 in all).
local long = os.getenv "TESSERA_LONG"

local tilings = {
  {merge = "online"}, {merge = "tree"}, {merge = "right", order = "backward"}, {merge = "random", order = "shuffle", seed = 5},
}

-- The oracle's output for the same numbers, in double.
local function judged(P) return (P:with{Q = P.Q:to "f64", K = P.K:to "f64", V = P.V:to "f64"}:oracle{bits = 128}) end

-- error ÷ (a) and ÷ (b) of every cell of P under a tiling, against the best.
local function ratios(P, tiling, best)
  local O, bound = P:attention(tiling), P:bound(tiling)
  local error = (O:to "f64" - best):abs()
  local own = best:abs() * 2.0 ^ -53
  return error:div(bound.output + own), error:div(bound.expected + own), bound
end

local function sizes(n) return math.max(1, n // 7) end

local function randn(rows, cols, o) return ts.randn(rows, cols, {dtype = o.dtype, seed = 7}) end

describe("figure (a), the theorem", function()
  -- Rows that try: n keys, d = 8.
  local adversaries = {
    ["all scores equal"] = function(n, o) return ts.zeros(n, 8, o), randn(n, 4, o) end,
    ["one dominant key"] = function(n, o)
      local K = randn(n, 8, o)
      K:row(n // 2 + 1):fill(20)
      return K, randn(n, 4, o)
    end,
    ["scores from -1e4 to 1e4"] = function(n, o)
      return ts.matrix(n, 8, function(j) return (2 * j / n - 1) * 1e4 / 8 end, o), randn(n, 4, o)
    end,
    ["cancelling values"] = function(n, o)
      return randn(n, 8, o) * 0.01, ts.matrix(n, 4, function(j, c) return (j % 2 * 2 - 1) * 1e6 + c end, o)
    end,
    ["values of very different sizes"] = function(n, o)
      return randn(n, 8, o), ts.matrix(n, 4, function(j, c) return 10.0 ^ (j * 7 % 31 - 15) * c end, o)
    end,
    ["scores that cancel"] = function(n, o)
      local K = randn(n, 8, o) * 100
      K:col(5):assign(K:col(1) * -1)
      K:col(6):assign(K:col(2) * -1)
      return K, randn(n, 4, o)
    end,
  }
  for name, make in pairs(adversaries) do
    it("holds for " .. name, function()
      for _, dtype in ipairs{"f64", "f32"} do
        local n = 150
        local K, V = make(n, {dtype = dtype})
        local P = ts.problem{Q = ts.ones(3, 8, {dtype = dtype}), K = K, V = V, scale = 1}
        local best = judged(P)
        for _, tiling in ipairs(tilings) do
          tiling.k = sizes(n)
          local a, _, bound = ratios(P, tiling, best)
          assert.is_true(a:max() <= 1, ("%s: %g"):format(dtype, a:max()))
          assert.is_true(name == "scores from -1e4 to 1e4" and dtype == "f32" or bound.bounded:min() == 1, dtype)
        end
      end
    end)
  end

  it("holds for a query that the scale takes beyond f32, on both roads", function()
    local o = {dtype = "f32"}
    local Q = ts.matrix(3, 8, function(i, r) return r == 1 and 1e29 * (1 + i) or 1e-10 * (r - i) / 3 end, o)
    local K = ts.matrix(150, 8, function(j, r) return r == 1 and (j % 7 - 3) * 3e-40 or ((j * r) % 5 - 2) / 7 end, o)
    local P = ts.problem{Q = Q, K = K, V = randn(150, 4, o), scale = 1e10}
    local best = judged(P)
    for _, tiling in ipairs(tilings) do
      tiling.k = sizes(150)
      local a, _, bound = ratios(P, tiling, best)
      assert.equal(1, bound.bounded:min())
      assert.is_true(a:max() > 0 and a:max() <= 1, a:max()) -- it rounds, by no more than that
    end
    local softmax = P:bound()
    assert.equal(1, softmax.bounded:min())
    assert.is_true((P:softmax():to "f64" - best):abs():div(softmax.output + best:abs() * 2.0 ^ -53):max() <= 1)
    assert.equal(0, P:with{scale = 1e300}:bound{}.bounded:max()) -- beyond the range of a double, too
  end)

  it("gives no bound where it has none: overflow, called scores", function()
    local function bounded(fields)
      local o = {dtype = fields.dtype or "f32"}
      local P = ts.problem{Q = ts.matrix(1, 1, fields.q or 1, o), K = ts.matrix(2, 1, fields.k or 1, o),
        V = ts.matrix(2, 1, fields.v or 1, o), scale = 1, score = fields.score, nonfinite = "propagate"}
      local bound = P:bound({})
      assert.equal(bound.bounded(1, 1) == 0, bound.output(1, 1) == inf)
      return bound.bounded(1, 1) == 1
    end
    assert.is_true(bounded{})
    assert.is_false(bounded{q = 1e30, k = 1e30})
    assert.is_false(bounded{v = 3e38})
    assert.is_true(bounded{dtype = "f64", v = 3e38})
    assert.is_false(bounded{k = 0 / 0})
    local hidden = setmetatable({}, {__index = function() return 1 end})
    assert.is_false(bounded{score = function(s) return s * hidden[1] end})
    assert.is_true(bounded{score = function(s) return s + 1 end})
    assert.is_true(bounded{score = function(s) if s > 0 then return s else return 0.0 end end})
    assert.is_false(bounded{k = 0, score = function(s) if s > 0 then return 1.0 else return 0.0 end end}) -- a jump at 0
  end)

  it("counts a score of -inf as not allowed only where it is that on every road, and stays so", function()
    local function bounded(q, k, fields)
      local o = {dtype = fields and fields.dtype}
      return ts.problem{Q = ts.matrix({{q}}, o), K = ts.matrix({{k}, {k}, {1}}, o), V = ts.matrix({{1}, {2}, {3}}, o),
        scale = fields and fields.scale or 1, score = fields and fields.score}:bound{}.bounded(1, 1)
    end
    assert.equal(1, bounded(1, -math.huge))
    assert.equal(0, bounded(1e200, -1e200)) -- beyond the range of a double, but a number
    assert.equal(0, bounded(1, -math.huge, {score = ts.score.softcap(20)})) -- allowed: -20
    assert.equal(0, bounded(1, -math.huge, {scale = 1e-60, dtype = "f32"})) -- in f32 the query is 0 then, and the score NaN
  end)

  it("is 0 for a row without keys", function()
    local P = ts.problem{Q = ts.ones(1, 1), K = ts.ones(2, 1), V = ts.ones(2, 1), mask = ts.mask.none{1, 2}, empty = "zero"}
    local bound = P:bound({})
    assert.same({1, 0, 0, 0}, {bound.bounded(1, 1), bound.output(1, 1), bound.lse(1, 1), bound.max(1, 1)})
  end)

  it("grows with the merges on a key's path", function()
    local P = ts.problem{Q = ts.randn(4, 8, {seed = 1}), K = ts.randn(64, 8, {seed = 2}), V = ts.randn(64, 2, {seed = 3})}
    local function limit(tiling) return P:bound(tiling).output:sum() end
    assert.is_true(limit{k = 1, merge = "tree"} < limit{k = 1, merge = "online"})
    assert.is_true(limit{k = 64} < limit{k = 1, merge = "online"})
  end)
end)

describe("both figures on random rows (normal Q, K, V; d = 64)", function()
  local function median(list)
    table.sort(list)
    return list[#list // 2 + 1]
  end
  for _, n in ipairs{64, 256, 1024, 4096} do
    it(("of %d keys: (a) holds; (b) holds, and its median is at least 1/100"):format(n), function()
      for _, dtype in ipairs{"f64", "f32"} do
        local all, rows = {}, long and math.max(250, 9600 // (n // 64)) or math.max(4, 256 // (n // 16))
        local o = {dtype = dtype}
        o.seed = n
        local Q = ts.randn(rows, 64, o)
        o.seed = n + 1
        local K = ts.randn(n, 64, o)
        o.seed = n + 2
        local P = ts.problem{Q = Q, K = K, V = ts.randn(n, 64, o)}
        local best = judged(P)
        for _, tiling in ipairs(tilings) do
          tiling.k = n == 64 and 16 or 128
          local a, b = ratios(P, tiling, best)
          assert.is_true(a:max() <= 1, ("%s: (a) %g"):format(dtype, a:max()))
          assert.is_true(b:max() <= 1, ("%s: (b) %g"):format(dtype, b:max()))
          for i = 1, b.rows, math.max(1, b.rows // 500) do -- enough for a median
            for c = 1, b.cols do all[#all + 1] = b(i, c) end
          end
        end
        local middle = median(all)
        if os.getenv "TESSERA_TALK" then print(n, dtype, "error / (b): median, largest", middle, all[#all]) end
        assert.is_true(middle >= 0.01, ("%s: median %g"):format(dtype, middle))
      end
    end)
  end
end)

describe("P:bound", function()
  it("counts its arguments without the problem, as every method does", function()
    local m = ts.ones(2, 2)
    local P = ts.problem{Q = m, K = m, V = m}
    assert.error_matches(function() return (P:bound{kk = 1}) end, "bad argument #1 to 'bound' %(invalid field 'kk'%)")
    assert.error_matches(function() return (P:bound(true)) end, "bad argument #1 to 'bound' %(table expected, got boolean%)")
    assert.error_matches(function() return (P.bound()) end, "calling 'bound' on bad self %(problem expected")
    assert.matrix_identical(P:bound().output, P:bound(false).output)
  end)
end)
