--- coroutines.lua -- coroutines that Ctrl-C reaches, as it does the prompt's main thread.

local check = require "tessera.check"
local core = require "tessera.core"

-- As coroutine.wrap has it: an error closes the thread, and is the caller's.
local function unwrapped(thread, ok, ...)
  if ok then return ... end
  local err = ...
  if coroutine.status(thread) == "dead" then
    local closed, last = core.close(thread)
    if not closed then err = last end
  end
  error(err, 2)
end

local function wrap(f)
  check.type(f, "function", 1, "wrap")
  local thread = coroutine.create(f)
  return function(...) return unwrapped(thread, core.resume(thread, ...)) end
end

--- Puts them in the place of Lua's own, for this process: what a line calls may make coroutines, too.
return function()
  rawset(coroutine, "resume", core.resume)
  rawset(coroutine, "close", core.close)
  rawset(coroutine, "wrap", wrap)
end
