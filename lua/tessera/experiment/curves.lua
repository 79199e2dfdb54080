--- curves.lua -- what was measured, over one parameter of the grid, as series for ts.plot.curves.

local check = require "tessera.check"

local function contains(list, name)
  for _, other in ipairs(list) do
    if other == name then return true end
  end
  return false
end

local function need(list, name, n, what)
  local near = type(name) == "string" and check.near(name, list)
  check.arg(contains(list, name), n, "curves", "%s expected, got %s; %s", what, name,
    near and ("did you mean '%s'?"):format(near) or "there are " .. (#list > 0 and table.concat(list, ", ") or "none"))
end

-- "merge = tree, q = 16": the parameters of a point but for x; "" where there are none.
local function label(names, point, x)
  local parts = {}
  for _, name in ipairs(names) do
    if name ~= x then parts[#parts + 1] = ("%s = %s"):format(name, point[name]) end
  end
  return table.concat(parts, ", ")
end

--- The measure `y` over the parameter `x` of a summary: a series for each point of the other parameters, its mean over the
--- seeds, with a band from the least to the largest; x and y name the axes. A measure that is no number leaves its place out.
---@param summary table
---@param x string
---@param y? string the only measure unless given
---@return table[]
return function(summary, x, y)
  y = y or summary.measures[1]
  need(summary.names, x, 1, "a parameter of the grid")
  need(summary.measures, y, 2, "a measure")
  local list, by_label = {xlabel = x, ylabel = y}, {}
  for _, point in ipairs(summary) do
    check.arg(type(point[x]) == "number", 1, "curves", "'%s' is %s, no number", x, point[x])
    local name, measured = label(summary.names, point, x), point[y]
    local s = by_label[name] or {x = {}, y = {}, low = {}, high = {}, label = name ~= "" and name or nil}
    if not by_label[name] then by_label[name], list[#list + 1] = s, s end
    if measured then
      local n = #s.x + 1
      s.x[n], s.y[n], s.low[n], s.high[n] = point[x], measured.mean, measured.min, measured.max
    end
  end
  return list
end
