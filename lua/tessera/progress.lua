--- progress.lua -- a bar on the terminal for work in Lua that takes more than a second.

local core = require "tessera.core"

local width = 30

-- 4000 as 1:06:40, 75 as 1:15, 7 as 7 s.
local function duration(seconds)
  local s = math.ceil(seconds)
  if s < 60 then return ("%d s"):format(s) end
  if s < 3600 then return ("%d:%02d"):format(s // 60, s % 60) end
  return ("%d:%02d:%02d"):format(s // 3600, s // 60 % 60, s % 60)
end

--- A function that is told now and then which part of the work is done, 0 to 1, and, where that is known, how many
--- seconds are left, and raises "interrupted!" where Ctrl-C came in a coroutine; at 1 the bar goes away. Nothing is shown in
--- the first second, nor where stderr is no terminal.
---@return fun(done: number, left?: number)
return function()
  local began, shown = core.clock(), nil
  return function(done, left)
    core.poll()
    local now = core.clock()
    if done >= 1 then
      if shown then io.stderr:write("\r\27[K") end
    elseif now - (shown or began + 0.9) > 0.1 and core.isatty("stderr") then
      local filled = math.floor(done * width)
      io.stderr:write(("\r[%s%s] %3.0f %% %s\27[K"):format(("#"):rep(filled), ("."):rep(width - filled), 100 * done,
        left and duration(left) .. " left " or ""))
      shown = now
    end
  end
end
