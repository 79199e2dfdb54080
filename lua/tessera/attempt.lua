--- attempt.lua -- pcall for what may fail, which lets pass what nobody asked it to catch: Ctrl-C, and lack of memory.

local function unless_stopped(ok, reason, ...)
  if not ok and type(reason) == "string" and (reason:find("interrupted!", 1, true) or reason:find("not enough memory", 1, true)) then
    error(reason, 0)
  end
  return ok, reason, ...
end

--- true and what f(...) returns; or false and its error.
---@param f function
return function(f, ...) return unless_stopped(pcall(f, ...)) end
