-- All that can be called, found by walking the module: so that nothing new escapes the fuzzers.
local core = require "tessera.core"
local ts = require "tessera"

local public = {}

-- A function in the object's place would be called itself, and may give what it is given.
local function call(a, ...)
  if type(a) == "function" then error("no", 0) end
  return a(...)
end

-- Operators, for each metamethod that calls one. (__name, __metatable and __index tables call nothing.)
local operators = {
  __add = function(a, b) return a + b end, __sub = function(a, b) return a - b end, __mul = function(a, b) return a * b end,
  __div = function(a, b) return a / b end, __unm = function(a) return -a end, __len = function(a) return #a end,
  __mod = function(a, b) return a % b end, __pow = function(a, b) return a ^ b end, __idiv = function(a, b) return a // b end,
  __shl = function(a, b) return a << b end, __shr = function(a, b) return a >> b end,
  __band = function(a, b) return a & b end, __bor = function(a, b) return a | b end, __bxor = function(a, b) return a ~ b end,
  __bnot = function(a) return ~a end, __eq = function(a, b) return a == b end, __le = function(a, b) return a <= b end,
  __lt = function(a, b) return a < b end, __call = call, __index = function(a, k) return a[k] end,
  __newindex = function(a, k, v) a[k] = v end, __tostring = function(a) return tostring(a) end,
  __concat = function(a, b) return a .. b end, __close = function(a) local _ <close> = a end,
  __pairs = function(a) return pairs(a) end,
}

-- Of the C module only what stands for itself: the rest is there to be called by our own Lua files, as part of `ts`.
local function add_tables(list, name, value, seen)
  if type(value) == "function" then
    list[name] = value
  elseif type(value) == "table" and not seen[value] then
    seen[value] = true
    local metatable = debug.getmetatable(value)
    if metatable and rawget(metatable, "__call") then list[name] = function(...) return value(...) end end
    for key, field in pairs(value) do
      if type(key) == "string" then add_tables(list, name .. "." .. key, field, seen) end
    end
  end
end

local function add_methods(list, kind, object, methods)
  for name, f in pairs(methods) do
    if type(f) == "function" and name:sub(1, 2) ~= "__" then list[kind .. ":" .. name] = f end
  end
  for name, f in pairs(debug.getmetatable(object)) do
    if name:sub(1, 2) == "__" and type(f) == "function" then
      list[kind .. " " .. name] = assert(operators[name], name)
    end
  end
end

--- name -> function: "ts.zeros", "matrix:row", "mask __band" (an operator), "core.mask.new".
---@param objects table<string, any> one of each kind of object
function public.functions(objects)
  local list, seen = {}, {[core.matrix.methods] = true, [core.mask.methods] = true, [core.summary.methods] = true,
    [core.problem.methods] = true, [core.program.methods] = true}
  add_tables(list, "ts", ts, seen)
  add_tables(list, "core", core, seen)
  for _, name in ipairs{"verify", "trace", "cost"} do pcall(function() return objects.problem[name] end) end -- loaded when asked for
  for kind, object in pairs(objects) do
    local methods = core[kind] and core[kind].methods
    if kind == "layer" then methods = require "tessera.heads.layer".methods end
    if kind == "cache" then methods = {fork = object.fork} end
    add_methods(list, kind, object, methods or {})
  end
  return list
end

return public
