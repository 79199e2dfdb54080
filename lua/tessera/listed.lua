--- listed.lua -- lists of numbers and of lists that print as one writes them: {{1, 2}, 3}.

local MOST <const> = 20 -- elements of a list that are shown

local function text(x)
  if type(x) ~= "table" then return tostring(x) end
  local parts = {}
  for n = 1, math.min(#x, MOST) do parts[n] = text(x[n]) end
  if #x > MOST then parts[MOST + 1] = ("… %d in all"):format(#x) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local metatable = {__tostring = text}

--- The list, which now prints so.
---@param list table
---@return table list
return function(list) return setmetatable(list, metatable) end
