-- Group E of the public cases: empty sets, masks as numbers, summaries. Each test names its case.
local helper = require "spec.helper"
local every_way = require "spec.every_way"
local ts = require "tessera"

local both, column, scored = every_way.both, every_way.column, every_way.scored
local inf, nan = math.huge, 0 / 0

local function near(want, got, bound, note)
  assert.within_bound(want, got, bound, note)
end

-- Raises an error that has all these parts.
local function refuses(f, ...)
  local ok, message = pcall(f)
  assert.is_false(ok)
  for _, part in ipairs{...} do
    assert.is_truthy(tostring(message):find(part, 1, true), ("'%s' lacks '%s'"):format(tostring(message), part))
  end
end

-- n queries and keys of width 1 with zero scores; value j - 1 for key j, as the cases count.
local function zero_scores(dtype, n, mask)
  local zeros = ts.zeros(n, 1, {dtype = dtype})
  return ts.problem{Q = zeros, K = zeros, V = ts.matrix(n, 1, function(j) return j - 1 end, {dtype = dtype}), mask = mask}
end

describe("E01: a query that may see nothing", function()
  local function make(dtype)
    return ts.problem{Q = column(dtype, {1, 1}), K = column(dtype, {1, 2}), V = column(dtype, {10, 20}), scale = 1,
      mask = function(i) return i == 1 end}
  end
  it("is an error that names the row, unless empty = \"zero\": then 0, and the other row is untouched", function()
    both(make, function(answer, name, _, u)
      refuses(answer, "row 2")
      local O, lse = answer{empty = "zero"}
      near(17.31058578630005, O(1, 1), 20 * 8 * u + 1e-14, name)
      assert.equal(0, O(2, 1), name)
      assert.equal(-inf, lse(2, 1), name)
      near(2.3132616875182228, lse(1, 1), 16 * u, name)
    end)
  end)
  it("has ⊥ as its summary", function()
    for _, dtype in ipairs{"f64", "f32"} do
      local S = make(dtype):summary()
      assert.is_nil(S:row(2))
      assert.same({{2, 1}}, S:bottoms())
      assert.equal(-inf, S.max(2, 1))
      assert.equal(0, S.norm(2, 1))
      assert.equal(0, S.value(2, 1))
    end
  end)
end)

describe("E03: the log-sum-exp of nothing", function()
  it("is -inf, for no key and for masked ones", function()
    for _, n_k in ipairs{0, 3} do
      both(function(dtype)
        return ts.problem{Q = ts.zeros(1, 1, {dtype = dtype}), K = ts.zeros(n_k, 1, {dtype = dtype}),
          V = ts.zeros(n_k, 1, {dtype = dtype}), mask = ts.mask.none{1, n_k}}
      end, function(answer, name)
        local O, lse = answer{empty = "zero"}
        assert.equal(-inf, lse(1, 1), name)
        assert.equal(0, O(1, 1), name)
      end)
    end
  end)
  it("leaves all the weight to what it is merged with", function()
    local empty = ts.summary{output = ts.zeros(1, 1), lse = ts.matrix(1, 1, -inf)}
    local full = ts.summary{max = ts.zeros(1, 1), norm = ts.ones(1, 1), value = ts.matrix(1, 1, 5)}
    for _, S in ipairs{empty * full, full * empty} do
      assert.equal(5, S:output()(1, 1))
      assert.equal(0, S:lse()(1, 1))
    end
  end)
end)

