-- result.lua -- the runs of an experiment, and what they come to over the seeds.

local aligned = require "tessera.aligned"
local grid = require "tessera.experiment.grid"
local number = require "tessera.number"

local result = {__name = "tessera.experiment"}
result.__index = result

local function statistics(list)
  local sum, least, most = 0.0, math.huge, -math.huge
  for _, x in ipairs(list) do sum, least, most = sum + x, math.min(least, x), math.max(most, x) end
  local mean, squares = sum / #list, 0.0
  for _, x in ipairs(list) do squares = squares + (x - mean) ^ 2 end
  return {n = #list, mean = mean, sd = #list > 1 and math.sqrt(squares / (#list - 1)) or 0.0, min = least, max = most}
end

--- One entry for each point of the grid, over its seeds: its parameters, and for each thing measured that is a number a
--- table {n, mean, sd, min, max}. Prints as a table.
function result:summary()
  local list, by_point = {}, {}
  for _, row in ipairs(self) do
    local key = grid.key(self.names, row, 0)
    local entry = by_point[key]
    if not entry then
      entry = {}
      for _, name in ipairs(self.names) do entry[name] = row[name] end
      by_point[key], list[#list + 1] = entry, entry
    end
    for _, name in ipairs(self.measures) do
      entry[name] = entry[name] or {}
      if type(row[name]) == "number" then table.insert(entry[name], row[name]) end
    end
  end
  for _, entry in ipairs(list) do
    for _, name in ipairs(self.measures) do entry[name] = #entry[name] > 0 and statistics(entry[name]) or nil end
  end
  list.names, list.measures = self.names, self.measures
  return setmetatable(list, {__tostring = function() return result.table_text(list) end})
end

local function cell(x)
  if type(x) == "table" then
    if x.n == 1 or x.sd == 0 then return number.format("%.6g", x.mean) end
    return number.format("%.6g", x.mean) .. " ± " .. number.format("%.2g", x.sd)
  end
  if math.type(x) == "float" then return number.format("%.6g", x) end
  return x == nil and "" or tostring(x)
end

function result.table_text(list)
  local columns = table.move(list.measures, 1, #list.measures, #list.names + 1, table.move(list.names, 1, #list.names, 1, {}))
  local rows = {columns}
  for n, entry in ipairs(list) do
    rows[n + 1] = {}
    for k, name in ipairs(columns) do rows[n + 1][k] = cell(entry[name]) end
  end
  return table.concat(aligned(rows), "\n")
end

--- The summary's table: a line a point of the grid, mean ± standard deviation over the seeds.
function result:__tostring() return tostring(self:summary()) end

return result
