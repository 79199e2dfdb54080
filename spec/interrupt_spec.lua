-- Ctrl-C: long calls stop at once, in scripts, under core.guarded and in coroutines; everything stays usable.
local helper = require "spec.helper"

-- What a child prints that sends itself SIGINT after `seconds`, in a process of its own. `body` has ts, core, P (a problem
-- that takes long), and after(seconds), which returns the moment of the signal.
local function child(body)
  return helper.lua([[
    local ts, core = require "tessera", require "tessera.core"
    local n = 6000
    local P = ts.problem{Q = ts.rand(n, 64, {seed = 1}), K = ts.rand(n, 64, {seed = 2}), V = ts.rand(n, 64, {seed = 3})}
    local stat = io.open "/proc/self/stat"
    local pid = stat:read "n"
    stat:close()
    local senders = {} -- a file that is collected would be waited for
    local function after(seconds) -- by io.popen: os.execute would lose a SIGINT that comes before its shell has ended
      senders[#senders + 1] = io.popen(("sleep %g; kill -INT %d 2>/dev/null"):format(seconds, pid))
      return ts.clock() + seconds
    end
    local calls = {
      attention = function() while true do P:attention() end end,
      softmax = function() while true do P:softmax() end end,
      summary = function() while true do P:summary() end end,
      block = function()
        local K = ts.rand(500000, 8, {seed = 1})
        local long = ts.problem{Q = ts.rand(192, 8, {seed = 2}), K = K, V = K}
        while true do long:summary() end
      end,
      weights = function() while true do P:weights() end end,
      called = function() P:with{score = function(s) return tonumber(s) end}:attention() end,
      drawing = function() ts.mask.causal(40000):text() end,
      loop = function() while true do end end,
      comparing = function() while true do local _ = across == across:t():t() end end,
      identical = function() while true do across:identical(across) end end,
      diff = function() while true do ts.diff(across, across) end end,
      ulps = function() while true do ts.ulps(across, across) end end,
      table = function() local A = ts.zeros(4000, 5000) while true do A:table() end end,
      eye = function() while true do ts.eye(4000) end end,
      linspace = function() while true do ts.linspace(0, 1, 50000000, {dtype = "f32"}) end end,
    }
  ]] .. body)
end

describe("Ctrl-C", function()
  -- What one call of takes a third of a second or more.
  local across = 'across = ts.zeros(8000, 8000, {dtype = "f32"}):t()'
  local prepared = {comparing = across, identical = across, diff = across, ulps = across}
  for _, name in ipairs{"attention", "softmax", "summary", "block", "weights", "called", "drawing", "loop",
    "comparing", "identical", "diff", "ulps", "table", "eye", "linspace"} do
    for _, where in ipairs{"the main thread", "a coroutine"} do
      it(("stops %s within 0.1 s on %s, and all goes on"):format(name, where), function()
        local said = child((prepared[name] or "") .. ([[

          local guarded = function() core.guarded(calls.%s) end
          local run = %s and guarded or function()
            local ok, err = coroutine.resume(coroutine.create(guarded))
            if not ok then error(err, 0) end
          end
          -- The quickest of three, or of ten where the machine is so busy that the signal itself comes late.
          local waited, least, told, tries = require "spec.waited", math.huge, 0, 0
          repeat
            local waited_since, due = waited(), nil
            local ok, err = pcall(function()
              due = after(0.05)
              run()
            end)
            tries = tries + 1
            if due then -- else the signal came while it was still being prepared
              least = math.min(least, ts.clock() - due - waited_since())
              told = told + 1
              if told <= 3 then print(ok, (tostring(err):gsub("^.-:%%d+: ", ""))) end
            end
          until told >= 3 and least < %g or tries == 10
          print(least < %g or least)
          local m = ts.ones(2, 2)
          print(ts.problem{Q = m, K = m, V = m}:attention() == m)
        ]]):format(name, where == "the main thread" and "true" or "false", 0.1 * helper.slow, 0.1 * helper.slow))
        assert.are.equal(("false\tinterrupted!\n"):rep(3) .. "true\ntrue\n", said)
      end)
    end
  end

  it("ends a script as lua.c has it, with its usual message", function()
    local said, status = child "after(0.05) calls.attention()"
    -- In Lua, as when the machine is busy and the signal comes early, the message has a place.
    assert.are.equal("lua5.4: interrupted!", (said:match "^[^\n]+":gsub("%(command line%):%d+: ", "")))
    assert.are.equal(1, status)
  end)
  it("raises in a coroutine of a script, too, where the hook does not fire", function()
    local said = child [[
      after(0.05)
      local thread = coroutine.create(calls.attention)
      local old = print
      pcall(function() old(select(2, coroutine.resume(thread))) end)
      print(coroutine.status(thread))]]
    assert.is_truthy(said:find("dead", 1, true), said)
  end)
  it("leaves the handler as it was", function()
    local said, status = child [[
      core.guarded(function() end)
      pcall(core.guarded, error, "x")
      coroutine.resume(coroutine.create(function() core.guarded(error) end))
      print(pcall(core.guarded, function() return core.guarded(function() return 1, 2 end) end))
      after(0.05)
      calls.loop()]]
    assert.are.equal("true\t1\t2\n", said:match "^[^\n]+\n")
    assert.is_truthy(said:find("interrupted!", 1, true))
    assert.are.equal(1, status)
  end)
end)

describe("what a call tries for itself", function()
  local attempt = require "tessera.attempt"
  it("lets Ctrl-C and lack of memory pass, and keeps every other error", function()
    assert.are.same({true, 1, nil, 3}, {attempt(function(...) return ... end, 1, nil, 3)})
    assert.are.same({false, "no"}, {attempt(error, "no", 0)})
    for _, message in ipairs{"a.lua:1: interrupted!", "not enough memory"} do
      assert.are.same({false, message}, {pcall(attempt, error, message, 0)})
    end
  end)
  it("is stopped while bytecode is read, too, where it was taken for bytecode that cannot be", function()
    local bytecode = require "tessera.lift.bytecode"
    local function f(i, j) return j <= i end
    for steps = 1, 400, 7 do
      local thread = coroutine.create(bytecode.read)
      debug.sethook(thread, function() debug.sethook(thread) error("interrupted!", 0) end, "", steps)
      assert.are.same({false, "interrupted!"}, {coroutine.resume(thread, f)})
    end
  end)
end)

describe("core.guarded", function()
  local core = require "tessera.core"
  it("returns what the function returns, and passes errors on unchanged", function()
    assert.are.same({1, nil, 3}, {core.guarded(function(...) return ... end, 1, nil, 3)})
    local reason = {}
    local ok, err = pcall(core.guarded, error, reason)
    assert.is_false(ok)
    assert.are.equal(reason, err)
    assert.has_error(function() core.guarded() end)
  end)
end)

describe("core.close", function()
  local core = require "tessera.core"
  -- What closing gives for a coroutine that has begun: of one that waits, has failed, has ended, or fails to close.
  local function closed(close)
    local thread = coroutine.create(function() close(coroutine.running()) end)
    local list = {select(2, coroutine.resume(thread))}
    local function failing() error "closing" end
    for _, body in ipairs{coroutine.yield, function() error "body" end, print, function()
      local _ <close> = setmetatable({}, {__close = failing})
      coroutine.yield()
    end} do
      thread = coroutine.create(body)
      coroutine.resume(thread)
      list[#list + 1] = {close(thread)}
      list[#list + 1] = coroutine.status(thread)
    end
    local outer = coroutine.running()
    list[#list + 1] = {coroutine.resume(coroutine.create(function() close(outer) end))}
    return list
  end
  it("is coroutine.close", function()
    local wanted = closed(coroutine.close)
    assert.are.same(wanted, closed(core.close))
    assert.matches("cannot close a running coroutine", wanted[1])
    assert.matches("closing", wanted[8][2])
    assert.has_error(function() core.close(1) end, "bad argument #1 to 'close' (coroutine expected, got number)")
  end)
  it("ends in an error, not in a crash, where what it closes closes others without end", function()
    local said, status = helper.lua [[
      local core = require "tessera.core"
      local function close()
        local thread = coroutine.create(function()
          local _ <close> = setmetatable({}, {__close = close})
          coroutine.yield()
        end)
        assert(core.resume(thread))
        assert(core.close(thread))
      end
      print(pcall(close))]]
    assert.matches("^false\t.*C stack overflow", said)
    assert.are.equal(0, status)
  end)
end)
