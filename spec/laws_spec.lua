-- ts.laws finds what is wrong with a merge, and nothing wrong with right ones; numbers with a wide exponent.
local helper = require "spec.helper"
local ts = require "tessera"

local claims = assert(loadfile "examples/07-a-wrong-merge.lua")("claims")

local function claim(name)
  for _, c in ipairs(claims) do
    if c[1]:find(name, 1, true) then return c[2] end
  end
  error("no claim " .. name)
end

local function with(t, changes)
  local copy = {}
  for name, value in pairs(t) do copy[name] = value end
  for name, value in pairs(changes) do copy[name] = value end
  return copy
end

-- What a counterexample says, with the claim's own functions.
local function run(line, c)
  local env = {merge = c.merge, summarize = c.summarize, finish = c.finish, bottom = c.bottom, equal = c.equal, math = math}
  return assert(load("return " .. line, "=line", "t", env))()
end

describe("ts.laws", function()
  describe("finds a merge that changes", function()
    local function counting(merge) -- keys
      return ts.laws{merge = merge, summarize = function(scores) return {at = {#scores}} end, bottom = {at = {0}},
        finish = function(a) return a.at[1] end, want = function(keys) return #keys end}
    end
    local function changing(which)
      return counting(function(a, b)
        local sum, changed = a.at[1] + b.at[1], which == "first" and a or b
        changed.at[1] = sum
        return {at = {sum}}
      end)
    end
    for _, which in ipairs{"first", "second"} do
      it("its " .. which .. " argument", function()
        local found = changing(which)
        assert.is_false(found.ok)
        assert.equal("merge(summarize({0}, {0}), summarize({0}, {0})) -- changes its " .. which .. " argument",
          found.commutativity.counterexample)
      end)
    end
    it("none, where it makes a new state", function()
      assert.is_true(counting(function(a, b) return {at = {a.at[1] + b.at[1]}} end).ok)
    end)
  end)

  for _, c in ipairs(claims) do
    if c[3] then
      it("finds nothing wrong with " .. c[1], function()
        local found = ts.laws(with(c[2], {rounds = 60}))
        assert.is_true(found.ok, tostring(found))
        for _, law in ipairs(found) do assert.equal(60, law.cases) end
      end)
    else
      for seed = 1, 2 do
        it(("refutes %s with at most four keys, seed %d"):format(c[1], seed), function()
          local start = os.clock() -- of this process alone
          local found, refuted = ts.laws(with(c[2], {seed = seed})), 0
          local seconds = os.clock() - start
          assert.is_false(found.ok)
          for _, law in ipairs(found) do
            if not law.ok then
              refuted = refuted + 1
              assert.is_true(#law.keys <= 4, law.counterexample)
            end
          end
          assert.is_true(refuted > 0)
          if not helper.instrumented then assert.is_true(seconds < helper.slow, ("took %.2f s"):format(seconds)) end
        end)
      end
    end
  end

  it("shrinks to a case that could be found by hand", function()
    local found = ts.laws(claim "starts at")
    assert.equal("finish(merge(summarize({0}, {1}), bottom)) -- is 0.5; finish(summarize({0}, {1})) is 1",
      found.identity.counterexample)
    assert.is_true(found.associativity.ok)
  end)

  it("prints a line of Lua that fails where it is pasted", function()
    local c = claim "running mean"
    local law = ts.laws(c).homomorphism
    local got, wanted = law.counterexample:match "is ([%d.-]+), but should be ([%d.-]+)$"
    assert.is_true(math.abs(run(law.counterexample, c) - tonumber(got)) < 1e-9)
    assert.is_true(math.abs(tonumber(wanted) - tonumber(got)) > 0.01)
  end)

  it("compares states by `equal` where there is one", function()
    -- The output is right; the state's norm is not the same from both sides.
    local c = with(claim "(m, ℓ, z)", {
      merge = function(a, b)
        local s = claim "(m, ℓ, z)".merge(a, b)
        if a.m < b.m then s.l, s.z = s.l * 2, s.z * 2 end
        return s
      end,
      equal = function(a, b) return a.m == b.m and math.abs(a.l - b.l) <= 1e-12 * math.abs(b.l) end,
    })
    local found = ts.laws(c)
    assert.is_false(found.commutativity.ok)
    assert.matches("^equal%(merge%(.* is false$", found.commutativity.counterexample)
    assert.is_false(run(found.commutativity.counterexample, c))
  end)

  it("tells what a merge raises", function()
    local c = with(claim "(m, ℓ, z)", {merge = function(a, b) return a.n + b.n end})
    assert.matches("raises: .*nil value", ts.laws(c).homomorphism.counterexample)
  end)

  it("leaves out identity where there is no bottom", function()
    local found = ts.laws(claim "running mean")
    assert.equal(0, found.identity.cases)
    assert.matches("identity +0 cases +not tried: no bottom", tostring(found))
  end)

  it("tries keys that `sample` draws, as many as `rounds` says", function()
    local drawn = 0
    local found = ts.laws(with(claim "(m, ℓ, z)", {rounds = 5, sample = function(rng)
      drawn = drawn + 1
      return {s = rng(1, 2), v = rng()}
    end}))
    assert.is_true(found.ok and drawn >= 30)
    assert.equal(5, found.homomorphism.cases)
  end)

  it("tries each law in every round, with as many keys as it speaks of", function()
    local c = with(claim "(m, ℓ, z)", {rounds = 1, merge = function() error "no" end})
    for seed = 1, 8 do
      c.seed = seed
      local found = ts.laws(c)
      for _, name in ipairs{"homomorphism", "commutativity", "associativity"} do assert.is_false(found[name].ok, name) end
    end
  end)

  it("refuses what `sample` draws and is no key", function()
    for _, key in ipairs{3, {}, {s = 1, v = "x"}, false} do
      local ok, message = pcall(ts.laws, with(claim "(m, ℓ, z)", {sample = function() return key end}))
      assert.is_false(ok)
      assert.matches("bad argument #1 to 'laws' (field 'sample': a key {s = number, v = number} expected, got ", message, 1, true)
    end
  end)

  it("sees a masked key that a block cannot hold", function()
    local c = claim "max(-inf, -inf)" -- its blocks, too, take -inf from -inf
    local function masked(rng) return {s = rng(2) == 1 and -math.huge or 0, v = 1} end
    assert.is_false(ts.laws(with(c, {sample = masked})).homomorphism.ok)
  end)

  it("gives the same counterexample each time", function()
    local c = claim "in base 2"
    assert.equal(tostring(ts.laws(c)), tostring(ts.laws(c)))
  end)

  it("names a field that is missing, or that nobody knows", function()
    local c = claim "running mean"
    assert.error_matches(function() ts.laws(with(c, {wanted = c.want})) end, "bad argument #1 to 'laws' %(invalid field 'wanted'%)")
    assert.error_matches(function() ts.laws{merge = c.merge, finish = c.finish} end, "field 'summarize' is missing")
    assert.error_matches(function() ts.laws(3) end, "bad argument #1 to 'laws' %(table expected, got number%)")
    assert.error_matches(function() return ts.laws.wode end, "did you mean 'wide'")
  end)
end)

describe("ts.laws.wide", function()
  local wide = ts.laws.wide

  it("computes as doubles do where they reach", function()
    local x = ts.randn(1, 400, {seed = 1})
    for n = 1, 399 do
      local a, b = x(1, n), x(1, n + 1)
      assert.equal(a + b, (wide(a) + wide(b)):number())
      assert.equal(a - b, (wide(a) - wide(b)):number())
      assert.equal(a * b, (wide(a) * wide(b)):number())
      assert.equal(a / b, (wide(a) / wide(b)):number())
      assert.equal(a, wide(a):number())
    end
  end)

  it("holds what doubles cannot", function()
    local a = wide.exp(1e5)
    assert.equal(math.huge, a:number())
    assert.equal(0, wide.exp(-1e5):number())
    assert.is_true(math.abs((a * wide.exp(-1e5)):number() - 1) < 1e-9)
    assert.is_true(math.abs(a:log() - 1e5) < 1e-10)
    assert.equal(2, ((a + a) / a):number())
    local b = wide.exp(1e300)
    assert.equal(3, ((b + b + b) / b):number())
    assert.equal("0.5 * 2^101", tostring(wide(2.0 ^ 100)))
  end)

  it("agrees with exp over the range of doubles", function()
    for n = -700, 700, 7 do
      local x = n + 0.3
      local e = math.exp(x)
      assert.is_true(math.abs(wide.exp(x):number() - e) <= 2.0 ^ -50 * e)
    end
    assert.equal(2.0 ^ -1074, wide(2.0 ^ -1074):number())
    assert.equal(0, wide(0):number())
    assert.is_true(wide(0) == wide.exp(-math.huge))
    assert.is_true(wide(0) + wide(5) == wide(5))
  end)
end)
