-- grid.lua -- the points of a grid of parameters, and the seeds that each is run with.

local check = require "tessera.check"
local core = require "tessera.core"
local row = require "tessera.experiment.row"

local grid = {}

--- Names that the result itself uses.
grid.reserved = {seed = true, seconds = true}

--- Raises unless every name has a list of values that can be written down.
function grid.check(lists)
  for name, list in pairs(lists) do
    check.arg(type(name) == "string" and name ~= "", 1, "experiment", "field 'grid': a name expected, got %s", name)
    check.arg(not grid.reserved[name], 1, "experiment", "field 'grid': the name '%s' is taken", name)
    check.arg(check.type_of(list) == "table" and #list > 0, 1, "experiment", "field 'grid': '%s' needs a list of values", name)
    for n, value in ipairs(list) do
      check.arg(row.is_plain(value), 1, "experiment",
        "field 'grid': value %d of '%s' is a %s; numbers, strings and booleans can be written down", n, name, core.kind(value))
    end
  end
end

local MOST = 10000000 -- runs, which are listed before the first begins

-- Raises where there are more than can be listed. The product is one of floats, which does not overflow.
local function check_count(lists, names, seeds)
  local count = type(seeds) == "table" and #seeds or math.tointeger(seeds) or 1.0
  for _, name in ipairs(names) do count = count * (#lists[name] + 0.0) end
  check.arg(count <= MOST, 1, "experiment", "%.0f runs: %d at most", count, MOST)
end

-- All points, the last name turning fastest: each a table name -> value.
local function points(lists, names)
  local all = {{}}
  for _, name in ipairs(names) do
    local longer = {}
    for _, point in ipairs(all) do
      for _, value in ipairs(lists[name]) do
        local copy = {[name] = value}
        for other, x in pairs(point) do copy[other] = x end
        longer[#longer + 1] = copy
      end
    end
    all = longer
  end
  return all
end

-- A number of seeds, 1, 2, .., or a list of them.
local function seeds_of(given)
  if type(given) ~= "table" then
    local count = check.arg(math.tointeger(given or 1), 1, "experiment", "field 'seeds': a number or a list expected, got %s",
      tostring(given))
    check.arg(count >= 1, 1, "experiment", "field 'seeds': %d is less than 1", count)
    given = {}
    for n = 1, count do given[n] = n end
  end
  check.arg(#given > 0, 1, "experiment", "field 'seeds': the list is empty")
  for n, seed in ipairs(given) do
    check.arg(math.type(seed) == "integer", 1, "experiment", "field 'seeds': entry %d is %s, a whole number expected", n, seed)
  end
  return given
end

--- What tells a point's run from all others.
function grid.key(names, point, seed)
  local fields = {}
  for n, name in ipairs(names) do fields[n] = row.text(point[name]) end
  fields[#fields + 1] = row.text(seed)
  return row.line(fields)
end

--- Every run: a list of {point =, seed =, key =}.
function grid.runs(lists, names, seeds)
  local runs = {}
  check_count(lists, names, seeds)
  seeds = seeds_of(seeds)
  for _, point in ipairs(points(lists, names)) do
    for _, seed in ipairs(seeds) do
      runs[#runs + 1] = {point = point, seed = seed, key = grid.key(names, point, seed)}
    end
  end
  return runs
end

return grid
