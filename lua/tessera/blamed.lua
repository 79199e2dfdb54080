-- blamed.lua -- calls made for the user, whose argument errors are told as those of the function that the user called.

local core = require "tessera.core"

local function judged(place, own, ok, ...)
  if ok then return ... end
  local err = ...
  local message = type(err) == "string" and err:match("bad argument #%d+ to '" .. own .. "' %((.*)$")
  if message then core.fail(("bad argument #%d to '%s' (%s%s"):format(place.n, place.fname, place.what or "", message)) end
  error(err, 0)
end

--- What f(...) returns. Where it finds fault with an argument, argument `n` of `fname` is blamed, with `what` before what is
--- said of it.
---@param place {n: integer, fname: string, what: string?}
---@param own string what f calls itself in errors
---@param f function
return function(place, own, f, ...) return judged(place, own, pcall(f, ...)) end
