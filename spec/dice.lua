-- dice.lua -- choices by chance that depend on a seed alone.
local ts = require "tessera"

--- A function that draws: draw(n) is a whole number from 1 to n, draw{a, b, ..} one of the list. Four hundred times at the most.
return function(seed)
  local numbers, at = ts.rand(1, 400, {seed = seed}), 0
  return function(from)
    at = at + 1
    local n = type(from) == "table" and #from or from
    local drawn = math.floor(numbers(1, at) * n) + 1
    return type(from) == "table" and from[drawn] or drawn
  end
end