describe("E04: a tile that is wholly masked inside a row that is not", function()
  it("(i) in a causal window of 2 over 6", function()
    both(function(dtype) return zero_scores(dtype, 6, ts.mask.window(6, 1, 0)) end, function(answer, name)
      assert.matrix_equal({{0}, {0.5}, {1.5}, {2.5}, {3.5}, {4.5}}, (answer()), name)
    end)
  end)
  it("(ii) in a causal window of 10 over 600", function()
    for _, dtype in ipairs{"f64", "f32"} do
      local P = zero_scores(dtype, 600, function(i, j) return i - j >= 0 and i - j <= 9 end)
      local want = ts.matrix(600, 1, function(i) return i > 9 and i - 1 - 4.5 or (i - 1) / 2 end, {dtype = dtype})
      assert.matrix_equal(want, (P:softmax()))
      for _, tiling in ipairs{{k = 2}, {k = 64, order = "backward", merge = "tree"}, {k = 512, threads = 3},
        {k = 10, order = "diagonal", merge = "random"}} do
        assert.matrix_equal(want, (P:attention(tiling)))
      end
    end
  end)
  it("(iii) in one row of 100,000 masked keys and a single kept one", function()
    for _, dtype in ipairs{"f64", "f32"} do
      local n = 100000
      local V = ts.randn(n, 1, {seed = 4, dtype = dtype})
      local P = ts.problem{Q = ts.ones(1, 1, {dtype = dtype}), K = ts.randn(n, 1, {seed = 3, dtype = dtype}), V = V,
        mask = function(_, j) return j == 50001 end}
      local one = V(50001, 1)
      every_way.each(P, function(answer, name) assert.equal(one, answer()(1, 1), name) end)
    end
  end)
end)

describe("E07: scores below the starting maximum", function()
  it("(i) a single key has weight 1, whatever its score", function()
    both(function(dtype) return scored(dtype, {-245000}, {7}) end, function(answer, name)
      local O, lse = answer()
      assert.equal(7, O(1, 1), name)
      assert.equal(-245000, lse(1, 1), name)
    end)
  end)
  it("(ii) two equal ones share it", function()
    both(function(dtype) return scored(dtype, {-10000, -10000}, {1, 3}) end, function(answer, name, _, u)
      local O, lse = answer()
      assert.equal(2, O(1, 1), name)
      near(-9999.306852819440, lse(1, 1), 10000 * u, name)
    end)
  end)
  it("(iii) at the end of f32's range", function()
    both(function(dtype) return scored(dtype, {-3e38, -3e38}, {1, 3}) end, function(answer, name)
      assert.equal(2, answer()(1, 1), name)
    end)
  end)
end)

describe("E08: floors and epsilons as a cure for NaN", function()
  it("do not touch rows of low scores", function()
    both(function(dtype) return scored(dtype, {-20000, -20001}, {1, 3}) end, function(answer, name, _, u)
      local O, lse = answer()
      near(1.5378828427399902, O(1, 1), 64 * u, name)
      near(-19999.686738312481, lse(1, 1), 20001 * u + 1e-11, name)
    end)
  end)
  it("do not touch a tiny ℓ", function()
    local P = scored("f64", {}, {})
    local tiny = ts.summary{max = ts.zeros(1, 1), norm = ts.matrix(1, 1, 1e-7), value = ts.matrix(1, 1, 1e-7 * 5),
      keys = {}, problem = P}
    near(5, (P:bottom() * tiny):output()(1, 1), 5 * 2 ^ -52)
    near(5, (tiny * P:bottom()):output()(1, 1), 5 * 2 ^ -52)
  end)
end)

describe("E10: poison in a masked key", function()
  for _, x in ipairs{nan, inf, -inf, 1e38} do
    for _, where in ipairs{"K", "V", "both"} do
      it(("%g in %s reaches no result"):format(x, where), function()
        both(function(dtype)
          local o = {dtype = dtype}
          local Q = ts.matrix({{0, 1, 2, 3}, {4, 5, 6, 7}}, o)
          local poisoned = Q:copy()
          poisoned:row(2):fill(x)
          return ts.problem{Q = Q, K = where ~= "V" and poisoned or Q, V = where ~= "K" and poisoned or Q,
            mask = function(_, j) return j == 1 end}
        end, function(answer, name)
          local O, lse = answer()
          assert.matrix_equal({{0, 1, 2, 3}, {0, 1, 2, 3}}, O, name)
          assert.is_true(math.abs(lse(1, 1)) < inf and math.abs(lse(2, 1)) < inf, name)
        end)
      end)
    end
  end
end)

