-- Summaries: ⊥, ⋆, keys, what they show, and building them by hand.
require "spec.helper"
local ts = require "tessera"

local function refuses(message, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(err):find(message, 1, true), ("expected '%s' in '%s'"):format(message, tostring(err)))
end

-- A function that refuses can be tested: its value is not returned as a tail call, so it has a line.
local function merge(S, T) return function() local both = S * T return both end end

local function random(options)
  local o = options or {}
  local d = o.dtype
  return ts.problem{
    Q = ts.randn(5, 6, {seed = 1, dtype = d}), K = ts.randn(9, 3, {seed = 2, dtype = d}),
    V = ts.randn(9, 2, {seed = 3, dtype = d}), heads = 2, kv_heads = 1, base = o.base, sink = o.sink, empty = o.empty,
    mask = o.mask == nil and function(i, j) return (i * 7 + j * 3) % 4 ~= 0 end or o.mask,
  }
end

describe("summary", function()
  describe("merge", function()
    for _, dtype in ipairs{"f32", "f64"} do
      for _, base in ipairs{2, math.exp(1)} do
        local P = random{dtype = dtype, base = base, empty = "zero"}
        local of = (" (%s, base %.1f)"):format(dtype, base)
        it("has ⊥ as its identity, bit for bit" .. of, function()
          local S = P:summary(1, 5)
          assert.is_true(S * P:bottom() == S)
          assert.is_true(P:bottom() * S == S)
          assert.is_true(P:bottom() * P:bottom() == P:bottom())
        end)
        it("commutes, bit for bit" .. of, function()
          for first = 0, 9 do
            for last = first, 9 do
              local S, T = P:summary(1, first), P:summary(last + 1, 9)
              assert.is_true(S * T == T * S)
            end
          end
        end)
        it("gives the summary of the union, to rounding" .. of, function()
          local u = dtype == "f32" and 2 ^ -24 or 2 ^ -53
          local whole, both = P:summary(), P:summary(1, 4) * P:summary(5, 9)
          assert.are.same(whole:keys(), both:keys())
          assert.matrix_equal(whole.max, both.max)
          assert.within_bound(whole:lse(), both:lse(), 64 * u)
          assert.within_bound(whole:output(), both:output(), 64 * u)
        end)
        it("gives what the engine gives, bit for bit, when folded as it folds" .. of, function()
          local blocks = {P:summary(1, 2), P:summary(3, 5), P:summary(6, 6), P:summary(7, 9)}
          for bracketing in ts.bracketings(4) do
            local S = ts.fold(blocks, bracketing)
            local O, lse = P:attention{k = {2, 5, 6, 9}, merge = bracketing}
            assert.is_true(S:output():identical(O))
            assert.is_true(S:lse():identical(lse))
          end
        end)
      end
    end

    it("is associative, bit for bit, on exact problems: all bracketings and orders of six blocks", function()
      for _, dtype in ipairs{"f32", "f64"} do
        local P = ts.sample.exact{n_q = 2, n_k = 7, heads = 2, dtype = dtype, density = 0.8, empty = "zero", seed = 3}
        local blocks = {}
        for b, range in ipairs{{1, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}} do blocks[b] = P:summary{range} end
        local whole = P:summary()
        for bracketing in ts.bracketings(6) do assert.is_true(ts.fold(blocks, bracketing) == whole) end
        for order in ts.permutations(6) do
          local permuted = {}
          for position, b in ipairs(order) do permuted[position] = blocks[b] end
          assert(ts.fold(permuted, "tree") == whole)
        end
      end
    end)

    it("refuses keys that both hold, and names them", function()
      local P = random()
      refuses("spec/summary_spec.lua:", merge(P:summary(1, 5), P:summary(5, 9)))
      refuses("key 5 is in both summaries", merge(P:summary(1, 5), P:summary(5, 9)))
      refuses("keys 3, 9 are in both summaries", merge(P:summary{{3, 3}, {9, 9}}, P:summary{{3, 9}}))
      refuses("keys 3..5, 9 are in both summaries", merge(P:summary{{1, 5}, {9, 9}}, P:summary{{3, 6}, {9, 9}}))
    end)
    it("takes keys that interleave", function()
      local P = ts.sample.exact{n_k = 8, seed = 1}
      local S = P:summary{{1, 1}, {3, 3}, {5, 5}, {7, 7}} * P:summary{{8, 8}, {2, 2}, {4, 4}, {6, 6}}
      assert.are.same({{1, 8}}, S:keys())
      assert.is_true(S == P:summary())
    end)

    describe("refuses summaries of different problems, and says in what they differ:", function()
      local P = random()
      local S = P:summary(1, 4)
      local function differs(what, R)
        it(what, function()
          refuses("summaries are of different problems: they differ in " .. what, merge(S, R:summary(5, 6)))
          assert.is_false(S == R:summary(1, 4))
        end)
      end
      local Q = P.Q:copy()
      Q:set(5, 6, Q(5, 6) + 1e-9)
      differs("queries", P:with{Q = Q})
      differs("scale", P:with{scale = 0.5})
      differs("sink", P:with{sink = 0})
      differs("base", P:with{base = 2})
      differs("score", P:with{score = function(s) return s end})
      local function one(s) return s + 1 end
      local function two(s) return s + 1 end
      it("the same score, written twice", function()
        refuses("they differ in score", merge(P:with{score = one}:summary(1, 4), P:with{score = two}:summary(5, 6)))
        refuses("they differ in score", merge(P:with{score = {one, two}}:summary(1, 4), P:with{score = one}:summary(5, 6)))
        assert.are.same({{1, 6}}, (P:with{score = one}:summary(1, 4) * P:with{score = one}:summary(5, 6)):keys())
      end)
      differs("the width of values", P:with{V = ts.zeros(9, 3)})
      differs("the number of queries", P:with{Q = ts.zeros(4, 6), mask = false})
      differs("heads", P:with{K = ts.zeros(9, 6), V = ts.zeros(9, 4), kv_heads = 2})
      differs("dtype", P:with{Q = P.Q:to "f32", K = P.K:to "f32", V = P.V:to "f32"})
    end)
    it("knows a problem by what it says, not by which object it is", function()
      local f = function(s) return s + 1 end
      local S = random():with{score = f}:summary(1, 4)
      local T = random():with{score = {f, f}, K = ts.randn(9, 3, {seed = 9}), Q = ts.randn(5, 6, {seed = 1}):t():copy():t()}
        :summary(5, 9)
      assert.are.same({{1, 9}}, (S * T):keys())
    end)
    it("is equal in problem, keys and bits, or not at all", function()
      local R = ts.problem{Q = ts.ones(1, 1), K = ts.zeros(2, 1), V = ts.zeros(2, 1)}
      assert.is_true(R:summary(1, 1) == R:summary(1, 1))
      assert.is_false(R:summary(1, 1) == R:summary(2, 2))
      local one, two = ts.ones(1, 1), ts.matrix{{2}}
      local function S(max, norm, value) return ts.summary{max = max, norm = norm, value = value} end
      assert.is_true(S(one, one, one) == S(one, one, one))
      assert.is_false(S(one, one, one) == S(two, one, one))
      assert.is_false(S(one, one, one) == S(one, two, one))
      assert.is_false(S(one, one, one) == S(one, one, two))
      assert.is_false(S(one, one, one) == one)
    end)
    it('has output 0 for ⊥ only where both sides have empty = "zero"', function()
      local R = ts.problem{Q = ts.ones(1, 1), K = ts.zeros(2, 1), V = ts.zeros(2, 1), mask = function() return false end}
      local zero = R:with{empty = "zero"}
      assert.matrix_equal({{0}}, (zero:summary(1, 1) * zero:summary(2, 2)):output())
      refuses("has no allowed key", function() local O = (zero:summary(1, 1) * R:summary(2, 2)):output() return O end)
      refuses("has no allowed key", function() local O = (R:summary(1, 1) * zero:summary(2, 2)):output() return O end)
    end)
    it("takes the identity when it is made: later changes of Q are others", function()
      local P = random{mask = false}
      local S = P:summary(1, 3)
      P.Q:set(1, 1, 7)
      refuses("they differ in queries", merge(S, P:summary(4, 9)))
    end)
    it("refuses what is no summary", function()
      local S = random():summary()
      refuses("bad argument #2 to '*' (summary expected, got number)", merge(S, 2))
      refuses("bad argument #1 to '*' (summary expected, got number)", merge(2, S))
      refuses("summary expected, got nil", merge(S, nil))
    end)
  end)

  describe("E03: of no key", function()
    it("has lse -inf, and gives all the weight to the other", function()
      for _, P in ipairs{
        ts.problem{Q = ts.ones(1, 1), K = ts.zeros(0, 1), V = ts.zeros(0, 1)},
        ts.problem{Q = ts.ones(1, 1), K = ts.zeros(3, 1), V = ts.zeros(3, 1), mask = function() return false end},
      } do
        assert.matrix_identical({{-math.huge}}, P:summary():lse())
        local T = ts.summary{max = ts.matrix{{0}}, norm = ts.matrix{{1}}, value = ts.matrix{{5}}, keys = {{4, 4}}, problem = P}
        assert.matrix_identical({{5}}, (P:summary() * T):output())
        assert.matrix_identical({{5}}, (T * P:summary()):output())
      end
    end)
  end)

  describe("shows", function()
    local P = random()
    local S = P:summary(1, 3)
    it("its keys", function()
      assert.are.same({{1, 3}}, S:keys())
      assert.are.same({}, P:bottom():keys())
      assert.are.same({}, P:summary(4, 3):keys())
      assert.are.same({{1, 3}, {6, 6}}, P:summary{{6, 6}, {2, 3}, {1, 1}, {5, 4}}:keys())
    end)
    it("shape, dtype and base", function()
      assert.are.same({5, 2, 2, "f64", math.exp(1)}, {S.n_q, S.heads, S.d_v, S.dtype, S.base})
      assert.are.equal(2, random{base = 2}:summary().base)
    end)
    -- Whoever computes rows in pieces, as a ring of processes does, may cut them anywhere.
    it("rows whose bits do not depend on which rows are asked for with them", function()
      for _, dtype in ipairs{"f32", "f64"} do
        local function numbers(rows, cols, seed) return ts.randn(rows, cols, {seed = seed, dtype = dtype}) end
        local Q, K, V = numbers(530, 4 * 9, 1), numbers(1300, 2 * 9, 2), numbers(1300, 2 * 16, 3)
        local function summary(first, last)
          local mask = ts.mask(last - first + 1, 1300, function(i, j) return j % 3 ~= 0 or j < 2 * (i + first) end)
          return ts.problem{Q = Q:slice(first, last), K = K, V = V, heads = 4, kv_heads = 2, mask = mask}:summary()
        end
        local whole = summary(1, 530)
        for _, count in ipairs{1, 2, 7, 8, 9, 16, 17, 64, 100, 512, 529} do
          local some = summary(531 - count, 530)
          for _, name in ipairs{"max", "norm", "value"} do
            assert.is_true(some[name]:identical(whole[name]:slice(531 - count, 530)), ("%s of %d rows, %s"):format(name, count, dtype))
          end
        end
      end
    end)

    it("rows: m, ℓ and z, as in max, norm and value", function()
      local m, norm, z = S:row(2, 2)
      assert.are.equal(S.max(2, 2), m)
      assert.are.equal(S.norm(2, 2), norm)
      assert.matrix_identical(S.value:slice(2, 2, 3, 4), z)
    end)
    it("⊥ as nil, in the list of bottoms, and as -inf, 0, 0", function()
      local B = random{mask = function(i, _, h) return not (i == 3 and h == 2) end}:summary()
      assert.is_nil((B:row(3, 2)))
      assert.is_number((B:row(3, 1)))
      assert.are.same({{3, 2}}, B:bottoms())
      assert.are.same({-math.huge, 0, 0}, {B.max(3, 2), B.norm(3, 2), B.value(3, 4)})
    end)
    it("the rows that are ⊥, of the first head that has any, where an output is asked for", function()
      local B = random{mask = function(i, _, h) return not (i == 3 and h == 2 or i >= 4 and h == 1) end}:summary()
      assert.error_matches(function() B:output() end, "rows 4, 5 of head 1 have no allowed key")
    end)
    it("copies: writing into them does not change it", function()
      S.max:fill(7)
      assert.are_not.equal(7, S.max(1, 1))
    end)
    it("itself in one line", function()
      assert.are.equal("summary of 5 rows, 2 heads, d_v = 2, f64, keys 1..3", tostring(S))
      assert.are.equal("summary of 5 rows, 2 heads, d_v = 2, f64, no keys", tostring(P:bottom()))
      assert.are.equal("summary of 5 rows, 2 heads, d_v = 2, f64, keys 1, 3..4", tostring(P:summary{{1, 1}, {3, 4}}))
    end)
    it("the near name for a field that it lacks", function()
      refuses("a summary has no field 'vaule' (did you mean 'value'?)", function() return S.vaule end)
    end)
    it("no way to its metatable, and nothing to write", function()
      assert.is_false(getmetatable(S))
      assert.has_error(function() S.max = 1 end)
    end)
    it("rows that are there only", function()
      refuses("bad argument #1 to 'row' (row 6 is outside 1..5)", function() local x = S:row(6) return x end)
      refuses("bad argument #2 to 'row' (head 0 is outside 1..2)", function() local x = S:row(1, 0) return x end)
      refuses("bad argument #1 to 'row' (row: number has no integer representation)", function() local x = S:row(1.5) return x end)
    end)
  end)

  describe("arguments of P:summary", function()
    local P = random()
    local function summary(...)
      local arguments = table.pack(...)
      return function() local S = P:summary(table.unpack(arguments, 1, arguments.n)) return S end
    end
    it("are keys that there are", function()
      refuses("bad argument #1 to 'summary' (key 0 is none of the problem's 1..9)", summary(0, 3))
      refuses("bad argument #2 to 'summary' (key 10 is none of the problem's 1..9)", summary(1, 10))
      refuses("bad argument #2 to 'summary' (the last key, 2, is before the first, 4)", summary(4, 2))
      refuses("bad argument #1 to 'summary' (keys {8, 10} are outside 1..9)", summary{{8, 10}})
      refuses("bad argument #1 to 'summary' (keys {8, 6} end before they begin)", summary{{8, 6}})
    end)
    it("are each named once", function()
      refuses("bad argument #1 to 'summary' (key 2 is named twice)", summary{{1, 3}, {2, 5}})
    end)
    it("are whole numbers, or a list", function()
      refuses("bad argument #2 to 'summary' (last key: number expected, got no value)", summary(3))
      refuses("bad argument #1 to 'summary' (first key: number has no integer representation)", summary(1.5, 3))
      refuses("bad argument #1 to 'summary' (first key: number expected, got string)", summary("x", 3))
      refuses("keys are a list of {first, last}", summary{1, 2})
      refuses("keys are a list of {first, last}, whole numbers", summary{{1, 2.5}})
      assert.are.same({{2, 3}}, P:summary(2.0, "3"):keys())
    end)
  end)

  it("never holds the sink: output and lse add it, once", function()
    local P = random{sink = 0.25, mask = false}
    local S = P:summary(1, 4) * P:summary(5, 9)
    local O, lse = P:softmax()
    assert.is_true(S.max:identical(random{mask = false}:summary().max))
    assert.within_bound(O, S:output(), 1e-14)
    assert.within_bound(lse, S:lse(), 1e-14)
    assert.matrix_identical(ts.matrix(5, 2, 0.25), P:bottom():lse())
    assert.matrix_identical(ts.matrix(5, 4, 0), P:bottom():output())
  end)

  describe("by hand", function()
    it("is checked once more where its memory is filled", function()
      local new = require "tessera.core".summary.new
      local P = ts.problem{Q = ts.ones(1, 1), K = ts.ones(1, 1), V = ts.ones(1, 1)}
      local tall, wide = ts.ones(3, 1), ts.ones(3, 2)
      assert.has_error(function() new{max = tall, norm = tall, value = tall, problem = P} end)
      assert.has_error(function() new{max = wide, norm = tall, value = wide} end)
    end)
    local P = random{mask = false}
    local O, lse = P:softmax()
    local S = P:summary()
    local function summary(fields) return function() local T = ts.summary(fields) return T end end

    it("from output and lse, merges with its problem's", function()
      local O1, l1 = P:with{mask = function(_, j) return j <= 4 end}:softmax()
      local T = ts.summary{output = O1, lse = l1, keys = {{1, 4}}, problem = P} * P:summary(5, 9)
      assert.are.same({{1, 9}}, T:keys())
      assert.within_bound(O, T:output(), 1e-14)
      assert.within_bound(lse, T:lse(), 1e-14)
      assert.are.same({4, 4}, ts.summary{output = O1, lse = l1, keys = {{4, 4}}, problem = P}:keys()[1])
    end)
    it("from max, norm and value, is the same one", function()
      assert.is_true(S == ts.summary{max = S.max, norm = S.norm, value = S.value, keys = S:keys(), problem = P})
    end)
    it("keeps ⊥, whatever stands beside its -inf", function()
      local T = ts.summary{max = ts.matrix{{-math.huge}, {0}}, norm = ts.matrix{{0 / 0}, {2}}, value = ts.matrix{{7}, {4}}}
      assert.are.same({{1, 1}}, T:bottoms())
      assert.are.same({0, 0}, {T.norm(1, 1), T.value(1, 1)})
      assert.are.equal(2, T:output{empty = "zero"}(2, 1))
      refuses("row 1 of head 1 has no allowed key", function() local A = T:output() return A end)
    end)
    it("in base 2 takes lse for the natural logarithm that it is", function()
      local T = ts.summary{output = ts.ones(1, 1), lse = ts.matrix{{3 * math.log(2)}}, base = 2}
      assert.within_bound({{3}}, T.max, 1e-15)
      assert.within_bound({{3 * math.log(2)}}, T:lse(), 1e-15)
    end)
    it("without a problem merges with its like only", function()
      local x, y = ts.ones(1, 1), ts.matrix{{3}}
      local plain = ts.summary{output = x, lse = x}
      assert.matrix_equal({{2}}, (plain * ts.summary{output = y, lse = x}):output())
      local keyed = ts.summary{output = x, lse = x, keys = {{1, 2}}}
      assert.are.same({{1, 3}}, (keyed * ts.summary{output = y, lse = x, keys = {{3, 3}}}):keys())
      refuses("keys 1..2 are in both summaries", merge(keyed, keyed))
      refuses("one of them names no keys", merge(keyed, plain))
      local R = ts.problem{Q = x, K = x, V = x}
      refuses("one of them belongs to none", merge(plain, R:summary()))
    end)
    it("refuses NaN, +inf and norms that are none", function()
      local x = ts.ones(1, 1)
      refuses("lse of row 1, head 1 is nan", summary{output = x, lse = ts.matrix{{0 / 0}}})
      refuses("lse of row 1, head 1 is inf", summary{output = x, lse = ts.matrix{{math.huge}}})
      refuses("max of row 1, head 1 is inf", summary{max = ts.matrix{{math.huge}}, norm = x, value = x})
      refuses("norm of row 1, head 1 is 0", summary{max = x, norm = ts.zeros(1, 1), value = x})
      refuses("norm of row 1, head 1 is inf", summary{max = x, norm = ts.matrix{{math.huge}}, value = x})
      refuses("norm of row 1, head 1 is nan", summary{max = x, norm = ts.matrix{{0 / 0}}, value = x})
      refuses("norm of row 1, head 1 is -1", summary{max = x, norm = -x, value = x})
    end)
    it("refuses parts that do not fit", function()
      local x = ts.ones(2, 2)
      refuses("bad argument #1 to 'summary' (output and lse go together)", summary{output = x})
      refuses("bad argument #1 to 'summary' (field 'norm' is missing)", summary{max = x, value = x})
      refuses("output and lse, or max, norm and value", summary{output = x, lse = x, max = x})
      refuses("max is 2x2, value is 3x2: as many rows expected", summary{max = x, norm = x, value = ts.ones(3, 2)})
      refuses("max is 2x2, value is 2x3: its columns are heads, which divide", summary{max = x, norm = x, value = ts.ones(2, 3)})
      refuses("max is 2x2, norm is 2x1", summary{max = x, norm = ts.ones(2, 1), value = x})
      refuses("max is f64, norm is f32", summary{max = x, norm = x:to "f32", value = x})
      refuses("field 'base': 2 or e expected, got 10", summary{max = x, norm = x, value = x, base = 10})
      refuses("bad argument #1 to 'summary' (keys {-3, 9} are outside 1..", summary{output = O, lse = lse, keys = {{-3, 9}}})
      refuses("with a problem, field 'keys' is needed", summary{output = O, lse = lse, problem = P})
      refuses("the problem has n_q = 5, heads = 2 and d_v = 2; the summary 2, 2 and 1",
        summary{output = x, lse = x, keys = {{1, 1}}, problem = P})
      refuses("invalid field 'outptu'", summary{outptu = x})
    end)
  end)
end)

