-- fingerprint.lua -- a short text for what a Lua function does, the same in every process: functions that differ in their
-- code, or in what they close over, have different ones.

local attempt = require "tessera.attempt"
local check = require "tessera.check"
local core = require "tessera.core"
local number = require "tessera.number"
local zip = require "tessera.zip"

local substance -- of any value, below

-- What a value is called wherever the program runs: a loaded module by its name (_G, too), a C function as math.sin.
local function name_of(value)
  for name, module in pairs(package.loaded) do
    if rawequal(module, value) then return "module " .. name end
  end
  for library, functions in pairs{math = math, ts = core.matrix} do
    for name, f in next, functions do
      if rawequal(f, value) then return library .. "." .. name end
    end
  end
end

local function of_function(f, seen)
  local ok, code = attempt(string.dump, f, true)
  check.that(ok, "a summary whose score is no plain Lua function cannot be saved or loaded")
  local pieces = {code}
  for n = 1, debug.getinfo(f, "u").nups do
    local name, value = debug.getupvalue(f, n)
    pieces[#pieces + 1] = name == "_ENV" and name or substance(value, seen) -- all of the globals is too much
  end
  return table.concat(pieces, "\0")
end

-- Entries in the order of their keys; those whose keys are no numbers or strings are left out.
local function of_table(t, seen)
  local keys = {}
  for key in next, t do
    if type(key) == "number" or type(key) == "string" then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  local pieces = {"table"}
  for _, key in ipairs(keys) do pieces[#pieces + 1] = substance(key, seen) .. "=" .. substance(rawget(t, key), seen) end
  return table.concat(pieces, "\0")
end

local function of_matrix(m)
  local bytes = core.matrix.encode(m, 0, m.rows * m.cols, m.dtype == "f32" and "f4" or "f8")
  return ("matrix %dx%d %s %s"):format(m.rows, m.cols, m.dtype, bytes)
end

-- Masks are alike where they were made alike: cells that happen to be the same do not make them so.
local function of_mask(m)
  return ("mask %dx%d of %d heads %s"):format(m.rows, m.cols, m.heads or 0, core.program.bytes(m:program()))
end

function substance(value, seen)
  local kind = type(value) == "table" and "table" or check.type_of(value)
  if kind == "number" then return number.format("%.17g", value) end
  if kind == "string" or kind == "boolean" then return kind .. " " .. tostring(value) end
  if kind == "matrix" then return of_matrix(value) end
  if kind == "mask" then return of_mask(value) end
  if kind == "nil" then return kind end
  check.that(type(value) == "function" or type(value) == "table",
    "a summary whose score reads a %s cannot be saved or loaded", kind)
  if seen[value] then return "again " .. seen[value] end
  seen.count = seen.count + 1
  seen[value] = seen.count
  return name_of(value) or type(value) == "table" and of_table(value, seen) or of_function(value, seen)
end

--- The fingerprint of a function, eight hexadecimal digits. What it reads of the globals is no part of it. Raises of a
--- function that is, or closes over, one of C which is neither of `math` nor of `ts`, or an object that is no matrix or mask.
---@param f function
---@return string
return function(f) return ("%08x"):format(zip.crc()(substance(f, {count = 0}))) end
