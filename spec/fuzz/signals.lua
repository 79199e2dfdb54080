-- Ctrl-C at random moments in every kind of long call, on the main thread and in coroutines: each raises "interrupted!" at once,
-- and everything stays usable.
--
--   spec/fuzz/run signals [count = 200] [seed = 1]
local core = require "tessera.core"
local ts = require "tessera"
local waited = require "spec.waited"

local count, seed = tonumber(arg[1]) or 200, tonumber(arg[2]) or 1
local slow = tonumber(os.getenv "TESSERA_SLOW") or 1
local SOON, LATEST = 0.1, 0.5 -- seconds; both are `slow` times as long before anything is a fault
math.randomseed(seed)
io.output("/dev/null")

local n = 3000
local Q, K, V = ts.rand(n, 64, {seed = 1}), ts.rand(n, 64, {seed = 2}), ts.rand(n, 64, {seed = 3})
local P = ts.problem{Q = Q, K = K, V = V}
local small = ts.problem{Q = Q:slice(1, 60), K = K:slice(1, 60), V = V:slice(1, 60)}
local M = ts.rand(900, 900, {seed = 4})
M:save "large.csv"
local thirds = ts.mask(1 << 14, 1 << 14, function(i, j) return (i * j + i // 7) % 3 == 0 end)
local layer = ts.heads{heads = 4, d_q = 64, seed = 1}

-- Each goes on for ever, were it not for the signal.
local function forever(f)
  return function() while true do f() end end
end
local works = {
  attention = forever(function() P:attention() end),
  softmax = forever(function() P:softmax() end),
  summary = forever(function() P:summary() end),
  weights = forever(function() P:weights() end),
  oracle = forever(function() small:oracle{bits = 4096} end),
  verify = forever(function() small:verify() end),
  bound = forever(function() P:bound{k = 64} end),
  ["called mask"] = forever(function() ts.mask(3000, 3000, function(i, j) return tostring(i + j):find "1" ~= nil end) end),
  ["mask count"] = forever(function() thirds:count() end),
  ["mask of a matrix"] = forever(function() ts.mask.from(M) end),
  compose = forever(function() ts.mask.window(1500, 9, 9):compose(50) end),
  ["called score"] = forever(function() P:with{score = function(s) return tonumber(s) end}:attention() end),
  product = forever(function() return M * M end),
  elementwise = forever(function() return (M + M):exp():softmax() end),
  load = forever(function() ts.load "large.csv" end),
  save = forever(function() M:save "saved.csv" end),
  layer = forever(function() layer(Q) end),
  random = forever(function() ts.randn(2000, 2000, {seed = 1}) end),
  Lua = forever(function() end),
}
if pcall(function() return ts.experiment end) then
  works.experiment = forever(function()
    ts.experiment{run = function(p) return {x = P:softmax():sum() + p.a} end, grid = {a = {1, 2, 3}}, seeds = 1}
  end)
end
local names = {}
for name in pairs(works) do names[#names + 1] = name end
table.sort(names)

-- f with a signal on its way: the error, how late it came, and for how long other processes kept this one waiting, or all of it
-- stood still.
local function stopped(f, after)
  local waited_since, due = waited(), nil
  host.paused()
  local ok, message = pcall(core.guarded, function()
    due = ts.clock() + after
    host.signal(after)
    f()
  end)
  local late = ts.clock() - due
  host.signal(0)
  assert(not ok, "it came to an end")
  return tostring(message), late, math.max(waited_since(), host.paused())
end

local function in_coroutine(f)
  return function()
    local ok, message = coroutine.resume(coroutine.create(f))
    assert(not ok)
    error(message, 0)
  end
end
-- A loop of plain Lua in a coroutine is out of reach of the hook, as in lua.c, unless the coroutine is guarded itself.
local function guarded_in_coroutine(f)
  return function(after)
    local message, late, others
    assert(coroutine.resume(coroutine.create(function() message, late, others = stopped(f, after) end)))
    return message, late, others
  end
end

local last = assert(io.open("last", "w"))
last:setvbuf "no"
local soon, in_time, worst, worst_name, again, faults = 0, 0, 0, "", 0, {} -- soon: by the clock alone
local X = ts.randn(30, 8, {seed = 1})
local usable = ts.problem{Q = X, K = X, V = X, heads = 2}
local right = usable:attention{k = 7}

-- One signal in work `name`, in one of three ways.
local function interrupt(name, way, after)
  local f = works[name]
  last:seek "set"
  last:write(("%s, way %d, after %g s\n"):format(name, way, after))
  host.alarm(math.ceil(60 * slow))
  if way == 0 then return stopped(f, after) end
  if way == 1 or name == "Lua" or name:find "called" then return guarded_in_coroutine(f)(after) end
  return stopped(in_coroutine(f), after)
end

for k = 1, count do
  local name, after, tries = names[(k - 1) % #names + 1], 1e-6 + math.random() ^ 2 * 0.2, 0
  local message, late, others
  repeat -- a signal says nothing where other processes may be why it is late; five times over, what they took is taken off
    message, late, others = interrupt(name, k % 3, after)
    tries = tries + 1
    if not message:find("interrupted!", 1, true) then faults[#faults + 1] = ("%s, after %.4f s: %s"):format(name, after, message) end
  until late < SOON or others < late - SOON or tries == 5
  again = again + tries - 1
  if late < SOON then soon = soon + 1 else late = math.max(0, late - others) end
  if late < SOON * slow then in_time = in_time + 1 end
  if late > worst then worst, worst_name = late, name end
  if usable:attention{k = 7} ~= right then faults[#faults + 1] = name .. ": answers are wrong afterwards" end
end
host.alarm(0)
local well = P:softmax():identical((P:softmax())) and ts.diff(ts.load "large.csv", M).abs == 0
io.stderr:write(("signals (seed %d): %d in %d kinds of call, %d within %g s, %d but for other processes, the slowest %.3f s (%s); "
  .. "%d again, the machine was busy\n"):format(seed, count, #names, soon, SOON, in_time, worst, worst_name, again))
for _, fault in ipairs(faults) do io.stderr:write("  FAULT: ", fault, "\n") end
local quick = in_time >= math.floor(0.98 * count) and worst <= LATEST * slow
if not quick then io.stderr:write "  FAULT: too late\n" end
os.exit(#faults == 0 and quick and well, true)
