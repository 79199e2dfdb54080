-- generate.lua -- random Lua functions of (i, j), (i, j, h) and (s, i, j, h), as source text.
--
-- They use every operator, with operands negative, zero, huge, float and integer; the library;
-- captured numbers, tables, matrices, masks and functions; locals, branches, loops, early returns.
-- Many raise for some cells: what is raised, and where first, is part of what must agree.

local generate = {}

-- A generator of numbers 1..n from a seed (SplitMix64).
local function random(seed)
  local state = seed
  return function(n)
    state = state + 0x9E3779B97F4A7C15
    local x = state
    x = (x ~ x >> 30) * 0xBF58476D1CE4E5B9
    x = (x ~ x >> 27) * 0x94D049BB133111EB
    return ((x ~ x >> 31) >> 11) % n + 1
  end
end

-- What stands before the function: the upvalues.
local prelude = [[
local floor, ceil, abs, min, max, sqrt, fmod, exp, log, sin, cos, tointeger, mtype, ult, huge =
  math.floor, math.ceil, math.abs, math.min, math.max, math.sqrt, math.fmod, math.exp, math.log,
  math.sin, math.cos, math.tointeger, math.type, math.ult, math.huge
local four, half, big, odd = 4, 0.5, 1 << 62, -3
local ints = {3, 1, -4, 1, 5, -9, 2, 6, 5, 3, 5, 8}
local floats = {0.5, -0.0, 2.0, -3.25, 1e300, 7.0, 0/0, huge, -1.5, 4.0, 1.0, 3.0}
local flags = {true, false, true, true, false, false, true}
local mixed = {1, 2.5, nil, true, 4, false, -7, 3.0, "x", nil, 2, 1}
local sparse = {[1] = 2, [100] = 3, [-5] = 7}
local grid = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 0, 1}}
local ragged = {{1, 2.5}, {}, {true, false, true}, [5] = {3}}
local options = {width = 3, scale = 0.25, on = true, nested = {deep = 2}}
local M = matrix {{1, 0, 2}, {0, -1, 0.5}, {3, 0, 0}}
local m = mask.parse "x.x.\n.xx.\nx..x"
local function twice(x) return x + x end
local function clip(x, lo, hi) if x < lo then return lo elseif x > hi then return hi end return x end
local function either(a, b) return a and b or not a end
local function steps(k) local c = 0 for x = 1, 4 do if x * k % 3 == 1 then c = c + x end end return c end
]]

local Writer = {}
Writer.__index = Writer

