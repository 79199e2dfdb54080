-- Every argument of every matrix function wrong in turn: an error in words, or a right answer; never a crash.
require "spec.helper"
local ts = require "tessera"
local core = require "tessera.core"

local nan = 0 / 0

local function quiet() end

-- What each argument may be replaced by. (No large whole number below "too large": it would be a large matrix.)
local wrong = {
  0, -1, 1, 2.5, 2.0, "2", "x", "", nan, math.huge, -math.huge, 2.0 ^ 62, 2.0 ^ 63, math.maxinteger, math.mininteger, true,
  false, {}, {1}, {{1, 2}}, {{}, {}}, {1, {2, 3}}, {dtype = "f32"}, {dtype = 1}, {seed = "x"}, {typo = 1}, quiet,
  function() error "no" end, io.stdout, coroutine.create(quiet), ts.ones(3, 2), ts.ones(3, 2):t(), ts.zeros(0, 2),
  ts.zeros(3, 2, {dtype = "f32"}), setmetatable({}, {__len = function() return -1 end}),
  setmetatable({}, {__len = function() return math.maxinteger end}), setmetatable({}, {__index = error}),
}

-- Right arguments, to spoil; each list is made anew, since some calls write.
local function calls()
  local function m() return ts.matrix{{1, 2}, {3, 4}, {5, 6}} end
  local function id(x) return x end
  local list = {
    matrix = {{m():table(), {}}, {2, 3, 1.5, {}}, {2, 3, id, {}}}, zeros = {{2, 3, {}}}, ones = {{2, 3, {}}}, eye = {{2, {}}},
    linspace = {{0, 1, 3, {}}}, rand = {{2, 3, {seed = 1}}}, randn = {{2, 3, {seed = 1}}},
    hcat = {{m(), m()}, {{m(), m()}}}, vcat = {{m(), m()}, {{m(), m()}}}, next_seed = {{}},
    decode = {{m(), 0, "\1", "u1", false}}, encode = {{m(), 0, 1, "f8", false}}, worst = {{m(), m()}}, ulps = {{m(), m()}},
    from_bytes = {{"f64", 1, 1, "\1", 0, "u1", false, false}},
    set = {{m(), 1, 2, 3}}, row = {{m(), 1}}, col = {{m(), 1}}, slice = {{m(), 1, 2, 1, 1}}, take = {{m(), {1}, "rows"}},
    to = {{m(), "f32"}}, fill = {{m(), 1}}, assign = {{m(), m()}}, identical = {{m(), m()}}, mul = {{m(), m()}}, div = {{m(), m()}},
    map = {{m(), id}}, save = {{m(), "/nonexistent/x.npy"}},
  }
  for name in ("shape table each t copy abs sqrt exp log tanh sin cos hash tostring"):gmatch "%a+" do list[name] = {{m()}} end
  local operators = {
    ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end, ["*"] = function(a, b) return a * b end,
    ["/"] = function(a, b) return a / b end, ["()"] = function(a, i, j) return a(i, j) end, ["[]"] = function(a, k) return a[k] end,
  }
  local all = {}
  local function add(name, f)
    for _, arguments in ipairs(list[name] or {{m(), "rows"}}) do
      all[#all + 1] = {name = name, f = f, arguments = arguments}
    end
  end
  for name, f in pairs(core.matrix) do if type(f) == "function" then add(name, f) end end
  for name, f in pairs(core.matrix.methods) do add(name, f) end
  for name, f in pairs(operators) do
    all[#all + 1] = {name = name, f = f, arguments = name == "()" and {m(), 1, 2} or {m(), m()}}
  end
  return all
end

describe("L07: a matrix function with a wrong argument", function()
  it("gives an error in words, or an answer", function()
    local count, errors = 0, 0
    for _, call in ipairs(calls()) do
      for n = 1, #call.arguments do
        for _, x in ipairs(wrong) do
          local arguments = table.move(call.arguments, 1, #call.arguments, 1, {})
          arguments[n] = x
          local ok, message = pcall(call.f, table.unpack(arguments, 1, #call.arguments))
          count = count + 1
          if not ok then
            errors = errors + 1
            assert(message ~= nil and #tostring(message) > 0, call.name)
          end
        end
        assert.is_true((pcall(call.f, table.unpack(call.arguments))) or call.name == "save" or call.name == "[]"
          or call.name == "*" or call.name == "/", call.name)
      end
      for n = 0, #call.arguments - 1 do pcall(call.f, table.unpack(call.arguments, 1, n)) end
    end
    assert.is_true(count > 1500 and errors > count / 2)
  end)

  it("refuses self of any other type", function()
    for name, f in pairs(core.matrix.methods) do
      for _, other in ipairs{1, "x", {}, quiet, io.stdout, false} do
        local is_function_of_numbers = core.matrix[name] and tonumber(other)
        assert(is_function_of_numbers or not pcall(f, other, 1, 1, 1), ("%s took a %s for self"):format(name, type(other)))
      end
      assert(not pcall(f), name)
    end
  end)
end)
