-- Merges of one's own: is a claimed way to merge the summaries of two blocks right?
--
-- ts.laws tries any merge written in Lua, and shrinks what fails to a line that one can paste. Here are well-known
-- ways to get the merge of attention wrong, and five ways to get it right.
local ts = require "tessera"

local exp, log, max, inf = math.exp, math.log, math.max, math.huge

local function copy(t, changes)
  local c = {}
  for name, value in pairs(t) do c[name] = value end
  for name, value in pairs(changes) do c[name] = value end
  return c
end

-- Right: (m, ℓ, z) ---------------------------------------------------------------------------------

-- e^(a - m), where a state without keys weighs nothing.
local function factor(a, m) return a == -inf and 0 or exp(a - m) end

local triple = {
  bottom = {m = -inf, l = 0, z = 0},
  summarize = function(scores, values)
    local m, l, z = max(table.unpack(scores)), 0, 0
    for n, s in ipairs(scores) do
      local w = exp(s - m)
      l, z = l + w, z + w * values[n]
    end
    return {m = m, l = l, z = z}
  end,
  merge = function(a, b)
    local m = max(a.m, b.m)
    local f, g = factor(a.m, m), factor(b.m, m)
    return {m = m, l = f * a.l + g * b.l, z = f * a.z + g * b.z}
  end,
  finish = function(state) return state.z / state.l end,
}

-- Right: (output, lse) -----------------------------------------------------------------------------

local pair = {
  bottom = {o = 0, lse = -inf},
  summarize = function(scores, values)
    local state = triple.summarize(scores, values)
    return {o = state.z / state.l, lse = state.m + log(state.l)}
  end,
  merge = function(a, b)
    local m = max(a.lse, b.lse)
    local f, g = factor(a.lse, m), factor(b.lse, m)
    if f + g == 0 then return a end -- neither has a key
    return {o = (f * a.o + g * b.o) / (f + g), lse = m + log(f + g)} -- the weights' own sum, or large scores lose it
  end,
  finish = function(state) return state.o end,
}

-- Right: (ℓ, z) without a maximum, in numbers whose exponent is wide ---------------------------------

local wide = ts.laws.wide

local unshifted = {
  bottom = {l = wide(0), z = wide(0)},
  summarize = function(scores, values)
    local l, z = wide(0), wide(0)
    for n, s in ipairs(scores) do
      local w = wide.exp(s)
      l, z = l + w, z + w * values[n]
    end
    return {l = l, z = z}
  end,
  merge = function(a, b) return {l = a.l + b.l, z = a.z + b.z} end,
  finish = function(state) return (state.z / state.l):number() end,
}

-- Right: log-sum-exp alone, and the largest two scores -----------------------------------------------

local function log_sum_exp(scores)
  local m, sum = max(-inf, table.unpack(scores)), 0
  if m == -inf then return m end
  for _, s in ipairs(scores) do sum = sum + exp(s - m) end
  return m + log(sum)
end

local function scores_of(keys)
  local list = {}
  for n, key in ipairs(keys) do list[n] = key.s end
  return list
end

local lse_alone = {
  bottom = -inf,
  summarize = function(scores) return log_sum_exp(scores) end,
  merge = function(a, b) return log_sum_exp{a, b} end,
  finish = function(state) return state end,
  want = function(keys) return log_sum_exp(scores_of(keys)) end,
}

local function largest_two(list)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted, function(a, b) return a > b end)
  return {sorted[1], sorted[2]}
end

local top_two = {
  bottom = {},
  summarize = function(scores) return largest_two(scores) end,
  merge = function(a, b) return largest_two(table.move(b, 1, #b, #a + 1, table.move(a, 1, #a, 1, {}))) end,
  finish = function(state) return table.concat(state, " ") end,
  want = function(keys) return table.concat(largest_two(scores_of(keys)), " ") end,
}

-- Wrong --------------------------------------------------------------------------------------------

-- "Nothing to rescale yet": then the 1 that ℓ starts with stays in the sum.
local starts_at_one = copy(triple, {
  bottom = {m = -inf, l = 1, z = 0},
  merge = function(a, b)
    local m = max(a.m, b.m)
    local f = a.m == -inf and 1 or exp(a.m - m)
    local g = b.m == -inf and 1 or exp(b.m - m)
    return {m = m, l = f * a.l + g * b.l, z = f * a.z + g * b.z}
  end,
})

-- Two blocks without keys: -inf - -inf.
local no_guard = copy(triple, {
  merge = function(a, b)
    local m = max(a.m, b.m)
    local f, g = exp(a.m - m), exp(b.m - m)
    return {m = m, l = f * a.l + g * b.l, z = f * a.z + g * b.z}
  end,
})

-- One kernel returns its lse in base 2, the merge takes it for one in base e.
local two_bases = copy(pair, {
  summarize = function(scores, values)
    local state = pair.summarize(scores, values)
    return {o = state.o, lse = state.lse / log(2)}
  end,
})

-- A kernel whose lse of no keys is +inf.
local empty_is_infinite = copy(pair, {
  bottom = {o = 0, lse = inf},
})

-- A large negative number instead of -inf: some scores are below it.
local stand_in = copy(triple, {
  bottom = {m = -10000, l = 0, z = 0},
})

-- The mean of two means is not the mean.
local running_mean = {
  summarize = function(_, values)
    local sum = 0
    for _, v in ipairs(values) do sum = sum + v end
    return sum / #values
  end,
  merge = function(a, b) return (a + b) / 2 end,
  finish = function(state) return state end,
  want = function(keys)
    local sum = 0
    for _, key in ipairs(keys) do sum = sum + key.v end
    return sum / #keys
  end,
}

-- Weights e^(lse - lse'), trusted to sum to 1: for large scores log(f + g) is lost in lse'.
local not_normalised = copy(pair, {
  merge = function(a, b)
    local m = max(a.lse, b.lse)
    if m == -inf then return a end
    local lse = m + log(factor(a.lse, m) + factor(b.lse, m))
    return {o = factor(a.lse, lse) * a.o + factor(b.lse, lse) * b.o, lse = lse}
  end,
})

-- All of them --------------------------------------------------------------------------------------

local claims = {
  {"(m, ℓ, z)", triple, true},
  {"(output, lse)", pair, true},
  {"(ℓ, z) in wide numbers", unshifted, true},
  {"log-sum-exp alone", lse_alone, true},
  {"the two largest scores", top_two, true},
  {"a state that starts at (-inf, 1)", starts_at_one, false},
  {"max(-inf, -inf) taken away from -inf", no_guard, false},
  {"an lse in base 2, merged in base e", two_bases, false},
  {"an empty lse of +inf", empty_is_infinite, false},
  {"-10000 that stands for -inf", stand_in, false},
  {"the running mean", running_mean, false},
  {"weights that are trusted to sum to 1", not_normalised, false},
}

if ... ~= "claims" then
  for _, claim in ipairs(claims) do
    local found = ts.laws(claim[2])
    print(("%s: %s"):format(claim[1], found.ok and "every law holds" or "NOT A MERGE"))
    for _, law in ipairs(found) do
      if not law.ok then print(("    %s fails: %s"):format(law.law, law.counterexample)) end
    end
  end
end

return claims
