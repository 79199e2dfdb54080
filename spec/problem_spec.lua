-- Problems: what is stated, what is refused, and what the rules say of empty rows, numbers and heads.
require "spec.helper"
local ts = require "tessera"
local core = require "tessera.core"

-- Raises `message` (a plain part of it) from this file's line.
local function refuses(message, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(err):find(message, 1, true), ("expected '%s' in '%s'"):format(message, tostring(err)))
end

local function problem(fields) return function() local P = ts.problem(fields) return P end end

local function m(rows, cols, x, dtype) return ts.matrix(rows, cols, x or 0, {dtype = dtype}) end

-- The roads, each as function(P, options) -> O, lse.
local roads = {
  softmax = function(P, o) return P:softmax(o) end,
  attention = function(P, o) return P:attention(o) end,
  blocks = function(P, o) return P:attention{k = 1, empty = o and o.empty} end,
  summary = function(P, o) local S = P:summary() return S:output(o), S:lse() end,
}

local function on_every_road(what, test)
  for _, name in ipairs{"softmax", "attention", "blocks", "summary"} do
    it(what .. ", by " .. name, function() test(roads[name]) end)
  end
end

describe("ts.problem", function()
  describe("checks", function()
    it("that Q, K and V are there", function()
      refuses("bad argument #1 to 'problem' (field 'Q' is missing)", problem{})
      refuses("bad argument #1 to 'problem' (field 'V' is missing)", problem{Q = m(1, 1), K = m(1, 1)})
      refuses("bad argument #1 to 'problem' (table expected, got nil)", ts.problem)
    end)
    it("fields that nobody knows, and names the first by the alphabet", function()
      refuses("bad argument #1 to 'problem' (invalid field 'makss')",
        problem{Q = m(1, 1), K = m(1, 1), V = m(1, 1), makss = 1, zzz = 2})
    end)
    it("that no maker of masks or scores stands where what it makes should", function()
      local function given(fields) return problem{Q = m(2, 2), K = m(2, 2), V = m(2, 2), mask = fields.mask, score = fields.score} end
      for _, name in ipairs{"causal", "full"} do
        local wanted = "(mask: this function makes masks: call it, as in ts.mask.causal(n))"
        refuses("#1 to 'problem' " .. wanted, given{mask = ts.mask[name]})
        refuses("#2 to 'layer' " .. wanted, function() ts.heads{heads = 1, d_q = 2}(m(2, 2), {mask = ts.mask[name]}) end)
      end
      refuses("field 'score': this function makes score functions: call it, as in ts.score.softcap(50)", given{score = ts.score.alibi})
      assert.equal(3, given{mask = ts.mask.causal(2)}().mask:count())
    end)
    it("the types of fields", function()
      refuses("bad argument #1 to 'problem' (field 'Q': matrix expected, got table)", problem{Q = {{1}}})
      refuses("bad argument #1 to 'problem' (field 'heads': 0 is less than 1)",
        problem{Q = m(1, 1), K = m(1, 1), V = m(1, 1), heads = 0})
      refuses("bad argument #1 to 'problem' (field 'heads': number has no integer representation)",
        problem{Q = m(1, 1), K = m(1, 1), V = m(1, 1), heads = 1.5})
      refuses("bad argument #1 to 'problem' (field 'empty': \"error\" or \"zero\" expected, got 'nought')",
        problem{Q = m(1, 1), K = m(1, 1), V = m(1, 1), empty = "nought"})
    end)
    it("the widths of Q and K, naming both shapes", function()
      refuses("bad argument #1 to 'problem' (Q is 3x4, K is 5x6: as many columns expected)",
        problem{Q = m(3, 4), K = m(5, 6), V = m(5, 2)})
      refuses("Q is 3x4, K is 5x4: with heads = 2 and kv_heads = 1, K takes 2 columns",
        problem{Q = m(3, 4), K = m(5, 4), V = m(5, 2), heads = 2, kv_heads = 1})
    end)
    it("the rows of K and V, naming both shapes", function()
      refuses("K is 5x4, V is 6x2: as many rows expected", problem{Q = m(3, 4), K = m(5, 4), V = m(6, 2)})
    end)
    it("that heads divide the columns, and kv_heads the heads", function()
      refuses("Q is 3x4, which 3 heads do not divide", problem{Q = m(3, 4), K = m(5, 4), V = m(5, 3), heads = 3})
      refuses("V is 5x3, which 2 heads do not divide", problem{Q = m(3, 4), K = m(5, 4), V = m(5, 3), heads = 2})
      refuses("heads = 3 is no multiple of kv_heads = 2",
        problem{Q = m(3, 3), K = m(5, 2), V = m(5, 2), heads = 3, kv_heads = 2})
      refuses("heads = 2 is no multiple of kv_heads = 4",
        problem{Q = m(3, 2), K = m(5, 4), V = m(5, 4), heads = 2, kv_heads = 4})
    end)
    it("that dtypes agree, naming both", function()
      refuses("Q is f64, V is f32", problem{Q = m(3, 4), K = m(5, 4), V = m(5, 2, 0, "f32")})
    end)
    it("scales and sinks", function()
      local function with(name, x) return problem{Q = m(1, 2), K = m(1, 2), V = m(1, 2), heads = 2, [name] = x} end
      refuses("field 'scale': nan is not finite", with("scale", 0 / 0))
      refuses("field 'scale': inf is not finite", with("scale", math.huge))
      refuses("field 'scale': 3 numbers for 2 heads", with("scale", {1, 2, 3}))
      refuses("field 'scale': number or list expected, got string", with("scale", "x"))
      refuses("field 'sink': nan is not a logit", with("sink", 0 / 0))
      refuses("field 'sink': inf is not a logit", with("sink", math.huge))
      local function f32(sink) return problem{Q = m(1, 1, 0, "f32"), K = m(1, 1, 0, "f32"), V = m(1, 1, 0, "f32"), sink = sink} end
      refuses("field 'sink': -1e+300 is not a logit", f32(-1e300))
      refuses("field 'sink': 1e+300 is not a logit", f32(1e300))
      f32(-3.4e38)()
      f32(-math.huge)()
      refuses("field 'base': 2 or e expected, got 3", with("base", 3))
    end)
    it("masks: their shape, heads and number", function()
      local mask = ts.mask(2, 3, function() return true end)
      refuses("mask is 2x3, 1x1 expected", problem{Q = m(1, 2), K = m(1, 2), V = m(1, 2), mask = mask})
      refuses("field 'mask': 1 mask for 2 heads",
        problem{Q = m(2, 2), K = m(3, 2), V = m(3, 2), heads = 2, mask = {mask}})
      refuses("mask[2]: mask or function expected, got number",
        problem{Q = m(2, 2), K = m(3, 2), V = m(3, 2), heads = 2, mask = {mask, 7}})
      local three = ts.mask(2, 3, function() return true end, {heads = 3})
      refuses("mask has 3 heads, 2 expected", problem{Q = m(2, 2), K = m(3, 2), V = m(3, 2), heads = 2, mask = three})
    end)
    it("first_key against the mask's columns", function()
      local mask = ts.mask(1, 4, function() return true end)
      refuses("mask is 1x4, 1x5 expected", problem{Q = m(1, 1), K = m(2, 1), V = m(2, 1), first_key = 4, mask = mask})
      assert.equal(4, ts.problem{Q = m(1, 1), K = m(2, 1), V = m(2, 1), first_key = 2, mask = mask}.mask.cols)
      refuses("mask is 1x4, 1x2 expected", problem{Q = m(1, 1), K = m(2, 1), V = m(2, 1), first_key = 1, mask = mask})
    end)
    it("scores", function()
      refuses("field 'score': function or list expected, got number",
        problem{Q = m(1, 2), K = m(1, 2), V = m(1, 2), score = 1})
      refuses("score[2]: function expected, got boolean",
        problem{Q = m(1, 2), K = m(1, 2), V = m(1, 2), heads = 2, score = {print, true}})
    end)
    it("what scores give, where it is known that it is no number", function()
      local function scored(f) return problem{Q = m(4, 2), K = m(4, 2), V = m(4, 2), score = f} end
      refuses("field 'score': number expected from the function, got string", scored(function() return "x" end))
      refuses("field 'score': number expected from the function, got nil", scored(function() end))
      refuses("field 'score': number expected from the function, got boolean", scored(function(s, i, j) return i < j or s > 0 end))
      refuses("score[2]: number expected from the function, got string",
        problem{Q = m(1, 2), K = m(1, 2), V = m(1, 2), heads = 2, score = {math.abs, function() return "x" end}})
      -- a number for some cells, and those may be all that are asked for
      local P = ts.problem{Q = m(4, 2), K = m(4, 2), V = m(4, 2), mask = ts.mask.causal(4),
        score = function(s, i, j) if j > i then return "x" end return s end}
      assert.matrix_identical(P:with{score = false}:softmax(), (P:softmax()))
    end)
  end)

  describe("shows", function()
    local Q, K, V = m(3, 8), m(5, 4), m(5, 6)
    local P = ts.problem{Q = Q, K = K, V = V, heads = 4, kv_heads = 2}
    it("its fields", function()
      assert.are.equal(Q, P.Q)
      assert.are.same({3, 5, 2, 3, 4, 2, 1}, {P.n_q, P.n_k, P.d, P.d_v, P.heads, P.kv_heads, P.first_key})
      assert.are.equal("f64", P.dtype)
      assert.are.equal(math.exp(1), P.base)
      assert.are.equal(1 / math.sqrt(2), P.scale)
      assert.is_nil(P.mask)
      assert.is_nil(P.sink)
    end)
    it("the near name for one that it lacks", function()
      refuses("a problem has no field 'sacle' (did you mean 'scale'?)", function() return P.sacle end)
      refuses("a problem has no field 'atention' (did you mean 'attention'?)", function() return P.atention end)
    end)
    it("itself in one line", function()
      assert.are.equal("problem 3x5 f64, d = 2, d_v = 3, 4 heads on 2", tostring(P))
    end)
    it("whether its score is lifted, as a mask tells", function()
      local function lifted(s, _, j) return s - j end
      local function called(s) return tonumber(tostring(s)) end
      local function told(score) return tostring(P:with{score = score, base = 2}):match "base 2, (.*)$" end
      assert.are.same({"scored (lifted)", "scored (called)"}, {told(lifted), told(called)})
      assert.are.equal("scored (called)", told{lifted, lifted, lifted, called})
    end)
    it("no way to its metatable", function()
      assert.is_false(getmetatable(P))
      assert.has_error(function() P.scale = 2 end)
    end)
  end)

  it("L06: keeps all it was made of alive, whatever becomes of the lists it was given or shows", function()
    local given = {function(i, j) return j <= i end, function(i, j) return j >= i end}
    local scores, scale = {function(s) return s end, function(s) return s + tonumber(tostring(1)) end}, {1, 2}
    local P = ts.problem{Q = m(3, 2), K = m(3, 2), V = ts.matrix(3, 2, function(j) return j end), heads = 2, mask = given,
      score = scores, scale = scale}
    local right = P:softmax()
    scores[1], scale[1] = nil, nil
    given[1], given[2], P.mask[1], P.mask[2], P.score[2], P.scale[1] = nil, nil, nil, nil, nil, 7
    for _ = 1, 3 do collectgarbage() end
    for _ = 1, 100 do ts.mask(3, 3, function() return false end) end
    assert.matrix_identical(right, (P:softmax()))
    assert.matrix_identical(right, (P:with{empty = "zero"}:softmax()))
    assert.within_bound(right, P:attention(), 1e-14)
    assert.matrix_identical(ts.matrix(3, 2, 1):slice(1, 1), ts.problem{Q = m(1, 2), K = m(1, 2), V = m(1, 2, 1)}:attention())
  end)

  describe("with", function()
    local P = ts.problem{Q = m(2, 2, 1), K = m(3, 2, 1), V = m(3, 1, 1), mask = function(i, j) return j <= i end}
    it("changes what it is given, and keeps the rest", function()
      local R = P:with{scale = 3}
      assert.are.equal(3, R.scale)
      assert.are.equal(P.mask, R.mask)
      assert.are.equal(1 / math.sqrt(2), P.scale)
    end)
    it("takes mask, score and sink away by false", function()
      local R = P:with{score = function(s) return s end, sink = 1}
      for _, name in ipairs{"mask", "score", "sink"} do
        assert.is_not_nil(R[name])
        assert.is_nil(R:with{[name] = false}[name])
      end
    end)
    it("shows what becomes of rows without keys and of NaN, given or not", function()
      assert.same({"error", "error"}, {P.empty, P.nonfinite})
      local R = P:with{empty = "zero", nonfinite = "propagate"}
      assert.same({"zero", "propagate"}, {R.empty, R.nonfinite})
    end)
    it("makes it from the list as it was, whatever became of that", function()
      local list = {function(i, j) return j <= i end, function() return true end}
      local two = P:with{Q = m(2, 4, 1), K = m(3, 4, 2), V = m(3, 2, 3), heads = 2, mask = list}
      list[1], list[2] = list[2], nil
      local R = two:with{K = m(4, 4, 1), V = m(4, 2, 1)}
      assert.same({3, 8}, {R.mask[1]:count(), R.mask[2]:count()})
    end)
    it("makes a predicate's mask anew where sizes change", function()
      local R = P:with{K = m(4, 2, 1), V = m(4, 1, 1)}
      assert.are.equal(4, R.mask.cols)
      assert.are.equal(3, R.mask:count())
    end)
    it("keeps masks and scores where sizes stay", function()
      assert.are.equal(P.mask, P:with{K = m(3, 2, 5)}.mask)
      local limit = 2
      local R = P:with{mask = function(_, j) return j <= limit end}
      limit = 1
      assert.are.equal(4, R:with{scale = 2}.mask:count())
      assert.are.equal(2, R:with{Q = m(2, 2), K = m(4, 2), V = m(4, 1)}.mask:count())
      assert.are.equal(6, R:with{mask = ts.mask.full{2, 3}}:with{scale = 2}.mask:count())
    end)
    it("to another dtype converts Q, K and V and keeps all else", function()
      local A = ts.problem{Q = m(3, 4, 0.1), K = m(5, 4, 0.2), V = m(5, 2, 0.3), heads = 2, scale = 3, sink = {1, 2}, empty = "zero",
        mask = function(i, j) return i > 1 and j > i end, score = function(s, i, j) return s / 3 + (i - j) end}
      local R = A:to "f32"
      assert.are.equal("f32", R.dtype)
      assert.are.same({3.0, {1, 2}, "zero"}, {R.scale, R.sink, R.empty})
      assert.is_true(R.mask == A.mask)
      local direct = ts.problem{Q = A.Q:to "f32", K = A.K:to "f32", V = A.V:to "f32", heads = 2, scale = 3, sink = {1, 2},
        empty = "zero", mask = A.mask, score = A.score}
      assert.matrix_identical(direct:softmax(), R:softmax())
      assert.matrix_identical(direct:attention{k = 2}, R:attention{k = 2})
      assert.matrix_identical(R:to("f64"):to("f32"):softmax(), R:softmax())
      refuses("bad argument #1 to 'to' (\"f64\" or \"f32\" expected, got f16)", function() local B = A:to "f16" return B end)
    end)
    it("checks as ts.problem does", function()
      refuses("bad argument #1 to 'with' (invalid field 'sacle')", function() local R = P:with{sacle = 1} return R end)
    end)
  end)
end)

