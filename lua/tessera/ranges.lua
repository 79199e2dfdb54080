-- ranges.lua -- key sets as lists of {first, last}: how many keys they hold, and how they are told.

local ranges = {}

--- How many keys a set holds.
---@param set integer[][]
---@return integer
function ranges.count(set)
  local count = 0
  for _, range in ipairs(set) do count = count + range[2] - range[1] + 1 end
  return count
end

--- `1–4 7 9–12`; of more than three ranges the first, and `…`.
---@param set integer[][]
---@param separator? string a space unless given
---@return string
function ranges.text(set, separator)
  local parts = {}
  for n, range in ipairs(set) do
    if n > 3 then parts[n] = "…" break end
    parts[n] = range[1] == range[2] and tostring(range[1]) or range[1] .. "–" .. range[2]
  end
  return table.concat(parts, separator or " ")
end

--- `1-4 7-7 9-12`: the whole set, to be read again.
---@param set integer[][]
---@return string
function ranges.code(set)
  local parts = {}
  for n, range in ipairs(set) do parts[n] = ("%d-%d"):format(range[1], range[2]) end
  return table.concat(parts, " ")
end

return ranges
