-- P:verify: which laws it tries, what it says, and that it does not say "ok" of what is wrong.
require "spec.helper"
local core = require "tessera.core"
local tally = require "tessera.verify.tally"
local ts = require "tessera"

local names = {
  "definition", "fold", "threads", "skipping", "oracle", "homomorphism", "identity", "commutativity", "associativity",
  "split", "doubling", "sink", "gauge", "power of two", "permutation", "repetition", "deletion", "restriction",
  "non-interference", "cover", "convexity", "weights", "heads", "independence",
}

local abs = math.abs

local function random(fields)
  local dtype, n_q, n_k, heads = fields.dtype or "f64", fields.n_q or 12, fields.n_k or 17, fields.heads or 1
  local kv_heads = fields.kv_heads or heads
  local function m(rows, cols, seed) return ts.randn(rows, cols, {seed = seed, dtype = dtype}) end
  local all = {Q = m(n_q, heads * 5, 1), K = m(n_k, kv_heads * 5, 2), V = m(n_k, kv_heads * 3, 3)}
  for name, value in pairs(fields) do
    if name ~= "dtype" and name ~= "n_q" and name ~= "n_k" then all[name] = value end
  end
  return ts.problem(all)
end

-- What stands in keys that nobody may use, which must reach no result.
local function poisoned(x)
  local P = random{mask = function(i, j) return j % 4 ~= 0 and j <= i + 6 end}
  local K, V = P.K:copy(), P.V:copy()
  for j = 4, P.n_k, 4 do
    K:row(j):fill(x)
    V:row(j):fill(x)
  end
  return P:with{K = K, V = V}
end

