--- Programs: every operation means what Lua's means, and bounds are never wrong.
local core = require "tessera.core"
local program = core.program

local integers = {0, 1, -1, 2, -2, 3, -3, 5, -7, 63, 64, -64, 65, 1000003, 2 ^ 53 | 0, (2 ^ 53 | 0) + 1, (2 ^ 53 | 0) - 1,
  -(2 ^ 53 | 0) - 1, math.maxinteger, math.mininteger, math.maxinteger - 1, math.mininteger + 1}
local floats = {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, 3.0, -7.25, 1 / 3, 1e300, -1e300, 5e-324, 2.0 ^ 53, 2.0 ^ 53 + 2,
  2.0 ^ 63, -2.0 ^ 63, 2.0 ^ 64, math.huge, -math.huge, 0 / 0}
local booleans = {true, false}
local operands = {i = integers, f = floats, b = booleans}
local constant = {i = "iconst", f = "fconst", b = "bconst"}

-- What each operation is in Lua. Those that raise there are 0 or false here.
local meaning = {
  iadd = function(a, b) return a + b end,
  isub = function(a, b) return a - b end,
  imul = function(a, b) return a * b end,
  ineg = function(a) return -a end,
  idiv = function(a, b) return b == 0 and 0 or a // b end,
  imod = function(a, b) return b == 0 and 0 or a % b end,
  icmod = function(a, b) return b == 0 and 0 or math.fmod(a, b) end,
  iabs = math.abs,
  imin = function(a, b) return math.min(a, b) end,
  imax = function(a, b) return math.max(a, b) end,
  iand = function(a, b) return a & b end,
  ior = function(a, b) return a | b end,
  ixor = function(a, b) return a ~ b end,
  inot = function(a) return ~a end,
  ishl = function(a, b) return a << b end,
  ishr = function(a, b) return a >> b end,
  fadd = function(a, b) return a + b end,
  fsub = function(a, b) return a - b end,
  fmul = function(a, b) return a * b end,
  fdiv = function(a, b) return a / b end,
  fneg = function(a) return -a end,
  ffloordiv = function(a, b) return a // b end,
  fmod = function(a, b) return a % b end,
  fcmod = function(a, b) return math.fmod(a, b) end,
  fpow = function(a, b) return a ^ b end,
  fabs = math.abs,
  ffloor = function(a) return a // 1 end,
  fceil = function(a) return -(-a // 1) end,
  fsqrt = math.sqrt, fexp = math.exp, flog = math.log, fsin = math.sin, fcos = math.cos, ftan = math.tan,
  flog2 = function(a) return math.log(a, 2) end,
  flog10 = function(a) return math.log(a, 10) end,
  ffrom = function(a) return a + 0.0 end,
  ifrom = function(a) return math.tointeger(a) or 0 end,
  fits = function(a) return math.tointeger(a) ~= nil end,
  ieq = function(a, b) return a == b end,
  ilt = function(a, b) return a < b end,
  ile = function(a, b) return a <= b end,
  iult = math.ult,
  band = function(a, b) return a and b end,
  bor = function(a, b) return a or b end,
  bxor = function(a, b) return a ~= b end,
  bnot = function(a) return not a end,
  iselect = function(c, a, b) if c then return a end return b end,
}
for _, name in ipairs {"feq", "ifeq"} do meaning[name] = meaning.ieq end
for _, name in ipairs {"flt", "iflt", "filt"} do meaning[name] = meaning.ilt end
for _, name in ipairs {"fle", "ifle", "file"} do meaning[name] = meaning.ile end
meaning.fselect, meaning.bselect = meaning.iselect, meaning.iselect

local function same(a, b)
  if math.type(a) ~= math.type(b) then return false end
  if a ~= a then return b ~= b end
  return a == b and (a ~= 0 or 1 / a == 1 / b or math.type(a) == "integer")
end

-- Calls f with each choice of operands of the signature.
local function each_choice(signature, f, ...)
  local n = select("#", ...)
  if n == #signature then return f(...) end
  for _, x in ipairs(operands[signature:sub(n + 1, n + 1)]) do
    if n == 0 then each_choice(signature, f, x) end
    if n == 1 then each_choice(signature, f, ..., x) end
    if n == 2 then local a, b = ... each_choice(signature, f, a, b, x) end
  end
end

-- A program that applies op to elements of tables, so that nothing is folded: operand k is at index i, j or h.
local function applied(op, signature)
  local kinds = {i = "itable", f = "ftable", b = "btable"}
  local names = {i = "ints", f = "floats", b = "bools"}
  local nodes, tables, last = {{"i"}, {"j"}, {"h"}}, {}, {op}
  for k = 1, #signature do
    local letter = signature:sub(k, k)
    tables[k] = {kind = names[letter], first = 1, values = operands[letter]}
    nodes[#nodes + 1] = {kinds[letter], k, k}
    last[k + 1] = #nodes
  end
  nodes[#nodes + 1] = last
  return program.new(nodes, tables)
end

local function index_of(list, x)
  for k, y in ipairs(list) do if same(x, y) then return k end end
end

describe("program", function()
  describe("operations", function()
    for op, kind in pairs(program.ops) do
      local f, signature = meaning[op], kind.operands
      if f then
        it(op .. " is Lua's, on every edge", function()
          local P = applied(op, signature)
          each_choice(signature, function(a, b, c)
            local arguments, at = {a, b, c}, {1, 1, 1}
            for k = 1, #signature do at[k] = index_of(operands[signature:sub(k, k)], arguments[k]) end
            local got = program.run(P, at[1], at[1], at[2], at[2], at[3])[1][1]
            local want = f(a, b, c)
            if not same(got, want) then
              error(("%s(%s, %s, %s) is %s, not %s"):format(op, a, b, c, got, want))
            end
            -- the same by folding constants
            local nodes, last = {}, {op}
            for k = 1, #signature do
              nodes[k] = {constant[signature:sub(k, k)], arguments[k]}
              last[k + 1] = k
            end
            nodes[#nodes + 1] = last
            local folded = program.new(nodes)
            assert.equal(1, #folded)
            assert.is_true(same(program.run(folded, 1, 1, 1, 1)[1][1], want))
          end)
        end)
      end
    end

    it("are all there is, beside leaves, look-ups and tanh", function()
      local rest = {}
      for op in pairs(program.ops) do
        if not meaning[op] then rest[#rest + 1] = op end
      end
      table.sort(rest)
      assert.same({"bconst", "bits", "btable", "fconst", "ftable", "ftanh", "h", "i", "iconst", "itable", "j", "matrix", "s"},
        rest)
    end)
  end)
end)
