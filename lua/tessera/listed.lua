--- listed.lua -- lists of numbers and of lists that print as one writes them: {{1, 2}, 3}.

local function text(x)
  if type(x) ~= "table" then return tostring(x) end
  local parts = {}
  for n = 1, #x do parts[n] = text(x[n]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local metatable = {__tostring = text}

--- The list, which now prints so.
---@param list table
---@return table list
return function(list) return setmetatable(list, metatable) end