describe("E12: a NaN score that is not masked", function()
  local lengths = {1, 3, 7, 8, 15, 16, 17, 33}
  local function make(dtype, n_k, p, nonfinite)
    local K = ts.matrix(n_k, 1, function(j) return j == p and nan or 0 end, {dtype = dtype})
    return ts.problem{Q = ts.zeros(1, 1, {dtype = dtype}), K = K, V = ts.ones(n_k, 1, {dtype = dtype}), nonfinite = nonfinite}
  end
  it("is an error that names row, key and head, at every length and place", function()
    for _, n_k in ipairs(lengths) do
      for p = 1, n_k do
        for _, dtype in ipairs{"f64", "f32"} do
          local P = make(dtype, n_k, p)
          for _, answer in ipairs{function() return P:softmax() end, function() return P:attention() end,
            function() return P:attention{k = 4, order = "backward"} end, function() return P:summary() end} do
            refuses(answer, "query 1, key " .. p)
          end
        end
      end
    end
  end)
  it("is NaN when propagated, in every way", function()
    for _, n_k in ipairs{1, 7, 16, 33} do
      for _, p in ipairs{1, n_k // 2 + 1, n_k} do
        both(function(dtype) return make(dtype, n_k, p, "propagate") end, function(answer, name)
          local O, lse = answer()
          assert.is_true(O(1, 1) ~= O(1, 1) and lse(1, 1) ~= lse(1, 1), name)
        end)
      end
    end
  end)
  it("does not make its row an empty one", function()
    both(function(dtype)
      return scored(dtype, {1, nan, 1}, {1, 2, 3}, {mask = function(_, j) return j == 2 end})
    end, function(answer, name) refuses(answer, "key 2", name and "nan") end)
  end)
end)

describe("E13: a score of +inf", function()
  local rows = {{{inf, 0}, 1}, {{0, inf}, 2}, {{inf, inf, 0}, 1}}
  it("is an error that names the key, on every road, in any blocks and order", function()
    for _, row in ipairs(rows) do
      both(function(dtype) return scored(dtype, row[1], {table.unpack({1, 2, 3}, 1, #row[1])}) end,
        function(answer) refuses(answer, "key " .. row[2], "inf") end)
    end
  end)
  it("is NaN when propagated", function()
    for _, row in ipairs(rows) do
      both(function(dtype)
        return scored(dtype, row[1], {table.unpack({1, 2, 3}, 1, #row[1])}, {nonfinite = "propagate"})
      end, function(answer, name)
        local O = answer()
        assert.is_true(O(1, 1) ~= O(1, 1), name)
      end)
    end
  end)
  it("beside a score of -inf that is masked, is still one", function()
    both(function(dtype) return scored(dtype, {inf, -inf}, {1, 2}, {mask = function(_, j) return j == 1 end}) end,
      function(answer) refuses(answer, "key 1") end)
  end)
  it("an allowed score of -inf counts as not allowed", function()
    both(function(dtype) return scored(dtype, {-inf, 3}, {nan, 2}) end, function(answer, name)
      local O, lse = answer()
      assert.equal(2, O(1, 1), name)
      assert.equal(3, lse(1, 1), name)
    end)
  end)
end)

describe("E14: edges of log-sum-exp", function()
  it("as m:logsumexp() has them", function()
    for _, case in ipairs{
      {{-inf}, -inf}, {{-inf, -inf}, -inf}, {{1e308}, 1e308}, {{-1e308}, -1e308}, {{5e-324}, 5e-324}, {{inf, 0}, inf},
      {{inf, -inf}, inf}, {{inf, inf}, inf}, {{0, 0}, 0.6931471805599453}, {{1000, 1000}, 1000.6931471805599},
    } do
      assert.equal(case[2], ts.matrix(case[1]):logsumexp())
    end
    assert.equal(-inf, ts.matrix(1, 0):logsumexp())
    for _, list in ipairs{{nan, 1}, {nan, -inf}} do
      local x = ts.matrix(list):logsumexp()
      assert.is_true(x ~= x)
    end
    assert.matrix_equal({{-15, -inf}}, ts.matrix{{-15, -inf}, {-inf, -inf}}:logsumexp "cols")
  end)
  it("as a problem's lse has them: of one score it is that score", function()
    for _, x in ipairs{1e308, -1e308, 5e-324, 0} do
      local P = scored("f64", {x}, {1})
      assert.equal(x, select(2, P:softmax())(1, 1))
      assert.equal(x, select(2, P:attention())(1, 1))
    end
  end)
end)

describe("E15: bases at a merge", function()
  it("three keys of 0 and one of 1 have the mean 1/4, in both bases and both forms", function()
    for _, base in ipairs{"e", 2} do
      local P = scored("f64", {0, 0, 0, 0}, {0, 0, 0, 1}, {base = base})
      local A, B = P:summary(1, 3), P:summary(4, 4)
      assert.equal(0.25, (A * B):output()(1, 1))
      local function as_pair(S) return ts.summary{output = S:output(), lse = S:lse(), keys = S:keys(), problem = P} end
      near(0.25, (as_pair(A) * as_pair(B)):output()(1, 1), 1e-15)
      near(0.25, (as_pair(B) * A):output()(1, 1), 1e-15)
    end
  end)
  it("lse is natural in both: of four keys ln 4", function()
    for _, base in ipairs{"e", 2} do
      both(function(dtype) return scored(dtype, {0, 0, 0, 0}, {0, 0, 0, 1}, {base = base}) end, function(answer, name, _, u)
        near(1.3862943611198906, select(2, answer())(1, 1), 2 * u, name)
      end)
    end
  end)
end)

describe("E16: overflow inside the merge", function()
  local function state(dtype, m, v)
    local o = {dtype = dtype}
    return ts.summary{max = ts.matrix(1, 1, m, o), norm = ts.ones(1, 1, o), value = ts.matrix(1, 1, v, o)}
  end
  it("the larger side takes all, in both orders", function()
    for _, case in ipairs{{"f64", 0, 1000}, {"f32", 0, 1000}, {"f32", -3e38, 3e38}, {"f64", -1.7e308, 1.7e308}} do
      local dtype, low, high = table.unpack(case)
      local A, B = state(dtype, low, 5), state(dtype, high, 9)
      for _, S in ipairs{A * B, B * A} do
        assert.equal(9, S:output()(1, 1))
        assert.equal(B.max(1, 1), S:lse()(1, 1))
        assert.equal(1, S.norm(1, 1))
      end
    end
  end)
end)

describe("E17: the merge as a reduction", function()
  -- Keys 0..15, of which a block is empty and scores include ±1e4.
  local function make(dtype)
    local draw = ts.randn(16, 1, {seed = 9})
    return scored(dtype, ts.matrix(16, 1, function(j) return j == 4 and 1e4 or j == 11 and -1e4 or draw(j, 1) end):t():table()[1],
      ts.randn(16, 1, {seed = 10}):t():table()[1], {mask = function(_, j) return j < 7 or j > 9 end})
  end
  it("gives the same m in every order and bracketing, and o within the bound", function()
    for _, dtype in ipairs{"f64", "f32"} do
      local P = make(dtype)
      local O = P:softmax()
      for _, sizes in ipairs{1, 3, 7, 16} do
        local list = {}
        for first = 1, 16, sizes do list[#list + 1] = P:summary(first, math.min(16, first + sizes - 1)) end
        local backward = {}
        for n, S in ipairs(list) do backward[#list + 1 - n] = S end
        for _, how in ipairs{"left", "right", "tree"} do
          for order, blocks in pairs{forward = list, backward = backward} do
            local S = ts.fold(blocks, how)
            local bound = P:bound({k = sizes, order = order, merge = how})
            near(O, S:output(), bound.output + P:bound(false).output, how)
            assert.equal(1e4, S.max(1, 1))
          end
        end
      end
    end
  end)
end)

describe("the helper of these specs", function()
  it("fails on NaN (N07)", function() assert.is_false((helper.within_bound(nan, 1, 1))) end)
end)
