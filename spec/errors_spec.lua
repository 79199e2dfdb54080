-- Wrong calls: finalizers, constructors that fail half-way, every argument of every function wrong in turn.
require "spec.helper"
local ts = require "tessera"
local core = require "tessera.core"

local m = ts.ones(3, 2)
local P = ts.problem{Q = m, K = m, V = m, mask = function(i, j) return j <= i end}
local objects = {matrix = m, mask = P.mask, summary = P:summary(1, 2), problem = P}

local function quiet() end

describe("L01: a userdata", function()
  for name, x in pairs(objects) do
    it(("(%s) hides its metatable, and has no finalizer to call"):format(name), function()
      assert.is_falsy(getmetatable(x))
      assert.has_error(function() setmetatable(x, {}) end)
      local hidden = debug.getmetatable(x)
      assert.is_nil(rawget(hidden, "__gc"))
      assert.is_nil(rawget(hidden, "__close"))
    end)
  end
  for _, name in ipairs{"problem", "summary", "mask"} do
    it(("(%s) refuses self of another type in every method"):format(name), function()
      for method, f in pairs(core[name].methods) do
        if type(f) == "function" then
          for _, other in ipairs{1, "x", {}, quiet, io.stdout, false} do
            local ok, err = pcall(f, other)
            assert(not ok, ("%s.%s took a %s for self"):format(name, method, type(other)))
            assert(not err:find("lua/tessera/", 1, true), err)
          end
          assert(not pcall(f), ("%s.%s took no self"):format(name, method))
        end
      end
    end)
  end
end)

describe("the message of an error", function()
  local hollow = setmetatable({}, {__tostring = function() end})
  it("tells the type of what has a __tostring that is none", function()
    assert.error_matches(function() ts.mask.prefix(4, hollow) end, "got table")
    local text = "bad argument #1 to 'alibi' %(heads: a whole number from 1 up expected, got table%)"
    assert.error_matches(function() ts.score.alibi(hollow) end, text)
    assert.error_matches(function() ts.permutations(hollow) end, "got table")
  end)
  it("calls NaN nan, whatever its sign", function()
    for _, x in ipairs{0 / 0, -(0 / 0)} do
      local _, said = pcall(function() ts.mask.window(4, x, 0) end)
      assert.matches("(left: a whole number from 0 up expected, got nan)", said, 1, true)
      _, said = pcall(function() ts.mask.random(4, x) end)
      assert.matches("(density is nan, not a number from 0 to 1)", said, 1, true)
    end
  end)
  it("names the operator, also where Lua's strings call it", function()
    assert.error_matches(function() return "x" * m end, "bad argument #1 to 'mul' %(matrix or number expected, got string%)")
  end)
  it("of the prompt's coroutine.resume and coroutine.close names them as they were called", function()
    for _, name in ipairs{"resume", "close"} do
      assert.same({false, ("bad argument #1 to '%s' (coroutine expected, got number)"):format(name)}, {pcall(core[name], 5)})
    end
  end)
  it("of Ctrl-C in a claimed merge is not taken for a failure of its law", function()
    local claim = {summarize = function(s) return #s end, finish = function(x) return x end,
      merge = function() error "interrupted!" end}
    assert.error_matches(function() ts.laws(claim) end, "interrupted!")
  end)
  it("names the near name where a library of functions has none of that", function()
    for library, near in pairs{mask = "causal", score = "alibi", sample = "exact", plot = "matrix", heads = "load",
      summary = "load"} do
      local wrong = near:sub(1, -2) .. "q"
      assert.error_matches(function() return ts[library][wrong] end,
        ("ts.%s has no field '%s' %%(did you mean '%s'%%?%%)"):format(library, wrong, near))
    end
  end)
  it("says what a layer or a cache is not", function()
    local layer = ts.heads{heads = 1, d_q = 2}
    assert.error_matches(function() layer.parameters(5) end, "layer expected, got number")
    assert.error_matches(function() layer.step({}, m, layer:cache()) end, "layer expected, got table")
    assert.error_matches(function() layer:cache().fork() end, "cache expected, got nil")
    assert.error_matches(function() ts.laws.wide.exp "x" end, "bad argument #1 to 'exp' %(number expected, got string%)")
    assert.error_matches(function() ts.mask.blocks(5, 1, 1, 2) end, "bad argument #1 to 'blocks' %(matrix expected, got number%)")
    assert.error_matches(function() ts.score.compile(quiet, 1.5) end, "bad argument #2 to 'compile'")
  end)
end)

-- What each argument may be replaced by.
local wrong = {
  0, -1, 1, 2.5, 2.0, "2", "x", "", 0 / 0, math.huge, -math.huge, 2 ^ 53, 2.0 ^ 63, math.maxinteger, math.mininteger, true,
  false, {}, {1}, {{1, 2}}, {{}, {}}, {1, {2, 3}}, {q = 1}, {typo = 1}, {empty = "zero"}, quiet, function() error "no" end,
  io.stdout, coroutine.create(quiet), m, m:t(), ts.zeros(0, 2), m:to "f32", P, P.mask, P:summary(), P:bottom(),
}

