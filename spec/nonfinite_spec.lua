-- NaN and infinities planted by chance: all roads name the same cell, and propagate to the same ones.
require "spec.helper"
local dice = require "spec.dice"
local ts = require "tessera"

local kinds = {0 / 0, math.huge, -math.huge}

local function problem(seed)
  local draw = dice(seed)
  local kv_heads = draw(2)
  local heads, n_q, n_k = kv_heads * draw(2), draw(6), draw(12)
  local function m(rows, cols, part)
    return ts.randn(rows, cols, {seed = seed * 10 + part, dtype = seed % 2 == 0 and "f32" or "f64"})
  end
  local Q, K, V = m(n_q, heads * 3, 1), m(n_k, kv_heads * 3, 2), m(n_k, kv_heads * 2, 3)
  local function plant(matrix, most)
    for _ = 1, draw(most) - 1 do matrix:set(draw(matrix.rows), draw(matrix.cols), kinds[draw(3)]) end
  end
  plant(K, 3)
  plant(V, 3)
  plant(Q, 2)
  return ts.problem{Q = Q, K = K, V = V, heads = heads, kv_heads = kv_heads,
    mask = draw(2) == 1 and ts.mask.random({n_q, n_k}, 0.6, {seed = seed}) or nil, empty = "zero"}
end

local ways = {
  oracle = function(P) return P:oracle() end,
  ["default tiles"] = function(P) return P:attention() end,
  ["small tiles"] = function(P) return P:attention{k = 2, q = 2, order = "backward", merge = "tree", threads = 3} end,
  ["shuffled tiles"] = function(P) return P:attention{k = 3, order = "shuffle", merge = "random"} end,
}

-- What a call says: "fine", or its error without the place.
local function said(call, P)
  local ok, message = pcall(call, P)
  return ok and "fine" or (tostring(message):gsub("^%S+:%d+: ", ""))
end

local function is_nan(x) return x ~= x and 1 or 0 end

describe("numbers that are not finite", function()
  it("are named alike by all roads: the first in the order of heads, rows and keys", function()
    local seen = {fine = 0, score = 0, value = 0}
    for seed = 1, 400 do
      local P = problem(seed)
      local want = said(P.softmax, P)
      local kind = want:match "^%a+"
      seen[kind] = seen[kind] + 1
      for name, way in pairs(ways) do assert.equal(want, said(way, P), ("seed %d, %s"):format(seed, name)) end
    end
    for kind, count in pairs(seen) do assert.is_true(count > 20, kind) end
  end)

  it("are none of a scale that makes only Q too large for f32", function()
    local function m(t) return ts.matrix(t, {dtype = "f32"}) end
    local P = ts.problem{Q = m{{1e10, 3e9}, {1, 2}, {0, 0}}, K = m{{1e-39, 2e-30}, {3e-38, 0}, {1e-30, -1e-30}},
      V = m{{1}, {2}, {4}}, scale = 1e30} -- 6e9, 300, 7e9; 4, 3e-8, -1; 0, 0, 0
    for _, n_q in ipairs{3, 1} do
      local Q = P:with{Q = P.Q:slice(1, n_q)}
      assert.equal(4, Q:attention()(1, 1))
      assert.is_true(ts.diff(select(2, Q:attention()), select(2, Q:softmax())).ulps <= 4)
      assert.is_true(Q:verify().ok)
    end
    for _, road in ipairs{"softmax", "attention", "oracle"} do -- 6e39
      assert.error_matches(function() P[road](P:with{scale = 1e60}) end, "query 1, key 1, head 1 is inf")
    end
  end)

  it("are none of one that leaves other numbers of the query small beside the largest, either", function()
    local function m(rows, cols, f) return ts.matrix(rows, cols, f, {dtype = "f32"}) end
    local function is_odd(c) return c % 2 == 1 end
    -- c Q is 2^140 and 2^-26: scores are 0, 1 and 2, and all roads exact.
    local K = m(40, 2, function(j, c) return is_odd(c) and 0 or j % 3 * 2.0 ^ 26 end)
    K:set(7, 1, math.huge)
    local V = m(40, 16, function(j, c) return (j * c) % 17 - 8 end)
    for _, n_q in ipairs{1, 3, 20} do
      local Q = m(n_q, 4, function(_, c) return is_odd(c) and 2.0 ^ 40 or 2.0 ^ -126 end)
      local P = ts.problem{Q = Q, K = K, V = V, heads = 2, kv_heads = 1, scale = 2.0 ^ 100, base = 2,
        mask = function(i, j) return j ~= 7 and j <= 33 + i end}
      local O, lse = P:attention()
      local want, want_lse = P:softmax()
      assert.is_true(O:identical(want) and lse:identical(want_lse))
      assert.is_true(O:identical((P:oracle())))
    end
  end)

  it("propagate to the same cells on all roads", function()
    for seed = 1, 400 do
      local P = problem(seed):with{nonfinite = "propagate"}
      local O, lse = P:softmax()
      for name, way in pairs(ways) do
        local A, l = way(P)
        local note = ("seed %d, %s"):format(seed, name)
        assert.matrix_equal(O:map(is_nan), A:map(is_nan), note)
        assert.matrix_equal(lse:map(is_nan), l:map(is_nan), note)
      end
    end
  end)

  it("propagate from each tile of few queries, though other keys pass by between them", function()
    local function m(rows, cols, f) return ts.matrix(rows, cols, f, {dtype = "f32"}) end
    local V = m(128, 16, function(j, c) return (j * c) % 17 - 8 end)
    V:set(5, 1, 0 / 0)
    local P = ts.problem{Q = m(32, 4, function(i, c) return (i + c) % 3 end), K = m(128, 4, function(j, c) return (j * c) % 2 end),
      V = V, scale = 1, base = 2, nonfinite = "propagate"}
    assert.matrix_identical((P:softmax()), (P:attention{q = 8, k = 64, threads = 1}))
  end)
end)
