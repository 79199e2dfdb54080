-- Score functions: the ready-made ones, and lifted against called.
local helper = require "spec.helper"
local core = require "tessera.core"
local generate = require "spec.generate"
local lift = require "tessera.lift"
local ts = require "tessera"
local score = ts.score
local math = math -- busted's globals have a metatable, which lifting would have to ask

local seed = tonumber(os.getenv "TESSERA_SEED") or 1
local count = (tonumber(os.getenv "TESSERA_FUZZ") or 2000) // 4

describe("ts.score", function()
  it("has the slopes of ALiBi's authors, off powers of two as well (X03)", function()
    local function slopes(heads)
      local f, list = score.alibi(heads), {}
      for h = 1, heads do list[h] = f(0, 1, 2, h) end
      return list
    end
    assert.are.same({2 ^ -1, 2 ^ -2, 2 ^ -3, 2 ^ -4, 2 ^ -5, 2 ^ -6, 2 ^ -7, 2 ^ -8}, slopes(8))
    assert.are.same({2 ^ -2, 2 ^ -4, 2 ^ -6, 2 ^ -8, 2 ^ -1, 2 ^ -3}, slopes(6))
    assert.are.same({1 / 16, 1 / 256, 1 / 4}, slopes(3))
    assert.are.same({2 ^ -8}, slopes(1))
    local half = {}
    for k = 1, 16 do half[k] = 2 ^ (-k / 2) end
    assert.are.same(half, slopes(16))
    assert.are.equal(5 - 3 / 4, score.alibi(8)(5, 7, 4, 2))
  end)

  it("does not care, in its output, where the queries sit", function()
    local n = 6
    local K, V, Q = ts.randn(n, 4, {seed = 1}), ts.randn(n, 4, {seed = 2}), ts.randn(n, 4, {seed = 3})
    local P = ts.problem {Q = Q, K = K, V = V, mask = ts.mask.causal(n), score = score.alibi(1)}
    local last = ts.problem {Q = Q:slice(n, n), K = K, V = V, mask = ts.mask.causal {1, n}, score = score.alibi(1)}
    local bound = P:bound().output:slice(n, n) + last:bound().output
    assert.within_bound(P:softmax():slice(n, n), (last:softmax()), bound)
  end)

  it("caps softly", function()
    local f = score.softcap(20)
    assert.are.equal(20 * ts.tanh(0.25), f(5))
    assert.are.equal(20, f(1e9))
    assert.are.equal(-20, f(-math.huge))
  end)

  it("adds a relative bias, the end's beyond the ends, from a list or a matrix", function()
    local list = score.relative {10, 20, 30, 40, 50}
    local matrix = score.relative(ts.matrix {{10, 20, 30, 40, 50}, {1, 2, 3, 4, 5}})
    local shared = score.relative(ts.matrix {{10, 20, 30, 40, 50}})
    for distance, want in pairs {[-9] = 10, [-2] = 10, [-1] = 20, [0] = 30, [1] = 40, [2] = 50, [9] = 50} do
      assert.are.equal(want + 0.5, list(0.5, 20, 20 + distance, 1))
      assert.are.equal(want + 0.5, matrix(0.5, 20, 20 + distance, 1))
      assert.are.equal(want / 10 + 0.5, matrix(0.5, 20, 20 + distance, 2))
      assert.are.equal(want + 0.5, shared(0.5, 20, 20 + distance, 2))
    end
  end)

  it("chains, the first one first", function()
    local f = score.chain(function(s) return s + 1 end, function(s, i, j) return s * i - j end, function(s, _, _, h) return s / h end)
    assert.are.equal(((3 + 1) * 5 - 2) / 4, f(3, 5, 2, 4))
    assert.are.equal(7, score.chain()(7, 1, 1, 1))
  end)

  it("names the argument that is wrong", function()
    for message, make in pairs {
      ["#1 to 'alibi' (heads: a whole number from 1 up expected, got 0)"] = function() score.alibi(0) end,
      ["#1 to 'softcap' (a number above 0 expected, got -1)"] = function() score.softcap(-1) end,
      ["#1 to 'relative' (2 biases, an odd number expected: from -r to r)"] = function() score.relative {1, 2} end,
      ["#1 to 'relative' (element 2 is a string, not a number)"] = function() score.relative {1, "2", 3} end,
      ["#2 to 'chain' (function expected, got nil)"] = function() score.chain(print, nil) end,
    } do
      local ok, err = pcall(make)
      assert.is_false(ok)
      assert.are.equal("bad argument " .. message, err:match("bad argument.*"))
    end
  end)
end)

