-- library.lua -- the functions that a lifted predicate may call: Lua's own, and ours.
--
-- Each is function(context, arguments) -> list of results, or nil where it always raises; arguments
-- are values, with arguments.n. As in operator.lua, a nil or boolean argument raises, and objects
-- (a string is a number for math.floor) are refused.

local operator = require "tessera.lift.operator"
local value = require "tessera.lift.value"

local library = {}

local float = operator.float

local function argument(context, arguments, k)
  return arguments[k] or value.of(context, nil)
end

-- Raises or refuses unless a is a number; then true.
local function is_number(context, guard, a, name)
  if value.is_number(a) then return true end
  if a.type == "bool" or value.is_nil(a) then return context:raises(guard) end
  context.refuse(("%s of a %s"):format(name, value.name(a)))
end

-- f(graph, a, guard, context) for each kind of number that the only argument may be.
local function of_number(name, f)
  return function(context, arguments)
    local result = value.map(context, argument(context, arguments, 1), function(guard, a)
      if is_number(context, guard, a, name) then return f(context.graph, a, guard, context) end
    end)
    return result and {result}
  end
end

-- The same for two numbers.
local function of_numbers(name, f)
  return function(context, arguments)
    local x, y = argument(context, arguments, 1), argument(context, arguments, 2)
    local result = value.map2(context, x, y, function(guard, a, b)
      if is_number(context, guard, a, name) and is_number(context, guard, b, name) then
        return f(context.graph, a, b, guard, context)
      end
    end)
    return result and {result}
  end
end

local function of_float(name, op)
  return of_number(name, function(graph, a, _, context)
    return graph[op](graph, float(context, a))
  end)
end

-- floor and ceil give an integer where it fits, else a float.
local function rounded(name, op)
  return of_number(name, function(graph, a, _, context)
    if a.type == "int" then return a end
    local whole = graph[op](graph, a)
    return value.join(context, graph:fits(whole), graph:ifrom(whole), whole)
  end)
end

-- max and min keep the first where two are equal, and the type of the one they choose.
local function extreme(name, op, better)
  return function(context, arguments)
    local graph, best = context.graph, argument(context, arguments, 1)
    if arguments.n < 2 then context.refuse(name .. " of fewer than two numbers") end
    for k = 2, arguments.n do
      best = value.map2(context, best, arguments[k], function(guard, a, b)
        if not is_number(context, guard, a, name) or not is_number(context, guard, b, name) then
          return nil
        end
        if a.type == "int" and b.type == "int" then return graph[op](graph, a, b) end
        return value.join(context, better(context, a, b), b, a)
      end)
      if not best then return nil end
    end
    return {best}
  end
end

local function logarithm(context, arguments)
  local base = argument(context, arguments, 2)
  local op = "flog"
  if not value.is_nil(base) then
    if not base.constant or not value.is_number(base) then
      context.refuse("math.log to a base that is not known")
    end
    op = base.value == 2 and "flog2" or base.value == 10 and "flog10" or "flog"
    if op == "flog" then
      local top = of_float("math.log", "flog")(context, {arguments[1], n = 1})
      if not top then return nil end
      return {operator.binary(context, "div", top[1], context.graph:float(math.log(base.value)))}
    end
  end
  return of_float("math.log", op)(context, arguments)
end

local function to_integer(context, arguments)
  local graph = context.graph
  if arguments.n == 0 then context.refuse("math.tointeger of nothing") end
  return {value.map(context, arguments[1], function(_, a)
    if a.type == "int" then return a end
    if a.type == "float" then
      return value.join(context, graph:fits(a), graph:ifrom(a), value.of(context, nil))
    end
    if a.type == "bool" or value.is_nil(a) then return value.of(context, nil) end
    context.refuse("math.tointeger of a " .. value.name(a))
  end)}
end

local function type_of(context, arguments)
  if arguments.n == 0 then context.refuse("type of nothing") end
  return {value.map(context, arguments[1], function(_, a)
    return value.of(context, value.name(a))
  end)}
end

local function number_type(context, arguments)
  if arguments.n == 0 then context.refuse("math.type of nothing") end
  local names = {int = "integer", float = "float"}
  return {value.map(context, arguments[1], function(_, a)
    return value.of(context, names[a.type])
  end)}
end

local function to_number(context, arguments)
  if arguments.n ~= 1 then context.refuse("tonumber with a base") end
  return {value.map(context, arguments[1], function(_, a)
    if value.is_number(a) then return a end
    if a.type == "bool" or value.is_nil(a) then return value.of(context, nil) end
    context.refuse("tonumber of a " .. value.name(a))
  end)}
end

local function unsigned_less(context, arguments)
  local result = of_numbers("math.ult", function(graph, a, b, guard)
    return graph:iult(operator.integer(context, guard, a), operator.integer(context, guard, b))
  end)(context, arguments)
  return result
