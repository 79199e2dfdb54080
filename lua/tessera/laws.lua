--- Is a claimed merge one? Any merge written in Lua, whatever its states are, against the laws of ⋆ and what it is for.

local attempt = require "tessera.attempt"
local cases = require "tessera.laws.cases"
local check = require "tessera.check"
local core = require "tessera.core"
local exact = require "tessera.exact"
local expression = require "tessera.laws.expression"
local number = require "tessera.number"
local shrink = require "tessera.laws.shrink"
local ts = require "tessera"
local wanted = require "tessera.laws.wanted"

local laws = {wide = require "tessera.wide"}
local result = {__name = "tessera.laws"}

local kinds = {
  merge = "function", summarize = "function", finish = "function", bottom = "any", equal = "function",
  sample = "function", want = "function", seed = "integer", rounds = "positive", roundings = "positive",
}

-- Chance ------------------------------------------------------------------------------------------

-- rng() in [0, 1), rng(n) from 1 to n, rng(a, b) from a to b, as math.random: from the seed alone.
local function generator(seed)
  local numbers, at, batch = nil, 256, 0
  return function(a, b)
    if at == 256 then
      numbers, at, batch = ts.rand(1, 256, {seed = seed * 65537 + batch}), 0, batch + 1
    end
    at = at + 1
    local x = numbers(1, at)
    if not a then return x end
    if not b then a, b = 1, a end
    return a + math.floor(x * (b - a + 1))
  end
end

local large = {1e3, 1e5, 1e17, 1e300}

