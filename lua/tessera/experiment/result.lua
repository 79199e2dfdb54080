-- result.lua -- the runs of an experiment, and what they come to over the seeds.

local aligned = require "tessera.aligned"
local check = require "tessera.check"
local grid = require "tessera.experiment.grid"
local number = require "tessera.number"

local result = {__name = "tessera.experiment"}
local fields = {"curves", "measures", "names", "resumed", "summary"}

function result.__index(_, name)
  if type(name) ~= "string" then return nil end -- behind the last run
  return rawget(result, name) or check.no_field("an experiment's result", name, fields)
end

local function exponent(x) return x == 0 and -math.huge or math.floor(math.log(math.abs(x), 10)) end

-- `1341 ± 520`, `1.18e-08 ± 2.1e-09`: two digits of the deviation, and of the mean those that it leaves.
local function spread_text(mean, sd)
  local e, e_sd = exponent(mean), exponent(sd)
  local largest = math.max(e, e_sd)
  if largest - e_sd > 14 or mean - mean ~= 0 or sd - sd ~= 0 then -- a deviation that is but rounding, and inf
    return number.format("%.6g", mean) .. " ± " .. number.format("%.2g", sd)
  end
  if largest >= -4 and largest < 6 then
    local format = ("%%.%df"):format(math.max(0, 1 - e_sd))
    return number.format(format, mean) .. " ± " .. number.format(format, sd)
  end
  return number.format(("%%.%de"):format(math.max(0, e - e_sd + 1)), mean) .. " ± " .. number.format("%.1e", sd)
end

local function cell(x)
  if type(x) == "table" then
    return (x.n == 1 or x.sd == 0) and number.format("%.6g", x.mean) or spread_text(x.mean, x.sd)
  end
  if math.type(x) == "float" then return number.format("%.6g", x) end
  return x == nil and "–" or tostring(x)
end

-- Numbers stand at the right of their columns; of a measure that is no number there is no mean.
local function table_text(list)
  local columns = table.move(list.measures, 1, #list.measures, #list.names + 1, table.move(list.names, 1, #list.names, 1, {}))
  local rows, right = {columns}, {}
  for k, name in ipairs(columns) do right[k] = #list > 0 and type(list[1][name]) ~= "string" end
  for n, entry in ipairs(list) do
    rows[n + 1] = {}
    for k, name in ipairs(columns) do rows[n + 1][k] = cell(entry[name]) end
  end
  return table.concat(aligned(rows, right), "\n")
end

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
  check.self(self, "experiment", "summary")
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
  return setmetatable(list, {__tostring = function() return table_text(list) end})
end

--- Series of the measure `y` (the only one unless given) over the parameter `x`, for ts.plot.curves; see curves.lua.
function result:curves(x, y)
  check.self(self, "experiment", "curves")
  return require "tessera.experiment.curves"(self:summary(), x, y)
end

--- The summary's table: a line a point of the grid, mean ± standard deviation over the seeds.
function result:__tostring() return tostring(self:summary()) end

return result
