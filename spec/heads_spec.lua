local helper = require "spec.helper"
local ts = require "tessera"

local data = "examples/data/"

-- Every cell within `part` of the largest number of the expected matrix.
local function assert_close(expected, actual, part, note)
  local worst = (expected:to "f64" - actual:to "f64"):abs():max() -- NaN where one is
  assert.is_true(worst <= part * expected:abs():max(), ("%s: %g apart"):format(note, worst))
end

describe("ts.heads", function()
  it("draws weights as PyTorch's MultiheadAttention does", function()
    local layer = ts.heads{heads = 4, d_q = 64, bias = true, seed = 1}
    local glorot = math.sqrt(6 / (64 + 3 * 64))
    for _, name in ipairs{"WQ", "WK", "WV"} do
      for i = 1, 4 do
        local most = layer[name][i]:abs():max()
        assert.is_true(most <= glorot and most > 0.98 * glorot)
      end
    end
    local most = layer.WO:abs():max()
    assert.is_true(most <= 1 / 8 and most > 0.98 / 8)
    assert.matrix_equal(ts.zeros(1, 64), layer.bO)
    assert.matrix_equal(ts.zeros(1, 16), layer.bK[4])
    local cross = ts.heads{heads = 4, d_q = 64, d_k = 32, d_v = 16, seed = 1}
    assert.is_true(cross.WK[1]:abs():max() <= math.sqrt(6 / (32 + 64)))
  end)

  it("gives the same weights for the same seed, and others for others", function()
    local function layer(seed) return ts.heads{heads = 2, d_q = 8, seed = seed} end
    assert.matrix_identical(layer(5).WO, layer(5).WO)
    assert.is_false(layer(5).WQ[1] == layer(6).WQ[1])
    assert.is_false(layer(5).WQ[1] == layer(5).WK[1])
    local apart = ts.heads{heads = 1, d_q = 8, d_k = 8, d_v = 5, seed = 5}
    assert.is_false(apart.WQ[1] == apart.WK[1])
    local one, two = ts.heads{heads = 2, d_q = 8}, ts.heads{heads = 2, d_q = 8}
    assert.is_false(one.WO == two.WO)
  end)

  it("derives the sizes that are not given", function()
    local layer = ts.heads{heads = 4, d_q = 8}
    assert.same({4, 4, 8, 8, 8, 2, 2, 8, "f64"}, {layer.heads, layer.kv_heads, layer.d_q, layer.d_k, layer.d_v, layer.d_h,
      layer.d_vh, layer.d_o, layer.dtype})
    layer = ts.heads{heads = 4, kv_heads = 2, d_q = 7, d_k = 5, d_h = 3, d_vh = 6, d_o = 1, dtype = "f32"}
    assert.same({7, 5, 5, 3, 6, 1, "f32"}, {layer.d_q, layer.d_k, layer.d_v, layer.d_h, layer.d_vh, layer.d_o, layer.dtype})
    assert.same({4, 2, 2, 24}, {#layer.WQ, #layer.WK, #layer.WV, layer.WO.rows})
  end)

  it("takes weights as lists or side by side, and their sizes from them", function()
    local WQ, WK, WV = ts.randn(5, 6, {seed = 1}), ts.randn(4, 3, {seed = 2}), ts.randn(3, 2, {seed = 3})
    local WO, bQ = ts.randn(4, 7, {seed = 4}), ts.randn(1, 6, {seed = 5})
    local whole = ts.heads{heads = 2, kv_heads = 1, WQ = WQ, WK = WK, WV = WV, WO = WO, bQ = bQ}
    local listed = ts.heads{heads = 2, kv_heads = 1, WQ = {WQ:slice(1, 5, 1, 3), WQ:slice(1, 5, 4, 6)}, WK = {WK}, WV = {WV},
      WO = WO, bQ = {bQ:slice(1, 1, 1, 3), bQ:slice(1, 1, 4, 6)}}
    for _, layer in ipairs{whole, listed} do
      assert.same({5, 4, 3, 3, 2, 7}, {layer.d_q, layer.d_k, layer.d_v, layer.d_h, layer.d_vh, layer.d_o})
      assert.matrix_identical(WQ:slice(1, 5, 4, 6), layer.WQ[2])
      assert.matrix_identical(WV, layer.WV[1])
      assert.matrix_identical(bQ:slice(1, 1, 4, 6), layer.bQ[2])
      assert.is_nil(layer.bK)
      assert.is_nil(layer.bO)
    end
  end)

  it("names what is wrong with its fields", function()
    local function message(fields)
      local ok, text = pcall(ts.heads, fields)
      assert.is_false(ok)
      return text
    end
    assert.matches("bad argument #1 to 'heads' (field 'heads' is missing)", message{d_q = 8}, 1, true)
    assert.matches("field 'd_q' is missing", message{heads = 2}, 1, true)
    assert.matches("d_q = 7 is no multiple of 2 heads", message{heads = 2, d_q = 7}, 1, true)
    assert.matches("heads = 3 is no multiple of kv_heads = 2", message{heads = 3, kv_heads = 2, d_q = 6}, 1, true)
    assert.matches("heads = 2 is no multiple of kv_heads = 4", message{heads = 2, kv_heads = 4, d_q = 6}, 1, true)
    assert.matches("invalid field 'head'", message{head = 2, d_q = 6}, 1, true)
    assert.matches("'x' is none of q, k, v, o", message{heads = 2, d_q = 6, bias = {"x"}}, 1, true)
    assert.matches("WQ is 6x6, got 5x5", message{heads = 2, d_q = 6, d_h = 3, WQ = ts.ones(5, 5)}, 1, true)
    assert.matches("0", message{heads = 0, d_q = 6}, 1, true)
    assert.matches("field 'dims'", message{heads = 2, d_q = 6, rope = {dims = 4}}, 1, true)
    assert.matches("invalid field 'bas'", message{heads = 2, d_q = 6, rope = {bas = 4}}, 1, true)
  end)
end)

describe("a layer", function()
  local X = ts.randn(5, 8, {seed = 1})

  it("is self-attention of one input, cross-attention of two, anything of three", function()
    local layer, Y = ts.heads{heads = 2, d_q = 8, seed = 1}, ts.randn(3, 8, {seed = 2})
    local bound = 1e-14
    assert.within_bound(layer(X:copy(), X:copy(), X:copy()), layer(X), bound)
    assert.within_bound(layer(X, Y:copy(), Y:copy()), layer(X, Y), bound)
    assert.same({3, 8}, {layer(Y, X):shape()})
  end)

  it("shows its matrices as views that can be read, set and assigned", function()
    local layer = ts.heads{heads = 3, d_q = 9, bias = true, seed = 1}
    local before, other = layer.WQ[1]:copy(), ts.randn(9, 3, {seed = 2})
    layer.WQ[2] = other
    assert.matrix_identical(other, layer.WQ[2])
    assert.matrix_identical(before, layer.WQ[1])
    other:fill(0)
    assert.is_true(layer.WQ[2]:abs():max() > 0) -- its values were copied
    layer.WQ[2]:set(1, 1, 42)
    assert.equal(42, layer.WQ[2](1, 1))
    layer.WO = ts.ones(9, 9)
    layer.bO = ts.ones(1, 9) * 7
    layer.bV = {ts.ones(1, 3), ts.ones(1, 3) * 2, ts.ones(1, 3) * 3}
    assert.equal(3, layer.bV[3](1, 1))
    layer.WV = ts.zeros(9, 9) -- every head's output is then its bias
    assert.matrix_equal(ts.ones(2, 9) * (3 * (1 + 2 + 3) + 7), layer(ts.ones(2, 9)))
    local count = 0
    for i, W in ipairs(layer.WK) do
      count = count + 1
      assert.matrix_identical(layer.WK[i], W)
    end
    for _ in pairs(layer.WK) do count = count + 1 end
    assert.equal(6, count)
    assert.is_nil(layer.WK[4])
  end)

  it("refuses matrices of another shape or dtype, and names that are none", function()
    local layer = ts.heads{heads = 2, d_q = 8, seed = 1}
    assert.error_matches(function() layer.WQ[2] = ts.ones(4, 8) end, "WQ%[2%] is 8x4, got 4x8")
    assert.error_matches(function() layer.WQ[2] = ts.ones(8, 4, {dtype = "f32"}) end, "WQ%[2%] is f64, got f32")
    assert.error_matches(function() layer.WQ[3] = ts.ones(8, 4) end, "WQ: a head from 1 to 2 expected, got 3")
    assert.error_matches(function() layer.WQ[1] = 5 end, "WQ%[1%]: matrix expected, got number")
    assert.error_matches(function() layer.WO = ts.ones(8, 4) end, "WO is 8x8, got 8x4")
    assert.error_matches(function() layer.bO = ts.ones(1, 8) end, "bO: the layer has no such bias")
    assert.error_matches(function() layer.heads = 3 end, "no field 'heads'")
    assert.error_matches(function() return layer.WX end, "a layer has no field 'WX' %(did you mean 'W%u'%?%)")
  end)

  it("blames the argument whose shape or dtype is wrong, and names the projection", function()
    assert.error_matches(function() return (ts.heads{heads = 1, d_q = 2}()) end, "bad argument #1 to 'layer' %(X, or X and Y")
    local layer = ts.heads{heads = 4, d_q = 64, d_v = 32, seed = 1}
    local Q, K, V = ts.ones(3, 64), ts.ones(10, 64), ts.ones(10, 32)
    local function message(...)
      local ok, text = pcall(layer, ...)
      assert.is_false(ok)
      return text
    end
    assert.equal("bad argument #2 to 'layer' (K is 10x48, W_K takes 64 columns)", message(Q, ts.ones(10, 48), V))
    assert.equal("bad argument #1 to 'layer' (Q is 3x5, W_Q takes 64 columns)", message(ts.ones(3, 5), K, V))
    assert.equal("bad argument #3 to 'layer' (V is 10x64, W_V takes 32 columns)", message(Q, K, K))
    assert.equal("bad argument #3 to 'layer' (V is 4x32, K has 10 rows)", message(Q, K, ts.ones(4, 32)))
    assert.equal("bad argument #2 to 'layer' (K is f32, the layer f64)", message(Q, K:to "f32", V))
    assert.equal("bad argument #1 to 'layer' (X is 3x64, W_V takes 32 columns)", message(Q))
    assert.equal("bad argument #2 to 'layer' (Y is 10x64, W_V takes 32 columns)", message(Q, K))
    assert.matches("bad argument #4 to 'layer' (invalid field 'makss')", message(Q, K, V, {makss = 1}), 1, true)
    assert.matches("bad argument #1 to 'layer' (matrix expected, got nil)", message(nil), 1, true)
    assert.matches("bad argument #2 to 'layer' (matrix expected, got number)", message(Q, 5), 1, true)
    assert.matches("bad argument #4 to 'layer'", message(Q, K, V, 5), 1, true)
    local ok, text = pcall(layer.problem, layer, Q, ts.ones(10, 48), V)
    assert.is_false(ok)
    assert.equal("bad argument #2 to 'problem' (K is 10x48, W_K takes 64 columns)", text)
  end)

  it("gives the problem between its projections, and what that gives", function()
    local layer = ts.heads{heads = 4, kv_heads = 2, d_q = 8, seed = 1, d_vh = 3}
    local mask = ts.mask.causal(5)
    local P = layer:problem(X, {mask = mask})
    assert.same({4, 2, 2, 3}, {P.heads, P.kv_heads, P.d, P.d_v})
    local concat = P:attention()
    assert.matrix_identical(layer(X, {mask = mask}), concat * layer.WO)
    local H, weights = layer:heads_output(X, {mask = mask}), layer:weights(X, {mask = mask})
    assert.same({4, 4}, {#H, #weights})
    for h = 1, 4 do
      assert.matrix_identical(concat:slice(1, 5, 3 * h - 2, 3 * h), H[h])
      assert.matrix_identical(P:weights(h), weights[h])
    end
  end)

  it("takes masks, scores, scales and sinks for each head, as a list or as a function of h", function()
    local layer = ts.heads{heads = 3, d_q = 9, seed = 1}
    local Y = ts.randn(6, 9, {seed = 3})
    local function score(h) return function(s, i, j) return s - h * math.abs(i - j) end end
    local list = {mask = {}, score = {}, scale = {0.1, 0.2, 0.3}, sink = {1, 2, 3}}
    for h = 1, 3 do list.mask[h], list.score[h] = ts.mask.window(6, h, 0), score(h) end
    local functions = {
      mask = function(h) return ts.mask.window(6, h, 0) end, score = score, scale = function(h) return 0.1 * h end,
      sink = function(h) return h end,
    }
    for name in pairs(list) do
      assert.within_bound(layer(Y, {[name] = list[name]}), layer(Y, {[name] = functions[name]}), 1e-15, name)
      assert.is_false(layer(Y, {[name] = list[name]}) == layer(Y))
    end
    assert.matrix_identical(layer(Y, {mask = function(i, j) return j <= i end}), layer(Y, {mask = ts.mask.causal(6)}))
    -- Of one parameter, too, a predicate is a predicate and a score a score.
    local top = ts.mask(6, 6, function(i) return i < 4 end)
    assert.matrix_identical(layer(Y, {mask = top, empty = "zero"}), layer(Y, {mask = function(i) return i < 4 end, empty = "zero"}))
    assert.within_bound(layer(Y, {scale = 0}), layer(Y, {score = function(s) return 0 * s end}), 1e-15)
  end)

  it("counts its parameters, and says its shapes", function()
    local layer = ts.heads{heads = 4, kv_heads = 2, d_q = 8, d_k = 6, d_v = 5, d_h = 3, d_vh = 7, d_o = 9, bias = {"q", "o"},
      rope = {dims = 2, offset = 5}, seed = 1}
    assert.equal(8 * 12 + 6 * 6 + 5 * 14 + 28 * 9 + 12 + 9, layer:parameters())
    assert.equal(table.concat({
      "layer of 4 heads on 2, f64, 475 parameters",
      "  W_Q    4 of 8x3        + bias 1x3",
      "  W_K    2 of 6x3",
      "  W_V    2 of 5x7",
      "  W_O    1 of 28x9       + bias 1x9",
      "  rope  base 10000, half, 2 of 3 columns, offset 5",
    }, "\n"), tostring(layer))
  end)

  it("goes without some heads: the sum of the others through W_O", function()
    local layer = ts.heads{heads = 4, kv_heads = 2, d_q = 8, bias = true, seed = 1}
    layer.bO = ts.randn(1, 8, {seed = 9})
    local H, sum = layer:heads_output(X), ts.zeros(5, 8) + layer.bO
    for _, h in ipairs{2, 4} do sum = sum + H[h] * layer.WO:slice(2 * h - 1, 2 * h) end
    local without = layer:without{1, 3}
    assert.within_bound(sum, without(X), 1e-15)
    assert.same({4, 2}, {without.heads, without.kv_heads})
    assert.matrix_identical(H[1], without:heads_output(X)[1])
    assert.matrix_identical(layer(X), layer:without{}(X))
    assert.matrix_equal(ts.zeros(5, 8) + layer.bO, layer:without{1, 2, 3, 4}(X))
    without.WQ[2]:fill(0)
    assert.is_true(layer.WQ[2]:abs():max() > 0)
  end)

  it("has sub-layers of some heads, whichever key heads they share", function()
    local layer = ts.heads{heads = 6, kv_heads = 3, d_q = 12, bias = {"q", "k", "v"}, seed = 1}
    local Y = ts.randn(4, 12, {seed = 2})
    for _, name in ipairs{"bQ", "bK", "bV"} do layer[name] = ts.randn(1, #layer[name] * 2, {seed = #name}) end
    local H = layer:heads_output(Y)
    for _, case in ipairs{{{1, 2}, 1}, {{3, 4, 5, 6}, 2}, {{1, 3, 5}, 3}, {{1, 2, 3}, 3}, {{6, 1}, 2}, {{5}, 1}, {{1, 3, 2}, 3}} do
      local list, kv = table.unpack(case)
      local sub = layer:only(list)
      assert.same({#list, kv}, {sub.heads, sub.kv_heads})
      local sum = ts.zeros(4, 12)
      for i, h in ipairs(list) do
        assert.within_bound(H[h], sub:heads_output(Y)[i], 1e-15)
        sum = sum + H[h] * layer.WO:slice(2 * h - 1, 2 * h)
      end
      assert.within_bound(sum, sub(Y), 1e-14)
    end
    assert.error_matches(function() layer:only{} end, "at least one head")
    assert.error_matches(function() layer:only{7} end, "there is no head 7 of 6")
    assert.error_matches(function() layer:only{1.5} end, "there is no head 1.5 of 6")
    assert.error_matches(function() layer:only{"1"} end, "there is no head 1 of 6")
    assert.matrix_identical(layer:only{1, 2}(Y), layer:only{1.0, 2.0}(Y))
    assert.error_matches(function() layer:without{2, 2} end, "head 2 stands twice")
    assert.error_matches(function() layer:without(2) end, "list of heads expected, got number")
  end)

  it("is grouped by averaging key heads", function()
    local layer = ts.heads{heads = 4, d_q = 8, bias = {"v"}, seed = 1}
    layer.bV = ts.matrix{{1, 2, 3, 4, 5, 6, 7, 8}}
    local grouped = layer:group(2)
    assert.same({4, 2}, {grouped.heads, grouped.kv_heads})
    assert.matrix_identical(layer.WQ[3], grouped.WQ[3])
    assert.within_bound((layer.WK[3] + layer.WK[4]) / 2, grouped.WK[2], 1e-16)
    assert.within_bound((layer.WV[1] + layer.WV[2]) / 2, grouped.WV[1], 1e-16)
    assert.matrix_equal({{2, 3}}, grouped.bV[1])
    assert.matrix_identical(layer(X), layer:group(4)(X))
    assert.equal(1, grouped:group(1).kv_heads)
    assert.error_matches(function() layer:group(3) end, "a divisor of the layer's 4 key heads expected, got 3")
    assert.error_matches(function() layer:group(0) end, "a divisor")
    assert.error_matches(function() layer:group "2" end, "a divisor")
  end)

  it("tells how alike its heads attend", function()
    local layer = ts.heads{heads = 3, d_q = 9, seed = 1}
    local Y = ts.randn(4, 9, {seed = 2})
    layer.WQ[2], layer.WK[2] = layer.WQ[1]:copy(), layer.WK[1]:copy()
    local diagonal, off = ts.mask(4, 4, function(i, j) return i == j end), ts.mask(4, 4, function(i, j) return j == i % 4 + 1 end)
    local S = layer:similarity(Y)
    assert.within_bound({{1, 1}, {1, 1}}, S:slice(1, 2, 1, 2), 1e-15)
    assert.equal(S(1, 3), S(3, 1))
    assert.is_true(S(1, 3) > 0 and S(1, 3) < 1)
    assert.matrix_equal({{1, 1, 0}, {1, 1, 0}, {0, 0, 1}}, layer:similarity(Y, {mask = {diagonal, diagonal, off}}))
  end)

  it("turns queries and keys where it has a rope: scores depend on the distance alone", function()
    local layer = ts.heads{heads = 2, d_q = 8, rope = true, seed = 1}
    local same = ts.ones(6, 1) * ts.randn(1, 8, {seed = 4}) -- six equal rows
    local s = layer:problem(same):scores(2)
    for i = 2, 6 do
      for j = 2, 6 do assert.is_true(math.abs(s(i, j) - s(i - 1, j - 1)) < 1e-14) end
    end
    assert.is_true(math.abs(s(1, 1) - s(1, 2)) > 1e-6)
    local far = ts.heads{heads = 2, d_q = 8, rope = {offset = 1000}, seed = 1}
    far.rope.offset = 5 -- a copy
    assert.equal(1000, far.rope.offset)
    assert.within_bound(layer(X), far(X), 1e-12)
  end)

  it("handles inputs without rows, and widths of zero", function()
    local layer = ts.heads{heads = 2, d_q = 8, bias = true, seed = 1}
    assert.same({0, 8}, {layer(ts.zeros(0, 8)):shape()})
    assert.same({0, 8}, {layer(ts.zeros(0, 8), X):shape()})
    assert.error_matches(function() layer(X, ts.zeros(0, 8)) end, "row")
    assert.matrix_equal(ts.zeros(5, 8), layer(X, ts.zeros(0, 8), {empty = "zero"}))
    local thin = ts.heads{heads = 2, d_q = 8, d_h = 0, d_vh = 3, seed = 1} -- all scores 0
    assert.within_bound(ts.ones(5, 1) * (X * thin.WV[2]):mean("cols"), thin:heads_output(X)[2], 1e-15)
    assert.same({5, 0}, {ts.heads{heads = 2, d_q = 8, d_o = 0}(X):shape()})
  end)
end)

describe("the real layer", function()
  local stored = ts.load(data .. "sentences.safetensors")
  for _, dtype in ipairs{"f64", "f32"} do
    local layer = ts.heads.load(data .. "minilm-layer1.safetensors", {dtype = dtype})
    local part = dtype == "f64" and 1e-12 or 1e-5
    for _, name in ipairs{"cat", "tile", "river", "long"} do
      it(("gives PyTorch's numbers on '%s' in %s, full and causal, by softmax and by tiles"):format(name, dtype), function()
        local X = stored[name .. ".x"]:to(dtype)
        local n = X.rows
        local function through(concat) return concat * layer.WO + layer.bO end
        for _, mask in ipairs{false, ts.mask.causal(n)} do
          local P = layer:problem(X, {mask = mask or nil})
          local want = stored[name .. (mask and ".causal.out" or ".out")]
          local O, lse = P:softmax()
          local T, tile_lse = P:attention{q = 16, k = 5, merge = "tree", order = "backward"}
          assert_close(want, through(O), part, "softmax")
          assert_close(want, through(T), part, "tiles")
          assert_close(want, layer(X, {mask = mask or nil}), part, "the layer")
          if mask then
            assert_close(stored[name .. ".causal.lse"], lse, part, "lse, softmax")
            assert_close(stored[name .. ".causal.lse"], tile_lse, part, "lse, tiles")
          else
            assert_close(stored[name .. ".heads"], O, part, "heads")
          end
        end
        if stored[name .. ".weights"] then
          assert_close(stored[name .. ".weights"], ts.vcat(table.unpack(layer:weights(X))), part, "weights")
        end
      end)
    end
  end
end)

describe("ts.heads.load", function()
  local W = {q = ts.randn(6, 6, {seed = 1}), k = ts.randn(6, 6, {seed = 2}), v = ts.randn(6, 6, {seed = 3}), o = ts.randn(6, 6, {seed = 4})}
  local b = {q = ts.randn(1, 6, {seed = 5}), k = ts.randn(1, 6, {seed = 6}), v = ts.randn(1, 6, {seed = 7}), o = ts.randn(1, 6, {seed = 8})}
  local X = ts.randn(4, 6, {seed = 9})
  local want = ts.heads{heads = 3, WQ = W.q, WK = W.k, WV = W.v, WO = W.o, bQ = b.q, bK = b.k, bV = b.v, bO = b.o}(X)

  local function saved(tensors, metadata)
    local path = helper.path ".safetensors"
    ts.save(path, tensors, {metadata = metadata})
    return path
  end

  -- A layer under these names, weights transposed as PyTorch's Linear keeps them.
  local function separate(prefix, q, k, v, o)
    local tensors = {}
    for letter, name in pairs{q = q, k = k, v = v, o = o} do
      tensors[prefix .. name .. ".weight"] = W[letter]:t()
      tensors[prefix .. name .. ".bias"] = b[letter]
    end
    return tensors
  end

  it("knows the names of common models", function()
    for _, names in ipairs{
      {"", "query", "key", "value", "output"},
      {"bert.encoder.layer.0.attention.", "self.query", "self.key", "self.value", "output.dense"},
      {"model.layers.0.self_attn.", "q_proj", "k_proj", "v_proj", "o_proj"},
      {"encoder.layers.0.self_attn.", "q_proj", "k_proj", "v_proj", "out_proj"},
      {"distilbert.transformer.layer.0.attention.", "q_lin", "k_lin", "v_lin", "out_lin"},
      {"layers.0.attention.", "wq", "wk", "wv", "wo"},
      {"encoder.block.0.layer.0.SelfAttention.", "q", "k", "v", "o"},
      {"attn1.", "to_q", "to_k", "to_v", "to_out.0"},
    } do
      local layer = ts.heads.load(saved(separate(table.unpack(names))), {heads = 3})
      assert.within_bound(want, layer(X), 1e-14, names[2])
    end
  end)

  it("knows fused layouts: in_proj_weight, qkv, c_attn, query_key_value by head", function()
    local fused, bias = ts.hcat(W.q, W.k, W.v), ts.hcat(b.q, b.k, b.v)
    local by_head, bias_by_head = {}, {}
    for h = 1, 3 do
      for _, letter in ipairs{"q", "k", "v"} do
        table.insert(by_head, W[letter]:slice(1, 6, 2 * h - 1, 2 * h))
        table.insert(bias_by_head, b[letter]:slice(1, 1, 2 * h - 1, 2 * h))
      end
    end
    for name, tensors in pairs{
      torch = {in_proj_weight = fused:t(), in_proj_bias = bias, ["out_proj.weight"] = W.o:t(), ["out_proj.bias"] = b.o},
      timm = {["blocks.0.attn.qkv.weight"] = fused:t(), ["blocks.0.attn.qkv.bias"] = bias,
        ["blocks.0.attn.proj.weight"] = W.o:t(), ["blocks.0.attn.proj.bias"] = b.o},
      gpt2 = {["h.0.attn.c_attn.weight"] = fused, ["h.0.attn.c_attn.bias"] = bias, ["h.0.attn.c_proj.weight"] = W.o,
        ["h.0.attn.c_proj.bias"] = b.o},
      neox = {["a.query_key_value.weight"] = ts.hcat(table.unpack(by_head)):t(),
        ["a.query_key_value.bias"] = ts.hcat(table.unpack(bias_by_head)), ["a.dense.weight"] = W.o:t(), ["a.dense.bias"] = b.o},
    } do
      assert.within_bound(want, ts.heads.load(saved(tensors), {heads = 3})(X), 1e-14, name)
    end
  end)

  it("takes names as they are given, with {layer} in them", function()
    local tensors = {["x.7.a"] = W.q, ["x.7.b"] = W.k, ["x.7.c"] = W.v, ["x.7.d"] = W.o}
    local layer = ts.heads.load(saved(tensors), {heads = 3, layer = 7, transposed = false,
      names = {q = "x.{layer}.a", k = "x.{layer}.b", v = "x.{layer}.c", o = "x.{layer}.d"}})
    assert.matrix_identical(W.k:slice(1, 6, 3, 4), layer.WK[2])
    assert.error_matches(function()
      ts.heads.load(saved(tensors), {heads = 3, layer = 7, names = {q = "x.{layer}.a", k = "x.{layer}.z", v = "x.7.c", o = "x.7.d"}})
    end, "it has no 'x.7.z'")
    assert.error_matches(function() ts.heads.load(saved(tensors), {heads = 3, names = {q = "x.7.a"}}) end,
      "field 'names': o, and qkv or q, k and v expected")
  end)

  it("tells clearly what is missing, and which layers there are", function()
    local tensors = separate("m.0.", "q_proj", "k_proj", "v_proj", "o_proj")
    assert.error_matches(function() ts.heads.load(saved(tensors)) end, "say how many heads with {heads = n}")
    local path = saved(separate("m.0.", "q_proj", "k_proj", "v_proj", "o_proj"), {heads = "3"})
    assert.within_bound(want, ts.heads.load(path)(X), 1e-14)
    assert.error_matches(function() ts.heads.load(path, {layer = 1}) end, "no attention weights of layer '1' with names that are known")
    for name, m in pairs(separate("m.1.", "q_proj", "k_proj", "v_proj", "o_proj")) do tensors[name] = m * 2 end
    path = saved(tensors)
    assert.error_matches(function() ts.heads.load(path, {heads = 3}) end, "there are 2; say which with {layer = }: 'm.0.', 'm.1.'")
    assert.within_bound(want, ts.heads.load(path, {heads = 3, layer = 0})(X), 1e-14)
    assert.matrix_identical(W.q * 2, ts.heads.load(path, {heads = 1, layer = "m.1"}).WQ[1])
    for name, m in pairs(separate("m.10.", "q_proj", "k_proj", "v_proj", "o_proj")) do tensors[name] = m end
    assert.matrix_identical(W.q * 2, ts.heads.load(saved(tensors), {heads = 1, layer = 1}).WQ[1]) -- not 10
    tensors["m.1.v_proj.weight"] = nil
    assert.error_matches(function() ts.heads.load(saved(tensors), {heads = 3, layer = 1}) end, "it has no 'm.1.v_proj.weight'")
    assert.error_matches(function() ts.heads.load(saved{x = X}, {heads = 3}) end, "no attention weights with names")
    assert.error_matches(function() ts.heads.load(path, {heads = 4, layer = 0}) end, "6 columns of W_Q, which 4 heads do not divide")
    assert.error_matches(function() ts.heads.load(path, {hedas = 4}) end, "bad argument #2 to 'load' %(invalid field 'hedas'%)")
    assert.error_matches(function() ts.heads.load(path, {layer = 1.5}) end, "field 'layer': whole number or text expected, got 1.5")
    assert.error_matches(function() ts.heads.load(path, {names = {q = 5}}) end, "field 'names': string expected for q, got number")
    tensors["m.1.v_proj.weight"], tensors["m.1.k_proj.weight"] = W.v:t(), W.k:t():slice(1, 5)
    assert.error_matches(function() ts.heads.load(saved(tensors), {heads = 3, layer = 1}) end,
      "'m.1.k_proj.weight' has 5 columns, no whole number of heads of 2")
    local told = {heads = "3", kv_heads = "0"}
    assert.error_matches(function() ts.heads.load(saved(separate("", "q", "k", "v", "o"), told)) end, "0 key heads")
    local fused = {["qkv.weight"] = ts.zeros(6, 4), ["proj.weight"] = ts.zeros(4, 6)}
    assert.error_matches(function() ts.heads.load(saved(fused), {heads = 3}) end,
      "'qkv.weight' has 6 columns, no whole number of heads of 2")
    fused["proj.weight"] = ts.zeros(4, 0)
    assert.error_matches(function() ts.heads.load(saved(fused), {heads = 3}) end, "6 columns for 3 and twice 3 key heads of 0")
    assert.error_matches(function() ts.heads.load "none.safetensors" end, "cannot load 'none.safetensors': No such file")
  end)

  it("finds grouped key heads by their widths, and turns by the rope that is asked for", function()
    local tensors = {["a.q_proj.weight"] = ts.randn(8, 8, {seed = 1}), ["a.k_proj.weight"] = ts.randn(4, 8, {seed = 2}),
      ["a.v_proj.weight"] = ts.randn(4, 8, {seed = 3}), ["a.o_proj.weight"] = ts.randn(8, 8, {seed = 4})}
    local layer = ts.heads.load(saved(tensors), {heads = 4, rope = {base = 500}, dtype = "f32"})
    assert.same({4, 2, 2, 500, "f32"}, {layer.heads, layer.kv_heads, layer.d_h, layer.rope.base, layer.dtype})
    assert.is_nil(layer.bQ)
  end)
end)