describe("a problem", function()
  describe("S01: gives query head h the key head ⌈h · kv_heads / heads⌉", function()
    for _, case in ipairs{{4, 2, {0, 0, 1, 1}}, {6, 3, {0, 0, 1, 1, 2, 2}}, {4, 1, {0, 0, 0, 0}}} do
      local heads, kv_heads, right = table.unpack(case)
      on_every_road(("%d on %d"):format(heads, kv_heads), function(road)
        local V = ts.matrix(1, kv_heads, function(_, g) return g - 1 end)
        local P = ts.problem{Q = m(1, heads, 1), K = m(1, kv_heads, 1), V = V, heads = heads, kv_heads = kv_heads}
        assert.matrix_equal({right}, (road(P)))
      end)
    end
  end)

  on_every_road("S02: takes its scale from the width of keys, its output's width from values", function(road)
    local P = ts.problem{Q = m(1, 4, 1), K = ts.matrix{{1, 1, 1, 1}, {0, 0, 0, 0}}, V = ts.matrix{{1}, {0}}}
    assert.are.equal(1 / 2, P.scale)
    assert.within_bound({{0.8807970779778823}}, road(P), 2e-16)
    local W = ts.problem{Q = m(2, 1, 1), K = m(3, 1, 1), V = m(3, 5, 7)}
    assert.matrix_equal(ts.matrix(2, 5, 7), (road(W)))
  end)

  describe("E01, E03, S05: without a key", function()
    local P = ts.problem{Q = m(2, 3, 1), K = m(0, 3), V = m(0, 2)}
    local masked = ts.problem{Q = m(2, 3, 1), K = m(3, 3, 1), V = m(3, 2, 5),
      mask = function(i) return i == 2 end}
    on_every_road("has no output, and says which rows", function(road)
      refuses('rows 1, 2 of head 1 have no allowed key (use empty = "zero")', function() local O = road(P) return O end)
      refuses('row 1 of head 1 has no allowed key (use empty = "zero")', function() local O = road(masked) return O end)
    end)
    on_every_road('has output 0 and lse -inf where empty = "zero"', function(road)
      local O, lse = road(P, {empty = "zero"})
      assert.matrix_identical(ts.matrix(2, 2, 0), O)
      assert.matrix_identical(ts.matrix(2, 1, -math.huge), lse)
      O, lse = road(masked:with{empty = "zero"})
      assert.matrix_identical(ts.matrix{{0, 0}, {5, 5}}, O)
      assert.are.equal(-math.huge, lse(1, 1))
    end)
    it("has weights of zero, and scores of -inf", function()
      assert.matrix_identical({{0, 0, 0}}, masked:weights():slice(1, 1))
      assert.matrix_identical(ts.matrix(1, 3, -math.huge), masked:scores():slice(1, 1))
    end)
    on_every_road("names rows of other heads, too", function(road)
      local R = ts.problem{Q = m(9, 2, 1), K = m(1, 2), V = m(1, 2), heads = 2,
        mask = function(i, _, h) return i == h end}
      refuses("rows 2, 3, 4, 5, 6, 7, 8, 9 of head 1 have no allowed key, as have rows of 1 other head",
        function() local O = road(R) return O end)
    end)
  end)

  describe("S05: with axes of length zero", function()
    on_every_road("no queries give no rows", function(road)
      local O, lse = road(ts.problem{Q = m(0, 3), K = m(4, 3), V = m(4, 2)})
      assert.are.same({0, 2, 0, 1}, {O.rows, O.cols, lse.rows, lse.cols})
    end)
    on_every_road("d = 0 makes every score 0", function(road)
      local O, lse = road(ts.problem{Q = m(1, 0), K = m(4, 0), V = ts.matrix{{1}, {2}, {3}, {6}}})
      assert.matrix_equal({{3}}, O)
      assert.within_bound({{math.log(4)}}, lse, 3e-16)
    end)
    on_every_road("d_v = 0 gives n_q x 0", function(road)
      local O = road(ts.problem{Q = m(3, 2), K = m(4, 2), V = m(4, 0)})
      assert.are.same({3, 0}, {O.rows, O.cols})
    end)
  end)

  describe("S08: widths that are no multiple of a vector", function()
    local widths = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 127, 129, 256}
    local e = math.exp(1)
    local right = (e + 2 * e ^ 2) / (1 + e + e ^ 2)
    for _, dtype in ipairs{"f32", "f64"} do
      on_every_road("every column has the right value in " .. dtype, function(road)
        for _, d in ipairs(widths) do
          local guarded = function(rows, f)
            return ts.matrix(rows, d + 2, function(i, j)
              return (j == 1 or j == d + 2) and 0 / 0 or f(i)
            end, {dtype = dtype}):slice(1, rows, 2, d + 1)
          end
          local ramp = guarded(3, function(j) return j - 1 end)
          local P = ts.problem{Q = guarded(2, function() return 1 end), K = ramp, V = ramp, scale = 1 / d}
          -- A sum of d ones, each 1/d apart, and few steps more: d + 8 roundings.
          assert.within_bound(ts.matrix(2, d, right, {dtype = dtype}), road(P),
            (d + 8) * (dtype == "f32" and 2 ^ -23 or 2 ^ -52) * right, ("d = %d"):format(d))
        end
      end)
    end
  end)

  describe("X01: a sink", function()
    on_every_road("takes part in the maximum, and has no value", function(road)
      local P = ts.problem{Q = m(1, 1), K = m(2, 1), V = m(2, 1, 1), sink = 100}
      local O, lse = road(P)
      -- s - m = -100 is rounded relative to its size: 3u · 100, and a few u for the exponential and the division.
      assert.within_bound({{2 * math.exp(-100)}}, O, 2 * math.exp(-100) * 310 * 2 ^ -53)
      assert.matrix_equal({{100}}, lse)
    end)
    on_every_road("gives a row without keys output 0 and its own lse", function(road)
      local O, lse = road(ts.problem{Q = m(1, 1), K = m(0, 1), V = m(0, 2), sink = 0.5})
      assert.matrix_identical({{0, 0}}, O)
      assert.matrix_equal({{0.5}}, lse)
    end)
  end)

  describe("X12: a scale", function()
    it("is in the maxima of summaries and in lse", function()
      local P = ts.problem{Q = m(1, 1, 2), K = m(1, 1, 3), V = m(1, 1, 1), scale = 0.5}
      local max, norm = P:summary():row(1)
      assert.are.same({3, 1}, {max, norm})
      assert.matrix_equal({{3}}, P:summary():lse())
      assert.matrix_equal({{3}}, select(2, P:softmax()))
      assert.matrix_equal({{3}}, select(2, P:attention()))
    end)
    on_every_road("may be zero or negative, and one a head", function(road)
      local P = ts.problem{Q = m(1, 3, 1), K = ts.matrix{{0, 0, 0}, {40, 40, 40}}, V = ts.matrix{{1, 1, 1}, {2, 2, 2}},
        heads = 3, scale = {0, -1, 1}}
      assert.within_bound({{1.5, 1, 2}}, road(P), 1e-15)
      assert.are.same({0, -1, 1}, P.scale)
    end)
  end)

  describe("nonfinite numbers", function()
    local nan = 0 / 0
    on_every_road("in an allowed score are an error that names the cell", function(road)
      local P = ts.problem{Q = m(3, 1, 1), K = ts.matrix{{0}, {nan}, {1}}, V = m(3, 1, 1),
        mask = function(i, j) return i == 3 or j ~= 2 end}
      refuses("score of query 3, key 2, head 1 is nan", function() local O = road(P) return O end)
    end)
    on_every_road("in an allowed value are an error that names the cell", function(road)
      local P = ts.problem{Q = m(2, 1, 1), K = m(2, 1, 1), V = ts.matrix{{1, 1}, {1, math.huge}},
        mask = function(i, j) return j <= i end}
      refuses("value of key 2, column 2, head 1 is inf, and query 2 may use it", function() local O = road(P) return O end)
    end)
    on_every_road("of a masked key change nothing", function(road)
      local function P(x)
        return ts.problem{Q = m(3, 2, 1), K = ts.matrix{{1, 2}, {x, x}, {0, 1}}, V = ts.matrix{{1, 2}, {x, x}, {3, 4}},
          mask = function(_, j) return j ~= 2 end}
      end
      local O, lse = road(P(5))
      for _, x in ipairs{nan, math.huge, -math.huge, 1e300} do
        local O2, lse2 = road(P(x))
        assert.matrix_identical(O, O2)
        assert.matrix_identical(lse, lse2)
      end
    end)
    on_every_road('pass where nonfinite = "propagate"', function(road)
      local P = ts.problem{Q = m(2, 1, 1), K = m(2, 1, 1), V = ts.matrix{{1, 1}, {1, math.huge}},
        mask = function(i, j) return j <= i end, nonfinite = "propagate"}
      assert.matrix_identical({{1, 1}, {1, nan}}, (road(P)))
    end)
  end)

  describe("first_key", function()
    it("numbers the keys for masks and summaries", function()
      local seen = {}
      local P = ts.problem{Q = m(1, 1), K = m(2, 1), V = ts.matrix{{1}, {2}}, first_key = 11,
        score = function(s, _, j) seen[#seen + 1] = j return s end,
        mask = function(_, j) return j ~= 11 end}
      assert.matrix_equal({{2}}, (P:softmax()))
      assert.are.same({{11, 12}}, P:summary():keys())
      refuses("bad argument #1 to 'summary' (key 1 is none of the problem's 11..12)", function() local S = P:summary(1, 2) return S end)
    end)
    it("lets problems with the same queries share their summaries", function()
      local P = ts.sample.exact{n_q = 3, n_k = 9, seed = 5}
      local function part(first, last)
        return P:with{K = P.K:slice(first, last), V = P.V:slice(first, last), first_key = first}:summary()
      end
      local S = part(1, 4) * part(5, 9)
      assert.is_true(S == P:summary(1, 4) * P:summary(5, 9))
      assert.matrix_identical((P:softmax()), S:output())
    end)
  end)

  describe("a score that is called", function()
    local Q, K, V = ts.randn(3, 2, {seed = 1}), ts.randn(4, 2, {seed = 2}), ts.randn(4, 2, {seed = 3})
    on_every_road("sees allowed cells only, and replaces their scores", function(road)
      local P = ts.problem{Q = Q, K = K, V = V, mask = function(i, j) return j <= i end}
      local R = P:with{score = function(s, i, j, h)
        assert(math.type(i) == "integer" and j <= i and h == 1)
        return tonumber(tostring(j)) + 0 * s
      end}
      local right = ts.problem{Q = m(3, 1, 1), K = ts.matrix{{1}, {2}, {3}, {4}}, V = V, scale = 1, mask = P.mask}
      assert.within_bound(right:softmax(), road(R), 1e-15)
    end)
    on_every_road("raises its own error, unchanged", function(road)
      local reason = {}
      local P = ts.problem{Q = Q, K = K, V = V, score = function() error(reason) end}
      local ok, err = pcall(road, P)
      assert.is_false(ok)
      assert.are.equal(reason, err)
    end)
    on_every_road("must return a number", function(road)
      local P = ts.problem{Q = Q, K = K, V = V, score = function(_, i) return i < 2 and 1 or tostring(i) .. "x" end}
      refuses('score of query 2, key 1, head 1 is the string "2x", number expected', function() local O = road(P) return O end)
    end)
    it("shows whole characters of a long string", function()
      local P = ts.problem{Q = Q, K = K, V = V, score = function() return "a" .. ("é"):rep(30) end}
      refuses(('is the string "a%s…", number expected'):format(("é"):rep(19)), function() local O = P:softmax() return O end)
    end)
    it("is read once, with its upvalues, unless it assigns to them itself", function()
      local shift, calls = 1, 0
      local P = ts.problem{Q = Q, K = K, V = V, score = function(s, _, j) return s + shift * tonumber(tostring(j)) end}
      local before = P:softmax()
      local R = P:with{nonfinite = "error"}
      shift = 100
      assert.matrix_identical(before, (P:softmax()))
      assert.matrix_identical(before, (R:softmax()))
      assert.matrix_identical(before, (P:with{scale = P.scale}:softmax()))
      P:with{score = function(s) calls = calls + 1 return s end}:softmax()
      assert.are.equal(12, calls)
    end)
    it("may use the library itself", function()
      local inner = ts.problem{Q = m(1, 1), K = m(1, 1), V = m(1, 1, 3)}
      local P = ts.problem{Q = Q, K = K, V = V, score = function(s) return s + inner:attention()(1, 1) end}
      local plain = ts.problem{Q = Q, K = K, V = V}
      assert.within_bound((plain:softmax()), (P:attention()), 1e-14)
    end)
  end)

  it("may be asked for cells of one head only", function()
    local P = ts.problem{Q = m(2, 2, 1), K = m(3, 2), V = m(3, 2), heads = 2}
    assert.are.same({2, 3}, {P:weights(2):shape()})
    local R = P:with{K = ts.matrix{{0, 0}, {0, 1}, {0, 2}}, scale = 1}
    assert.matrix_equal(ts.zeros(2, 3), R:scores())
    assert.matrix_equal({{0, 1, 2}, {0, 1, 2}}, R:scores(2))
    assert.matrix_equal(ts.matrix(2, 3, 1 / 3), R:weights(1))
    assert.is_true(R:weights(2)(1, 3) > 0.6)
    refuses("bad argument #1 to 'weights' (head 3 is outside 1..2)", function() local W = P:weights(3) return W end)
    refuses("bad argument #1 to 'scores' (head: number has no integer representation)", function() local W = P:scores(1.5) return W end)
  end)
end)

