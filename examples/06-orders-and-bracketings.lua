-- Orders and bracketings: every way to merge the blocks of keys gives the same answer.
--
-- Where arithmetic is exact (whole numbers in base 2), the same to the last bit; elsewhere, within a bound that is derived
-- from the problem.
local ts = require "tessera"

-- Four blocks can be put into 24 orders, and each order bracketed in 5 ways.
local function every_way(P)
  local parts, results = {}, {}
  for b = 1, 4 do parts[b] = P:summary(4 * b - 3, 4 * b) end
  for order in ts.permutations(4) do
    local list = {}
    for position, b in ipairs(order) do list[position] = parts[b] end
    for bracketing in ts.bracketings(4) do
      results[#results + 1] = ts.fold(list, bracketing):output()
    end
  end
  return results
end

local function different(results)
  local kinds = {}
  for _, O in ipairs(results) do
    local known = false
    for _, other in ipairs(kinds) do known = known or O:identical(other) end
    if not known then kinds[#kinds + 1] = O end
  end
  return #kinds
end

local exact = ts.sample.exact{n_q = 8, n_k = 16, d = 4, d_v = 3, seed = 1}
local results = every_way(exact)
print(("whole numbers: %d ways, %d different result"):format(#results, different(results)))
--> whole numbers: 120 ways, 1 different result

local real = ts.problem{Q = ts.randn(8, 4, {seed = 1}), K = ts.randn(16, 4, {seed = 2}), V = ts.randn(16, 3, {seed = 3})}
results = every_way(real)
local O, bound = real:softmax(), real:bound{k = 4}.output
local worst = 0
for _, result in ipairs(results) do worst = math.max(worst, (result - O):abs():div(bound * 2):max()) end
print("real numbers: more than one result", different(results) > 1)          --> real numbers: more than one result	true
print("all within the bound:", worst < 1)                                   --> all within the bound:	true

-- The fused engine runs any of them: an order, a bracketing, and what it makes of them in postfix.
for _, merge in ipairs{"online", "right", "tree", {{1, {2, 3}}, 4}} do
  local same = exact:attention{k = 4, order = {3, 1, 4, 2}, merge = merge}:identical((exact:softmax()))
  print(type(merge) == "string" and merge or "{{1, {2, 3}}, 4}", same)
end
--> online	true
--> right	true
--> tree	true
--> {{1, {2, 3}}, 4}	true
