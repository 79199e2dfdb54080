-- ours.lua -- calls of captured matrices and masks: M(i, j), mask(i, j), mask(i, j, h).

local operator = require "tessera.lift.operator"
local value = require "tessera.lift.value"

local ours = {}

local function is_a(concept, object)
  local meta = debug.getmetatable(object)
  return meta ~= nil and meta == debug.getregistry()["tessera." .. concept]
end

--- Whether the userdata is a matrix or a mask, whose metatables are our own.
function ours.known(object) return is_a("matrix", object) or is_a("mask", object) end

-- The integer node for argument k, which must be 1..n, or raises; of a matrix also -n..-1.
local function index(context, guard, leaf, n, from_end)
  local graph = context.graph
  if not value.is_number(leaf) then
    if leaf.type == "bool" or value.is_nil(leaf) then return context:raises(guard) end
    context.refuse("an index that is a " .. value.name(leaf))
  end
  local k = operator.integer(context, guard, leaf)
  if from_end then
    k = graph:select(graph:ilt(k, graph:int(0)), graph:iadd(k, graph:int(n + 1)), k)
  end
  local inside = graph:band(graph:ile(graph:int(1), k), graph:ile(k, graph:int(n)))
  context:raises(graph:band(guard, graph:bnot(inside)))
  return k
end

-- What a program reads, one object for each matrix or mask.
local function source(context, object, make)
  local known = context.columns[object]
  if not known then
    known = make()
    context.columns[object] = known
  end
  return known
end

local function element(context, M, arguments)
  local extra = source(context, M, function() return {kind = "matrix", matrix = M} end)
  local absent = value.of(context, nil)
  return value.map2(context, arguments[1] or absent, arguments[2] or absent, function(guard, a, b)
    local i, j = index(context, guard, a, M.rows, true), index(context, guard, b, M.cols, true)
    return i and j and context.graph:matrix(i, j, nil, extra)
  end)
end

local function cell(context, m, arguments)
  local extra = source(context, m, function() return {program = m:program()} end)
  local absent = value.of(context, nil)
  local head = m.heads and (arguments[3] or absent) or context.graph:int(1)
  return value.map2(context, arguments[1] or absent, arguments[2] or absent, function(guard, a, b)
    local i, j = index(context, guard, a, m.rows), index(context, guard, b, m.cols)
    if not i or not j then return nil end
    return value.map(context, head, function(other, c)
      local h = index(context, context.graph:band(guard, other), c, m.heads or 1)
      return h and context.graph:call(i, j, h, extra)
    end)
  end)
end

--- The value object(arguments), or nil where it always raises.
function ours.apply(context, object, arguments)
  local most = is_a("matrix", object) and 2 or 3
  if arguments.n > most then context.refuse("a matrix or a mask called with an index too many") end -- an error, unless it is nil
  if is_a("matrix", object) then return element(context, object, arguments) end
  return cell(context, object, arguments)
end

return ours
