-- expression.lua -- merges of blocks of keys as trees: evaluated with the user's functions, or told as Lua.
--
-- A leaf is {first, last} of the keys of a case, or "bottom"; a node is {left =, right =}.

local number = require "tessera.number"
local snapshot = require "tessera.laws.snapshot"

local expression = {}

-- The merge of two states. Raises {changed = "first" | "second", tree =} where it changes one of them: a state may be
-- merged more than once.
local function merged(claim, a, b, tree)
  local first, second = snapshot.take(a), snapshot.take(b)
  local state = claim.merge(a, b)
  local changed = not snapshot.equal(a, first) and "first" or not snapshot.equal(b, second) and "second"
  if changed then error({changed = changed, tree = tree}, 0) end
  return state
end

--- The state that the tree comes to. `keys` is a list of {s =, v =}.
function expression.value(claim, keys, tree)
  if tree == "bottom" then return claim.bottom end
  if tree.left then
    return merged(claim, expression.value(claim, keys, tree.left), expression.value(claim, keys, tree.right), tree)
  end
  local scores, values = {}, {}
  for n = tree[1], tree[2] do scores[#scores + 1], values[#values + 1] = keys[n].s, keys[n].v end
  return claim.summarize(scores, values)
end

local function literal(x)
  if type(x) ~= "number" then return tostring(x) end
  if x == math.huge then return "math.huge" end
  if x == -math.huge then return "-math.huge" end
  return number.shortest(x)
end

--- The tree as one could type it.
function expression.text(keys, tree)
  if tree == "bottom" then return "bottom" end
  if tree.left then
    return ("merge(%s, %s)"):format(expression.text(keys, tree.left), expression.text(keys, tree.right))
  end
  local scores, values = {}, {}
  for n = tree[1], tree[2] do scores[#scores + 1], values[#values + 1] = literal(keys[n].s), literal(keys[n].v) end
  return ("summarize({%s}, {%s})"):format(table.concat(scores, ", "), table.concat(values, ", "))
end

--- A bracketing of positions (as ts.bracketings has them) as a tree over single keys, in the order given.
function expression.bracketed(bracketing, order)
  if type(bracketing) == "number" then return {order[bracketing], order[bracketing]} end
  if #bracketing == 1 then return expression.bracketed(bracketing[1], order) end
  return {left = expression.bracketed(bracketing[1], order), right = expression.bracketed(bracketing[2], order)}
end

return expression
