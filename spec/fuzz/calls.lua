-- Bad calls: everything public with right arguments spoilt; each must end in an error in words, or an answer.
--
--   spec/fuzz/run calls [count = 10000] [seed = 1]
local core = require "tessera.core"
local public = require "spec.fuzz.public"
local right = require "spec.fuzz.right"
local ts = require "tessera"
local wrong = require "spec.fuzz.wrong"

local count, seed = tonumber(arg[1]) or 10000, tonumber(arg[2]) or 1
local slow = tonumber(os.getenv "TESSERA_SLOW") or 1 -- how much slower sanitizers make it all
local BLOCK, MOST, LONGEST = 500, 256 << 20, 0.5 * slow -- calls between fresh objects; bytes; seconds
io.output("/dev/null")

local random = math.random
local last = assert(io.open("last", "w"))
last:setvbuf "no"
local tally = {calls = 0, errors = 0, answers = 0, stopped = 0, slowest = 0, faults = {}}

-- Telling -----------------------------------------------------------------------------------------

local function shown(x, depth)
  if type(x) == "string" then return #x > 40 and ("(string of %d bytes)"):format(#x) or ("%q"):format(x):gsub("\n", "n") end
  if type(x) ~= "table" or getmetatable(x) or depth > 2 then return math.type(x) and tostring(x) or core.kind(x) end
  local parts = {}
  for key, value in next, x do
    parts[#parts + 1] = (math.type(key) and "" or tostring(key) .. "=") .. shown(value, depth + 1)
    if #parts > 12 then parts[#parts] = "..." break end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function told(name, arguments)
  local parts = {}
  for n = 1, arguments.n do parts[n] = shown(arguments[n], 0) end
  return ("%s(%s)"):format(name, table.concat(parts, ", "))
end

local function fault(block, call, what)
  local key = call:match "^[^(]+" .. what:gsub("%d+", "N")
  if tally.faults[key] then return end
  tally.faults[key] = true
  tally.faults[#tally.faults + 1] = ("block %d: %s: %s"):format(block, call, what)
end

-- Judging -----------------------------------------------------------------------------------------

-- What is wrong with an error, or nil. The C module is there for our own files, and its words may be Lua's.
local function bad_message(name, message)
  if type(message) ~= "string" then return "raised a " .. type(message) end
  if name:find "^core" then return end
  if #message == 0 or #message > 5000 then return ("a message of %d bytes"):format(#message) end
  if message:find("interrupted!", 1, true) then return end
  if message:find("lua/tessera/", 1, true) then return "failed inside: " .. message end
  if message:find("bad argument #%-") or message:find("to '?'", 1, true) then return message end
end

-- Whether a result can be used, whatever it is.
local function use(x)
  local text = tostring(x)
  if core.kind(x) == "matrix" then
    if x.rows > 0 and x.cols > 0 then return #text + x(1, 1) + x(-1, -1) end
  elseif core.kind(x) == "mask" then
    if x.rows > 0 and x.cols > 0 then return x.heads and x(1, 1, 1) or not x.heads and x(x.rows, x.cols) end
  end
end

local function try(block, name, f, arguments)
  local call = told(name, arguments)
  last:seek("set")
  last:write(call, "\n")
  host.alarm(math.ceil(60 * slow))
  local began, worked = ts.clock(), os.clock()
  host.signal(LONGEST)
  local result = table.pack(pcall(core.guarded, f, table.unpack(arguments, 1, arguments.n)))
  host.signal(0)
  local seconds = math.min(ts.clock() - began, os.clock() - worked) -- others may have the machine for a while
  tally.calls = tally.calls + 1
  tally.slowest = math.max(tally.slowest, seconds)
  if seconds > 2 * LONGEST then fault(block, call, "took longer than it may") end
  if result[1] then
    tally.answers = tally.answers + 1
    for n = 2, result.n do
      local ok, message = pcall(use, result[n])
      if not ok and not name:find "^core" and message ~= "no" then
        fault(block, call, "gives what cannot be used: " .. tostring(message))
      end
    end
  else
    local message = result[2]
    tally.errors = tally.errors + 1
    if type(message) == "string" and message:find("interrupted!", 1, true) then tally.stopped = tally.stopped + 1 end
    local bad = message ~= "no" and bad_message(name, message)
    if bad then fault(block, call, bad) end
  end
end

-- Calls -------------------------------------------------------------------------------------------

-- These do what they are told to the process, wait for somebody, or measure for as long as they are told.
local left_out = {["core.wait"] = true, ["core.guarded"] = true, ["core.home"] = true, ["core.peak"] = true,
  ["core.bandwidth"] = true}

local function sorted_names(functions)
  local names = {}
  for name in pairs(functions) do
    if not left_out[name] then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- One block of calls, on fresh objects.
local function run_block(block, size)
  math.randomseed(seed, block)
  local o = right.objects()
  local functions, by_name = public.functions(o), {}
  for _, call in ipairs(right.calls(o, "./")) do
    local list = by_name[call[1]] or {}
    by_name[call[1]] = list
    list[#list + 1] = call
  end
  local names, draw = sorted_names(functions), wrong.values(o)
  for _ = 1, size do
    local name = names[random(#names)]
    local known = by_name[name]
    local call = known and known[random(#known)] or {name, name:find "^core" and 1 or o[name:match "^%a+"], 1}
    local arguments = {n = 0}
    for n, x in pairs(call) do
      if n > 1 then arguments[n - 1], arguments.n = x, math.max(arguments.n, n - 1) end
    end
    try(block, name, functions[name], wrong.spoil(arguments, draw, random))
  end
  return names, by_name
end

-- Right answers still, after all that.
local function usable()
  ts.threads(0)
  local X = ts.randn(40, 8, {seed = 1})
  local P = ts.problem{Q = X, K = X, V = X, heads = 2, mask = ts.mask.causal(40)}
  return P:verify().ok and ts.diff((P:attention{k = 7}), (P:softmax())).abs < 1e-12
end

-- Bytes in use when nothing more can be collected.
local function used()
  ts.trim()
  for _ = 1, 4 do collectgarbage() end
  return host.used()
end

local function say(format, ...) io.stderr:write(format:format(...), "\n") end

used() -- loads what is loaded lazily
host.most(MOST)
local names, by_name
local blocks = math.max(2, (count + BLOCK - 1) // BLOCK)
for block = 1, blocks do names, by_name = run_block(block, BLOCK) end
-- The last block again and again: what is kept the second time is lost.
local before = used()
for _ = 1, 3 do run_block(blocks, BLOCK) end
local kept = used() - before
local peak = host.peak()
host.most()

local without = {}
for _, name in ipairs(names) do
  if not by_name[name] then without[#without + 1] = name end
end
say("bad calls (seed %d): %d of %d functions, %d errors, %d answers, %d stopped after %g s; slowest %.2f s, at most %.0f MB", seed,
  tally.calls, #names, tally.errors, tally.answers, tally.stopped, LONGEST, tally.slowest, peak / 2 ^ 20)
say("  1500 calls again keep %d bytes; called with made-up arguments only: %s", kept, table.concat(without, " "))
for n, text in ipairs(tally.faults) do say("  FAULT %d, %s", n, text) end
assert(usable(), "answers are wrong afterwards")
if kept > 64 << 10 then say("  FAULT: %d bytes leak", kept) end
os.exit(#tally.faults == 0 and kept <= 64 << 10, true)
