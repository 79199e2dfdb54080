--- What a bug report should say: the machine, the instruction set in use, threads and versions.

local core = require "tessera.core"
local ts = require "tessera"

-- The processor's name, where the system tells it.
local function cpu()
  local file = io.open("/proc/cpuinfo")
  if not file then return nil end
  local name = file:read("a"):match("model name%s*:%s*([^\n]+)")
  file:close()
  return name
end

local order = {"tessera", "cpu", "isa", "available", "threads", "lua", "sleef", "mpfr", "compiler"}

local meta = {}

function meta:__tostring()
  local lines = {}
  for _, name in ipairs(order) do
    if self[name] then lines[#lines + 1] = ("%-10s %s"):format(name, self[name]) end
  end
  return table.concat(lines, "\n")
end

--- What runs here: {tessera, cpu, isa, available, threads, lua, sleef, mpfr, compiler}; prints as lines.
--     print(ts.info())
---@return table
local function info()
  local found = core.versions()
  found.tessera, found.cpu, found.threads, found.lua = ts.version, cpu(), core.threads(), _VERSION
  found.isa, found.available = core.isa()
  return setmetatable(found, meta)
end

return info
