-- used.lua -- bytes in use when nothing more can be collected: Lua gives back spare stack a half at a time.
return function()
  local before
  repeat
    before = host.used()
    collectgarbage()
  until host.used() == before
  return before
end
