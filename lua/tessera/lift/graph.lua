-- graph.lua -- the typed operations that a lifted function consists of, each distinct one once.
--
-- A node is {op, a, b, c, type = "int"|"float"|"bool", id, lo, hi, nan, uses}: operands are nodes
-- of smaller id, lo..hi (and nan) is what it can be within the domain, `uses` says on which of
-- i, j, h, s it depends. Operations and their meanings are those of core/program.h; all are total.
-- `graph:iadd(a, b)` and the like return a node: an existing one, a constant folded by Lua itself,
-- or what the intervals and a few identities make of it. Booleans that are constant have .value.

local interval = require "tessera.lift.interval"

local graph = {}
graph.__index = graph

-- How many nodes one function may need.
local LIMIT = 4000

local tointeger = math.tointeger

graph.USES_I, graph.USES_J, graph.USES_H, graph.USES_S = 1, 2, 4, 8

-- For each operation its type and what it does to constants (nil: they are left alone).
local operations = {
  iadd = {"int", function(a, b) return a + b end},
  isub = {"int", function(a, b) return a - b end},
  imul = {"int", function(a, b) return a * b end},
  ineg = {"int", function(a) return -a end},
  idiv = {"int", function(a, b) return b == 0 and 0 or a // b end},
  imod = {"int", function(a, b) return b == 0 and 0 or a % b end},
  icmod = {"int", function(a, b) return b == 0 and 0 or math.fmod(a, b) end},
  iabs = {"int", math.abs},
  imin = {"int", math.min},
  imax = {"int", math.max},
  iand = {"int", function(a, b) return a & b end},
  ior = {"int", function(a, b) return a | b end},
  ixor = {"int", function(a, b) return a ~ b end},
  inot = {"int", function(a) return ~a end},
  ishl = {"int", function(a, b) return a << b end},
  ishr = {"int", function(a, b) return a >> b end},
  ifrom = {"int", function(a) return tointeger(a) or 0 end},
  iselect = {"int"},
  itable = {"int"},
  fadd = {"float", function(a, b) return a + b end},
  fsub = {"float", function(a, b) return a - b end},
  fmul = {"float", function(a, b) return a * b end},
  fdiv = {"float", function(a, b) return a / b end},
  fneg = {"float", function(a) return -a end},
  ffloordiv = {"float", function(a, b) return a // b end},
  fmod = {"float", function(a, b) return a % b end},
  fcmod = {"float", math.fmod},
  fpow = {"float", function(a, b) return a ^ b end},
  fabs = {"float", math.abs},
  ffloor = {"float", interval.floor},
  fceil = {"float", interval.ceil},
  fsqrt = {"float", math.sqrt},
  fexp = {"float", math.exp},
  flog = {"float", function(a) return math.log(a) end},
  flog2 = {"float", function(a) return math.log(a, 2) end},
  flog10 = {"float", function(a) return math.log(a, 10) end},
  fsin = {"float", math.sin},
  fcos = {"float", math.cos},
  ftan = {"float", math.tan},
  ftanh = {"float"},
  ffrom = {"float", function(a) return a + 0.0 end},
  fselect = {"float"},
  ftable = {"float"},
  matrix = {"float"},
  fits = {"bool", function(a) return tointeger(a) ~= nil end},
  ieq = {"bool", function(a, b) return a == b end},
  ilt = {"bool", function(a, b) return a < b end},
  ile = {"bool", function(a, b) return a <= b end},
  iult = {"bool", math.ult},
  band = {"bool"}, bor = {"bool"}, bxor = {"bool"}, bnot = {"bool"}, bselect = {"bool"},
  btable = {"bool"}, bits = {"bool"}, call = {"bool"},
}
for _, name in ipairs {"feq", "ifeq"} do operations[name] = operations.ieq end
for _, name in ipairs {"flt", "iflt", "filt"} do operations[name] = operations.ilt end
for _, name in ipairs {"fle", "ifle", "file"} do operations[name] = operations.ile end

-- Operations whose operands may change places, in integers and in bits of floats too.
local commutative = {iadd = true, imul = true, imin = true, imax = true, iand = true, ior = true,
  ixor = true, ieq = true, fadd = true, fmul = true, feq = true, bxor = true}

-- Making nodes ----------------------------------------------------------------------------------

--- A graph over i in 1..n_q, j in 1..n_k, h in 1..heads (each at least 1 here). With `score` there
-- is a float s too, and floats are of a dtype yet unknown: of them nothing is concluded.
---@param refuse fun(reason: string) called when there are too many nodes; does not return
function graph.new(n_q, n_k, heads, score, refuse)
  local self = setmetatable({nodes = {}, known = {}, score = score, refuse = refuse}, graph)
  self.yes = self:constant("bconst", true, "bool")
  self.no = self:constant("bconst", false, "bool")
  local function symbol(op, high, uses)
    return self:add {op = op, type = "int", lo = 1, hi = math.max(high, 1), uses = uses}
  end
  self.i = symbol("i", n_q, graph.USES_I)
  self.j = symbol("j", n_k, graph.USES_J)
  self.h = symbol("h", heads, graph.USES_H)
  if score then
    self.s = self:add {op = "s", type = "float", lo = -math.huge, hi = math.huge, nan = true,
      uses = graph.USES_S}
  end
  return self
end

function graph:add(node)
  local id = #self.nodes + 1
  if id > LIMIT then self.refuse("the program is too long") end
  node.id = id
  self.nodes[id] = node
  return node
end

-- key: tells constants apart where == does not (-0.0 from 0.0, 1 from 1.0, NaN from NaN).
function graph:constant(op, value, type)
  local key = op .. (type == "float" and string.pack("d", value) or tostring(value))
  local node = self.known[key]
  if not node then
    node = self:add {op = op, type = type, value = value, uses = 0, constant = true}
    if type ~= "bool" then node.lo, node.hi = value, value end
    if type == "float" then
      node.nan = value ~= value
      node.integral = value % 1 == 0
      if node.nan then node.lo, node.hi = math.huge, -math.huge end -- no number at all
    end
    self.known[key] = node
  end
  return node
end

function graph:int(value) return self:constant("iconst", value, "int") end

function graph:float(value) return self:constant("fconst", value, "float") end

function graph:bool(value) return value and self.yes or self.no end

local makers = {int = graph.int, float = graph.float, bool = graph.bool}

-- The node op(a, b, c), with what its interval tells; `extra` is a table, matrix or mask.
local function node(self, op, a, b, c, extra)
  if b and commutative[op] and (a.constant or a.id > b.id) and not b.constant then a, b = b, a end
  local key = op .. ":" .. a.id .. ":" .. (b and b.id or 0) .. ":" .. (c and c.id or 0)
    .. (extra and ":" .. self:number(extra) or "")
  local found = self.known[key]
  if found then return found end
  local type, fold = operations[op][1], operations[op][2]
  if fold and a.constant and (not b or b.constant) then
    found = makers[type](self, fold(a.value, b and b.value))
  else
    found = self:bounded(op, type, a, b, c, extra)
  end
  self.known[key] = found
  return found
end

-- A new node, or the constant that its interval leaves.
function graph:bounded(op, type, a, b, c, extra)
  local rule = interval[op]
  local unsure = self.score and (a.type == "float" or b and b.type == "float" or type == "float")
  local lo, hi, nan
  if rule and not unsure then
    lo, hi, nan = rule(a, b, c)
  elseif extra and extra.lo and not unsure then
    lo, hi, nan = extra.lo, extra.hi, extra.nan
  end
  if type == "bool" then
    if lo ~= nil then return self:bool(lo) end
  elseif lo == nil then
    if type == "int" then lo, hi = math.mininteger, math.maxinteger
    else lo, hi, nan = -math.huge, math.huge, true end
  elseif type == "int" and lo == hi then
    return self:int(lo)
  end
  return self:add {
    op = op, a = a, b = b, c = c, extra = extra, type = type, lo = lo, hi = hi, nan = nan,
    uses = a.uses | (b and b.uses or 0) | (c and c.uses or 0),
    integral = op == "ffloor" or op == "fceil" or op == "ffrom" or nil,
  }
end

-- A number for a table, matrix or mask, so that nodes can be told apart by it.
function graph:number(extra)
  local numbers = self.numbers or {}
  self.numbers = numbers
  if not numbers[extra] then
    self.extras = (self.extras or 0) + 1
    numbers[extra] = self.extras
  end
  return numbers[extra]
end

for op in pairs(operations) do
  graph[op] = function(self, a, b, c, extra) return node(self, op, a, b, c, extra) end
end

-- Identities ------------------------------------------------------------------------------------

function graph:isub(a, b)
  if a == b then return self:int(0) end
  if b.constant then return self:iadd(a, self:int(-b.value)) end
  return node(self, "isub", a, b)
end

function graph:iadd(a, b)
  if a.constant then a, b = b, a end
  if b.constant then
    if b.value == 0 then return a end
    if a.op == "iadd" and a.b.constant then
      return self:iadd(a.a, self:int(a.b.value + b.value))
    end
  end
  return node(self, "iadd", a, b)
end

function graph:imul(a, b)
  if a.constant then a, b = b, a end
  if b.constant and b.value == 1 then return a end
  return node(self, "imul", a, b)
end

function graph:idiv(a, b)
  if b.constant and b.value == 1 then return a end
  return node(self, "idiv", a, b)
end

function graph:imod(a, b)
  if a.lo >= 0 and a.hi < b.lo then return a end
  return node(self, "imod", a, b)
end

function graph:iabs(a)
  if a.lo >= 0 then return a end
  return node(self, "iabs", a)
end

local function whole(self, op, a)
  if a.integral and not self.score then return a end
  return node(self, op, a)
end

function graph:ffloor(a) return whole(self, "ffloor", a) end

function graph:fceil(a) return whole(self, "fceil", a) end

local function is_moderate(n) return n > -(1 << 62) and n < 1 << 62 end

-- x + c compared with d is x compared with d - c, where neither wraps.
local function without_addend(self, a, b)
  if a.op == "iadd" and a.b.constant and b.constant and is_moderate(a.b.value)
    and is_moderate(b.value) then
    local x, c = a.a, a.b.value
    if c >= 0 and x.hi <= math.maxinteger - c or c < 0 and x.lo >= math.mininteger - c then
      return x, self:int(b.value - c)
    end
  end
  return a, b
end

function graph:ieq(a, b)
  if a == b then return self.yes end
  if a.constant then a, b = b, a end
  if b.constant and b.value == 0 and a.op == "isub" then a, b = a.a, a.b end
  a, b = without_addend(self, a, b)
  return node(self, "ieq", a, b)
end

-- With constants a <= b only, so that what is equal looks equal.
function graph:ilt(a, b)
  if a == b then return self.no end
  if b.constant and b.value > math.mininteger then return self:ile(a, self:int(b.value - 1)) end
  if a.constant and a.value < math.maxinteger then return self:ile(self:int(a.value + 1), b) end
  return node(self, "ilt", a, b)
end

-- a - b compared with 0 is a compared with b, where it does not wrap.
local function is_difference(a, b, constant)
  return a.op == "isub" and b.constant and b.value == constant
    and (a.lo > math.mininteger or a.hi < math.maxinteger)
end

function graph:ile(a, b)
  if a == b then return self.yes end
  a, b = without_addend(self, a, b)
  b, a = without_addend(self, b, a)
  if is_difference(a, b, 0) then return self:ile(a.a, a.b) end
  if is_difference(a, b, -1) then return self:ilt(a.a, a.b) end
  if is_difference(b, a, 0) then return self:ile(b.b, b.a) end
  if is_difference(b, a, 1) then return self:ilt(b.b, b.a) end
  return node(self, "ile", a, b)
end

-- Booleans --------------------------------------------------------------------------------------

-- Negations are pushed down to what is neither and nor or, so that what is equal looks equal.
local function negated(self, a)
  if a.op == "bnot" then return a.a end
  if a.op == "ilt" then return self:ile(a.b, a.a) end
  if a.op == "ile" then return self:ilt(a.b, a.a) end
  if a.op == "band" then return self:bor(self:bnot(a.a), self:bnot(a.b)) end
  if a.op == "bor" then return self:band(self:bnot(a.a), self:bnot(a.b)) end
  return node(self, "bnot", a)
end

function graph:bnot(a)
  if a.constant then return self:bool(not a.value) end
  if not a.negation then
    a.negation = negated(self, a)
    a.negation.negation = a
  end
  return a.negation
end

-- Whether x is among the last few terms of a, a conjunction (op = "band") or disjunction.
local function holds(op, a, x)
  for _ = 1, 8 do
    if a == x then return true end
    if a.op ~= op then return false end
    if a.b == x then return true end
    a = a.a
  end
  return false
end

-- a without its term x, which `holds` has found.
local function without(self, op, a, x)
  if a.b == x then return a.a end
  if a.a == x then return a.b end
  return self[op](self, without(self, op, a.a, x), a.b)
end

-- band and bor are each other's mirror: with `unit` true for band. Only the last few terms are
-- looked at, so that a chain of n of them takes time in proportion to n.
local function junction(self, op, mirror, unit, a, b)
  if a.constant then return a.value == unit and b or a end
  if b.constant then return b.value == unit and a or b end
  if holds(op, a, b) then return a end
  if holds(op, b, a) then return b end
  local not_a, not_b = self:bnot(a), self:bnot(b)
  if holds(op, a, not_b) or holds(op, b, not_a) then return self:bool(not unit) end
  if holds(mirror, a, b) then return b end -- (b or x) and b
  if holds(mirror, b, a) then return a end
  if b.op == mirror and holds(mirror, b, not_a) then -- a and (not a or x)
    return junction(self, op, mirror, unit, a, without(self, mirror, b, not_a))
  end
  if a.op == mirror and holds(mirror, a, not_b) then
    return junction(self, op, mirror, unit, without(self, mirror, a, not_b), b)
  end
  return node(self, op, a, b)
end

function graph:band(a, b) return junction(self, "band", "bor", true, a, b) end

function graph:bor(a, b) return junction(self, "bor", "band", false, a, b) end

function graph:bxor(a, b)
  if a == b then return self.no end
  if a.constant then a, b = b, a end
  if b.constant then return b.value and self:bnot(a) or a end
  return node(self, "bxor", a, b)
end

-- The node of type int, float or bool that is a where `cond` holds, else b.
function graph:select(cond, a, b)
  if cond.constant then return cond.value and a or b end
  if a == b then return a end
  if cond.op == "bnot" then return self:select(cond.a, b, a) end
  if a.type == "int" then return node(self, "iselect", cond, a, b) end
  if a.type == "float" then return node(self, "fselect", cond, a, b) end
  local opposite = self:bnot(cond)
  if a == cond or a == opposite then a = self:bool(a == cond) end
  if b == cond or b == opposite then b = self:bool(b == opposite) end
  if a.constant then return a.value and self:bor(cond, b) or self:band(opposite, b) end
  if b.constant then return b.value and self:bor(opposite, a) or self:band(cond, a) end
  return node(self, "bselect", cond, a, b)
end

return graph