describe("ts.fold", function()
  it("folds from the left, from the right and as a tree", function()
    local join = {}
    join.__mul = function(a, b) return setmetatable({text = "(" .. a.text .. b.text .. ")"}, join) end
    local list = {}
    for n = 1, 5 do list[n] = setmetatable({text = tostring(n)}, join) end
    assert.are.equal("((((12)3)4)5)", ts.fold(list).text)
    assert.are.equal("((((12)3)4)5)", ts.fold(list, "left").text)
    assert.are.equal("(1(2(3(45))))", ts.fold(list, "right").text)
    assert.are.equal("(((12)3)(45))", ts.fold(list, "tree").text)
    assert.are.equal("((31)((45)2))", ts.fold(list, {{3, 1}, {{4, 5}, 2}}).text)
  end)
  it("of one is that one; of none, an error", function()
    assert.are.equal("x", ts.fold({"x"}))
    assert.are.equal("x", ts.fold({"x"}, {1}))
    refuses("bad argument #1 to 'fold' (nothing to merge)", ts.fold, {})
    refuses("bad argument #1 to 'fold' (element 2 is a string, which has no *)", ts.fold, {2, "cols"})
  end)
  it("refuses a bracketing that leaves out an element, or uses one twice", function()
    refuses("bad argument #2 to 'fold' (element 3 is left out)", ts.fold, {1, 2, 3}, {1, 2})
    refuses("bad argument #2 to 'fold' (element 1 is used twice)", ts.fold, {1, 2, 3}, {{1, 1}, 3})
    local endless = {1}
    endless[1], endless[2] = endless, 1
    refuses("bad argument #2 to 'fold' (tables nested deeper than 3 elements can be)", ts.fold, {1, 2, 3}, endless)
    refuses("bad argument #2 to 'fold' (there is no element 4, only 3)", ts.fold, {1, 2, 3}, {{1, 4}, 3})
    refuses("bad argument #2 to 'fold' (\"left\", \"right\", \"tree\" or nested tables expected, got 'middle')",
      ts.fold, {1, 2, 3}, "middle")
    refuses("a node is {left, right}, not a list of 3", ts.fold, {1, 2, 3}, {1, 2, 3})
  end)
end)