end

local function asserted(context, arguments)
  if arguments.n == 0 then return context:raises(context.graph.yes) end
  local truth = value.truth(context, arguments[1])
  context:raises(context.graph:bnot(truth))
  if truth == context.graph.no then return nil end
  return arguments
end

local function raised(context) return context:raises(context.graph.yes) end

-- A table known now, without a metatable: what ipairs and pairs walk over.
local function known_table(context, arguments, name)
  local a = argument(context, arguments, 1)
  if type(a.object) ~= "table" or debug.getmetatable(a.object) then
    context.refuse(name .. " of what is no plain captured table")
  end
  return a
end

local step_ipairs = ipairs {}

local function each(context, arguments)
  local t = known_table(context, arguments, "ipairs")
  return {value.of(context, step_ipairs), t, context.graph:int(0)}
end

local function pairs_of(context, arguments)
  local t = known_table(context, arguments, "pairs")
  return {value.of(context, next), t, value.of(context, nil)}
end

-- One step of ipairs or next over a known table from a known key.
local function stepped(step)
  return function(context, arguments)
    local t, key = known_table(context, arguments, "next"), argument(context, arguments, 2)
    if not key.constant and not key.is_object then context.refuse("next at a key not known") end
    local k
    if key.constant then k = key.value else k = key.object end
    local next_key, v = step(t.object, k)
    return {value.of(context, next_key), value.of(context, v)}
  end
end

local math_less = function(context, a, b) return operator.ordered(context, "lt", a, b) end

library.functions = {
  [math.abs] = of_number("math.abs", function(graph, a)
    return a.type == "int" and graph:iabs(a) or graph:fabs(a)
  end),
  [math.ceil] = rounded("math.ceil", "fceil"),
  [math.floor] = rounded("math.floor", "ffloor"),
  [math.sqrt] = of_float("math.sqrt", "fsqrt"),
  [math.exp] = of_float("math.exp", "fexp"),
  [math.sin] = of_float("math.sin", "fsin"),
  [math.cos] = of_float("math.cos", "fcos"),
  [math.tan] = of_float("math.tan", "ftan"),
  [math.log] = logarithm,
  [math.fmod] = of_numbers("math.fmod", function(graph, a, b, guard, context)
    if a.type == "int" and b.type == "int" then
      context:raises(graph:band(guard, graph:ieq(b, graph:int(0))))
      return graph:icmod(a, b)
    end
    return graph:fcmod(float(context, a), float(context, b))
  end),
  [math.max] = extreme("math.max", "imax", math_less),
  [math.min] = extreme("math.min", "imin", function(context, a, b)
    return math_less(context, b, a)
  end),
  [math.tointeger] = to_integer,
  [math.type] = number_type,
  [math.ult] = unsigned_less,
  [type] = type_of,
  [tonumber] = to_number,
  [assert] = asserted,
  [error] = raised,
  [ipairs] = each,
  [pairs] = pairs_of,
  [next] = stepped(next),
  [step_ipairs] = stepped(step_ipairs),
}

-- What somebody has put in the place of one of these before we were loaded means something else.
for f in pairs(library.functions) do
  if debug.getinfo(f, "S").what ~= "C" then library.functions[f] = nil end
end

-- Lua's own functions as its manual calls them; of two names the first by the alphabet, that no run differs from another.
local function names_of_lua()
  local names = {}
  for _, module in ipairs{"_G", "string", "table", "math", "io", "os", "utf8", "coroutine", "debug"} do
    for key, f in next, package.loaded[module] or {} do
      local name = module == "_G" and key or ("%s.%s"):format(module, key)
      if type(f) == "function" and type(key) == "string" and not (names[f] and names[f] < name) then names[f] = name end
    end
  end
  return names
end

local names -- made when first asked for, which few masks do

--- What Lua's manual calls the function f, such as "math.random"; nil where it is none of Lua's own.
---@param f function
---@return string?
function library.name(f)
  names = names or names_of_lua()
  return names[f]
end

--- Lets lifted functions call our own elementary functions, once they are loaded.
---@param functions table name -> function
function library.know(functions)
  local ops = {exp = "fexp", log = "flog", tanh = "ftanh", sqrt = "fsqrt", sin = "fsin", cos = "fcos"}
  for name, op in pairs(ops) do
    if functions[name] then library.functions[functions[name]] = of_float("ts." .. name, op) end
  end
  if functions.log then -- behind a number, the others drop numbers
    local one = library.functions[functions.log]
    library.functions[functions.log] = function(context, arguments)
      if arguments.n > 1 then context.refuse("ts.log of two arguments") end
      return one(context, arguments)
    end
  end
  if functions.abs then
    library.functions[functions.abs] = of_number("ts.abs", function(graph, a, _, context)
      return graph:fabs(float(context, a))
    end)
  end
end

return library
