-- bytecode.lua -- a Lua 5.4 function as its instructions: reads what string.dump writes.
--
-- The format is that of lundump.c and lopcodes.h of Lua 5.4.0 to 5.4.8. A dump with another header
-- (another version, other sizes of numbers) is refused, so that nothing is ever misread.

local attempt = require "tessera.attempt"

local bytecode = {}

local names = {}
for name in ([[
  MOVE LOADI LOADF LOADK LOADKX LOADFALSE LFALSESKIP LOADTRUE LOADNIL GETUPVAL SETUPVAL
  GETTABUP GETTABLE GETI GETFIELD SETTABUP SETTABLE SETI SETFIELD NEWTABLE SELF ADDI
  ADDK SUBK MULK MODK POWK DIVK IDIVK BANDK BORK BXORK SHRI SHLI
  ADD SUB MUL MOD POW DIV IDIV BAND BOR BXOR SHL SHR MMBIN MMBINI MMBINK
  UNM BNOT NOT LEN CONCAT CLOSE TBC JMP EQ LT LE EQK EQI LTI LEI GTI GEI TEST TESTSET
  CALL TAILCALL RETURN RETURN0 RETURN1 FORLOOP FORPREP TFORPREP TFORCALL TFORLOOP
  SETLIST CLOSURE VARARG VARARGPREP EXTRAARG]]):gmatch("%S+") do
  names[#names + 1] = name
end

-- Signature, version 5.4, format 0, LUAC_DATA, the sizes of an instruction, an integer and a
-- number, LUAC_INT and LUAC_NUM.
local header = "\27Lua\x54\0\x19\x93\r\n\x1a\n\4\8\8" .. string.pack("<i8d", 0x5678, 370.5)

-- Tags of constants (lobject.h).
local NIL, FALSE, TRUE, INTEGER, FLOAT, SHORT_STRING, LONG_STRING = 0, 1, 17, 3, 19, 4, 20

local unpack = string.unpack

-- A reader of `dump`: each function reads one item and moves on.
local function reader(dump)
  local at = #header + 2 -- behind the header comes the number of upvalues, which is repeated later
  local read = {}

  function read.byte()
    at = at + 1
    return dump:byte(at - 1)
  end

  -- Groups of 7 bits, the most significant first; the last has bit 0x80.
  function read.size()
    local x = 0
    repeat
      local byte = read.byte()
      x = x << 7 | byte & 0x7f
    until byte & 0x80 ~= 0
    return x
  end

  function read.of(format)
    local x
    x, at = unpack(format, dump, at)
    return x
  end

  function read.string()
    local size = read.size() -- 0 is none
    if size == 0 then return nil end
    at = at + size - 1
    return dump:sub(at - size + 1, at - 1)
  end

  function read.list(item)
    local list = {n = read.size()}
    for k = 1, list.n do list[k] = item() end
    return list
  end

  return read
end

local function constant(read)
  local tag = read.byte()
  if tag == NIL then return nil end
  if tag == FALSE then return false end
  if tag == TRUE then return true end
  if tag == INTEGER then return read.of("<i8") end
  if tag == FLOAT then return read.of("<d") end
  if tag == SHORT_STRING or tag == LONG_STRING then return read.string() or "" end
  error("unknown constant")
end

-- One instruction, its fields by name; only those that its format has mean anything.
local function decoded(word)
  return {
    op = names[(word & 0x7f) + 1],
    A = word >> 7 & 0xff, B = word >> 16 & 0xff, C = word >> 24 & 0xff, k = word >> 15 & 1 == 1,
    Bx = word >> 15, sBx = (word >> 15) - 65535, Ax = word >> 7, sJ = (word >> 7) - 16777215,
    sB = (word >> 16 & 0xff) - 127, sC = (word >> 24 & 0xff) - 127,
  }
end

-- Gives each instruction its line: steps from the line before, or, where a step does not fit
-- (-128), from a list of absolute ones. A stripped function has none.
local function give_lines(proto, steps, absolute)
  local line, known = proto.line, {}
  for _, entry in ipairs(absolute) do known[entry.pc] = entry.line end
  for pc = 1, steps.n do
    line = known[pc - 1] or line + steps[pc]
    proto.code[pc].line = line
  end
end

-- The instructions of a function and of those within it:
-- line where it begins, parameters, is_vararg, registers, code (instructions, from 1), constants
-- (from 1, with n), upvalues ({in_stack, index}, index from 0) and protos.
local function prototype(read)
  local proto = {}
  read.string() -- the source
  proto.line = read.size()
  read.size() -- its last line
  proto.parameters = read.byte()
  proto.is_vararg = read.byte() ~= 0
  proto.registers = read.byte()
  proto.code = read.list(function() return decoded(read.of("<I4")) end)
  proto.constants = read.list(function() return constant(read) end)
  proto.upvalues = read.list(function()
    local upvalue = {in_stack = read.byte() ~= 0, index = read.byte()}
    read.byte() -- the kind
    return upvalue
  end)
  proto.protos = read.list(function() return prototype(read) end)
  local steps = read.list(function() return read.of("<i1") end)
  give_lines(proto, steps, read.list(function()
    return {pc = read.size(), line = read.size()}
  end))
  read.list(function() read.string() read.size() read.size() end) -- local variables
  read.list(read.string) -- names of upvalues
  return proto
end

--- The prototype of the Lua function `f`, or nil and why it cannot be had.
---@param f function
---@return table? proto, string? why
function bytecode.read(f)
  local ok, dump = attempt(string.dump, f)
  if not ok then return nil, "it is a C function" end
  if dump:sub(1, #header) ~= header then return nil, "its bytecode is not Lua 5.4's" end
  local proto
  ok, proto = attempt(prototype, reader(dump))
  if not ok then return nil, "its bytecode could not be read" end
  return proto
end

return bytecode
