--- Tessera: attention from summaries of key blocks, cut and merged in any way.
-- init.lua -- `require "tessera"`: the public names, each loaded when it is first asked for.

local core = require "tessera.core"

-- Errors are blamed on the first caller outside the folder this file lies in.
core.home((debug.getinfo(1, "S").source:gsub("init%.lua$", "")))

local check = require "tessera.check"
local exact = require "tessera.exact"
require "tessera.matrix" -- what any matrix can do, wherever it comes from

--- `ts` itself.
---     ts.version --> 0.1.0
---@class ts
---@field version string The version of Tessera.
local ts = {version = "0.1.0"} -- the Makefile reads it here

-- Where each public name lives: the module's name; and true where it is the module itself, "loose" where an argument more
-- than it takes is no error.
local public = {
  matrix = {"matrix"}, zeros = {"matrix"}, ones = {"matrix"}, eye = {"matrix"},
  rand = {"matrix"}, randn = {"matrix"}, linspace = {"matrix"},
  hcat = {"matrix"}, vcat = {"matrix"}, exp = {"matrix"}, log = {"matrix"}, tanh = {"matrix"},
  abs = {"matrix"}, sqrt = {"matrix"}, sin = {"matrix"}, cos = {"matrix"},
  diff = {"diff", "loose"}, ulps = {"diff"},
  load = {"files"}, save = {"files"}, names = {"files"},
  mask = {"mask", true}, score = {"score", true},
  problem = {"problem", true},
  summary = {"summary", true}, fold = {"bracketing"}, bracketings = {"bracketing"},
  permutations = {"bracketing"}, partitions = {"bracketing"}, sample = {"sample", true},
  laws = {"laws", true}, experiment = {"experiment", true},
  heads = {"heads", true}, rope = {"rope"},
  plot = {"plot", true}, page = {"page", true},
  info = {"info", true},
}

--- Seconds of wall time since some fixed moment (os.clock adds up the time of all threads).
---     local t = ts.clock(); P:attention(); print(ts.clock() - t)
---@return number
function ts.clock() return core.clock() end

--- How many threads a call takes; with `n`, sets it first. 0 goes back to the default
--- (OMP_NUM_THREADS, or the processors). No result depends on it.
---     ts.threads(1)
---@param n? integer
---@return integer
function ts.threads(n) return core.threads(n) end

--- Gives the work space kept between calls back to the collector.
---     ts.trim(); collectgarbage()
function ts.trim() core.trim() end

exact.all(ts, 0)

local function names()
  local list = {"version", "clock", "threads", "trim"}
  for name in pairs(public) do list[#list + 1] = name end
  table.sort(list)
  return list
end

local function lookup(_, name)
  local place = public[name]
  if not place then return check.no_field("tessera", name, names()) end
  local value = require("tessera." .. place[1])
  if place[2] ~= true then value = value[name] end
  if type(value) == "function" and place[2] ~= "loose" then value = exact.of(value, name, 0) end
  rawset(ts, name, value)
  return value
end

-- Walking over ts loads all of it.
local function walk()
  local list, at = names(), 0
  return function()
    at = at + 1
    if list[at] then return list[at], ts[list[at]] end
  end
end

-- All comments are read when an error first asks where else a name is.
check.set_places(function(name) return require("tessera.reference").places(name) end)

return setmetatable(ts, {__index = lookup, __pairs = walk})
