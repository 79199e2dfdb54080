--- series.lua -- the series of curves, as users give them, read into lists.

local check = require "tessera.check"

-- The numbers of a list, or of a matrix of one row or column.
local function numbers(x, what, n, fname)
  if check.type_of(x) == "matrix" then
    check.arg(x.rows <= 1 or x.cols <= 1, n, fname, "%s: a matrix of one row or column expected, got %dx%d", what, x.rows, x.cols)
    local list = {}
    for k = 1, x.rows * x.cols do list[k] = x.rows == 1 and x(1, k) or x(k, 1) end
    return list
  end
  check.arg(check.type_of(x) == "table", n, fname, "%s: list of numbers expected, got %s", what, check.type_of(x))
  local list = {}
  for k, value in ipairs(x) do
    check.arg(math.type(value), n, fname, "%s: number expected at %d, got %s", what, k, check.type_of(value))
    list[k] = value + 0.0
  end
  check.arg(#list == #x, n, fname, "%s: list of numbers expected", what)
  return list
end

local fields = {x = true, y = true, low = true, high = true, label = true}

local function one(s, at, fname)
  local what = ("series %d"):format(at)
  local kind = check.type_of(s)
  if kind == "matrix" or kind == "table" and s[1] ~= nil then s = {y = s} end
  check.arg(type(s) == "table" and s.y ~= nil, 1, fname, "%s: {y = numbers, x = numbers ..} expected, got %s", what, kind)
  for key in pairs(s) do check.arg(fields[key], 1, fname, "%s: invalid field '%s'", what, key) end
  local y = numbers(s.y, what .. ", y", 1, fname)
  local read = {y = y}
  for _, name in ipairs{"x", "low", "high"} do
    if s[name] ~= nil then
      read[name] = numbers(s[name], ("%s, %s"):format(what, name), 1, fname)
      check.arg(#read[name] == #y, 1, fname, "%s: %d number(s) in %s, %d in y", what, #read[name], name, #y)
    end
  end
  check.arg((read.low == nil) == (read.high == nil), 1, fname, "%s: low needs high, and high low", what)
  check.arg(s.label == nil or type(s.label) == "string", 1, fname, "%s, label: string expected, got %s", what, check.type_of(s.label))
  read.label = s.label
  if not read.x then
    read.x = {}
    for k = 1, #y do read.x[k] = k + 0.0 end
  end
  return read
end

local series = {numbers = numbers}

local names_of_axes = {xlabel = true, ylabel = true}

--- A list of {x =, y =, low =, high =, label =}, of a list of series, or of one; with the list's `xlabel` and `ylabel`.
---@return table[]
function series.read(x, fname)
  local kind = check.type_of(x)
  check.arg(kind == "table" or kind == "matrix", 1, fname, "list of series expected, got %s%s", kind,
    kind == "experiment" and "; e:curves(x, y) gives one" or "")
  if kind ~= "table" or x.y ~= nil or math.type(x[1]) then return {one(x, 1, fname)} end
  local list = {}
  for at, s in ipairs(x) do list[at] = one(s, at, fname) end
  for key, value in pairs(x) do
    check.arg(math.type(key) or names_of_axes[key], 1, fname, "invalid field '%s'", key)
    if names_of_axes[key] then
      check.arg(type(value) == "string", 1, fname, "%s: string expected, got %s", key, check.type_of(value))
      list[key] = value
    end
  end
  return list
end

return series