-- How many different ones an iterator gives, as text.
local function count(iterator)
  local seen, n = {}, 0
  local function text(x)
    if type(x) ~= "table" then return tostring(x) end
    local parts = {}
    for i, part in ipairs(x) do parts[i] = text(part) end
    return "{" .. table.concat(parts, ",") .. "}"
  end
  for x in iterator do
    assert(not seen[text(x)], "twice: " .. text(x))
    seen[text(x)], n = true, n + 1
  end
  return n
end

describe("ts.bracketings", function()
  it("gives all Catalan(n - 1), each once", function()
    for n, catalan in ipairs{1, 1, 2, 5, 14, 42, 132, 429, 1430} do assert.are.equal(catalan, count(ts.bracketings(n))) end
  end)
  it("gives a new table each time, which shares nothing", function()
    for b in ts.bracketings(4) do b[1], b[2] = 1, 1 end
    assert.are.same({1}, ts.bracketings(1)())
    assert.are.same({1, {2, {3, 4}}}, ts.bracketings(4)())
  end)
  it("refuses what is no number of leaves", function()
    refuses("bad argument #1 to 'bracketings' (n: a whole number from 0 up expected, got 1.5)", ts.bracketings, 1.5)
    refuses("bad argument #1 to 'bracketings' (37 is more than 36)", ts.bracketings, 37)
  end)
end)