describe("exact problems", function()
  for _, dtype in ipairs{"f32", "f64"} do
    it("give the same bits on all roads, in all orders and bracketings of five blocks, in " .. dtype, function()
      for seed = 1, 3 do
        local P = ts.sample.exact{n_q = 3, n_k = 11, d = 3, d_v = 2, heads = 2, kv_heads = 1, dtype = dtype, seed = seed,
          density = 0.7, empty = "zero"}
        local O = P:softmax()
        local lse = select(2, P:attention())
        for order in ts.permutations(5) do
          for bracketing in ts.bracketings(5) do
            local A, l = P:attention{k = {2, 4, 5, 9, 11}, order = order, merge = bracketing}
            assert(A:identical(O) and l:identical(lse), "seed " .. seed)
          end
        end
      end
    end)
  end
end)

describe("core.problem", function()
  it("tells the plan of a tiling: blocks, and the word as it runs", function()
    local P = ts.problem{Q = m(6, 1), K = m(9, 1), V = m(9, 1)}
    local plan = core.problem.plan(P, {q = 2, k = 2, merge = "tree"})
    assert.are.same({{{1, 2}}, {{3, 4}}, {{5, 6}}, {{7, 8}}, {{9, 9}}}, plan.blocks)
    assert.are.same({1, 2, 0, 3, 0, 4, 5, 0, 0}, plan.word)
    assert.are.same({2, 3}, {plan.q, plan.tiles})
  end)
end)

describe("fields of what is immutable", function()
  it("cannot be set: the error says what to do instead", function()
    local P = ts.problem{Q = ts.ones(2, 1), K = ts.ones(3, 1), V = ts.ones(3, 1)}
    assert.has_error(function() P.scale = 2 end, "a problem has no fields to set: P:with{...} is a changed copy")
    local S = P:summary()
    assert.has_error(function() S.max = 1 end, "a summary has no fields to set: summaries are computed, and merged")
    assert.are.equal(1.0, S:row(1))
  end)
end)