describe("a score function", function()
  it("is lifted for the sizes of its problem", function()
    local slopes = {0.5, 0.25}
    local table_of = function(s, i, j, h) return s - slopes[h] * math.abs(i - j) end
    for _, f in ipairs {score.alibi(2), score.softcap(5), score.relative {1, 0, 1}, score.relative(ts.ones(2, 3)), table_of,
      score.chain(score.softcap(5), score.alibi(2)), function(s, i, j) if j > i then return s - 1 end return s end,
      function(s, i, j, h) return h == 1 and s or s * 0.5 + math.exp(-math.abs(i - j) / 4) end} do
      local program, why = score.compile(f, 10, 12, 2)
      assert.are.equal("program", core.kind(program), why)
    end
    local program, why = score.compile(table_of, 10, 12, 3)
    assert.are.equal(table_of, program)
    assert.are.equal("it may raise an error", why)
  end)

  it("is lifted for any sizes, or called where it may raise in some", function()
    for _, f in ipairs {function(s, i) if i > 2 then return "x" end return s end,
      function(s, i, j) return s + 1 // (i - j) end, function(s, i, j, h) return s + 1 // (i * j - h) end} do
      local program, why = score.compile(f)
      assert.are.equal(f, program)
      assert.are.equal("it may raise an error", why)
    end
    assert.are.equal("program", core.kind((score.compile(function(s, i, j, h) return s - h * (i - j) end))))
    assert.has_error(function() score.compile(function() return "x" end) end,
      "bad argument #1 to 'compile' (number expected from the function, got string)")
  end)

  it("is called where it has to be, and the roads agree bit for bit with integers", function()
    local o = {dtype = "f64"}
    local Q, K = ts.matrix(5, 2, function(i, j) return i - j end, o), ts.matrix(7, 2, function(i, j) return j - i % 3 end, o)
    local V = ts.matrix(7, 3, function(i, j) return i * j end, o)
    local function lifted(s, i, j) return s // 2 + (i - j) % 3 end
    local function called(s, i, j) local t = {lifted(s, i, j)} return t[1] end
    local a = ts.problem {Q = Q, K = K, V = V, scale = 1, base = 2, score = lifted}
    local b = ts.problem {Q = Q, K = K, V = V, scale = 1, base = 2, score = called}
    assert.matrix_identical(a:scores(), b:scores())
    assert.matrix_identical((a:attention {k = 2}), (b:attention {k = 3, order = "backward"}))
    assert.matrix_identical((a:softmax()), (b:softmax()))
  end)

  it("lets its errors through unchanged, for allowed cells only", function()
    local Q = ts.ones(3, 1)
    local function f(s, i, j) if i == 2 and j == 3 then error("no such pair", 0) end return s end
    local function softmax(m) return ts.problem {Q = Q, K = Q, V = Q, score = f, mask = m}:softmax() end
    assert.has_error(function() softmax(ts.mask.full(3)) end, "no such pair")
    assert.matrix_equal(ts.ones(3, 1), (softmax(ts.mask.causal(3))))
  end)
end)

-- Whether a program calls no function that the core's strips take from elsewhere than Lua.
local function is_plain(program)
  local text = program:text()
  for _, name in ipairs {"exp", "log", "tanh", "sin", "cos", "tan", "%^"} do
    if text:find(name) then return false end
  end
  return true
end

describe("ts.tanh in a score function", function()
  it("is lifted though nobody asked for ts.tanh before", function()
    local said = require "spec.helper".lua [[
      local ts = require "tessera"
      print(type(ts.score.compile(function(s) return 30 * ts.tanh(s / 30) end, 3, 5, 1)))
      print(type(ts.score.compile(function(s) return ts.exp(-s) + ts.log(s * s + 1) end, 3, 5, 1)))]]
    assert.equal("userdata\nuserdata\n", said)
  end)
end)

describe("random score functions", function()
  it("are the same lifted and called; without libm also on the core's strips (TESSERA_FUZZ / 4 of them)", function()
    local scores = {0.0, -0.0, 1.0, -2.5, 3.0, 1e-300, -7e15, 2.0 ^ 53, 1e300}
    local lifted, plain = 0, 0
    for k = seed, seed + count - 1 do
      local f, source = generate.func(k, {"s", "i", "j", "h"}, true)
      local n_q, n_k, heads = k % 4 + 1, k // 5 % 5 + 1, 2
      local program, why = lift.score(f, n_q, n_k, heads)
      assert(program or not why:find("the lifter failed", 1, true), ("%s\nTESSERA_SEED=%d\n%s"):format(why, k, source))
      if program then
        lifted = lifted + 1
        local on_strips = is_plain(program)
        if on_strips then plain = plain + 1 end
        for cell = 0, n_q * n_k * heads - 1 do
          local i, j, h = cell % n_q + 1, cell // n_q % n_k + 1, cell // (n_q * n_k) + 1
          for _, s in ipairs(scores) do
            local want, got = f(s, i, j, h) + 0.0, core.program.run(program, i, i, j, j, h, s)[1][1]
            local strip = on_strips and core.program.score(program, "f64", i, j, h, {s})[1] or got
            if (want ~= got or strip ~= got) and (want == want or got == got or strip == strip) then
              error(("TESSERA_SEED=%d TESSERA_FUZZ=4: s = %g in (%d, %d, %d): %.17g, lifted %.17g, on a strip %.17g\n%s")
                :format(k, s, i, j, h, want, got, strip, source))
            end
          end
        end
      end
    end
    helper.tell("%d random score functions: %d lifted, %d of them without libm; each as when called", count, lifted, plain)
    assert(lifted > count / 2 and plain > count / 10, lifted .. " lifted, " .. plain .. " of them without libm")
  end)
end)
