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

  describe("new", function()
    local function fails(nodes, tables)
      local ok, message = pcall(program.new, nodes, tables)
      assert.is_false(ok)
      return message
    end

    it("says which node is wrong, and how", function()
      local ints = {kind = "ints", first = 1, values = {1}}
      for _, case in ipairs {
        {{}, "needs a node"},
        {{{"what"}}, "node 1: there is no such operation"},
        {{7}, "node 1: not a table"},
        {{{"i"}, {"iadd", 1, 2}}, "node 2: an operand is no earlier node"},
        {{{"i"}, {"iadd", 1, 0}}, "node 2: an operand is no earlier node"},
        {{{"i"}, {"iadd", 1}}, "node 2: an operand is no earlier node"},
        {{{"i"}, {"iadd", 1, 1.5}}, "node 2: an operand is no earlier node"},
        {{{"i"}, {"fneg", 1}}, "node 2: an operand is of another type"},
        {{{"iconst", 1.5}}, "node 1: iconst needs an integer"},
        {{{"fconst", "x"}}, "node 1: fconst needs a number"},
        {{{"bconst"}}, "node 1: bconst needs a boolean"},
        {{{"i"}, {"itable", 1, 1}}, "node 2: there is no such table"},
        {{{"i"}, {"ftable", 1, 1}}, "node 2: the table is of another kind", {ints}},
        {{{"i"}, {"call", 1, 1, false, 5}}, "node 2: the fifth element of a call is no program"},
        {{{"i"}, {"call", 1, 1, false, program.new {{"h"}}}}, "node 2: the program called needs a head"},
        {{{"i"}}, "table 1: 'kind' is unknown", {{}}},
        {{{"i"}}, "table 1 is not a table", {1}},
        {{{"i"}}, "table 1: 'first' is not an integer", {{kind = "ints", values = {}}}},
        {{{"i"}}, "table 1: 'first' is too large", {{kind = "ints", first = math.maxinteger, values = {1}}}},
        {{{"i"}}, "table 1: 'values' is not a table", {{kind = "ints", first = 1}}},
        {{{"i"}}, "table 1: 'last' is not an integer", {{kind = "ints", first = 1, last = "x", values = {}}}},
        {{{"i"}}, "table 1: 'first' is too large",
          {{kind = "ints", first = math.mininteger, last = math.maxinteger, values = {}}}},
        {{{"i"}}, "table 1: 'holding' is for bools", {{kind = "ints", first = 1, last = 1, holding = "float", values = {}}}},
        {{{"i"}}, "table 1: value 2 is not an integer", {{kind = "ints", first = 1, values = {1, 2.5}}}},
        {{{"i"}}, "table 1: value 1 is not a number", {{kind = "floats", first = 1, values = {"1"}}}},
        {{{"i"}}, "table 1: value 1 is not a boolean", {{kind = "bools", first = 1, values = {1}}}},
        {{{"i"}}, "table 1: 'matrix' is not a matrix", {{kind = "matrix", matrix = 3}}},
        {{{"i"}}, "table 1: 'mask' is not a mask", {{kind = "bits", mask = 3}}},
      } do
        local message = fails(case[1], case[3])
        assert.truthy(message:find(case[2], 1, true), message)
      end
    end)

    it("takes any rubbish without harm", function()
      local state = 1
      local function draw(n)
        state = state * 6364136223846793005 + 1442695040888963407
        return (state >> 33) % n + 1
      end
      local names = {"call"}
      for op in pairs(program.ops) do names[#names + 1] = op end
      table.sort(names)
      local called = program.new {{"i"}, {"j"}, {"iadd", 1, 2}}
      local values = {1, 2, 3, 4, 5, 6, 0, -1, 1.5, 1e300, math.maxinteger, math.mininteger, 0 / 0, "1", "x", true, false,
        {}, print, called}
      local tables = {{kind = "ints", first = 0, values = {3, 1, 2}}, {kind = "floats", first = 1, values = {0.5, 0 / 0}},
        {kind = "bools", first = -1, values = {true, false}}}
      local made = 0
      for _ = 1, 20000 do
        local nodes = {{"i"}, {"j"}, {"fconst", 0.5}, {"bconst", true}}
        for k = 5, 4 + draw(4) do
          local node = {names[draw(#names)]}
          for c = 2, 1 + draw(4) do node[c] = values[draw(draw(2) == 1 and 6 or #values)] end
          nodes[k] = node
        end
        local ok, P = pcall(program.new, nodes, tables)
        if ok then
          made = made + 1
          program.run(P, -1, 2, 0, 3, 1)
          program.bound(P, 1, 3, 1, 3)
          assert.is_string(P:text())
        end
      end
      assert.is_true(made > 500, made .. " programs made")
    end)

    it("refuses to double without end", function()
      local P = program.new {{"i"}, {"j"}, {"iadd", 1, 2}, {"fconst", 0.1}, {"ffrom", 3}, {"fpow", 5, 4}, {"ffloor", 6}, {"ifrom", 7}}
      local ok = true
      for _ = 1, 40 do
        ok = pcall(function()
          P = program.new {{"i"}, {"j"}, {"imul", 1, 2}, {"call", 1, 3, false, P}, {"call", 4, 2, false, P}}
        end)
        if not ok then break end
      end
      assert.is_false(ok)
    end)
  end)

  describe("tables", function()
    it("are read from first on, and are 0 or false outside", function()
      local tables = {{kind = "ints", first = 0, values = {7, 8, 9}}, {kind = "floats", first = 2, values = {0.5}},
        {kind = "bools", first = 1, values = {true, false, true}}}
      assert.same({{0, 7, 8, 9, 0}}, program.run(program.new({{"j"}, {"itable", 1, 1}}, tables), 1, 1, -1, 3))
      assert.same({{0.0, 0.5, 0.0}}, program.run(program.new({{"j"}, {"ftable", 1, 2}}, tables), 1, 1, 1, 3))
      assert.same({{false, true, false, true, false}},
        program.run(program.new({{"j"}, {"btable", 1, 3}}, tables), 1, 1, 0, 4))
    end)

    it("may have holes, and say where values of a type stand", function()
      local values = {[-1] = 4, [1] = true, [2] = 2.5, [4] = false, [5] = "6", [6] = 7}
      local function read(op, kind, holding)
        local P = program.new({{"j"}, {op, 1, 1}}, {{kind = kind, first = -1, last = 6, values = values, holding = holding}})
        return program.run(P, 1, 1, -2, 7)[1]
      end
      local no = false
      assert.same({0, 4, 0, 0, 0, 0, 0, 0, 7, 0}, read("itable", "ints"))
      assert.same({0.0, 4.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 7.0, 0.0}, read("ftable", "floats"))
      assert.same({no, no, no, true, no, no, no, no, no, no}, read("btable", "bools"))
      assert.same({no, no, no, true, no, no, true, no, no, no}, read("btable", "bools", "boolean"))
      assert.same({no, true, no, no, no, no, no, no, true, no}, read("btable", "bools", "integer"))
      assert.same({no, no, no, no, true, no, no, no, no, no}, read("btable", "bools", "float"))
      local none = program.new({{"j"}, {"itable", 1, 1}}, {{kind = "ints", first = 3, last = 2, values = values}})
      assert.same({{0, 0}}, program.run(none, 1, 1, 2, 3))
    end)

    it("are snapshots, matrices and masks too", function()
      local ts = require "tessera"
      local M, values = ts.matrix {{1, 2}, {3, 4}}, {5, 6}
      local P = program.new({{"i"}, {"j"}, {"matrix", 1, 2, 1}}, {{kind = "matrix", matrix = M:t()}})
      local Q = program.new({{"j"}, {"itable", 1, 1}}, {{kind = "ints", first = 1, values = values}})
      M:set(1, 2, 99)
      values[1] = 99
      assert.same({{1.0, 3.0, 0.0}, {2.0, 4.0, 0.0}, {0.0, 0.0, 0.0}}, program.run(P, 1, 3, 1, 3))
      assert.same({{5, 6}}, program.run(Q, 1, 1, 1, 2))
      local heads = ts.mask(2, 2, function(i, j, h) return i + j == h + 1 end, {heads = 2})
      local R = program.new({{"i"}, {"j"}, {"h"}, {"bits", 1, 2, 3, 1}}, {{kind = "bits", mask = heads}})
      assert.same({{true, false}, {false, false}}, program.run(R, 1, 2, 1, 2, 1))
      assert.same({{false, true}, {true, false}}, program.run(R, 1, 2, 1, 2, 2))
      assert.same({{false, false}, {false, false}}, program.run(R, 1, 2, 1, 2, 3))
    end)

    it("are bounded by what their range holds", function()
      local values = {}
      for k = 1, 1000 do values[k] = k % 100 end
      local P = program.new({{"j"}, {"itable", 1, 1}}, {{kind = "ints", first = 1, values = values}})
      assert.same({0, 99, false}, {program.bound(P, 1, 1, 1, 1000)})
      assert.same({1, 9, false}, {program.bound(P, 1, 1, 201, 209)})
      assert.same({0, 99, false}, {program.bound(P, 1, 1, 950, 2000)})
      assert.same({0, 0, false}, {program.bound(P, 1, 1, 1001, 2000)})
    end)
  end)

  describe("calls", function()
    it("put nodes in the place of i, j and h", function()
      local P = program.new {{"i"}, {"j"}, {"h"}, {"imul", 1, 2}, {"isub", 4, 3}}
      local Q = program.new {{"i"}, {"j"}, {"iconst", 100}, {"call", 2, 1, 3, P}}
      assert.same({{2 * 3 - 100}}, program.run(Q, 2, 2, 3, 3))
      local R = program.new {{"i"}, {"j"}, {"iconst", 2}, {"iconst", 5}, {"call", 3, 3, 4, P}}
      assert.equal(1, #R)
      assert.same({{-1}}, program.run(R, 1, 1, 1, 1))
    end)
  end)

  describe("bounds", function()
    it("decide a diagonal exactly", function()
      local P = program.new {{"i"}, {"j"}, {"isub", 1, 2}, {"iconst", 5}, {"ilt", 3, 4}}
      assert.same({true, true, false}, {program.bound(P, 1, 10, 6, 20)})
      assert.same({false, true, false}, {program.bound(P, 1, 10, 5, 20)})
      assert.same({false, false, false}, {program.bound(P, 15, 20, 5, 10)})
    end)

    it("are not fooled by integers that wrap", function()
      local P = program.new {{"i"}, {"iconst", math.maxinteger}, {"iadd", 1, 2}}
      local low, high = program.bound(P, 1, 2, 1, 1)
      assert.is_true(low <= math.mininteger and high >= math.mininteger + 1)
      assert.same({math.maxinteger, math.maxinteger, false}, {program.bound(P, 0, 0, 1, 1)})
    end)
  end)

  describe("text", function()
    local function text(nodes, tables) return program.new(nodes, tables):text() end

    it("has brackets where Lua needs them, and no others", function()
      assert.equal("return (i + 1) * j", text {{"i"}, {"j"}, {"iconst", 1}, {"iadd", 1, 3}, {"imul", 4, 2}})
      assert.equal("return i - (j - 1)", text {{"i"}, {"j"}, {"iconst", 1}, {"isub", 2, 3}, {"isub", 1, 4}})
      assert.equal("return i - j - 1", text {{"i"}, {"j"}, {"iconst", 1}, {"isub", 1, 2}, {"isub", 4, 3}})
      assert.equal("return -i // 2 == j and j < 3 or i == 1", text {{"i"}, {"j"}, {"ineg", 1}, {"iconst", 2}, {"idiv", 3, 4},
        {"ieq", 5, 2}, {"iconst", 3}, {"ilt", 2, 7}, {"band", 6, 8}, {"iconst", 1}, {"ieq", 1, 10}, {"bor", 9, 11}})
      assert.equal("return 0.5 ^ -float(i)", text {{"i"}, {"fconst", 0.5}, {"ffrom", 1}, {"fneg", 3}, {"fpow", 2, 4}})
      assert.equal("return ints1[i] == 2", text({{"i"}, {"itable", 1, 1}, {"iconst", 2}, {"ieq", 2, 3}},
        {{kind = "ints", first = 1, values = {1}}}))
    end)

    it("names what is used twice", function()
      assert.equal("local t1 = i * j\nreturn t1 % 7 < t1 // 7",
        text {{"i"}, {"j"}, {"imul", 1, 2}, {"iconst", 7}, {"imod", 3, 4}, {"idiv", 3, 4}, {"ilt", 5, 6}})
    end)

    it("stays readable, and finite, for deep programs", function()
      local nodes = {{"i"}, {"j"}}
      for k = 3, 5000 do nodes[k] = {"ixor", k - 1, k % 2 + 1} end
      assert.is_true(#text(nodes) < 200000)
    end)

    it("is Lua for programs that Lua can say", function()
      local P = program.new {{"i"}, {"j"}, {"imul", 1, 2}, {"iconst", -7}, {"imod", 3, 4}, {"idiv", 3, 4}, {"ilt", 5, 6},
        {"iand", 1, 2}, {"ieq", 8, 4}, {"bnot", 9}, {"band", 7, 10}, {"bxor", 11, 7}}
      local f = load("local i, j = ... " .. P:text())
      local cells = program.run(P, -5, 5, -5, 5)
      for i = -5, 5 do
        for j = -5, 5 do assert.equal(f(i, j), cells[i + 6][j + 6]) end
      end
    end)
  end)

  describe("scores", function()
    it("round each operation once in the problem's dtype", function()
      local P = program.new {{"s"}, {"i"}, {"j"}, {"isub", 3, 2}, {"ffrom", 4}, {"fconst", 0.1}, {"fmul", 5, 6}, {"fadd", 1, 7}}
      local function f32(x) return string.unpack("f", string.pack("f", x)) end
      local s = {}
      for k = 1, 70 do s[k] = f32(k / 3) end
      local got, wide = program.score(P, "f32", 5, 2, 1, s), program.score(P, "f64", 5, 2, 1, s)
      for k = 1, 70 do
        local j = k + 1
        assert.equal(f32(s[k] + f32((j - 5) * f32(0.1))), got[k])
        assert.equal(s[k] + (j - 5) * 0.1, wide[k])
      end
    end)

    it("compute functions within 3.5 ulp", function()
      local helper = require "spec.helper"
      for op, f in pairs {fexp = math.exp, flog = math.log, fsin = math.sin, fcos = math.cos} do
        local P = program.new {{"s"}, {op, 1}}
        local s = {}
        for k = 1, 500 do s[k] = k / 25 end
        local got = program.score(P, "f64", 1, 1, 1, s)
        for k = 1, 500 do assert.is_true(helper.ulps(got[k], f(s[k]), "f64") <= 4, op .. " of " .. s[k]) end
      end
    end)
  end)

  it("is refused where a finalizer changes the list while it is read", function()
    local nodes = {{"i"}}
    for k = 2, 20000 do nodes[k] = {"iadd", k - 1, 1} end
    nodes[20001] = {"ieq", 20000, 1}
    local small, large = program.new{{"i"}, {"j"}, {"ieq", 1, 2}}, program.new(nodes)
    for _ = 1, 100 do
      local list = {}
      for k = 1, 500 do list[k] = {"i"} end
      list[501] = {"call", 1, 2, nil, small}
      setmetatable({}, {__gc = function() list[501] = {"call", 1, 2, nil, large} end})
      local ok, P = pcall(program.new, list)
      assert.is_true(not ok or #P <= 20002)
    end
  end)
end)