-- What is called, with right arguments to spoil. (Nothing here writes, or takes long.)
local function calls()
  local list = {}
  local function add(name, f, ...) list[#list + 1] = {name = name, f = f, arguments = table.pack(...)} end
  local methods = core.problem.methods
  for _, name in ipairs{"softmax", "attention", "weights", "scores", "summary", "bottom", "with"} do
    add("P:" .. name, methods[name], P, {})
    add("P:" .. name, methods[name], P, 1, 2)
  end
  for name, f in pairs(core.summary.methods) do
    if type(f) == "function" then add("S:" .. name, f, P:summary(1, 2), 1, 1) end
  end
  add("*", function(a, b) return a * b end, P:summary(1, 1), P:summary(2, 3))
  add("==", function(a, b) return a == b end, P:summary(1, 1), P:summary(2, 3))
  add("fold", ts.fold, {P:summary(1, 1), P:summary(2, 3)}, {1, 2})
  add("bracketings", ts.bracketings, 3)
  add("permutations", ts.permutations, 3)
  add("partitions", ts.partitions, 3, 2)
  add("sample.permutation", ts.sample.permutation, 3, {seed = 1})
  add("sample.bracketing", ts.sample.bracketing, 3, {seed = 1})
  add("sample.partition", ts.sample.partition, 3, 2, {seed = 1})
  add("threads", ts.threads, 0)
  add("index", function(x, key) return x[key] end, P, "Q")
  add("index", function(x, key) return x[key] end, P:summary(), "max")
  return list
end

-- The fields of an option table, each spoilt in turn.
local tables = {
  {"problem", ts.problem, {Q = m, K = m, V = m, scale = 1, mask = P.mask, score = function(s) return s end, sink = 0, heads = 1,
    kv_heads = 1, base = 2, first_key = 1, empty = "zero", nonfinite = "error"}},
  {"attention", function(t) return P:attention(t) end, {q = 1, k = 2, order = "forward", split = 1, exp = "sleef", threads = 1,
    empty = "zero", seed = 1}},
  {"attention", function(t) return P:attention(t) end, {k = {1, 3}, order = {2, 1}, merge = {1, 2}}},
  {"attention", function(t) return P:attention(t) end, {k = {{{1, 1}}, {{2, 3}}}, merge = "1 2 *"}},
  {"summary", ts.summary, {max = m, norm = m, value = m, base = 2, keys = {{1, 3}}}},
  {"summary", ts.summary, {output = m, lse = m, base = 2, keys = {{1, 3}}}},
  {"exact", ts.sample.exact, {n_q = 2, n_k = 3, d = 2, d_v = 2, heads = 1, kv_heads = 1, dtype = "f64", density = 0.5, sink = true,
    seed = 1, empty = "zero"}},
}

-- Calls, and checks that what is raised is a message for people.
local function try(what, f, ...)
  local ok, err = pcall(f, ...)
  if ok then return end
  if err == "no" or tostring(err):find(": no$") then return end -- raised by our own callback
  assert(type(err) == "string", ("%s raised a %s"):format(what, type(err)))
  assert(not err:find("lua/tessera/", 1, true), ("%s failed inside: %s"):format(what, err))
  assert(not err:find("^bad argument #%-"), ("%s: %s"):format(what, err))
end

describe("L07: a wrong argument", function()
  it("of any function is an error that names it, or taken for what it is", function()
    for _, call in ipairs(calls()) do
      for n = 1, call.arguments.n + 1 do
        for _, x in ipairs(wrong) do
          local arguments = table.move(call.arguments, 1, call.arguments.n, 1, {})
          arguments[n] = x
          try(call.name, call.f, table.unpack(arguments, 1, call.arguments.n + 1))
        end
        try(call.name, call.f, table.unpack(call.arguments, 1, n - 1))
      end
    end
    ts.threads(0)
  end)
  it("in any field of an option table, too", function()
    for _, case in ipairs(tables) do
      local name, f, right = table.unpack(case)
      assert(pcall(f, right))
      for field in pairs(right) do
        for _, x in ipairs(wrong) do
          local spoilt = {}
          for key, value in pairs(right) do spoilt[key] = value end
          spoilt[field] = x
          local count = math.tointeger(x)
          if not (name == "exact" and count and count > 100) then try(name .. "{" .. field .. "}", f, spoilt) end
        end
      end
    end
  end)
  it("leaves everything usable", function()
    assert.matrix_equal((P:softmax()), (P:attention()))
  end)
end)

describe("L02: a constructor that fails half-way", function()
  it("leaves nothing behind", function()
    local function fail()
      pcall(ts.problem, {Q = m, K = m, V = m, mask = {P.mask, 3}})
      pcall(ts.problem, {Q = m, K = m, V = m, scale = {1, 2}})
      pcall(ts.problem, {Q = m, K = m, V = m, score = {quiet, 3}})
      pcall(ts.summary, {max = m, norm = m, value = m, keys = {{1, 2}, {2, 3}}})
      pcall(ts.summary, {max = m, norm = -m, value = m})
      pcall(P.attention, P, {k = 1, order = {1, 2, 2}})
      pcall(P.attention, P, {k = 1, merge = {1, {2, 2}}})
      pcall(P.summary, P, {{1, 2}, {2, 3}})
    end
    local function memory()
      collectgarbage()
      collectgarbage()
      return collectgarbage "count"
    end
    for _ = 1, 100 do fail() end
    local before = memory()
    for _ = 1, 1000 do fail() end
    assert.is_true(memory() < before + 8)
  end)
  it("says how much memory it lacked, or that it is too large", function()
    local one = ts.ones(1, 1)
    local wide = ts.problem{Q = ts.zeros(2, 0), K = ts.zeros(1, 0), V = ts.zeros(1, 0)}
    assert.matrix_equal(ts.zeros(2, 0), (wide:attention()))
    local ok, err = pcall(function()
      local S = ts.summary{max = one, norm = one, value = one, keys = {{1, math.maxinteger}}}
      return S
    end)
    assert.is_false(ok)
    assert.is_truthy(err:find("are outside 1..9223372036854775806", 1, true), err)
  end)
end)