-- Edges of every kind; scripts/standard.lua has larger ones, for scripts/mutate.
local problems = {
  ["plain"] = random{},
  ["causal"] = random{n_q = 15, n_k = 15, mask = function(i, j) return j <= i end},
  ["of more keys than a chunk holds, masked"] = random{n_q = 3, n_k = 1100, mask = function(i, j) return j % 600 < 40 * i end},
  ["of more keys than a chunk holds, the first of which are masked"] = random{n_q = 3, n_k = 1100,
    mask = function(i, j) return j > 900 - 100 * i end},
  ["with rows and keys that nobody may use"] = random{mask = function(i, j) return i % 4 ~= 0 and j % 5 ~= 0 end},
  ["with NaN in keys that nobody may use"] = poisoned(0 / 0),
  ["with infinities in keys that nobody may use"] = poisoned(math.huge),
  ["scored"] = random{dtype = "f32", score = function(s, i, j) return s - 0.5 * abs(i - j) end},
  ["scored in two ways"] = random{heads = 2, score = {function(s) return 2 * s end, function(s, _, j) return s + 0.125 * j end}},
  ["scored by heads"] = random{heads = 2, score = function(s, _, j, h) return s + h * 0.25 * (j % 3) end},
  ["with a sink a head"] = random{heads = 2, sink = {0.25, -1}},
  ["in base 2, with a sink"] = random{base = 2, sink = 1},
  ["whose keys continue a sequence"] = random{first_key = 31, mask = function(i, j) return j - i < 40 end},
  ["whose mask has columns to spare"] = random{first_key = 5, mask = ts.mask(12, 40, function(i, j) return j < 9 + i end)},
  ["with a mask of its own for each head"] = random{n_q = 17, heads = 2, mask = {ts.mask.causal(17), ts.mask.window(17, 3, 3)}},
  ["of transposed views"] = random{Q = ts.randn(5, 12, {seed = 1}):t(), K = ts.randn(5, 17, {seed = 2}):t()},
  ["with a NaN that is propagated"] = random{nonfinite = "propagate", mask = function(i, j) return (i + j) % 3 > 0 end,
    K = ts.matrix(17, 5, function(j, c) return j == 4 and 0 / 0 or (j * c) % 7 / 3 end)},
  ["of values near the end of the range"] = random{V = ts.randn(17, 3, {seed = 3}) * 1e300},
  ["of values below the normal range"] = random{dtype = "f32", V = ts.randn(17, 3, {seed = 3, dtype = "f32"}) * 1e-38},
  ["of values whose double is beyond the range"] = random{V = ts.rand(17, 3, {seed = 3}) * 1e307 + 1.6e308},
  ["whose sink is far above all scores"] = random{dtype = "f32", sink = 100},
  ["whose sink hides how far the scores are off"] = random{dtype = "f32", sink = 0,
    Q = ts.rand(12, 5, {seed = 1, dtype = "f32"}) * -20, K = ts.rand(17, 5, {seed = 2, dtype = "f32"}) * 10},
  ["whose sinks are -inf, with rows that may use no key"] = random{sink = -math.huge, empty = "zero",
    mask = function(i, j) return i % 4 ~= 0 and j % 5 ~= 0 end},
  ["all of whose scores are -inf"] = random{empty = "zero", V = ts.rand(17, 3, {seed = 3}) + 1, Q = ts.ones(12, 5),
    K = ts.matrix(17, 5, -math.huge)},
  ["with -inf in keys, of which scores make numbers"] = random{nonfinite = "propagate", score = function(s) return s * s end,
    K = ts.matrix(17, 5, function(j, c) return j == 4 and c == 1 and -math.huge or (j * c) % 7 / 3 end)},
  ["of scores beyond the range"] = random{nonfinite = "propagate", sink = 0,
    Q = ts.matrix(12, 5, function(i, c) return i == 2 and ({-1e308, 1e308})[c] or 0 end),
    K = ts.matrix(17, 5, function(_, c) return 10 * c end)},
  ["whose scaled query is beyond f32"] = random{dtype = "f32", scale = 1e10,
    Q = ts.matrix(12, 5, function(i, c) return c == 1 and 1e29 * i or 1e-10 * (i - c) end, {dtype = "f32"}),
    K = ts.matrix(17, 5, function(j, c) return c == 1 and (j % 7 - 3) * 3e-40 or (j * c) % 5 - 2 end, {dtype = "f32"})},
  ["of width 0"] = random{Q = ts.zeros(12, 0), K = ts.zeros(17, 0)},
  ["of no columns of values"] = random{V = ts.zeros(17, 0)},
  ["without keys"] = random{n_k = 0},
  ["of one key"] = random{n_k = 1},
  ["without queries"] = random{n_q = 0},
  ["of one query and many keys"] = random{n_q = 1, n_k = 5000},
  ["exact"] = ts.sample.exact{n_q = 6, n_k = 13, heads = 2, density = 0.5, seed = 4},
  ["exact, in f32, with a sink"] = ts.sample.exact{n_q = 6, n_k = 13, dtype = "f32", sink = true, seed = 5},
}

