-- Wrong arguments: values of every kind, and ways to spoil a list of right ones.
local ts = require "tessera"

local wrong = {}

local function quiet() end
local function refuses() error("no", 0) end

local numbers = {
  0, -1, 1, 2, 3, 7, 2.5, -0.0, 2.0, 0 / 0, math.huge, -math.huge, 5e-324, 1e308, 2 ^ 31, 2 ^ 31 - 1, 2 ^ 32, 2 ^ 53, 2.0 ^ 62, 2.0 ^ 63,
  -2.0 ^ 63, 46341, 65536, 1 << 40, math.maxinteger, math.mininteger,
}
local strings = {
  "", "x", "2", "0x10", "nan", "rows", "cols", "f32", "f64", "e", "zero", "\0", "1 2 *", "*", ("x"):rep(300), "'; touch pwned; '",
  "%s%n", "\xff\xfe",
}

-- Tables that lie, loop or nest. Made anew each time: calls may write to what they are given.
local function tables()
  local loop = {}
  loop[1], loop.Q = loop, loop
  local deep = {}
  for _ = 1, 300 do deep = {deep, 2} end
  return {
    {}, {1}, {0}, {2, 1}, {1, 2, 3}, {1, 1}, {{1, 2}}, {{}, {}}, {1, {2, 3}}, {{1, 2}, {3}}, {{0, 1}}, {{2, 1}}, {{1, 3}, {2, 4}},
    {nil, 2},
    {[2 ^ 53] = 1},
    {0 / 0}, {"x"}, {typo = 1}, {dtype = "f32"}, {dtype = 1}, {seed = "x"}, {heads = 2}, {q = 0}, {k = {}}, {empty = "zero"},
    {true, false}, {quiet}, loop, deep, setmetatable({}, {__len = function() return -1 end}),
    setmetatable({}, {__len = function() return math.maxinteger end}), setmetatable({}, {__index = refuses}),
    setmetatable({1, 2}, {__index = function() return 1 end, __len = function() return 40 end}), setmetatable({}, {__pairs = refuses}),
    setmetatable({}, {__tostring = quiet, __name = "tessera.matrix"}), setmetatable({}, {__eq = refuses, __lt = refuses}),
  }
end

-- Functions, coroutines and objects of other modules, of ours in every state, and views whose parents nobody holds.
local function others(o)
  local halves = {
    pcall(ts.problem, {Q = o.matrix, K = o.matrix}), pcall(ts.summary, {max = o.matrix}), pcall(ts.mask, 2, 2, refuses),
  }
  local closed = io.tmpfile()
  closed:close()
  return {
    quiet, refuses, print, math.max, function(...) return ... end, function() return 1 end, function() return 0 / 0 end,
    function() return true end, function(s, i, j, h) return s + i + j + h end, function(i, j) return i > j end, string.rep,
    coroutine.yield,
    coroutine.create(quiet), coroutine.wrap(quiet), io.stdout, closed, halves, o.matrix, o.matrix:t(), o.matrix:slice(2, 1),
    o.matrix:slice(1, 2, 3, 2), o.matrix:to "f32", ts.zeros(0, 0), ts.zeros(0, 4), ts.ones(1, 1), ts.randn(6, 4, {seed = 2}):t():row(2),
    ts.randn(6, 4, {seed = 3}):slice(2, 3):col(1), ts.matrix{{0 / 0, math.huge, -math.huge, -0.0}}, ts.mask.full(0), ts.mask.none{6, 0},
    ts.mask.full(1 << 30), ts.mask(3, 3, function(i, j, h) return i + j > h end, {heads = 2}), ts.problem{Q = ts.zeros(0, 2),
    K = ts.zeros(0, 2),
    V = ts.zeros(0, 3)}, o.problem:bottom(), o.problem:summary(), o.mask, o.summary, o.problem, o.program, o.layer, o.cache, o.diff,
    o.tiles, o.wide,
  }
end

--- A function that draws a wrong value; o is one object of each kind.
function wrong.values(o)
  local list = others(o)
  return function(random)
    local kind = random(10)
    if kind <= 3 then return numbers[random(#numbers)] end
    if kind == 4 then return strings[random(#strings)] end
    if kind <= 6 then
      local all = tables()
      return all[random(#all)]
    end
    if kind == 7 then return ({true, false, nil})[random(3)] end
    return list[random(#list)]
  end
end

local function sorted_keys(t)
  local keys = {}
  for key in next, t do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

-- A copy of a table, spoilt in one place at some depth.
local function spoil_table(t, draw, random)
  local copy, keys = {}, sorted_keys(t)
  for _, key in ipairs(keys) do copy[key] = t[key] end
  local key, kind = keys[random(math.max(#keys, 1))], random(6)
  local value = key ~= nil and copy[key] or nil
  if kind == 1 and type(key) == "string" then
    copy[key], copy[key .. "s"] = nil, value -- misspelt
  elseif kind == 2 and key ~= nil then
    copy[key] = nil
  elseif kind == 3 then
    copy[#copy + 1] = draw(random)
  elseif type(value) == "table" and kind > 3 and getmetatable(value) == nil then
    copy[key] = spoil_table(value, draw, random)
  elseif key ~= nil then
    copy[key] = draw(random)
  end
  return copy
end

--- A copy of a packed list of arguments, spoilt.
function wrong.spoil(arguments, draw, random)
  local out = table.move(arguments, 1, arguments.n, 1, {n = arguments.n})
  for _ = 1, random(2) do
    local at, kind = random(math.max(out.n, 1)), random(12)
    if kind == 1 then out.n = random(0, out.n) -- too few
    elseif kind == 2 then out.n = out.n + 1 out[out.n] = draw(random) -- too many
    elseif kind == 3 and out.n > 1 then
      local other = random(out.n)
      out[at], out[other] = out[other], out[at]
    elseif kind <= 8 and type(out[at]) == "table" and not getmetatable(out[at]) then out[at] = spoil_table(out[at], draw, random)
    else
      out.n = math.max(out.n, at)
      out[at] = draw(random)
    end
  end
  for n = out.n + 1, arguments.n do out[n] = nil end
  return out
end

return wrong