-- A key by default: scores that tie, lie near each other, or far beyond what an exponential can hold.
local function any_key(rng, before)
  local kind, s = rng(6), rng(-3, 3) + 0.0
  if kind >= 5 and #before > 0 then s = before[rng(#before)].s
  elseif kind == 4 then s = 8 * rng() - 4
  elseif kind == 3 then s = large[rng(#large)] * (rng(2) == 1 and 1 or -1) * (rng(2) == 1 and 1 or rng()) end
  return {s = s, v = rng(3) == 1 and 20 * rng() - 10 or rng(-9, 9) + 0.0}
end

-- Judging -----------------------------------------------------------------------------------------

local function agree(x, y, slack)
  if type(x) ~= "number" or type(y) ~= "number" then return x == y end
  if x ~= x or y ~= y then return x ~= x and y ~= y end
  return x == y or math.abs(x - y) <= slack
end

-- How `tree` fails on the keys, against `other` or against what is wanted; nil where it does not.
local function compare(claim, keys, tree, other)
  local unit = claim.roundings * (#keys + 1) * 2.0 ^ -53
  local want, slack = claim.want(keys, unit)
  if type(want) == "number" then slack = slack or wanted.slack(keys, unit, want) end
  if other and claim.equal then
    local same = claim.equal(expression.value(claim, keys, tree), expression.value(claim, keys, other))
    return not same and {} or nil
  end
  local got = claim.finish(expression.value(claim, keys, tree))
  if not other then return not agree(got, want, slack) and {got = got, want = want} or nil end
  local also = claim.finish(expression.value(claim, keys, other))
  return not agree(got, also, slack and 2 * slack) and {got = got, want = also} or nil
end

-- The same, where a function of the user's may raise: then that is how it fails.
local function failure(claim, keys, tree, other)
  local ok, found = attempt(compare, claim, keys, tree, other)
  if ok and not found then return nil end
  if not ok then found = type(found) == "table" and found.changed and {at = found} or {raised = tostring(found)} end
  found.tree, found.other = tree, other
  return found
end

-- The first way in which the law fails for these keys.
local function fails(claim, law, keys)
  local found
  law[2](#keys, function(tree, other)
    found = failure(claim, keys, tree, other)
    return not found
  end)
  return found
end

-- A case's keys, drawn.
local function drawn(claim, rng, count)
  local keys = {}
  for n = 1, count do
    local key = claim.sample(rng, keys)
    local is_key = type(key) == "table" and type(key.s) == "number" and type(key.v) == "number"
    check.arg(is_key, 1, "laws", "field 'sample': a key {s = number, v = number} expected, got %s",
      type(key) == "table" and ("{s = %s, v = %s}"):format(key.s, key.v) or check.type_of(key))
    keys[n] = key
  end
  return keys
end

-- The first case that fails of those drawn, made small; and how many were tried.
local function search(claim, law, rng)
  for round = 1, claim.rounds do
    local keys = drawn(claim, rng, rng(law.least or 1, round <= 20 and 3 or 6))
    if fails(claim, law, keys) then
      local least, found = shrink(keys, function(k) return fails(claim, law, k) end)
      found.keys = least
      return round, found
    end
  end
  return claim.rounds, nil
end

-- Printing ----------------------------------------------------------------------------------------

local function told(x)
  if type(x) ~= "number" then return tostring(x) end
  if x ~= x then return "not a number" end
  return number.format("%.12g", x)
end

-- The counterexample as a line of Lua.
local function line(found, by_equal)
  local left = expression.text(found.keys, found.tree)
  local right = found.other and expression.text(found.keys, found.other)
  if found.at then
    return ("%s -- changes its %s argument"):format(expression.text(found.keys, found.at.tree), found.at.changed)
  elseif found.raised then
    return ("finish(%s) -- raises: %s"):format(left, found.raised)
  elseif right and by_equal then
    return ("equal(%s, %s) -- is false"):format(left, right)
  elseif right then
    return ("finish(%s) -- is %s; finish(%s) is %s"):format(left, told(found.got), right, told(found.want))
  end
  return ("finish(%s) -- is %s, but should be %s"):format(left, told(found.got), told(found.want))
end

--- A line a law: `associativity  200 cases  ok`, and under one that fails its smallest counterexample.
function result:__tostring()
  local lines = {}
  for n, law in ipairs(self) do
    local verdict = law.cases == 0 and "not tried: no bottom" or law.ok and "ok" or "FAILS"
    lines[n] = ("%-13s  %4d cases  %s"):format(law.law, law.cases, verdict)
    if not law.ok then lines[n] = lines[n] .. "\n    " .. law.counterexample end
  end
  lines[#lines + 1] = self.ok and "every law holds" or "NOT A MERGE"
  return table.concat(lines, "\n")
end

-- The whole ---------------------------------------------------------------------------------------

local function read(fields)
  check.type(fields, "table", 1, "laws")
  local claim = core.options(fields, 1, "laws", kinds)
  for _, name in ipairs{"merge", "summarize", "finish"} do
    check.arg(claim[name], 1, "laws", "field '%s' is missing", name)
  end
  claim.sample = claim.sample or any_key
  claim.want = claim.want or wanted.softmax
  claim.rounds, claim.roundings = claim.rounds or 200, claim.roundings or 64
  return claim
end

--- Tries a claimed merge against the laws, and shrinks what fails to a smallest case.
--
-- States are whatever the functions make of them.
-- * `summarize(scores, values)`: the state of a block of one key or more, from two lists of numbers.
-- * `merge(a, b)`: the state of both blocks, a new one: a merge that changes a or b fails.
-- * `finish(state)`: the answer that a state comes to: a number, or anything that == compares.
-- * `bottom`: the state of no key, where there is one.
-- * `equal(a, b)`: whether two states say the same; without it, what `finish` makes of them is compared.
-- * `want(keys, unit)`: the answer for a list of keys {s =, v =}, and, where it is a number, how far another may be off
--   whose every step is within `unit` relatively (without it: unit times the largest number around). The softmax
--   output unless given.
-- * `sample(rng, before)`: a key {s =, v =}; rng is as math.random, `before` the case's keys so far. Unless given, scores
--   tie, lie close and reach ±1e300.
-- * `seed` (1), `rounds` (200 cases a law), `roundings` (64: what the functions together may round, a key).
--
--     local l = ts.laws{merge = f, summarize = g, finish = h, bottom = {-math.huge, 0, 0}}
--     print(l)                             -- a line a law; a counterexample under each one that fails
--     print(l.associativity.counterexample)
--
-- The result is a list of {law, cases, ok, counterexample (a line of Lua), keys}, also by name, with `ok`.
-- `ts.laws.wide` are numbers with a wide exponent, for states that hold Σ e^s itself.
---@param fields table
---@return table
local function try(_, fields)
  local claim = read(fields)
  local all = setmetatable({ok = true}, result)
  for n, law in ipairs(cases) do
    local entry = {law = law[1], cases = 0, ok = true}
    if not law.needs_bottom or claim.bottom ~= nil then
      local found
      entry.cases, found = search(claim, law, generator((claim.seed or 1) * 100 + n))
      if found then
        entry.ok, all.ok = false, false
        entry.keys, entry.counterexample = found.keys, line(found, claim.equal)
      end
    end
    all[n], all[law[1]] = entry, entry
  end
  return all
end

return setmetatable(laws, {__call = exact.of(try, "laws", 1), __index = function(_, name) check.no_field("ts.laws", name, {"wide"}) end})