describe("P:verify", function()
  for name, P in pairs(problems) do
    it("finds that every law holds for a problem " .. name, function()
      local v = P:verify()
      assert.is_true(v.ok, tostring(v))
      for n, law in ipairs(names) do
        assert.equal(law, v[n].law)
        assert.equal(v[n], v[law])
      end
      assert.equal(#names, #v)
    end)
  end

  it("tries something of every law on an ordinary problem, with numbers that do differ", function()
    local v = problems.causal:verify()
    for _, t in ipairs(v) do assert.is_true(t.cases > 0, t.law) end
    for _, t in ipairs(problems["with a sink a head"]:verify()) do assert.is_true(t.cases > 0, t.law) end
    assert.is_true(v.definition.ratio > 0 and v.definition.ratio < 1)
    assert.is_true(v.definition.ulps > 0)
    assert.is_truthy(v.definition.where:find "row %d+, column %d+")
  end)

  it("compares exact rows in bits, and says so", function()
    for _, name in ipairs{"exact", "exact, in f32, with a sink"} do
      local v = problems[name]:verify{laws = {"definition", "associativity", "homomorphism", "permutation"}}
      for _, t in ipairs(v) do
        assert.is_true(t.exact, t.law)
        assert.is_true(t.ok)
      end
      assert.matches("exact", tostring(v))
    end
    assert.equal(1680, problems.exact:verify{laws = "associativity"}.associativity.cases)
    assert.is_false(problems.plain:verify{laws = "definition"}.definition.exact)
  end)

  it("names the worst place by its row and head in the problem, also where rows and heads are compared one by one", function()
    local P = problems["scored by heads"]
    local softmax = core.problem.methods.softmax
    core.problem.methods.softmax = function(...)
      local O, lse = softmax(...)
      O:set(7, 5, O(7, 5) + 1)
      return O, lse
    end
    local v = P:verify{laws = {"convexity", "weights"}}
    core.problem.methods.softmax = softmax
    assert.matches("row 7, head 2, column 2$", v.weights.where)
  end)

  it("takes laws, tilings, rounds and a seed", function()
    local v = problems.plain:verify{laws = {"split", "definition"}, tilings = {{k = 3}}, rounds = 5, seed = 9}
    assert.equal("split", v[1].law)
    assert.equal(2, #v)
    assert.equal(10, v.split.cases) -- output and lse of 5 rounds
    assert.equal(9, v.seed)
    assert.equal(12, v.rows)
    assert.equal(tostring(problems.plain:verify{seed = 3}), tostring(problems.plain:verify{seed = 3}))
  end)

  it("prints a table", function()
    local text = tostring(problems.plain:verify{laws = {"identity", "definition"}})
    assert.matches("^law +cases +ulps +÷ bound", text)
    assert.matches("\nidentity +%d+  ok +bits\n", text)
    assert.matches("\ndefinition +%d+  ok +%d+ +0%.%d+  %a", text)
    assert.matches("\nevery law holds; 12 rows judged, seed 1$", text)
    assert.matches("^identity  %d+  ok  bits$", tostring(problems.plain:verify{laws = "identity"}.identity))
  end)

  it("judges some rows of a large problem, and says how many", function()
    local P = ts.problem{Q = ts.randn(3000, 8, {seed = 1}), K = ts.randn(3000, 8, {seed = 2}), V = ts.randn(3000, 8, {seed = 3}),
      mask = ts.mask.causal(3000)}
    local v = P:verify{laws = {"definition", "split", "oracle"}}
    assert.is_true(v.ok, tostring(v))
    assert.is_true(v.rows >= 4 and v.rows < 3000)
    assert.matches(v.rows .. " rows judged", tostring(v), 1, true)
  end)

  it("refuses options and laws that nobody knows", function()
    local function message(o) return tostring(select(2, pcall(function() return problems.plain:verify(o) end))) end
    assert.matches("invalid field 'law'", message{law = "fold"}, 1, true)
    assert.matches("there is no law 'asociativity' (did you mean 'associativity'?)", message{laws = "asociativity"}, 1, true)
    assert.matches("there is no law 'xyzzyqq'; there are definition, fold, threads, ", message{laws = "xyzzyqq"}, 1, true)
    assert.matches("field 'tilings'", message{tilings = 3}, 1, true)
    assert.matches("field 'laws': no law is named", message{laws = {}}, 1, true) -- that none fails would say nothing
  end)

  it("counts cells that have no bound, such as those of a called score", function()
    local hidden = setmetatable({}, {__index = function() return 1 end})
    local P = problems.plain:with{score = function(s) return s * hidden[1] end}
    local v = P:verify{laws = {"definition", "identity"}}
    assert.is_true(v.ok)
    assert.is_true(v.definition.open > 0)
    assert.matches("÷ bound +no bound +worst at\n", tostring(v))
  end)

  it("raises what the problem raises", function()
    local K = ts.randn(5, 2, {seed = 1})
    K:set(3, 1, 0 / 0)
    local P = ts.problem{Q = ts.ones(2, 2), K = K, V = ts.ones(5, 1)}
    assert.has_error(function() P:verify() end)
    assert.is_true(P:with{nonfinite = "propagate"}:verify{laws = {"definition", "fold", "identity"}}.ok)
  end)

  it("leaves the number of threads as it was, also where the problem raises", function()
    local before = ts.threads()
    finally(function() ts.threads(before) end)
    ts.threads(3)
    local P = random{score = function(s, _, j) return j < 5 and s or error "enough" end}
    assert.has_error(function() P:verify{laws = "threads"} end)
    assert.equal(3, ts.threads())
  end)
end)

describe("a law's tally", function()
  local function place(i, j) return i .. "/" .. j end
  local A = ts.matrix{{1, 2}, {3, 4}}

  it("fails beyond the bound, and tells the worst place", function()
    local t = tally.new("law", place)
    t:near(A, A + ts.matrix{{0, 0.25}, {0, 0.5}}, ts.matrix(2, 2, 0.5), nil, "close")
    assert.is_true(t.ok)
    assert.equal(1, t.ratio)
    t:near(A, A + ts.matrix{{0, 0}, {1, 0}}, ts.matrix(2, 2, 0.5), nil, "far")
    assert.is_false(t.ok)
    assert.equal("far, 2/1", t.where)
  end)
  it("fails on NaN", function()
    local t = tally.new("law", place)
    t:near(A, A * ts.matrix{{1, 1}, {1, 0 / 0}}, ts.matrix(2, 2, 1e300), nil, "nan")
    assert.is_false(t.ok)
  end)
  it("asks for bits where rows are exact", function()
    local t = tally.new("law", place)
    t:near(A, A + ts.matrix{{0, 0}, {0, 1e-15}}, ts.matrix(2, 2, 1), ts.matrix{{1}, {0}}, "second row")
    assert.is_true(t.ok)
    t:near(A, A + ts.matrix{{0, 1e-15}, {0, 0}}, ts.matrix(2, 2, 1), ts.matrix{{1}, {0}}, "first row")
    assert.is_false(t.ok)
  end)
end)

-- Problems that answer wrongly: each fault is one that a law must see.
describe("a wrong answer", function()
  local P = problems.causal
  local methods = core.problem.methods

  -- Runs verify{laws = law} while the method `name` answers what `spoil` makes of the right answer.
  local function with_fault(name, spoil, law, Q)
    local right = methods[name]
    methods[name] = function(...) return spoil(right, ...) end
    local ok, v = pcall(function() return (Q or P):verify{laws = law} end)
    methods[name] = right
    assert.is_true(ok, v)
    assert.is_false(v.ok, law)
    assert.matches("FAILS", tostring(v))
    assert.matches("NOT EVERY LAW HOLDS", tostring(v))
  end

  local function nudged(right, self, ...)
    local O, lse = right(self, ...)
    return O * (1 + 1e-12), lse
  end

  it("of the tiles is seen by definition, fold, oracle and others", function()
    for _, law in ipairs{"definition", "fold", "oracle"} do with_fault("attention", nudged, law) end
  end)
  it("of full softmax is seen by definition, split and oracle", function()
    for _, law in ipairs{"definition", "split", "oracle"} do with_fault("softmax", nudged, law) end
  end)
  it("of the oracle is seen", function() with_fault("oracle", nudged, "oracle") end)
  it("of the weights is seen", function()
    with_fault("weights", function(right, ...) return right(...) * (1 + 1e-12) end, "weights")
  end)
  it("of both roads alike is seen in plain Lua", function()
    local softmax, attention = methods.softmax, methods.attention
    methods.softmax = function(...) return nudged(softmax, ...) end
    methods.attention = function(...) return nudged(attention, ...) end
    local v = P:verify{laws = "definition"}
    methods.softmax, methods.attention = softmax, attention
    assert.is_false(v.ok)
    assert.matches("in plain Lua", v.definition.where)
  end)
  it("of a summary that leaves out a key is seen by the laws of ⋆ and by counting", function()
    local function short(right, self, first, last)
      if type(first) == "table" then
        local ranges = {}
        for n, range in ipairs(first) do ranges[n] = {range[1], range[2]} end
        if #ranges > 0 then ranges[#ranges][2] = ranges[#ranges][2] - 1 end
        return right(self, ranges)
      end
      if first then return right(self, first, last) end
      return right(self, self.first_key, math.max(self.first_key - 1, self.first_key + self.n_k - 2))
    end
    for _, law in ipairs{"split", "fold", "cover"} do with_fault("summary", short, law) end
  end)
end)
