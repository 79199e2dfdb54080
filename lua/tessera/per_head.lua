-- per_head.lua -- what one head of a problem has, where a field may be a list with one a head.

local per_head = {}

--- Head h's part of a field: its entry of a list, else what all heads share.
---@param field any
---@param h integer
---@return any
function per_head.of(field, h)
  if type(field) == "table" then return field[h] end
  return field
end

--- The mask of head h (nil: all keys), which may have heads itself, and a function (i, j) that asks it.
---@param P problem
---@param h integer
---@return mask?
---@return fun(i: integer, j: integer): boolean
function per_head.mask(P, h)
  local m = per_head.of(P.mask, h)
  if not m then return nil, function() return true end end
  if m.heads then return m, function(i, j) return m(i, j, h) end end
  return m, function(i, j) return m(i, j) end
end

--- The mask of head h as one without heads, or nil.
---@param P problem
---@param h integer
---@return mask?
function per_head.single_mask(P, h)
  local m = per_head.of(P.mask, h)
  return m and m.heads and m:head(h) or m
end

return per_head
