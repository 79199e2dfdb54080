-- execute.lua -- runs a function's bytecode with symbols for arguments.
--
-- Where a condition is not known the state forks, and states that reach the same instruction are
-- joined into one, so that the work is linear in the code. The state at the smallest instruction runs
-- first: then all forward edges into an instruction have arrived before it runs, and break and early
-- return need nothing special. A state is the registers (values) and the path: the conditions taken.

local bytecode = require "tessera.lift.bytecode"
local library = require "tessera.lift.library"
local lookup = require "tessera.lift.lookup"
local operator = require "tessera.lift.operator"
local value = require "tessera.lift.value"

local STEPS, ROUNDS, DEPTH = 20000, 1000, 16

-- Paths -----------------------------------------------------------------------------------------

-- A path is {up, literal, depth, all}: the path before, one more condition, how many there are, and
-- their conjunction as a node. Paths that fork share what came before.

local function extended(graph, path, literal)
  return {up = path, literal = literal, depth = path.depth + 1,
    all = graph:band(path.all, literal)}
end

-- Whether the path decides the condition: true, false, or nil.
local function decided(graph, path, cond)
  local opposite = graph:bnot(cond)
  for _ = 1, 32 do
    if path.literal == cond then return true end
    if path.literal == opposite then return false end
    path = path.up
    if not path then return nil end
  end
end

local function meeting(a, b)
  while a ~= b do
    if a.depth >= b.depth then a = a.up else b = b.up end
  end
  return a
end

