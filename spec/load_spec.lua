-- What the module does to the process that loads it: nothing.
local helper = require "spec.helper"

-- Work for several threads, which it must have found.
local work = [[
local ts = require "tessera"
local X = ts.randn(512, 32, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, heads = 4}
local O = P:attention{q = 16, threads = 8}
assert(tonumber(io.open("/proc/self/status"):read("a"):match "Threads:%s*(%d+)") > 1)
]]

-- Runs code in a fresh lua5.4 that must exit with 0; what it printed.
local function says(code, environment)
  local said, status = helper.lua(code, environment)
  assert(status == 0, ("status %d: %s"):format(status, said))
  return said
end

describe("the module", function()
  it("leaves denormals and rounding as they were: when loaded, after calls, in coroutines (N02)", function()
    says([[
      local function probe()
        local x, third = 2.0 ^ -1022, 1 / 3
        assert(x / 2 > 0 and 5e-324 * 1.0 > 0, "denormals are flushed")
        assert(string.format("%.17g", third) == "0.33333333333333331" and 1 + 2.0 ^ -53 == 1, "rounding has changed")
      end
      probe() require "tessera" probe()
      coroutine.wrap(probe)()
    ]] .. work .. [[ probe() coroutine.wrap(function() P:attention() P:softmax() probe() end)() ]])
  end)

  it("lets the process exit with status 0 after parallel work, whatever its threads are doing (L08)", function()
    for _, policy in ipairs {"", "OMP_WAIT_POLICY=active", "OMP_WAIT_POLICY=passive"} do
      for _ = 1, 5 do says(work, "OMP_NUM_THREADS=8 " .. policy) end
    end
    says(work .. "os.exit(true, true)")
    says(work .. "os.exit(true, false)")
  end)

  it("can start other programs after parallel work (L08)", function()
    assert.equal("a\nb\n", says(work .. [[
      os.execute "echo a"
      io.write(io.popen("echo b"):read "a")
    ]]))
  end)

  it("lives in a hundred states of one process, one after the other, and leaves no byte behind (L08)", function()
    assert.same({"", 0}, {helper.host "spec/host/states.lua"})
  end)

  it("works on in one state when another that used it is closed (X07)", function()
    assert.same({"", 0}, {helper.host "spec/host/two_states.lua"})
  end)

  it("works in eight states at once, each on a thread of its own (X07)", function()
    assert.same({"", 0}, {helper.host "spec/host/at_once.lua"})
  end)

  it("keeps no large arrays on the stacks of threads (X08)", function()
    says([[
      local ts = require "tessera"
      local function draw(rows, seed) return ts.rand(rows, 4096, {seed = seed, dtype = "f32"}) end
      local P = ts.problem{Q = draw(8, 1), K = draw(600, 2), V = draw(600, 3)}
      local O = P:attention{q = 2, k = 512, threads = 4}
      assert(O == P:attention{q = 2, k = 512, threads = 1} and ts.diff(O, (P:softmax())).abs < 1e-5)
      P:summary() P:oracle{bits = 64, rows = {1}}
    ]], "OMP_STACKSIZE=256k OMP_NUM_THREADS=4")
  end)

  it("can be forgotten and required again; what came from the first goes on", function()
    says [[
      local ts = require "tessera"
      local X = ts.randn(64, 8, {seed = 1})
      local P = ts.problem{Q = X, K = X, V = X, mask = ts.mask.causal(64)}
      local O, S = P:attention(), P:summary(1, 30)
      for name in pairs(package.loaded) do if name:find "^tessera" then package.loaded[name] = nil end end
      local again = require "tessera"
      assert(again ~= ts)
      local R = again.problem{Q = X, K = X, V = X, mask = again.mask.causal(64)}
      assert(R:attention() == O and P:attention() == O)
      assert((S * R:summary(31, 64)):output() == (P:summary(1, 30) * P:summary(31, 64)):output())
      assert(tostring(X) == tostring(again.randn(64, 8, {seed = 1})) and not pcall(function() return X.typo end))
    ]]
  end)

  it("leaves the host's number of threads alone (X09)", function()
    assert.same({"", 0}, {helper.host("spec/host/threads.lua", "OMP_NUM_THREADS=3")})
  end)

  it("works in a forked process, where libgomp's threads are gone (L08)", function()
    assert.same({"", 0}, {helper.host("spec/host/fork.lua", "OMP_NUM_THREADS=4")})
  end)

  it("turns each allocation that fails into an error, and leaks nothing (L02)", function()
    assert.same({"", 0}, {helper.host "spec/host/starve.lua"})
  end)

  it("refuses an instruction set that this processor lacks, or that is none, and lists what there is (X11)", function()
    local said, status = helper.lua([[require "tessera"]], "TESSERA_ISA=mmx")
    assert.equal(1, status)
    assert.matches("mmx", said, 1, true)
    local offered = helper.run "scripts/isas"
    for isa in offered:gmatch "%w+" do
      assert.matches(isa, said, 1, true)
      says([[require "tessera"]], "TESSERA_ISA=" .. isa)
    end
    for _, isa in ipairs {"sse2", "avx2", "avx512", "neon"} do
      if not offered:find(isa, 1, true) then
        assert.equal(1, select(2, helper.lua([[require "tessera"]], "TESSERA_ISA=" .. isa)))
      end
    end
  end)

  it("adds no global and loads twice as one table", function()
    says [[
      local before = {}
      for name in pairs(_G) do before[name] = true end
      local ts = require "tessera"
      assert(ts == require "tessera")
      for name in pairs(_G) do assert(before[name], name) end
    ]]
  end)
end)

describe("scripts/tessera", function()
  it("runs a script from any folder, with its arguments", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write [[local ts = require "tessera" print(arg[1], arg[2], ts.zeros(2, 3).cols)]]
    file:close()
    local said = helper.run(("here=$PWD; cd / && unset LUA_PATH_5_4 LUA_CPATH_5_4 && \"$here/scripts/tessera\" %s 'a b' c"):format(path))
    os.remove(path)
    assert.equal("a b\tc\t3\n", said)
  end)
end)
