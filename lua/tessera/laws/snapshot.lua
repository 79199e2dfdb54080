--- snapshot.lua -- what a state holds at one moment, to see later whether that has changed.

local core = require "tessera.core"

local snapshot = {}

local function is_matrix(x) return core.kind(x) == "matrix" end

-- `seen`: the tables on the way, which may hold themselves.
local function take(x, seen)
  if is_matrix(x) then return x:copy() end
  if type(x) ~= "table" then return x end
  if not seen[x] then
    seen[x] = {}
    for key, field in next, x do seen[x][key] = take(field, seen) end
  end
  return seen[x]
end

local function equal(x, before, seen)
  if is_matrix(x) then return is_matrix(before) and x:identical(before) end
  if type(x) ~= "table" then return rawequal(x, before) or x ~= x and before ~= before end
  if type(before) ~= "table" then return false end
  if seen[x] then return true end
  seen[x] = true
  for key, field in next, x do
    if not equal(field, before[key], seen) then return false end
  end
  for key in next, before do
    if rawget(x, key) == nil then return false end
  end
  return true
end

--- A copy of tables and matrices, to any depth; all else as it is.
function snapshot.take(x) return take(x, {}) end

--- Whether x holds what it held when `before` was taken.
function snapshot.equal(x, before) return equal(x, before, {}) end

return snapshot
