--- Bracketings and orders: every way to merge a list.
--
-- A bracketing is a nested table whose leaves are positions: {{1, 2}, 3} is (1 ⋆ 2) ⋆ 3.

local check = require "tessera.check"
local listed = require "tessera.listed"

local bracketing = {}

local folds = {}

function folds.left(list, low, high)
  local all = list[low]
  for n = low + 1, high do all = all * list[n] end
  return all
end

function folds.right(list, low, high)
  local all = list[high]
  for n = high - 1, low, -1 do all = list[n] * all end
  return all
end

-- Halves, the left one the larger.
function folds.tree(list, low, high)
  if low == high then return list[low] end
  local middle = (low + high) // 2
  return folds.tree(list, low, middle) * folds.tree(list, middle + 1, high)
end

-- What a nested table says; `used` notes the leaves. Every node above a leaf has another leaf, so only a table that holds
-- itself goes deeper than there are elements.
local function by_table(list, node, used, depth)
  if type(node) == "table" then
    check.arg(depth < #list, 2, "fold", "tables nested deeper than %d element(s) can be", #list)
    check.arg(#node == 2 or #node == 1 and type(node[1]) == "number", 2, "fold",
      "a node is {left, right}, not a list of %d", #node)
    local left = by_table(list, node[1], used, depth + 1)
    return #node == 1 and left or left * by_table(list, node[2], used, depth + 1)
  end
  local n = check.arg(math.tointeger(node), 2, "fold", "a leaf is a position, not %s", node)
  check.arg(list[n] ~= nil, 2, "fold", "there is no element %d, only %d", n, #list)
  check.arg(not used[n], 2, "fold", "element %d is used twice", n)
  used[n] = true
  return list[n]
end

-- Can x be merged: has it a `*`? (Tessera's own hide their metatables; that of strings multiplies those that read as numbers.)
local function merges(x)
  local metatable = type(x) ~= "string" and debug.getmetatable(x)
  return type(x) == "number" or metatable and rawget(metatable, "__mul")
end

--- Merges a list (of summaries, or of anything with `*`) with the bracketing given: "left", "right",
-- "tree", or a nested table of positions. A list of one is that one.
--     ts.fold({S, T, U}, {{1, 3}, 2})
---@param list table
---@param how? string|table "left" unless given
---@return any
function bracketing.fold(list, how)
  check.type(list, "table", 1, "fold")
  check.arg(#list > 0, 1, "fold", "nothing to merge")
  for n = 1, #list > 1 and #list or 0 do
    check.arg(merges(list[n]), 1, "fold", "element %d is a %s, which has no *", n, check.type_of(list[n]))
  end
  if how == nil then how = "left" end
  if type(how) ~= "table" then
    check.arg(folds[how], 2, "fold", "\"left\", \"right\", \"tree\" or nested tables expected, got '%s'", how)
    return folds[how](list, 1, #list)
  end
  local used = {}
  local all = by_table(list, how, used, 0)
  for n = 1, #list do check.arg(used[n], 2, "fold", "element %d is left out", n) end
  return all
end

-- How many bracketings there are of 1, 2, … leaves.
local catalan = {1}
local function trees(leaves)
  for n = #catalan + 1, leaves do
    local sum = 0
    for left = 1, n - 1 do sum = sum + catalan[left] * catalan[n - left] end
    catalan[n] = sum
  end
  return catalan[leaves]
end

-- Bracketing number `index`, from 0, of positions low .. low + leaves - 1.
local function tree(low, leaves, index)
  if leaves == 1 then return low end
  local left = 1
  while index >= trees(left) * trees(leaves - left) do
    index = index - trees(left) * trees(leaves - left)
    left = left + 1
  end
  local rights = trees(leaves - left)
  return {tree(low, left, index // rights), tree(low + left, leaves - left, index % rights)}
end

--- Iterates over all Catalan(n - 1) bracketings of n, as `ts.fold` takes them: of 3, {1, {2, 3}} and {{1, 2}, 3}; a new table
--- each time ({1} for n = 1). As all lists of orders and key sets here, they print as one writes them.
--     for b in ts.bracketings(#list) do print(ts.diff(ts.fold(list, b):output(), O)) end
---@param n integer up to 36 (beyond, their number does not fit an integer)
---@return fun(): table?
function bracketing.bracketings(n)
  n = check.count(n, 1, "bracketings", "n", 0)
  check.arg(n <= 36, 1, "bracketings", "%d is more than 36", n)
  local index, count = -1, n == 0 and 0 or trees(n)
  return function()
    index = index + 1
    if index >= count then return nil end
    return listed(n == 1 and {1} or tree(1, n, index))
  end
end

-- The list f(1) .. f(n).
local function counted(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

-- Makes p the next permutation by the alphabet; says whether there is one.
local function advance(p)
  local k = #p - 1
  while k > 0 and p[k] > p[k + 1] do k = k - 1 end
  if k < 1 then return false end
  local l = #p
  while p[l] < p[k] do l = l - 1 end
  p[k], p[l] = p[l], p[k]
  local a, b = k + 1, #p
  while a < b do
    p[a], p[b] = p[b], p[a]
    a, b = a + 1, b - 1
  end
  return true
end

--- Iterates over all n! orders of 1 .. n, by the alphabet; a new table each time.
--     for order in ts.permutations(5) do P:attention{k = 2, order = order} end
---@param n integer
---@return fun(): integer[]?
function bracketing.permutations(n)
  n = check.count(n, 1, "permutations", "n", 0)
  local p, more = nil, true
  return function()
    if not more then return nil end
    p = p or counted(n, function(i) return i end)
    local found = listed(table.move(p, 1, n, 1, {}))
    more = advance(p)
    return found
  end
end

-- The sets of a partition, from a number for each key: lists of {first, last}, by their first keys.
function bracketing.sets(number, n)
  local sets, by_number = {}, {}
  for key = 1, n do
    local block = by_number[number[key]]
    if not block then
      block = {}
      by_number[number[key]] = block
      sets[#sets + 1] = block
    end
    local range = block[#block]
    if range and range[2] == key - 1 then range[2] = key else block[#block + 1] = {key, key} end
  end
  return listed(sets)
end

-- Numbers after `key`, the least by the alphabet with which blocks up to `last` come to `k` (any number without k).
local function fill(number, key, n, last, k)
  for after = key + 1, n do
    local block = (k or 0) - n + after
    number[after] = block > last and block or 1
  end
end

-- Makes `number` the next one by the alphabet in which each key is in a block at most one above those before it.
local function advance_blocks(number, n, k)
  for key = n, 2, -1 do
    local highest = 0
    for before = 1, key - 1 do highest = math.max(highest, number[before]) end
    for block = number[key] + 1, math.min(highest + 1, k or n) do
      local last = math.max(highest, block)
      if (k or last) - last <= n - key then
        number[key] = block
        fill(number, key, n, last, k)
        return true
      end
    end
  end
  return false
end

--- Iterates over all partitions of the keys 1 .. n into k sets (any number without k). A set is a list
-- of {first, last}: as the tiling's `k` and P:summary take them. A new table each time.
--     for sets in ts.partitions(P.n_k, 2) do P:attention{k = sets} end
---@param n integer
---@param k? integer
---@return fun(): integer[][][]?
function bracketing.partitions(n, k)
  n = check.count(n, 1, "partitions", "n", 0)
  k = k ~= nil and check.count(k, 2, "partitions", "k", 0) or nil
  local number, more = nil, k == nil or k <= n and (k > 0 or n == 0)
  return function()
    if not more then return nil end
    if not number then
      number = {}
      fill(number, 0, n, 0, k)
    end
    local blocks = bracketing.sets(number, n)
    more = advance_blocks(number, n, k)
    return blocks
  end
end

return bracketing