-- The conjunction of what `path` adds to `root`, and the first of it.
local function rest(graph, path, root)
  local literals = {}
  while path ~= root do
    literals[#literals + 1] = path.literal
    path = path.up
  end
  local all = graph.yes
  for k = #literals, 1, -1 do all = graph:band(all, literals[k]) end
  return all, literals[#literals]
end

-- States ----------------------------------------------------------------------------------------

-- Registers are joined only when they are read: many are dead.
local function read(context, registers, r)
  local x = registers[r]
  if x and x.joined then
    x = value.join(context, x.cond, read(context, x, "a"), read(context, x, "b"))
    registers[r] = x
  end
  return x or value.of(context, nil)
end

local function joined(context, a, b)
  local graph = context.graph
  local root = meeting(a.path, b.path)
  local only_a, first_a = rest(graph, a.path, root)
  local only_b, first_b = rest(graph, b.path, root)
  local cond, path = only_a, root
  if first_a and first_b == graph:bnot(first_a) then cond = first_a end
  local either = graph:bor(only_a, only_b)
  if either ~= graph.yes then path = extended(graph, root, either) end
  local registers = {}
  for r, x in pairs(a.registers) do
    local y = b.registers[r]
    registers[r] = x == y and x or {joined = true, cond = cond, a = x, b = y}
  end
  for r, y in pairs(b.registers) do
    if a.registers[r] == nil then registers[r] = {joined = true, cond = cond, b = y} end
  end
  local top = a.top == b.top and a.top or nil
  return {path = path, registers = registers, top = top}
end

-- Frames ----------------------------------------------------------------------------------------

-- A frame is a function under way: proto, upvalue(n), varargs, pending (states by instruction),
-- captured (registers that a closure holds), returned (the joined state of all returns).

local function go(context, frame, pc, state)
  local there = frame.pending[pc]
  frame.pending[pc] = there and joined(context, there, state) or state
end

-- Goes to pc_true and pc_false, as far as the condition leaves both open.
local function branch(context, frame, state, cond, pc_true, pc_false)
  local graph = context.graph
  local known = cond.value
  if not cond.constant then known = decided(graph, state.path, cond) end
  if known ~= nil then return go(context, frame, known and pc_true or pc_false, state) end
  local copy = {}
  for r, x in pairs(state.registers) do copy[r] = x end
  go(context, frame, pc_false,
    {path = extended(graph, state.path, graph:bnot(cond)), registers = copy})
  state.path = extended(graph, state.path, cond)
  go(context, frame, pc_true, state)
end

-- A test instruction: the next one is a jump, taken where cond is k.
local function test(context, frame, state, pc, cond, k)
  if not cond then return end -- it always raises
  local jump = pc + 2 + frame.proto.code[pc + 1].sJ
  if k then branch(context, frame, state, cond, jump, pc + 2)
  else branch(context, frame, state, cond, pc + 2, jump) end
end

local function write(context, frame, state, r, x)
  if frame.captured[r] then context.refuse("assignment to a local that a closure holds") end
  state.registers[r] = x
end

-- Calls -----------------------------------------------------------------------------------------

local execute

-- The real function f as a frame's proto and upvalues.
local function opened(context, f)
  local known = context.functions[f]
  if known then return known.proto, known.upvalue end
  local proto, why = bytecode.read(f)
  if not proto then
    local name = library.name(f) or "a function"
    local advice = name == "math.tanh" and "; ts.tanh can be lifted" or "" -- Lua 5.4 has math.tanh by a compatibility switch alone
    context.refuse(("a call of %s, which cannot be read: %s%s"):format(name, why, advice))
  end
  local upvalues = {}
  local function upvalue(n)
    if not upvalues[n] then
      local _, x = debug.getupvalue(f, n + 1)
      upvalues[n] = value.of(context, x)
    end
    return upvalues[n]
  end
  context.functions[f] = {proto = proto, upvalue = upvalue}
  return proto, upvalue
end

-- Results of the leaf `callee` for these arguments: a list with n, or nil where it always raises.
local function call_leaf(context, callee, arguments, state)
  if callee.closure then
    return execute(context, callee.closure.proto, callee.closure.upvalue, arguments, state)
  end
  local f = callee.object
  local known = f ~= nil and library.functions[f]
  if known then
    local results = known(context, arguments)
    if results then results.n = results.n or #results end
    return results
  end
  if type(f) == "userdata" and context.is_ours(f) then
    local result = context.apply(context, f, arguments)
    return result and {result, n = 1}
  end
  if type(f) ~= "function" then context.refuse("a call of a " .. value.name(callee)) end
  local proto, upvalue = opened(context, f)
  return execute(context, proto, upvalue, arguments, state)
end

local function call(context, callee, arguments, state)
  local one
  for _, case in ipairs(value.cases(context, callee)) do
    local leaf = case.leaf
    if leaf.type or value.is_nil(leaf) then
      context:raises(case.guard)
    elseif one then
      context.refuse("a call of a function chosen by an argument")
    else
      one = leaf
    end
  end
  if not one then return nil end
  context.depth = context.depth + 1
  if context.depth > DEPTH then context.refuse("calls nested too deeply") end
  local line = context.line
  local results = call_leaf(context, one, arguments, state)
  context.depth, context.line = context.depth - 1, line
  return results
end

-- The arguments of a call instruction: registers A + 1 ..., B - 1 of them, or up to the top.
local function arguments_of(context, state, a, b)
  local n = b - 1
  if b == 0 then
    if not state.top then context.refuse("an open list of arguments") end
    n = state.top - a - 1
  end
  local list = {n = n}
  for k = 1, n do list[k] = read(context, state.registers, a + k) end
  return list
end

local function finish(context, frame, state, results)
  local registers = {}
  for k = 1, results.n do registers[k] = results[k] end
  local new = {path = state.path, registers = registers, top = results.n}
  frame.returned = frame.returned and joined(context, frame.returned, new) or new
end

-- Loops -----------------------------------------------------------------------------------------

-- What a numeric `for` over known numbers runs through: Lua's own loop says.
local function rounds(context, first, last, step)
  local list = {}
  local function run()
    for x = first, last, step do
      if #list == ROUNDS then context.refuse("a loop of more than " .. ROUNDS .. " rounds") end
      list[#list + 1] = x
    end
  end
  if step == 0 then context.refuse("a loop of step zero") end
  run()
  return list
end

local function known_number(context, x)
  if not (x.constant and value.is_number(x)) then context.refuse("a loop whose bounds are not known") end
  return x.value
end

-- Instructions ----------------------------------------------------------------------------------

-- Each is function(context, frame, state, instruction, pc, registers): it writes registers and
-- returns the next instruction's number; or it has sent the states on itself and returns nil.
local instructions = {}

-- op: R[A] := what f gives, nil where it always raises; `skip` instructions behind it are passed.
local function computes(name, skip, f)
  instructions[name] = function(context, frame, state, x, pc)
    local result = f(context, state.registers, x, frame)
    if result then
      write(context, frame, state, x.A, result)
      return pc + 1 + skip
    end
  end
end

local function constant(context, frame, k) return value.of(context, frame.proto.constants[k + 1]) end

computes("MOVE", 0, function(context, r, x) return read(context, r, x.B) end)
computes("LOADI", 0, function(context, _, x) return context.graph:int(x.sBx) end)
computes("LOADF", 0, function(context, _, x) return context.graph:float(x.sBx + 0.0) end)
computes("LOADK", 0, function(context, _, x, frame) return constant(context, frame, x.Bx) end)
computes("LOADFALSE", 0, function(context) return context.graph.no end)
computes("LFALSESKIP", 1, function(context) return context.graph.no end)
computes("LOADTRUE", 0, function(context) return context.graph.yes end)
computes("GETUPVAL", 0, function(_, _, x, frame) return frame.upvalue(x.B) end)

function instructions.LOADKX(context, frame, state, x, pc)
  write(context, frame, state, x.A, constant(context, frame, frame.proto.code[pc + 1].Ax))
  return pc + 2
end

function instructions.LOADNIL(context, frame, state, x, pc)
  for r = x.A, x.A + x.B do write(context, frame, state, r, value.of(context, nil)) end
  return pc + 1
end

computes("GETTABUP", 0, function(context, _, x, frame)
  return lookup.index(context, frame.upvalue(x.B), constant(context, frame, x.C))
end)
computes("GETTABLE", 0, function(context, r, x)
  return lookup.index(context, read(context, r, x.B), read(context, r, x.C))
end)
computes("GETI", 0, function(context, r, x)
  return lookup.index(context, read(context, r, x.B), context.graph:int(x.C))
end)
computes("GETFIELD", 0, function(context, r, x, frame)
  return lookup.index(context, read(context, r, x.B), constant(context, frame, x.C))
end)

-- Behind arithmetic stands the instruction that calls a metamethod; it is passed.
local function arithmetic(suffix, names, right)
  for name in names:gmatch("%S+") do
    local operation = name:lower()
    computes(name .. suffix, 1, function(context, r, x, frame)
      return operator.binary(context, operation, read(context, r, x.B), right(context, r, x, frame))
    end)
  end
end

arithmetic("", "ADD SUB MUL MOD POW DIV IDIV BAND BOR BXOR SHL SHR", function(context, r, x)
  return read(context, r, x.C)
end)
arithmetic("K", "ADD SUB MUL MOD POW DIV IDIV BAND BOR BXOR", function(context, _, x, frame)
  return constant(context, frame, x.C)
end)
arithmetic("I", "ADD SHR", function(context, _, x) return context.graph:int(x.sC) end)
computes("SHLI", 1, function(context, r, x)
  return operator.binary(context, "shl", context.graph:int(x.sC), read(context, r, x.B))
end)
computes("UNM", 0, function(context, r, x)
  return operator.unary(context, "unm", read(context, r, x.B))
end)
computes("BNOT", 0, function(context, r, x)
  return operator.unary(context, "bnot", read(context, r, x.B))
end)
computes("NOT", 0, function(context, r, x)
  return context.graph:bnot(value.truth(context, read(context, r, x.B)))
end)
computes("LEN", 0, function(context, r, x) return operator.length(context, read(context, r, x.B)) end)

function instructions.JMP(context, frame, state, x, pc)
  go(context, frame, pc + 1 + x.sJ, state)
end

-- Tests: f gives the condition.
local function tests(name, f)
  instructions[name] = function(context, frame, state, x, pc)
    test(context, frame, state, pc, f(context, read(context, state.registers, x.A), x,
      state.registers, frame), x.k)
  end
end

tests("EQ", function(context, a, x, r) return operator.equal(context, a, read(context, r, x.B)) end)
tests("EQK", function(context, a, x, _, frame)
  return operator.equal(context, a, constant(context, frame, x.B))
end)
tests("EQI", function(context, a, x)
  return operator.equal(context, a, context.graph:int(x.sB))
end)
tests("LT", function(context, a, x, r)
  return operator.compare(context, "lt", a, read(context, r, x.B))
end)
tests("LE", function(context, a, x, r)
  return operator.compare(context, "le", a, read(context, r, x.B))
end)
tests("LTI", function(context, a, x)
  return operator.compare(context, "lt", a, context.graph:int(x.sB))
end)
tests("LEI", function(context, a, x)
  return operator.compare(context, "le", a, context.graph:int(x.sB))
end)
tests("GTI", function(context, a, x)
  return operator.compare(context, "lt", context.graph:int(x.sB), a)
end)
tests("GEI", function(context, a, x)
  return operator.compare(context, "le", context.graph:int(x.sB), a)
end)
tests("TEST", function(context, a) return value.truth(context, a) end)

-- R[A] := R[B] where the jump is taken, and only there.
function instructions.TESTSET(context, frame, state, x, pc)
  local tested = read(context, state.registers, x.B)
  local cond, jump = value.truth(context, tested), pc + 2 + frame.proto.code[pc + 1].sJ
  if jump == pc + 2 then -- `x = y or x`, in place
    local taken = x.k and cond or context.graph:bnot(cond)
    write(context, frame, state, x.A,
      value.join(context, taken, tested, read(context, state.registers, x.A)))
    return pc + 2
  end
  local stays = {pending = {}, proto = frame.proto}
  test(context, stays, state, pc, cond, x.k)
  if stays.pending[jump] then
    write(context, frame, stays.pending[jump], x.A, tested)
    go(context, frame, jump, stays.pending[jump])
  end
  if stays.pending[pc + 2] then go(context, frame, pc + 2, stays.pending[pc + 2]) end
end

function instructions.CALL(context, frame, state, x, pc)
  local callee = read(context, state.registers, x.A)
  local results = call(context, callee, arguments_of(context, state, x.A, x.B), state)
  if not results then return nil end
  local n = x.C - 1
  if x.C == 0 then
    n = results.n
    if not n then context.refuse("a varying number of results") end
    state.top = x.A + n
  end
  for k = 1, n do
    write(context, frame, state, x.A + k - 1, results[k] or value.of(context, nil))
  end
  return pc + 1
end

function instructions.TAILCALL(context, frame, state, x)
  local callee = read(context, state.registers, x.A)
  local results = call(context, callee, arguments_of(context, state, x.A, x.B), state)
  if not results then return end
  if not results.n then context.refuse("a varying number of results") end
  finish(context, frame, state, results)
end

function instructions.RETURN(context, frame, state, x)
  local list = arguments_of(context, state, x.A - 1, x.B)
  finish(context, frame, state, list)
end

function instructions.RETURN0(context, frame, state) finish(context, frame, state, {n = 0}) end

function instructions.RETURN1(context, frame, state, x)
  finish(context, frame, state, {read(context, state.registers, x.A), n = 1})
end

function instructions.FORPREP(context, frame, state, x, pc)
  local r = state.registers
  local list = rounds(context, known_number(context, read(context, r, x.A)),
    known_number(context, read(context, r, x.A + 1)), known_number(context, read(context, r, x.A + 2)))
  if #list == 0 then return pc + x.Bx + 2 end
  write(context, frame, state, x.A, {loop = list, at = 1})
  write(context, frame, state, x.A + 3, value.of(context, list[1]))
  return pc + 1
end

function instructions.FORLOOP(context, frame, state, x, pc)
  local loop = read(context, state.registers, x.A)
  if not loop.loop then context.refuse("a loop that was entered in several ways") end
  if loop.at == #loop.loop then return pc + 1 end
  write(context, frame, state, x.A, {loop = loop.loop, at = loop.at + 1})
  write(context, frame, state, x.A + 3, value.of(context, loop.loop[loop.at + 1]))
  return pc + 1 - x.Bx
end

function instructions.TFORPREP(_, _, _, x, pc) return pc + 1 + x.Bx end

function instructions.TFORCALL(context, frame, state, x, pc)
  local r = state.registers
  local arguments = {read(context, r, x.A + 1), read(context, r, x.A + 2), n = 2}
  local results = call(context, read(context, r, x.A), arguments, state)
  if not results then return nil end
  for k = 1, x.C do
    write(context, frame, state, x.A + 3 + k, results[k] or value.of(context, nil))
  end
  return pc + 1
end

function instructions.TFORLOOP(context, frame, state, x, pc)
  local control = read(context, state.registers, x.A + 4)
  if value.is_nil(control) then return pc + 1 end
  if control.cases then context.refuse("a loop whose end is not known") end
  write(context, frame, state, x.A + 2, control)
  return pc + 1 - x.Bx
end

function instructions.CLOSURE(context, frame, state, x, pc)
  local proto, held = frame.proto.protos[x.Bx + 1], {}
  local leaf = {closure = {proto = proto, upvalue = function(n) return held[n] end}}
  write(context, frame, state, x.A, leaf)
  for n, upvalue in ipairs(proto.upvalues) do
    if upvalue.in_stack then
      held[n - 1] = read(context, state.registers, upvalue.index)
      frame.captured[upvalue.index] = true
    else
      held[n - 1] = frame.upvalue(upvalue.index)
    end
  end
  return pc + 1
end

function instructions.CLOSE(_, frame, _, x, pc)
  for r in pairs(frame.captured) do
    if r >= x.A then frame.captured[r] = nil end
  end
  return pc + 1
end

function instructions.VARARGPREP(_, _, _, _, pc) return pc + 1 end

function instructions.VARARG(context, frame, state, x, pc)
  local n = x.C - 1
  if x.C == 0 then
    n = frame.varargs.n
    state.top = x.A + n
  end
  for k = 1, n do
    write(context, frame, state, x.A + k - 1, frame.varargs[k] or value.of(context, nil))
  end
  return pc + 1
end

local refused = {
  SETUPVAL = "assignment to an upvalue", SETTABUP = "assignment to a table",
  SETTABLE = "assignment to a table", SETI = "assignment to a table",
  SETFIELD = "assignment to a table", NEWTABLE = "a table constructor",
  SETLIST = "a table constructor", SELF = "a method call", CONCAT = "concatenation",
  TBC = "a variable to be closed",
}

-- Running ---------------------------------------------------------------------------------------

local function first_pending(pending)
  local first
  for pc in pairs(pending) do
    if not first or pc < first then first = pc end
  end
  return first
end

local function step(context, frame, pc)
  local state, x = frame.pending[pc], frame.proto.code[pc]
  frame.pending[pc] = nil
  context.steps = context.steps + 1
  if context.steps > STEPS then context.refuse("it takes too many steps") end
  context.path, context.line = state.path, x.line
  local run = instructions[x.op]
  if not run then context.refuse(refused[x.op] or x.op) end
  local next_pc = run(context, frame, state, x, pc)
  if next_pc then go(context, frame, next_pc, state) end
end

--- Calls a function with these arguments (a list of values with n) from `caller`, a state. Returns
--- the results (a list with n; n is nil where it differs from path to path), or nil where it always
--- raises. caller.path is then the path on which it returns.
function execute(context, proto, upvalue, arguments, caller)
  local registers, varargs = {}, {n = math.max(arguments.n - proto.parameters, 0)}
  for k = 1, proto.parameters do registers[k - 1] = arguments[k] or value.of(context, nil) end
  for k = 1, varargs.n do varargs[k] = arguments[proto.parameters + k] end
  local frame = {proto = proto, upvalue = upvalue, varargs = varargs, captured = {},
    pending = {{path = caller.path, registers = registers}}}
  local pc = 1
  while pc do
    step(context, frame, pc)
    pc = first_pending(frame.pending)
  end
  local returned = frame.returned
  if not returned then return nil end
  caller.path = returned.path
  context.path = returned.path
  local results, n = {n = returned.top}, 0
  for k in pairs(returned.registers) do n = math.max(n, k) end
  for k = 1, n do results[k] = read(context, returned.registers, k) end
  return results
end

return {
  --- The first result of f(arguments...), or nil where it always raises.
  call = function(context, f, arguments)
    local proto, upvalue = opened(context, f)
    local root = {path = {literal = context.graph.yes, depth = 0, all = context.graph.yes}}
    local results = execute(context, proto, upvalue, arguments, root)
    return results and (results[1] or value.of(context, nil))
  end,
}
