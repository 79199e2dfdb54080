-- The sharpest test of the algebra: problems on which no step rounds, so that every road, order and bracketing must
-- give the same bits.
require "spec.helper"
local ts = require "tessera"

local function exact(options)
  options.empty = "zero"
  return ts.sample.exact(options)
end

-- Whether every row of P says of itself that it is exact.
local function is_exact(P) return P:bound({k = 2}).exact:min() == 1 end

local function same(want, O, note) assert.matrix_identical(want, O, note) end

-- n blocks of P's keys by their last keys, ragged.
local function blocks(P, n)
  local last = {}
  for b = 1, n do last[b] = b * P.n_k // n end
  return last
end

describe("an exact problem", function()
  for _, dtype in ipairs{"f64", "f32"} do
    describe("of " .. dtype, function()
      local P = exact{n_q = 5, n_k = 23, d = 4, d_v = 3, heads = 2, kv_heads = 1, dtype = dtype, density = 0.6, seed = 11}
      local O, lse = P:softmax()

      it("knows that it is", function() assert.is_true(is_exact(P)) end)

      it("has the same bits on all three roads", function()
        same(O, (P:attention()))
        same(O, P:summary():output())
        same(O, (P:oracle{bits = 128}))
      end)

      it("has an lse within an ulp or two on all of them", function()
        assert.is_true(ts.diff(select(2, P:attention()), lse).ulps <= 2)
        assert.is_true(ts.diff(select(2, P:oracle()), lse).ulps <= 2)
      end)

      for n = 1, 5 do
        it(("in all orders and bracketings of %d blocks, by tiles and by summaries"):format(n), function()
          local k, list = blocks(P, n), {}
          for b = 1, n do list[b] = P:summary((k[b - 1] or 0) + 1, k[b]) end
          for order in ts.permutations(n) do
            local ordered = {}
            for position, b in ipairs(order) do ordered[position] = list[b] end
            for bracketing in ts.bracketings(n) do
              local A = P:attention{q = 2, k = k, order = order, merge = bracketing}
              if not A:identical(O) then same(O, A, "tiles") end
              local B = ts.fold(ordered, bracketing):output()
              if not B:identical(O) then same(O, B, "summaries") end
            end
          end
        end)
      end

      it("with a sink, on every road", function()
        local S = exact{n_q = 3, n_k = 9, dtype = dtype, sink = true, density = 0.4, seed = 5}
        local want = S:softmax()
        same(want, (S:oracle()))
        for k = 1, 10 do same(want, (S:attention{k = k, order = "shuffle", merge = "random", seed = k})) end
      end)

      it("however its keys are split among sets", function()
        local S = exact{n_q = 2, n_k = 6, dtype = dtype, seed = 3}
        local want = S:softmax()
        for sets in ts.partitions(6) do
          local A = S:attention{k = sets}
          if not A:identical(want) then same(want, A) end
        end
      end)

      it("drawn fifty times, under six tilings, with any number of threads", function()
        for seed = 1, 50 do
          local S = exact{n_q = 1 + seed % 7, n_k = seed % 19, d = 1 + seed % 5, d_v = 1 + seed % 4, heads = 1 + seed % 2,
            dtype = dtype, density = seed % 3 > 0 and 0.5 or nil, seed = seed}
          assert.is_true(is_exact(S) or S.n_q == 0)
          local want = S:softmax()
          for _, tiling in ipairs{{}, {k = 1}, {k = 3, order = "backward"}, {k = 4, merge = "tree"},
            {k = 5, order = "diagonal", merge = "right", q = 2}, {k = 2, order = "shuffle", merge = "random", threads = 3}} do
            local A = S:attention(tiling)
            if not A:identical(want) then same(want, A, "seed " .. seed) end
          end
        end
      end)
    end)
  end

  it("in all 30240 orders and bracketings of six blocks", function()
    local P = exact{n_q = 2, n_k = 11, d = 2, d_v = 1, dtype = "f32", seed = 2}
    local k, O = blocks(P, 6), P:softmax()
    local cases = 0
    for order in ts.permutations(6) do
      for bracketing in ts.bracketings(6) do
        cases = cases + 1
        local A = P:attention{k = k, order = order, merge = bracketing, threads = 1}
        if not A:identical(O) then same(O, A) end
      end
    end
    assert.equal(30240, cases)
  end)
end)

describe("an exact problem of many blocks", function()
  local P = exact{n_q = 2, n_k = 70, d = 2, d_v = 1, dtype = "f64", density = 0.7, seed = 8}
  local O = P:softmax()

  it("in all 429 bracketings of eight blocks, and as many orders", function()
    local k, seed = blocks(P, 8), 0
    for bracketing in ts.bracketings(8) do
      seed = seed + 1
      local A = P:attention{k = k, order = ts.sample.permutation(8, {seed = seed}), merge = bracketing}
      if not A:identical(O) then same(O, A, "seed " .. seed) end
    end
    assert.equal(429, seed)
  end)

  -- 10,000 of them with TESSERA_LONG set.
  local pairs_of_64 = os.getenv "TESSERA_LONG" and 10000 or 500
  it(("in %d sampled orders and bracketings of 64 blocks"):format(pairs_of_64), function()
    local k = blocks(P, 64)
    for seed = 1, pairs_of_64 do
      local A = P:attention{k = k, order = "shuffle", merge = "random", seed = seed}
      if not A:identical(O) then same(O, A, "seed " .. seed) end
    end
  end)
end)

describe("a problem that is not exact", function()
  local P = ts.sample.exact{n_q = 2, n_k = 5, seed = 1}
  local function says(Q) return is_exact(Q) end

  it("has base e", function() assert.is_false(says(P:with{base = "e"})) end)
  it("or scores that are no integers", function()
    assert.is_false(says(P:with{scale = 0.5, Q = ts.ones(2, P.d), K = ts.eye(5):slice(1, 5, 1, P.d)}))
  end)
  it("or values that are no integers", function() assert.is_false(says(P:with{V = P.V * 0.5 + 0.25})) end)
  it("or scores too far apart", function()
    local far = ts.problem{Q = ts.matrix{{1}}, K = ts.matrix{{0}, {60}}, V = ts.matrix{{1}, {2}}, base = 2, scale = 1}
    assert.is_false(says(far))
    assert.is_true(says(far:with{scale = 0.5}))
  end)
  it("or terms of a score that cancel but do not fit", function()
    local big = ts.problem{Q = ts.matrix{{1, 1, 1}}, K = ts.matrix{{2 ^ 53, 1, -2 ^ 53}, {0, 0, 0}}, V = ts.matrix{{1}, {2}},
      base = 2, scale = 1}
    assert.is_false(says(big))
  end)

  -- Two keys of equal weight: half of the least f32 rounds to zero, and from below to -0.
  it("gives +0 where a negative output rounds to zero", function()
    local o = {dtype = "f32"}
    local V = ts.matrix({{-2.0 ^ -149}, {0}}, o)
    local tiny = ts.problem{Q = ts.zeros(1, 1, o), K = ts.zeros(2, 1, o), V = V}
    for _, road in ipairs{"softmax", "attention", "oracle"} do
      assert.equal(math.huge, 1 / (tiny[road](tiny))(1, 1), road)
    end
    assert.equal(math.huge, 1 / tiny:summary():output()(1, 1))
  end)
end)
