-- cases.lua -- what must hold for a list of keys, law by law: pairs of trees whose states say the same.
--
-- Each law is a function (n, visit) that calls visit(tree, other) for n keys: `other` is a tree, or nil where the
-- tree has to say what `want` says. visit returns true to go on. `least`: of how many keys it says anything.

local expression = require "tessera.laws.expression"
local ts = require "tessera"

local function merge(left, right) return {left = left, right = right} end

-- All ways to cut keys 1 .. n in two.
local function cuts(n, visit)
  for last = 1, n - 1 do
    if not visit({1, last}, {last + 1, n}) then return end
  end
end

local laws = {}

--- The state of one block says what is wanted of its keys.
laws[#laws + 1] = {"summarize", function(n, visit) visit{1, n} end}

--- Σ(S) ⋆ Σ(T) = Σ(S ∪ T).
laws[#laws + 1] = {"homomorphism", function(n, visit)
  cuts(n, function(S, T) return visit(merge(S, T)) end)
end, least = 2}

--- ⊥ ⋆ Σ = Σ = Σ ⋆ ⊥, and ⊥ ⋆ ⊥ is ⊥ again.
laws[#laws + 1] = {"identity", function(n, visit)
  local S = {1, n}
  return visit(merge(S, "bottom"), S) and visit(merge("bottom", S), S)
    and visit(merge(merge("bottom", "bottom"), S), S)
end, needs_bottom = true}

--- S ⋆ T = T ⋆ S.
laws[#laws + 1] = {"commutativity", function(n, visit)
  cuts(n, function(S, T) return visit(merge(S, T), merge(T, S)) end)
end, least = 2}

--- (S ⋆ T) ⋆ U = S ⋆ (T ⋆ U).
laws[#laws + 1] = {"associativity", function(n, visit)
  for a = 1, n - 2 do
    for b = a + 1, n - 1 do
      local S, T, U = {1, a}, {a + 1, b}, {b + 1, n}
      if not visit(merge(merge(S, T), U), merge(S, merge(T, U))) then return end
    end
  end
end, least = 3}

--- Key by key, in any order and with any bracketing. Of five keys and more, only forwards and backwards.
laws[#laws + 1] = {"any order", function(n, visit)
  local function all_bracketings(order)
    for bracketing in ts.bracketings(n) do
      if not visit(expression.bracketed(bracketing, order)) then return false end
    end
    return true
  end
  if n <= 4 then
    for order in ts.permutations(n) do
      if not all_bracketings(order) then return end
    end
    return
  end
  local forwards, backwards = {}, {}
  for k = 1, n do forwards[k], backwards[k] = k, n + 1 - k end
  return all_bracketings(forwards) and all_bracketings(backwards)
end}

return laws
