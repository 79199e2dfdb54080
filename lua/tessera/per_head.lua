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

--- The key head that query head h uses.
---@param P problem
---@param h integer
---@return integer
function per_head.key_head(P, h) return (h - 1) * P.kv_heads // P.heads + 1 end

--- The columns of head h of a matrix that holds `heads` side by side, as a view.
---@param m matrix
---@param h integer
---@param heads integer
---@return matrix
function per_head.columns(m, h, heads)
  local width = m.cols // heads
  return m:slice(1, m.rows, (h - 1) * width + 1, h * width)
end

--- The values of the keys of head h, n_k × d_v.
---@param P problem
---@param h integer
---@return matrix
function per_head.values(P, h) return per_head.columns(P.V, per_head.key_head(P, h), P.kv_heads) end

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
