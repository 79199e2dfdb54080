-- operator.lua -- Lua's operators over values: which operation of the graph each one is, and where
-- it raises.
--
-- What an operand's kind makes impossible (arithmetic on nil) is reported with context:raises(where);
-- what depends on objects (strings are numbers in arithmetic, tables may have metamethods) is
-- refused, so that the predicate is called.

local value = require "tessera.lift.value"

local operator = {}

local function refuse(context, what, a, b)
  local leaf = value.is_number(a) and b or a
  context.refuse(("%s on a %s"):format(what, value.name(leaf)))
end

-- Of a leaf that no operator takes and that has no metamethods either.
local function is_plain(leaf) return leaf.type == "bool" or value.is_nil(leaf) end

-- Raises or refuses unless both are numbers; then true.
local function numbers(context, guard, a, b, what)
  if value.is_number(a) and value.is_number(b) then return true end
  local dull = (is_plain(a) or value.is_number(a)) and (is_plain(b) or value.is_number(b))
  if not dull then refuse(context, what, a, b) end
  context:raises(guard)
end

--- A number as a float node.
function operator.float(context, leaf)
  return leaf.type == "float" and leaf or context.graph:ffrom(leaf)
end

local float = operator.float

--- A number as an integer node; raises where it is none.
function operator.integer(context, guard, leaf)
  local graph = context.graph
  if leaf.type == "int" then return leaf end
  context:raises(graph:band(guard, graph:bnot(graph:fits(leaf))))
  return graph:ifrom(leaf)
end

local function not_zero(context, guard, b)
  context:raises(context.graph:band(guard, context.graph:ieq(b, context.graph:int(0))))
end

-- Arithmetic: by the name of the operator, (graph, context, guard, a, b) for two integers, and for
-- two floats.
local on_integers = {
  add = function(g, a, b) return g:iadd(a, b) end,
  sub = function(g, a, b) return g:isub(a, b) end,
  mul = function(g, a, b) return g:imul(a, b) end,
  idiv = function(g, a, b, context, guard)
    not_zero(context, guard, b)
    return g:idiv(a, b)
  end,
  mod = function(g, a, b, context, guard)
    not_zero(context, guard, b)
    return g:imod(a, b)
  end,
}

local on_floats = {
  add = function(g, a, b) return g:fadd(a, b) end,
  sub = function(g, a, b) return g:fsub(a, b) end,
  mul = function(g, a, b) return g:fmul(a, b) end,
  div = function(g, a, b) return g:fdiv(a, b) end,
  idiv = function(g, a, b) return g:ffloordiv(a, b) end,
  mod = function(g, a, b) return g:fmod(a, b) end,
  -- lvm.c squares by multiplying; pow may differ in the last bit
  pow = function(g, a, b)
    if b.constant and b.value == 2 then return g:fmul(a, a) end
    return g:fpow(a, b)
  end,
}

local bitwise = {band = "iand", bor = "ior", bxor = "ixor", shl = "ishl", shr = "ishr"}

--- x op y, for add sub mul mod pow div idiv band bor bxor shl shr.
function operator.binary(context, name, x, y)
  local graph = context.graph
  return value.map2(context, x, y, function(guard, a, b)
    if not numbers(context, guard, a, b, "arithmetic") then return nil end
    if bitwise[name] then
      local left, right = operator.integer(context, guard, a), operator.integer(context, guard, b)
      return graph[bitwise[name]](graph, left, right)
    end
    if a.type == "int" and b.type == "int" and on_integers[name] then
      return on_integers[name](graph, a, b, context, guard)
    end
    return on_floats[name](graph, float(context, a), float(context, b))
  end)
end

--- -x and ~x.
function operator.unary(context, name, x)
  local graph = context.graph
  return value.map(context, x, function(guard, a)
    if not numbers(context, guard, a, a, "arithmetic") then return nil end
    if name == "bnot" then return graph:inot(operator.integer(context, guard, a)) end
    return a.type == "int" and graph:ineg(a) or graph:fneg(a)
  end)
end

local comparisons = {
  lt = {intint = "ilt", floatfloat = "flt", intfloat = "iflt", floatint = "filt"},
  le = {intint = "ile", floatfloat = "fle", intfloat = "ifle", floatint = "file"},
}

--- The node a < b (name = "lt") or a <= b ("le") of two numbers.
function operator.ordered(context, name, a, b)
  local op = comparisons[name][a.type .. b.type]
  return context.graph[op](context.graph, a, b)
end

local function is_string(leaf) return leaf.is_object and type(leaf.object) == "string" end

--- x < y ("lt") or x <= y ("le"), a boolean node.
function operator.compare(context, name, x, y)
  return value.map2(context, x, y, function(guard, a, b)
    if is_string(a) and is_string(b) then
      local less = name == "lt" and a.object < b.object or name == "le" and a.object <= b.object
      return context.graph:bool(less)
    end
    if numbers(context, guard, a, b, "comparison") then
      return operator.ordered(context, name, a, b)
    end
  end)
end

local function has_equality(leaf)
  if leaf.rows then return true end
  local meta = debug.getmetatable(leaf.object)
  return meta and rawget(meta, "__eq") ~= nil
end

local function equal_leaves(context, a, b)
  local graph = context.graph
  if a.type and b.type then
    if a.type == "bool" or b.type == "bool" then
      return a.type == b.type and graph:bnot(graph:bxor(a, b)) or graph.no
    end
    if a.type == b.type then return a.type == "int" and graph:ieq(a, b) or graph:feq(a, b) end
    if a.type == "float" then a, b = b, a end
    return graph:ifeq(a, b)
  end
  if a.type or b.type then return graph.no end
  if a == b and not a.rows then return graph.yes end
  if value.name(a) == value.name(b) and (has_equality(a) or has_equality(b)) then
    context.refuse(("== on two values of type %s"):format(value.name(a)))
  end
  return graph.no
end

--- x == y, a boolean node.
function operator.equal(context, x, y)
  return value.map2(context, x, y, function(_, a, b) return equal_leaves(context, a, b) end)
end

--- #x.
function operator.length(context, x)
  return value.map(context, x, function(guard, a)
    if a.type or value.is_nil(a) then return context:raises(guard) end
    local object = a.object
    if type(object) == "string" then return context.graph:int(#object) end
    if type(object) == "table" and not debug.getmetatable(object) then
      return context.graph:int(#object)
    end
    if type(object) == "userdata" and context.is_ours(object) then
      return value.of(context, #object)
    end
    context.refuse(("# of a %s"):format(value.name(a)))
  end)
end

return operator
