-- shrink.lua -- the smallest case that still fails: fewer keys, then plainer numbers (Claessen & Hughes 2000).

local number = require "tessera.number"

local plain = {0.0, 1.0, 2.0, -1.0, 10.0, -10.0, 100.0, -100.0, 1e3, -1e3, 1e6, -1e6, 1e30, -1e30}

-- Numbers plainer than x, the plainest first: not longer to write, nor larger. Each step ends at 0 or 1 some day.
local function plainer(x)
  local list = {}
  if type(x) ~= "number" or x - x ~= 0 then return plain end
  local rank = #plain + 1
  for n, y in ipairs(plain) do
    if y == x then rank = n end
  end
  for n = 1, rank - 1 do
    if math.abs(plain[n]) <= math.max(1, math.abs(x)) then list[#list + 1] = plain[n] end
  end
  if rank <= #plain then return list end
  local whole = (x < 0 and math.ceil(x) or math.floor(x)) + 0.0
  for _, y in ipairs{whole, x / 2, x / 10} do
    if math.abs(y) < math.abs(x) and #number.shortest(y) <= #number.shortest(x) then list[#list + 1] = y end
  end
  return list
end

local function copy(keys)
  local list = {}
  for n, key in ipairs(keys) do list[n] = {s = key.s, v = key.v} end
  return list
end

-- Cases one step smaller.
local function smaller(keys, visit)
  for n = #keys, 1, -1 do
    if #keys > 1 then
      local fewer = copy(keys)
      table.remove(fewer, n)
      if visit(fewer) then return true end
    end
  end
  for n = 1, #keys do
    for _, field in ipairs{"s", "v"} do
      for _, x in ipairs(plainer(keys[n][field])) do
        local simpler = copy(keys)
        simpler[n][field] = x
        if visit(simpler) then return true end
      end
    end
  end
  return false
end

--- The case that `keys` shrinks to, and what `fails` said of it. fails(keys) returns something true where a case fails.
---@param keys {s: number, v: number}[]
---@param fails fun(keys: table): any
return function(keys, fails)
  local verdict = fails(keys)
  local steps = 0
  while steps < 1000 and smaller(keys, function(candidate)
    local said = fails(candidate)
    if said then keys, verdict, steps = candidate, said, steps + 1 end
    return said
  end) do end
  return keys, verdict
end
