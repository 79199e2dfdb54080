-- algebra.lua -- laws of ⋆: what merging summaries must not depend on.

local context = require "tessera.verify.context"
local per_head = require "tessera.per_head"
local ts = require "tessera"

local laws = {}

-- A row without keys is an answer like others (of a problem that raises there no law is asked so far).
local zero = {empty = "zero"}

-- Summaries of n disjoint key sets that hold all keys, and the sets.
local function parts(c, P, n)
  local sets, list = c:key_sets(P, n), {}
  for k, set in ipairs(sets) do list[k] = P:summary(set) end
  if #list == 0 then list[1], sets[1] = P:bottom(), {} end
  return list, sets
end

-- The bound of sets merged with a bracketing of positions.
local function bound_of(P, sets, order, merge)
  if #sets == 1 then return context.bound(P, P.n_k > 0 and {k = sets} or {}, nil, true) end
  return context.bound(P, {k = sets, order = order, merge = merge}, nil, true)
end

--- Σ(S) ⋆ Σ(T) = Σ(S ∪ T).
laws[#laws + 1] = {"homomorphism", function(c, t)
  local P = c.small
  for _ = 1, c.rounds do
    local list, sets = parts(c, P, 3)
    local S, T = list[1], list[2] or P:bottom()
    local union = context.union(sets[1], sets[2] or {})
    local two = sets[2] and {sets[1], sets[2]} or {sets[1]}
    t:summaries(S * T, P:summary(union), context.either(bound_of(P, two), bound_of(P, {union})), "random sets")
  end
end}

--- ⊥ is the identity, in bits.
laws[#laws + 1] = {"identity", function(c, t)
  for _ = 1, c.rounds do
    local list = parts(c, c.small, 2)
    local bottom = c.small:bottom()
    for _, S in ipairs(list) do
      t:holds(S * bottom == S, "Σ ⋆ ⊥")
      t:holds(bottom * S == S, "⊥ ⋆ Σ")
    end
  end
end}

--- S ⋆ T = T ⋆ S, in bits.
laws[#laws + 1] = {"commutativity", function(c, t)
  for _ = 1, c.rounds do
    local list = parts(c, c.small, 2)
    local S, T = list[1], list[2] or c.small:bottom()
    t:holds(S * T == T * S, "random sets")
  end
end}

-- Lists of five blocks at most: all bracketings, of as many orders as `most` allows.
local function each_bracketing(c, n, most, visit)
  local cases = 0
  for order in ts.permutations(n) do
    for bracketing in ts.bracketings(n) do
      visit(order, bracketing)
      cases = cases + 1
    end
    if cases >= most then return end
    if most < math.huge and n > 1 then -- some other order, by chance
      order = ts.sample.permutation(n, {seed = c:next_seed()})
      for bracketing in ts.bracketings(n) do
        visit(order, bracketing)
        cases = cases + 1
      end
      if cases >= most then return end
    end
  end
end

-- A bracketing of positions as one of the blocks that stand there.
local function placed(bracketing, order)
  if type(bracketing) == "number" then return order[bracketing] end
  local node = {}
  for n = 1, #bracketing do node[n] = placed(bracketing[n], order) end
  return node
end

--- Any order and bracketing of up to five blocks gives the same summary.
laws[#laws + 1] = {"associativity", function(c, t)
  local P = c.small
  local list, sets = parts(c, P, 5)
  local left = ts.fold(list)
  local limit = bound_of(P, sets, nil, "online")
  local exact = limit.exact.rows > 0 and limit.exact:min() == 1
  each_bracketing(c, #list, exact and math.huge or 14 * c.rounds, function(order, bracketing)
    local S = ts.fold(list, placed(bracketing, order))
    if exact then return t:holds(S == left, "five blocks, in bits") end
    t:summaries(S, left, context.either(limit, bound_of(P, sets, order, bracketing)), "five blocks")
  end)
  t.exact = exact
end}

--- Cut into any number of blocks and merged, the whole is the whole.
laws[#laws + 1] = {"split", function(c, t)
  local P = c.small
  local full, limit = context.softmax(P), context.bound(P, false)
  for round = 1, c.rounds do
    local list, sets = parts(c, P, 3 * round)
    local S = ts.fold(list, "tree")
    t:answers({S:output(zero), S:lse()}, full,
      context.either(limit, bound_of(P, sets, nil, "tree")), #list .. " sets")
  end
end}

-- How far an lse may be off that is computed in double and rounded: of itself, and of ln ℓ and m ln base.
local function lse_error(S, lse)
  local u = S.dtype == "f32" and 2.0 ^ -24 or 2.0 ^ -53
  local ln_base = S.base == 2 and math.log(2) or 1
  return ts.matrix(S.n_q, S.heads, function(i, h)
    local x, m = lse(i, h), S.max(i, h)
    if x == -math.huge then return 0 end
    return u * math.abs(x) + 2.0 ^ -51 * (math.abs(m) * ln_base + math.abs(x) + 1)
  end)
end

-- Whether twice every number of m is still finite.
local function has_room(m)
  return m.rows * m.cols == 0 or m:abs():max() * 2 <= (m.dtype == "f32" and 0x1.fffffep127 or 0x1.fffffffffffffp1023)
end

--- Two summaries of equal numbers: ℓ and z double and the output stays, in bits; lse rises by ln 2.
laws[#laws + 1] = {"doubling", function(c, t)
  for _, S in ipairs(parts(c, c.small, c.rounds)) do
    S = context.free(S)
    if S then
      local twice = S * S
      t:same(twice.max, S.max, "m")
      t:same(twice.norm, S.norm * 2, "ℓ")
      t:same(twice.value, S.value * 2, "z")
      if has_room(S.value) then t:same(twice:output(zero), S:output(zero), "output") end
      local lse, more = S:lse():to "f64", twice:lse():to "f64"
      t:rounded(more, lse + math.log(2), lse_error(S, lse) + lse_error(S, more), "lse")
    end
  end
end}

--- A sink is the summary (sink, 1, 0), merged last.
laws[#laws + 1] = {"sink", function(c, t)
  local P = c.small
  local sink = P.sink or 0.5
  local with, without = P:with{sink = sink}, P:with{sink = false}
  local function logit(_, h) return per_head.of(sink, h) end
  local S = context.free(without:summary())
  if not S then return end
  S = S * ts.summary{
    max = ts.matrix(P.n_q, P.heads, logit, {dtype = P.dtype}),
    norm = ts.ones(P.n_q, P.heads, {dtype = P.dtype}),
    value = ts.zeros(P.n_q, P.heads * P.d_v, {dtype = P.dtype}), base = P.base == 2 and 2 or "e",
  }
  local limit = context.bound(with, {k = math.max(1, P.n_k)})
  local held = with:summary()
  local answer = {held:output(zero), held:lse()}
  t:answers({S:output(zero), S:lse()}, answer, context.either(limit, limit), "merged")
  t:answers(context.softmax(with), answer, context.either(limit, context.bound(with, false)), "softmax")
end}

return laws
