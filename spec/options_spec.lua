-- The one reader of option tables, and who is blamed for errors.
require "spec.helper"
local core = require "tessera.core"
local check = require "tessera.check"
local ts = require "tessera"

local kinds = {
  x = "number", i = "integer", n = "count", p = "positive", b = "boolean", s = "string", f = "function", t = "table",
  m = "matrix", k = "mask", u = "summary", d = "dtype", a = "any", c = {"left", "right"},
}

local all = ": the fields are a, b, c, d, f, i, k, m, n, p, s, t, u, x"

local function read(t) return core.options(t, 3, "reader", kinds) end

-- `advice`: what stands behind the argument's error.
local function refuses(message, t, advice)
  local ok, err = pcall(read, t)
  assert.is_false(ok)
  assert.are.equal("bad argument #3 to 'reader' (" .. message .. ")" .. (advice or ""), (err:gsub("^[^:]+:%d+: ", "")))
end

describe("core.options", function()
  it("gives the table itself where all is well, and an empty one for nil", function()
    local t = {x = 1.5, i = -3, n = 0, p = 1, b = false, s = "", f = print, t = {}, d = "f32", a = print, c = "left"}
    assert.are.equal(t, read(t))
    assert.are.same({}, read(nil))
  end)
  it("refuses what is no table", function()
    refuses("table expected, got number", 3)
    refuses("table expected, got matrix", ts.ones(1, 1))
  end)
  it("refuses fields that nobody knows: the first by the alphabet", function()
    refuses("invalid field 'bb'", {bb = 1, zz = 2, x = "wrong"}, ": did you mean 'b'?")
    refuses("invalid field '1'", {5}, all)
    refuses("invalid field 'true'", {[true] = 1}, all)
  end)
  it("says of such a field which one is near, or else which there are", function()
    refuses("invalid field 'nn'", {nn = 1}, ": did you mean 'n'?")
    refuses("invalid field 'X'", {X = 1}, ": did you mean 'x'?")
    refuses("invalid field 'z'", {z = 1}, all)
    local P = ts.problem{Q = ts.ones(1, 1), K = ts.ones(1, 1), V = ts.ones(1, 1)}
    assert.error_matches(function() P:softmax{heads = 2} end, "%(invalid field 'heads'%): the only field is 'empty'")
  end)
  it("refuses fields of another kind", function()
    refuses("field 'x': number expected, got table", {x = {}})
    refuses("field 'i': number expected, got boolean", {i = true})
    refuses("field 'b': boolean expected, got number", {b = 0})
    refuses("field 's': string expected, got boolean", {s = false})
    refuses("field 'f': function expected, got string", {f = "print"})
    refuses("field 't': table expected, got number", {t = 3})
    refuses("field 'm': matrix expected, got table", {m = {}})
    refuses("field 'k': mask expected, got matrix", {k = ts.ones(1, 1)})
    refuses("field 'u': summary expected, got matrix", {u = ts.ones(1, 1)})
    refuses("field 'd': \"f32\" or \"f64\" expected, got 'f16'", {d = "f16"})
    refuses("field 'd': string expected, got number", {d = 32})
    refuses("field 'c': \"left\" or \"right\" expected, got 'up'", {c = "up"})
    refuses("field 'c': string expected, got number", {c = 1})
  end)

  describe("L07: takes whole numbers as Lua does:", function()
    it("2.0 and \"2\" are 2, in a copy", function()
      local t = {i = 2.0, n = "2", p = 3}
      local r = read(t)
      assert.are.same({i = 2, n = 2, p = 3}, r)
      assert.are.same({"integer", "integer"}, {math.type(r.i), math.type(r.n)})
      assert.are.same({2.0, "2"}, {t.i, t.n})
      assert.are.equal("float", math.type(t.i))
    end)
    it("2.5, NaN, infinities and 2^63 are none", function()
      for _, x in ipairs{2.5, 0 / 0, math.huge, -math.huge, 2.0 ^ 63} do
        for _, field in ipairs{"i", "n", "p"} do
          refuses(("field '%s': number has no integer representation"):format(field), {[field] = x})
        end
      end
    end)
    it("a string that is no number is none", function() refuses("field 'i': number expected, got string", {i = "x"}) end)
    it("has a least one for counts", function()
      refuses("field 'n': -1 is less than 0", {n = -1})
      refuses("field 'p': 0 is less than 1", {p = 0})
    end)
  end)
end)

-- A public function of Lua that checks an argument, as Tessera's own files have it.
local function public(n) check.arg(n, 2, "public", "nothing there") end

