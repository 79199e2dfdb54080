-- aligned.lua -- rows of texts as lines whose columns stand below each other.

-- How many characters wide a text is.
local function wide(text) return utf8.len(text) or #text end

--- The rows, two spaces between columns, without spaces at the ends of lines; columns without any text are left out.
---@param rows string[][]
---@param right? table<integer, boolean> the columns whose texts stand at their right
---@return string[] lines
return function(rows, right)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for k, cell in ipairs(row) do widths[k] = math.max(widths[k] or 0, wide(cell)) end
  end
  for n, row in ipairs(rows) do
    local cells = {}
    for k, cell in ipairs(row) do
      local space = (" "):rep(widths[k] - wide(cell))
      if widths[k] > 0 then cells[#cells + 1] = right and right[k] and space .. cell or cell .. space end
    end
    lines[n] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  return lines
end
