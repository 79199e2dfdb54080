-- setting.lua -- what the examples of the reference speak of without making it.
local ts = require "tessera"

-- A merge for ts.laws: states are {m, l, z}.
local function summarized(scores, values)
  local state = {-math.huge, 0, 0}
  for _, s in ipairs(scores) do state[1] = math.max(state[1], s) end
  for n, s in ipairs(scores) do
    local weight = math.exp(s - state[1])
    state[2], state[3] = state[2] + weight, state[3] + weight * values[n]
  end
  return state
end

local function merged(a, b)
  local m = math.max(a[1], b[1])
  if m == -math.huge then return a end
  local x, y = math.exp(a[1] - m), math.exp(b[1] - m)
  return {m, x * a[2] + y * b[2], x * a[3] + y * b[3]}
end

local function finished(state) return state[3] / state[2] end

--- Those variables, for problems of n keys.
---@param n integer
---@return table
return function(n)
  local function random(cols, seed) return ts.randn(n, cols, {seed = seed}) end
  local v = {Q = random(4, 1), K = random(4, 2), V = random(4, 3), X = random(16, 4), W = ts.randn(16, 16, {seed = 5}), n = n}
  v.P = ts.problem{Q = v.Q, K = v.K, V = v.V, mask = ts.mask.causal(n)}
  v.O, v.lse = v.P:softmax()
  v.S, v.T, v.U = v.P:summary(1, n // 2), v.P:summary(n // 2 + 1, n - 1), v.P:summary(n, n)
  v.list = {v.P:summary(1, 2), v.P:summary(3, 4), v.P:summary(5, 6), v.P:summary(7, n)}
  v.errors, v.words = {1, 2, 2, 5}, {}
  for i = 1, n do v.words[i] = "word " .. i end
  v.f, v.g, v.h = merged, summarized, finished
  v.mask, v.tiling = ts.mask.causal(n), {q = 4, k = 3, merge = "tree"}
  v.layer = ts.heads{heads = 8, d_q = 16, seed = 6}
  v.cache = v.layer:cache()
  v.a = ts.mask.causal(9)
  v.b = v.a | ts.mask(9, 9, function(i, j) return i == 3 and j >= 7 end)
  return v
end
