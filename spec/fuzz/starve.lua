-- Everything public with memory that fails at the n-th request, for each n until a call gets all it asks for: an error each
-- time, nothing kept, and right answers afterwards.
--
--   spec/fuzz/run starve [every = 1]: with 5, every fifth n from the twentieth on
local public = require "spec.fuzz.public"
local right = require "spec.fuzz.right"
local settled = require "spec.host.used"
local ts = require "tessera"

local every, slow = tonumber(arg[1]) or 1, tonumber(os.getenv "TESSERA_SLOW") or 1
io.output("/dev/null")
local o = right.objects()
local functions, calls = public.functions(o), right.calls(o, "./")
local last = assert(io.open("last", "w"))
last:setvbuf "no"
local tally = {calls = 0, failures = 0, faults = {}}

local function fault(format, ...) tally.faults[#tally.faults + 1] = format:format(...) end

-- Work space is given back first.
local function used()
  ts.trim()
  return settled()
end

local function limited(f, arguments, n)
  host.limit(n)
  f(table.unpack(arguments, 1, arguments.n))
end

-- Whether the n-th request was never made. Nothing of the call is alive when this returns.
local function attempt(name, f, arguments, n)
  local ok, message = pcall(limited, f, arguments, n)
  local enough = host.limit() > 0
  if not ok and not enough then
    tally.failures = tally.failures + 1
    if not tostring(message):find("memory", 1, true) then fault("%s, request %d: %s", name, n, tostring(message)) end
  end
  return enough
end

-- All n; `step` grows where not every one is wanted.
local function pass(name, f, arguments, few)
  local n = 1
  while not attempt(name, f, arguments, n) do n = n + ((few or every > 1) and n >= 20 and math.max(every, few and n // 8 or 1) or 1) end
end

-- Calls of very many requests: beyond the twentieth, every eighth part of those so far.
local long = {["problem:verify"] = true, ["ts.laws"] = true, ["problem:trace"] = true}

local function starve(name, f, arguments)
  last:seek "set"
  last:write(name, "\n")
  host.alarm(math.ceil(200 * slow))
  tally.calls = tally.calls + 1
  pcall(f, table.unpack(arguments, 1, arguments.n)) -- loads what is loaded lazily
  pass(name, f, arguments, long[name])
  pass(name, f, arguments, true)
  local before, kept = used(), nil
  for _ = 1, 3 do
    pass(name, f, arguments, true)
    local now = used()
    kept, before = now - before, now
    if kept <= 0 then return end
  end
  fault("%s: %d bytes leak", name, kept)
end

local X = ts.randn(30, 8, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, heads = 2, mask = ts.mask.causal(30)}
local O = P:attention{k = 7}

-- These grow what they are given, measure, or raise what is no lack of memory.
local function is_left_out(name) return name:find "__newindex$" end
local left_out = {["core.peak"] = true, ["core.bandwidth"] = true, ["core.fail"] = true, ["core.fail_arg"] = true, ["layer:step"] = true}
local names = {}
for _, call in ipairs(calls) do
  local f = functions[call[1]]
  if f and not left_out[call[1]] and not is_left_out(call[1]) then
    local arguments = {n = 0}
    for n, x in pairs(call) do
      if math.type(n) and n > 1 then arguments[n - 1], arguments.n = x, math.max(arguments.n, n - 1) end
    end
    names[call[1]] = true
    starve(call[1], f, arguments)
  end
end
-- What needs nothing but its object.
for name, f in pairs(functions) do
  local object = o[name:match "^%a+"]
  if not names[name] and object and not name:find "^core" and not is_left_out(name) then starve(name, f, {n = 2, object, object}) end
end

local left = io.popen("ls saved*.part 2>/dev/null"):read "a"
if left ~= "" then fault("files left behind: %s", left) end
if P:attention{k = 7} ~= O or not P:verify().ok then fault "answers are wrong afterwards" end
io.stderr:write(("failing memory: %d calls, %d requests that failed\n"):format(tally.calls, tally.failures))
for n = 1, math.min(#tally.faults, 30) do io.stderr:write("  FAULT: ", tally.faults[n], "\n") end
os.exit(#tally.faults == 0, true)