describe("errors", function()
  it("are blamed on the line that called, also through metamethods", function()
    local here = "spec/options_spec.lua:"
    local m = ts.ones(2, 2)
    for _, f in ipairs{
      function() local x = m:slice(1, 9) return x end,
      function() local x = ts.problem{} return x end,
      function() local x = ts.problem{Q = m, K = m, V = m}.sacle return x end,
      function() local x = ts.problem{Q = m, K = m, V = m}:attention{k = 0} return x end,
      function() local x = ts.problem{Q = m, K = m, V = m}:summary() * 2 return x end,
      function() public() end,
    } do
      local ok, err = pcall(f)
      assert.is_false(ok)
      assert.are.equal(here, err:sub(1, #here), err)
    end
  end)
  it("tell the function's name and count no self, also when called through pcall", function()
    local m = ts.ones(2, 2)
    local P = ts.problem{Q = m, K = m, V = m}
    local _, err = pcall(P.attention, P, {k = 0})
    assert.are.equal("bad argument #1 to 'attention' (field 'k': 0 is less than 1)", err)
    _, err = pcall(P.attention, 3)
    assert.are.equal("calling 'attention' on bad self (problem expected, got number)", err)
    _, err = pcall(P.attention)
    assert.are.equal("calling 'attention' on bad self (problem expected, got no value)", err)
  end)
end)

describe("check.near", function()
  local names = {"scale", "score", "softmax", "heads", "mask"}
  it("finds the name that was meant", function()
    for wrong, right in pairs{sacle = "scale", scor = "score", Softmax = "softmax", makss = "mask", head = "heads"} do
      assert.are.equal(right, check.near(wrong, names))
    end
  end)
  it("finds none where none is near", function()
    for _, wrong in ipairs{"xyz", "attention", "q"} do assert.is_nil(check.near(wrong, names)) end
  end)
end)

describe("the module", function()
  it("names the near one for a public name that it lacks", function()
    local ok, err = pcall(function() return ts.probelm end)
    assert.is_false(ok)
    assert.is_truthy(err:find("tessera has no field 'probelm' (did you mean 'problem'?)", 1, true))
  end)
  it("tells where a name is that it lacks, as values do", function()
    local m = ts.ones(1, 1)
    local P = ts.problem{Q = m, K = m, V = m}
    for said, f in pairs{
      ["tessera has no field 'softmax'; there is m:softmax and P:softmax"] = function() return ts.softmax end,
      ["tessera has no field 'causal'; there is ts.mask.causal"] = function() return ts.causal end,
      ["ts.mask has no field 'alibi'; there is ts.score.alibi"] = function() return ts.mask.alibi end,
      ["a matrix has no field 'attention'; there is P:attention"] = function() return m:attention() end,
      ["a problem has no field 'output'; there is S:output"] = function() return P:output() end,
      ["ts.plot has no field 'surface'; it has curves, histogram, mask, matrix, tiles, trace"] = function() return ts.plot.surface end,
      ["ts.plot is no function; it has curves, histogram, mask, matrix, tiles, trace"] = function() return (ts.plot(m)) end,
      ["a problem has no field 'n'"] = function() return P.n end,
    } do
      local _, err = pcall(f)
      assert.equal(said, (err:gsub("^[^:]+:%d+: ", "")))
    end
  end)
  it("can be walked over", function()
    local seen = {}
    for name, value in pairs(ts) do seen[name] = value end
    for _, name in ipairs{"matrix", "mask", "problem", "summary", "fold", "diff", "version", "clock"} do
      assert.is_not_nil(seen[name], name)
    end
  end)
  it("tells the machine and its versions", function()
    local info = ts.info()
    assert.are.equal(ts.version, info.tessera)
    assert.is_truthy(info.available:find(info.isa, 1, true))
    assert.is_truthy(tostring(info):find("sleef", 1, true))
  end)
  it("has one version: the rock's is its own", function()
    local rock = {}
    local name = ("tessera-%s-1.rockspec"):format(ts.version)
    assert(loadfile(name, "t", rock))()
    assert.are.equal(ts.version .. "-1", rock.version)
  end)
  it("measures wall time", function()
    local before = ts.clock()
    while ts.clock() == before do end
    assert.is_true(ts.clock() > before)
  end)
  it("takes a number of threads, and goes back to the default", function()
    local default = ts.threads(0) -- whatever an earlier spec has left
    assert.are.equal(3, ts.threads(3))
    assert.are.equal(3, ts.threads())
    assert.are.equal(default, ts.threads(0))
    assert.has_error(function() ts.threads(-1) end)
    assert.has_error(function() ts.threads(1.5) end)
  end)
  it("gives its work space back", function()
    local m = ts.ones(64, 64)
    local P = ts.problem{Q = m, K = m, V = m}
    P:attention()
    P:attention()
    ts.trim()
    collectgarbage()
    local before = collectgarbage "count"
    P:attention()
    P:attention()
    ts.trim()
    collectgarbage()
    assert.is_true(collectgarbage "count" < before + 4)
  end)
  it("is loaded in under 10 ms", function()
    local helper = require "spec.helper"
    local said = helper.lua [[
      require "tessera.core"
      for name in pairs(package.loaded) do if name:find "^tessera" then package.loaded[name] = nil end end
      local before = os.clock()
      require "tessera"
      print((os.clock() - before) * 1e3)]]
    assert.is_true(tonumber(said) < 10 * helper.slow, said)
  end)
end)

describe("TESSERA_ISA", function()
  local helper = require "spec.helper"
  it("chooses each set that there is", function()
    local _, available = core.isa()
    for name in available:gmatch "%w+" do
      local said = helper.lua('print((require "tessera.core".isa()))', "TESSERA_ISA=" .. name)
      assert.are.equal(name .. "\n", said)
    end
  end)
  it("is an error that lists them where it names none", function()
    local said, status = helper.lua('require "tessera"', "TESSERA_ISA=sse17")
    assert.is_truthy(said:find("TESSERA_ISA is 'sse17', but this machine has " .. select(2, core.isa()), 1, true), said)
    assert.are.equal(1, status)
  end)
end)
