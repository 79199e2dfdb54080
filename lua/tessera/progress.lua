--- progress.lua -- a bar on the terminal for work in Lua that takes more than a second.

local core = require "tessera.core"

local width = 30

--- A function that is told now and then which part of the work is done, 0 to 1; at 1 the bar goes away.
--- Nothing is shown in the first second, nor where stderr is no terminal.
---@return fun(done: number)
return function()
  local began, shown = core.clock(), nil
  return function(done)
    local now = core.clock()
    if done >= 1 then
      if shown then io.stderr:write("\r\27[K") end
    elseif now - (shown or began + 0.9) > 0.1 and core.isatty("stderr") then
      local filled = math.floor(done * width)
      io.stderr:write(("\r[%s%s] %3.0f %% \27[K"):format(("#"):rep(filled), ("."):rep(width - filled), 100 * done))
      shown = now
    end
  end
end
