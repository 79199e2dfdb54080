-- Mutated files: each is an error in words or the right matrix, at once, and within its size.
--
--   spec/fuzz/run files [count = 5000] [seed = 1]
local core = require "tessera.core"
local mutate = require "spec.fuzz.mutate"
local plain = require "spec.fuzz.plain"
local ts = require "tessera"

local count, seed = tonumber(arg[1]) or 5000, tonumber(arg[2]) or 1
local slow = tonumber(os.getenv "TESSERA_SLOW") or 1
local LONGEST, MOST = 0.1, 64 << 20 -- seconds, bytes
local fixtures = arg[0]:match "^(.*)fuzz/files.lua$" .. "fixtures/"
math.randomseed(seed)

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function write(path, bytes)
  local file <close> = assert(io.open(path, "wb"))
  file:write(bytes)
end

-- What is mutated: every fixture but two that are mostly padding, and a file of each other kind that is written.
local function seeds()
  local list = {}
  for name in contents(fixtures .. "EXPECTED.json"):gmatch '"([%w_]+%.%w+)":' do
    if name ~= "deep.safetensors" and name ~= "hdr_long.npy" then
      list[#list + 1] = {ending = name:match "%.%a+$", bytes = contents(fixtures .. name), load = ts.load}
    end
  end
  local X = ts.matrix{{1, 2.5, -3}, {0 / 0, 1 / 0, 1e-300}}
  local P = ts.problem{Q = X:t(), K = X:t(), V = X:t(), nonfinite = "propagate"}
  local weights = {}
  for _, name in ipairs{"q_proj", "k_proj", "v_proj", "o_proj"} do weights["layer.0." .. name .. ".weight"] = ts.eye(2) end
  local function add(ending, load, save)
    save("seed" .. ending)
    list[#list + 1] = {ending = ending, bytes = contents("seed" .. ending), load = load}
  end
  for _ = 1, 4 do -- as often as some of the fixtures
    for _, ending in ipairs{".csv", ".npz", ".npy"} do add(ending, ts.load, function(path) X:save(path) end) end
    add(".npz", ts.names, function(path) ts.save(path, weights) end)
    add(".safetensors", ts.names, function(path) ts.save(path, weights, {metadata = {a = "b"}}) end)
    add(".safetensors", ts.summary.load, function(path) P:summary(1, 2):save(path) end)
    add(".safetensors", function(path) return ts.heads.load(path, {heads = 1}) end, function(path) ts.save(path, weights) end)
  end
  return list
end

local faults = {}
local function fault(n, name, what)
  if #faults < 20 then faults[#faults + 1] = ("file %d (%s): %s"):format(n, name, what) end
end

local tally = {errors = 0, matrices = 0, compared = 0, slowest = 0, most = 0}

local function check_answer(n, from, bytes, result)
  tally.matrices = tally.matrices + 1
  if core.kind(result) ~= "matrix" then
    if core.kind(result) == "table" then for _, m in pairs(result) do tostring(m) end end
    return
  end
  local rows, cols, at = plain(from.ending, bytes)
  if not rows then return fault(n, from.ending, "loaded, but is none for a plain reader: " .. tostring(cols)) end
  tally.compared = tally.compared + 1
  if result.rows ~= rows or result.cols ~= cols then
    return fault(n, from.ending, ("%dx%d instead of %dx%d"):format(result.rows, result.cols, rows, cols))
  end
  for i = 1, rows do
    for j = 1, cols do
      local got, want = result(i, j), at(i, j)
      if got ~= want and (got == got or want == want) then
        return fault(n, from.ending, ("(%d, %d) is %s, not %s"):format(i, j, got, want))
      end
    end
  end
end

-- How long f takes, by the clock or by what it works: others may have the machine for a while; and what pcall gives.
local function timed(f, ...)
  local began, worked = ts.clock(), os.clock()
  local ok, result = pcall(f, ...)
  return math.min(ts.clock() - began, os.clock() - worked), ok, result
end

local function try(n, from, bytes)
  local name = "mutated" .. from.ending
  write(name, bytes)
  host.alarm(math.ceil(60 * slow))
  host.peak()
  local held = host.used()
  local seconds, ok, result = timed(from.load, name)
  local more, tries = host.peak() - held - #bytes, 1
  while seconds > LONGEST and tries < 5 do -- again: the machine may have been busy
    seconds, tries = math.min(seconds, (timed(from.load, name))), tries + 1
  end
  tally.slowest, tally.most = math.max(tally.slowest, seconds), math.max(tally.most, more)
  if seconds > LONGEST * slow then fault(n, from.ending, ("took %.2f s"):format(seconds)) end
  if more > MOST then fault(n, from.ending, ("%d bytes beside the data"):format(more)) end
  if ok then return check_answer(n, from, bytes, result) end
  tally.errors = tally.errors + 1
  local said = tostring(result)
  local ours = said:find("cannot load '" .. name .. "': ", 1, true) or said:find("cannot load a layer from '" .. name .. "': ", 1, true)
  if not ours and not said:find "^bad argument #%d to 'load'" then
    fault(n, from.ending, said)
  end
end

local list = seeds()
for n = 1, count do
  local from = list[math.random(#list)]
  local head = math.random(3) == 1 and math.random(#from.bytes) or 0 -- left as it is
  local bytes = from.bytes:sub(1, head) .. mutate(from.bytes:sub(head + 1), math.random)
  local last <close> = io.open("last", "w")
  last:write("file ", n, from.ending, "\n")
  try(n, from, bytes)
end
io.stderr:write(("mutated files (seed %d): %d, %d errors, %d loaded, %d of them compared with a plain reader; "
  .. "slowest %.3f s, at most %.1f MB beside the data\n")
  :format(seed, count, tally.errors, tally.matrices, tally.compared, tally.slowest, tally.most / 2 ^ 20))
for _, what in ipairs(faults) do io.stderr:write("  FAULT, ", what, "\n") end
os.exit(#faults == 0 and tally.compared > 0, true)
