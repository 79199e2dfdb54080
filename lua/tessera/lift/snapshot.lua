-- snapshot.lua -- a copy of a function whose upvalues are what they are now, whatever becomes of the original's.

local bytecode = require "tessera.lift.bytecode"

-- Does the function, or one within it, assign to an upvalue?
local function assigns(proto)
  for _, instruction in ipairs(proto.code) do
    if instruction.op == "SETUPVAL" then return true end
  end
  for _, inner in ipairs(proto.protos) do
    if assigns(inner) then return true end
  end
  return false
end

--- A copy of `f` that later assignments to f's upvalues do not reach. What upvalues hold (tables, functions) is
-- shared. A function that itself assigns to an upvalue, such as one that counts its calls, is given back as it is:
-- its writes are meant to be seen; so is one of C.
---@param f function
---@return function
return function(f)
  local proto = bytecode.read(f)
  if not proto or assigns(proto) then return f end
  local copy = load(string.dump(f), "=score", "b")
  for n = 1, #proto.upvalues do
    local _, value = debug.getupvalue(f, n)
    debug.setupvalue(copy, n, value)
  end
  return copy
end
