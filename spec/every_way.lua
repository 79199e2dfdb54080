-- every_way.lua -- one problem answered in every way: three roads, tiles of many sizes, orders, bracketings and
-- thread counts, and merged summaries.
local ts = require "tessera"

local every_way = {}

-- 1, 2, 3, 4, n_k and n_k + 1 keys a block, each number once.
local function block_sizes(n_k)
  local seen, list = {}, {}
  for _, k in ipairs{1, 2, 3, 4, n_k, n_k + 1} do
    if k > 0 and not seen[k] then
      seen[k] = true
      list[#list + 1] = k
    end
  end
  return list
end

local ways = {
  {merge = "online"}, {order = "backward", merge = "tree"}, {order = "shuffle", merge = "random", seed = 3},
  {order = "diagonal", merge = "right", q = 1},
}

-- The fold of the summaries of single blocks of k keys.
local function merged(P, k)
  local list = {P:bottom()}
  for first = P.first_key, P.first_key + P.n_k - 1, k do
    list[#list + 1] = P:summary(first, math.min(first + k, P.first_key + P.n_k) - 1)
  end
  return ts.fold(list, "tree")
end

--- Calls check(answer, name) for every way to answer P; answer(options) gives O, lse, or raises. Large problems
--- (many keys) are cut into large blocks only.
function every_way.each(P, check)
  check(function(o) return P:softmax(o) end, "softmax")
  check(function(o) return P:oracle(o) end, "oracle")
  check(function(o) local S = P:summary() return S:output(o), S:lse() end, "summary")
  local sizes = P.n_k > 200 and {97, 512, P.n_k} or block_sizes(P.n_k)
  for _, k in ipairs(sizes) do
    check(function(o) local S = merged(P, k) return S:output(o), S:lse() end, "merged summaries of " .. k)
    for n, way in ipairs(ways) do
      for _, threads in ipairs{1, 3} do
        check(function(o)
          local tiling = {k = k, threads = threads}
          for name, value in pairs(way) do tiling[name] = value end
          for name, value in pairs(o or {}) do tiling[name] = value end
          return P:attention(tiling)
        end, ("tiles of %d keys, way %d, %d threads"):format(k, n, threads))
      end
    end
  end
end

--- The same for f64 and f32: make(dtype) gives the problem; check(answer, name, P, u), u the unit roundoff.
function every_way.both(make, check)
  for _, dtype in ipairs{"f64", "f32"} do
    local P = make(dtype)
    every_way.each(P, function(answer, name)
      check(answer, dtype .. ", " .. name, P, dtype == "f32" and 2.0 ^ -24 or 2.0 ^ -53)
    end)
  end
end

--- Matrices of a dtype: column(dtype, {1, 2}) is 2 × 1.
function every_way.column(dtype, list)
  return ts.matrix(#list, 1, function(i) return list[i] end, {dtype = dtype})
end

--- One query of 1, scale 1 and keys of width 1: the keys are the scores.
function every_way.scored(dtype, scores, values, fields)
  local all = {Q = ts.ones(1, 1, {dtype = dtype}), K = every_way.column(dtype, scores),
    V = every_way.column(dtype, values), scale = 1}
  for name, value in pairs(fields or {}) do all[name] = value end
  return ts.problem(all)
end

return every_way