describe("ts.permutations", function()
  it("gives all n!, each once", function()
    for n, factorial in pairs{[0] = 1, 1, 2, 6, 24, 120} do assert.are.equal(factorial, count(ts.permutations(n))) end
  end)
end)

describe("ts.partitions", function()
  it("gives all Stirling(n, k), or Bell(n), each once", function()
    for k, stirling in ipairs{1, 15, 25, 10, 1} do assert.are.equal(stirling, count(ts.partitions(5, k))) end
    for n, bell in pairs{[0] = 1, 1, 2, 5, 15, 52} do assert.are.equal(bell, count(ts.partitions(n))) end
  end)
  it("gives sets that a tiling takes", function()
    local P = ts.sample.exact{n_k = 5, seed = 2}
    local O = P:softmax()
    for sets in ts.partitions(5) do assert(P:attention{k = sets}:identical(O)) end
  end)
end)

describe("ts.sample", function()
  it("draws bracketings uniformly (Rémy)", function()
    local seen = {}
    for seed = 1, 2000 do
      local b = ts.sample.bracketing(4, {seed = seed})
      local shape = (type(b[1]) == "table" and 2 or 0) + (type(b[2]) == "table" and 1 or 0)
      seen[shape] = (seen[shape] or 0) + 1
    end
    -- 5 trees of 4 leaves: 2 with a leaf left, 2 with a leaf right, 1 with both sides; 400 each, 18 the deviation.
    assert.is_true(math.abs(seen[1] - 800) < 110 and math.abs(seen[2] - 800) < 110 and math.abs(seen[3] - 400) < 90)
  end)
  it("is the same for the same seed", function()
    assert.are.same(ts.sample.permutation(20, {seed = 4}), ts.sample.permutation(20, {seed = 4}))
    assert.are.same(ts.sample.partition(20, 4, {seed = 4}), ts.sample.partition(20, 4, {seed = 4}))
    assert.are.equal(4, #ts.sample.partition(20, 4, {seed = 4}))
  end)
  it("draws exact problems: whole scores and values, within the bits of the dtype", function()
    for seed = 1, 20 do
      for dtype, bits in pairs{f32 = 24, f64 = 53} do
        local P = ts.sample.exact{n_k = 30, d = 12, heads = 2, dtype = dtype, seed = seed}
        assert.are.equal(1, P.scale)
        assert.are.equal(2, P.base)
        local scores = P:scores()
        for i = 1, P.n_q do
          for j = 1, P.n_k do assert(scores(i, j) % 1 == 0) end
        end
        local reach = scores:max() - scores:min()
        assert.is_true(P.n_k * math.max(1, P.V:abs():max()) * 2 ^ reach <= 2 ^ bits)
      end
    end
  end)
end)