function Writer:pick(list) return list[self.random(#list)] end

-- Whether something that happens once in n times does.
function Writer:rarely(n) return self.random(n) == 1 end

local constants = {"0", "1", "2", "3", "5", "7", "-1", "-3", "10", "64", "0.0", "0.5", "1.5", "-2.5", "3.0",
  "1e15", "2^53", "(1 << 53) + 1", "math.mininteger", "math.maxinteger", "(0/0)", "huge", "-huge", "-0.0",
  "1e308", "63", "-64", "0x7fffffff", "9007199254740993", "four", "half", "big", "odd",
  "options.width", "options.scale", "options.nested.deep", "#ints", "math.pi"}
local smalls = {"0", "1", "2", "3", "4", "-1", "2.0", "0.5", "four", "half"}

local binary = {"+", "-", "*", "//", "%", "+", "-", "*", "//", "%", "/", "^", "&", "|", "~", "<<", ">>"}

function Writer:leaf()
  local which = self.random(10)
  if which <= 6 then return self:pick(self.names) end
  if which <= 8 then return self:pick(smalls) end
  return "(" .. self:pick(constants) .. ")"
end

local numeric = {}

function numeric.binary(w, d)
  return ("(%s %s %s)"):format(w:number(d), w:pick(binary), w:number(d))
end
numeric.again = numeric.binary
numeric.more = numeric.binary

function numeric.unary(w, d) return ("(%s %s)"):format(w:pick {"-", "-", "~"}, w:number(d)) end

function numeric.floored(w, d) return ("%s(%s)"):format(w:pick {"floor", "ceil", "abs"}, w:number(d)) end

function numeric.extreme(w, d)
  local f = w:pick {"min", "max"}
  if w:rarely(3) then return ("%s(%s, %s, %s)"):format(f, w:number(d), w:number(d), w:number(d)) end
  return ("%s(%s, %s)"):format(f, w:number(d), w:number(d))
end

function numeric.libm(w, d) return ("%s(%s)"):format(w:pick {"sqrt", "exp", "log", "sin", "cos"}, w:number(d)) end

function numeric.fmod(w, d) return ("fmod(%s, %s)"):format(w:number(d), w:number(d)) end

function numeric.lookup(w, d)
  return ("%s[%s]"):format(w:pick {"ints", "ints", "floats", "floats", "mixed", "sparse"}, w:number(d))
end

function numeric.safe_lookup(w, d)
  return ("(%s[(%s) %% 12 + 1] or 0)"):format(w:pick {"ints", "floats", "sparse"}, w:number(d))
end

function numeric.nested(w, d)
  return ("(grid[%s] or grid[1])[%s]"):format(w:number(d), w:pick {"1", "j % 3 + 1", "i % 4"})
end

function numeric.matrix(w, d) return ("M(%s %% 3 + 1, %s)"):format(w:number(d), w:pick {"1", "2", "j % 3 + 1", "-1", "j"}) end

function numeric.choice(w, d) return ("(%s and %s or %s)"):format(w:condition(d), w:number(d), w:number(d)) end

function numeric.call(w, d)
  if w:rarely(2) then return ("twice(%s)"):format(w:number(d)) end
  if w:rarely(3) then return ("steps(%s)"):format(w:number(d)) end
  return ("clip(%s, %s, %s)"):format(w:number(d), w:number(d), w:number(d))
end

function numeric.whole(w, d) return ("(tointeger(%s) or %s)"):format(w:number(d), w:number(d)) end

local numeric_kinds = {}
for name in pairs(numeric) do numeric_kinds[#numeric_kinds + 1] = name end
table.sort(numeric_kinds)

function Writer:number(depth)
  if depth <= 0 or self:rarely(4) then return self:leaf() end
  return numeric[self:pick(numeric_kinds)](self, depth - 1)
end

local boolean = {}

function boolean.compare(w, d)
  return ("%s %s %s"):format(w:number(d), w:pick {"<", "<=", ">", ">=", "==", "~="}, w:number(d))
end
boolean.again = boolean.compare
boolean.more = boolean.compare

function boolean.junction(w, d) return ("(%s %s %s)"):format(w:condition(d), w:pick {"and", "or"}, w:condition(d)) end
boolean.junctions = boolean.junction

function boolean.negation(w, d) return ("not (%s)"):format(w:condition(d)) end

function boolean.flag(w, d)
  return ("%s[%s]"):format(w:pick {"flags", "flags", "mixed"}, w:number(d))
end

function boolean.ragged(w, d)
  return ("(ragged[%s] or ragged[2])[%s] == %s"):format(w:number(d), w:pick {"1", "2", "j", "i % 3"}, w:number(d))
end

function boolean.mask(w, d) return ("m(%s %% 3 + 1, %s)"):format(w:number(d), w:pick {"1", "j % 4 + 1", "j"}) end

function boolean.type(w, d) return ("mtype(%s) == %s"):format(w:number(d), w:pick {"'integer'", "'float'", "nil"}) end

function boolean.either(w, d) return ("either(%s, %s)"):format(w:condition(d), w:condition(d)) end

function boolean.ult(w, d) return ("ult(%s, %s)"):format(w:number(d), w:number(d)) end

function boolean.equal(w, d) return ("(%s) == (%s)"):format(w:condition(d), w:condition(d)) end

local boolean_kinds = {}
for name in pairs(boolean) do boolean_kinds[#boolean_kinds + 1] = name end
table.sort(boolean_kinds)

function Writer:condition(depth)
  if depth <= 0 then
    return ("%s %s %s"):format(self:leaf(), self:pick {"<", "<=", "==", ">"}, self:leaf())
  end
  return boolean[self:pick(boolean_kinds)](self, depth - 1)
end

-- Statements: each a text; `names` grows by the locals that are then in scope.
local statements = {}

function statements.declare(w, depth)
  local name = "x" .. #w.names
  local text = ("local %s = %s"):format(name, w:number(depth))
  w.names[#w.names + 1] = name
  return text
end

function statements.branch(w, depth)
  local text = ("if %s then %s"):format(w:condition(depth), w:scope(depth - 1))
  if w:rarely(2) then text = text .. (" elseif %s then %s"):format(w:condition(depth), w:scope(depth - 1)) end
  if w:rarely(2) then text = text .. " else " .. w:scope(depth - 1) end
  return text .. " end"
end

function statements.assign(w, depth)
  local locals = {}
  for _, name in ipairs(w.names) do
    if name:sub(1, 1) == "x" then locals[#locals + 1] = name end
  end
  if #locals == 0 then return statements.declare(w, depth) end
  return ("%s = %s"):format(w:pick(locals), w:number(depth))
end

function statements.loop(w, depth)
  local n, name = #w.names, "k" .. #w.names
  w.names[n + 1] = name
  local text = ("for %s = %s do %s if %s then break end end"):format(name,
    w:pick {"1, 3", "3, 1, -1", "0, 1, 0.5", "1, #grid", "2, 1", "1.0, 2"}, w:block(depth - 1), w:condition(depth - 1))
  while #w.names > n do w.names[#w.names] = nil end
  return text
end

function statements.walk(w, depth)
  local n, name = #w.names, "v" .. #w.names
  w.names[n + 1] = name
  local text = ("for _, %s in ipairs(%s) do if %s then %s end end"):format(name,
    w:pick {"ints", "floats", "grid[2]"}, w:condition(depth - 1), w:block(0))
  while #w.names > n do w.names[#w.names] = nil end
  return text
end

function statements.swap(w, depth)
  local locals = {}
  for _, name in ipairs(w.names) do
    if name:sub(1, 1) == "x" then locals[#locals + 1] = name end
  end
  if #locals < 2 then return statements.declare(w, depth) end
  return ("%s, %s = %s, %s"):format(locals[1], locals[#locals], locals[#locals], w:number(depth))
end

-- A local function that holds what is in scope, and one that gives two results.
function statements.closure(w, depth)
  local name = "x" .. #w.names
  local text = ("local function f%s(y) return %s + y, %s end local %s = f%s(%s)"):format(name, w:number(depth - 1),
    w:number(0), name, name, w:number(0))
  if w:rarely(2) then
    text = text .. (" %s = select and max(f%s(%s))"):format(name, name, w:number(0))
  end
  w.names[#w.names + 1] = name
  return text
end

function statements.counted(w, depth)
  local name = "n" .. #w.names
  local body = w:scope(depth - 1)
  if w:rarely(2) then
    return ("do local %s = 0 while %s < 3 do %s = %s + 1 if %s then goto next end %s ::next:: end end"):format(name, name,
      name, name, w:condition(depth - 1), body)
  end
  return ("do local %s = 0 repeat %s = %s + 1 %s until %s == 3 or %s end"):format(name, name, name, body, name,
    w:condition(depth - 1))
end

function statements.leave(w, depth) return ("if %s then return %s end"):format(w:condition(depth), w:result(depth)) end

local statement_kinds = {"declare", "declare", "branch", "assign", "loop", "walk", "leave", "swap", "closure", "counted"}

function Writer:block(depth)
  if depth <= 0 then
    for k = #self.names, 1, -1 do
      if self.names[k]:sub(1, 1) == "x" then return ("%s = %s"):format(self.names[k], self:number(1)) end
    end
    return ""
  end
  return statements[self:pick(statement_kinds)](self, depth)
end

-- A block of its own, whose locals end with it.
function Writer:scope(depth)
  local n = #self.names
  local text = self:block(depth)
  while #self.names > n do self.names[#self.names] = nil end
  return text
end

function Writer:result(depth)
  if self.scores then return self:number(depth) end
  if self:rarely(60) then return self:number(depth) end -- no boolean: an error
  return self:condition(depth)
end

--- The source of a random function of `parameters` ({"i", "j"} and the like); of one that ends in a
--- number if `scores`. A chunk that expects matrix and mask in its environment.
---@param seed integer
---@param parameters string[]
---@param scores? boolean
function generate.source(seed, parameters, scores)
  local w = setmetatable({random = random(seed), names = {table.unpack(parameters)}, scores = scores}, Writer)
  local lines = {}
  for _ = 2, w.random(4) do lines[#lines + 1] = statements[w:pick(statement_kinds)](w, w.random(2)) end
  lines[#lines + 1] = "return " .. w:result(w.random(3))
  return prelude .. ("return function(%s)\n  %s\nend"):format(table.concat(parameters, ", "), table.concat(lines, "\n  "))
end

--- That function.
function generate.func(seed, parameters, scores)
  local ts = require "tessera"
  local source = generate.source(seed, parameters, scores)
  local env = setmetatable({matrix = ts.matrix, mask = ts.mask}, {__index = _G})
  return assert(load(source, "=generated", "t", env))(), source
end

return generate
