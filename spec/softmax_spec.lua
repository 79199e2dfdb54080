-- The definition as Lua sees it: P:softmax, P:weights and P:scores on problems that can be worked out by hand.
require "spec.helper"
local ts = require "tessera"

local inf = math.huge

-- Three queries, four keys; scores by hand: s(i, j) = i * j, base 2.
local function by_hand(fields)
  local all = {Q = ts.matrix{{1}, {2}, {3}}, K = ts.matrix{{0}, {1}, {2}, {3}}, V = ts.matrix{{0, 1}, {1, 1}, {2, 1}, {3, 1}},
    scale = 1, base = 2}
  for name, value in pairs(fields or {}) do all[name] = value end
  return ts.problem(all)
end

describe("P:softmax", function()
  it("is Σ 2^s v / Σ 2^s", function()
    local O, lse = by_hand():softmax()
    -- weights 1 2 4 8, 1 4 16 64, 1 8 64 512
    assert.matrix_equal({{34 / 15, 1}, {228 / 85, 1}, {1672 / 585, 1}}, O)
    assert.within_bound({{math.log(15)}, {math.log(85)}, {math.log(585)}}, lse, 2 ^ -50)
  end)

  it("is the same with keys of a longer sequence: masks and scores see their numbers", function()
    local seen = {}
    local P = by_hand{first_key = 11, mask = ts.mask(3, 14, function(i, j) return j >= 10 + i end),
      score = function(s, _, j) seen[j] = true return s end}
    local O = P:softmax()
    assert.matrix_equal({{34 / 15, 1}, {(4 + 32 + 192) / 84, 1}, {(128 + 1536) / 576, 1}}, O)
    assert.same({[11] = true, [12] = true, [13] = true, [14] = true}, seen)
  end)

  it("asks a score function for allowed cells only, with i, j, h from 1", function()
    local asked = {}
    by_hand{mask = function(i, j) return j == i + 1 end, score = function(s, i, j, h)
      asked[#asked + 1] = ("%d %d %d %g"):format(i, j, h, s)
      return s
    end}:softmax()
    table.sort(asked)
    assert.same({"1 2 1 1", "2 3 1 4", "3 4 1 9"}, asked)
  end)

  it("applies scale, then score, then mask, then sink", function()
    local P = by_hand{scale = 0.5, score = function(s) return s * 2 + 1 end, mask = function(_, j) return j < 3 end, sink = 1}
    -- query 1: scores 0, 1 -> 0, 0.5 -> 1, 2; with the sink 2, 4, 2
    assert.equal(0.5, (P:softmax())(1, 1))
    assert.equal(6 / 8, (P:softmax())(1, 2))
  end)

  it("gives each query head its key head", function()
    local o = {dtype = "f32"}
    local P = ts.problem{Q = ts.zeros(1, 6, o), K = ts.zeros(2, 3, o), V = ts.matrix({{1, 2, 3}, {3, 4, 5}}, o), heads = 6, kv_heads = 3}
    assert.matrix_equal({{2, 2, 3, 3, 4, 4}}, (P:softmax()))
  end)

  it("reads views of any strides", function()
    local Q, K, V = ts.randn(5, 7, {seed = 1}), ts.randn(5, 9, {seed = 2}), ts.randn(4, 9, {seed = 3})
    local viewed = ts.problem{Q = Q:t(), K = K:t(), V = V:t()}
    local packed = ts.problem{Q = Q:t():copy(), K = K:t():copy(), V = V:t():copy()}
    assert.matrix_identical((packed:softmax()), (viewed:softmax()))
    assert.matrix_identical((packed:attention()), (viewed:attention()))
  end)

  it("propagates NaN to its own rows and columns only", function()
    local K, V = ts.matrix{{0}, {1}, {2}, {3}}, ts.matrix{{0, 1}, {1, 1}, {2, 1}, {3, 1}}
    V:set(2, 2, inf)
    K:set(4, 1, 0 / 0)
    local O, lse = by_hand{K = K, V = V, nonfinite = "propagate", mask = function(i, j) return j <= i + 1 end}:softmax()
    assert.equal(2 / 3, O(1, 1))
    assert.is_true(O(1, 2) ~= O(1, 2) and O(3, 1) ~= O(3, 1) and lse(3, 1) ~= lse(3, 1))
    assert.equal(36 / 21, O(2, 1))
  end)
end)

describe("P:weights", function()
  it("are what the values are multiplied with, 0 where a key is not allowed", function()
    local W = by_hand{mask = function(i, j) return i ~= 2 and j < 3 end, empty = "zero"}:weights()
    assert.matrix_equal({{1 / 3, 2 / 3, 0, 0}, {0, 0, 0, 0}, {1 / 9, 8 / 9, 0, 0}}, W)
  end)
  it("leave the rest to the sink", function()
    assert.matrix_equal({{0.25, 0.5}}, by_hand{Q = ts.ones(1, 1), K = ts.matrix{{0}, {1}}, V = ts.zeros(2, 1), sink = 0}:weights())
  end)
  it("are of one head", function()
    local P = ts.problem{Q = ts.matrix{{1, 2}}, K = ts.matrix{{0, 0}, {1, 1}}, V = ts.zeros(2, 2), heads = 2, base = 2, scale = 1}
    assert.matrix_equal({{1 / 3, 2 / 3}}, P:weights(1))
    assert.matrix_equal({{1 / 5, 4 / 5}}, P:weights(2))
    assert.has_error(function() P:weights(3) end)
  end)
end)

describe("P:scores", function()
  it("are those after scale and score, -inf where not allowed", function()
    local P = by_hand{scale = -2, score = function(s, i) return s + i end, mask = function(_, j) return j ~= 2 end}
    assert.matrix_equal({{1, -inf, -3, -5}, {2, -inf, -6, -10}, {3, -inf, -9, -15}}, P:scores())
  end)
  it("are +0 where they are 0", function()
    local S = by_hand{Q = ts.matrix{{-1}}}:scores()
    assert.equal(inf, 1 / S(1, 1))
  end)
end)
