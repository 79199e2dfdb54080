require "spec.helper"
local ts = require "tessera"

-- A step and one causal call are the same problem row by row, by other products and other blocks. What the
-- roundings of either come to is bounded in heads_definition_spec; at these sizes that is below 1e-13.
local near = 1e-13

local function layer_with(fields)
  local f = {heads = 4, kv_heads = 2, d_q = 12, d_h = 4, seed = 1}
  for name, value in pairs(fields or {}) do f[name] = value end
  return ts.heads(f)
end

local function causal(n) return ts.mask.causal(n) end

local function one_by_one(n)
  local ones = {}
  for i = 1, n do ones[i] = 1 end
  return ones
end

-- The rows of X in steps of these sizes.
local function in_steps(layer, X, sizes, options)
  local cache, outputs, at = layer:cache(), {}, 0
  for _, n in ipairs(sizes) do
    outputs[#outputs + 1] = layer:step(X:slice(at + 1, at + n), cache, options)
    at = at + n
  end
  return ts.vcat(table.unpack(outputs)), cache
end

describe("layer:step", function()
  local X = ts.randn(20, 12, {seed = 2})

  it("gives row by row, and block by block, what one causal call gives", function()
    for _, fields in ipairs{{}, {bias = true}, {rope = true}, {kv_heads = 4, rope = {layout = "interleaved", dims = 2, offset = 7}}} do
      local layer = layer_with(fields)
      local want = layer(X, {mask = causal(20)})
      for _, sizes in ipairs{one_by_one(20), {20}, {1, 19}, {7, 7, 6}, {3, 0, 2, 15}} do
        local got, cache = in_steps(layer, X, sizes)
        assert.within_bound(want, got, near)
        assert.equal(20, cache.length)
        assert.equal(20, #cache)
      end
    end
  end)

  it("does so in f32", function()
    local layer = layer_with{dtype = "f32", rope = true}
    local Y = X:to "f32"
    assert.within_bound(layer(Y, {mask = causal(20)}), (in_steps(layer, Y, {1, 1, 1, 5, 12})), 1e-5)
  end)

  it("counts rows and keys of masks and scores over the whole sequence", function()
    local layer = layer_with()
    local options = {
      mask = function(i, j) return j <= i and i - j < 4 end,
      score = function(s, i, j, h) return s * i / 8 - h * j / 8 end,
    }
    assert.within_bound(layer(X, options), (in_steps(layer, X, {1, 2, 7, 10}, options)), near)
    local by_head = {mask = function(i, j, h) return j <= i and (i + j) % h == 0 or i == j end}
    assert.within_bound(layer(X, by_head), (in_steps(layer, X, {5, 15}, by_head)), near)
  end)

  it("takes scales and sinks", function()
    local layer = layer_with()
    local options = {scale = {1, 0.5, 0.25, 2}, sink = function(h) return h / 4 end}
    local want = layer(X, {scale = options.scale, sink = options.sink, mask = causal(20)})
    assert.within_bound(want, (in_steps(layer, X, {4, 16}, options)), near)
  end)

  it("moves the keys so far a few times only: storage doubles", function()
    local layer, core = layer_with(), require "tessera.core"
    local zeros, count = core.matrix.zeros, 0
    finally(function() core.matrix.zeros = zeros end)
    core.matrix.zeros = function(...)
      count = count + 1
      return zeros(...)
    end
    in_steps(layer, ts.ones(128, 12), one_by_one(128))
    assert.equal(2 * 8, count) -- keys and values, for 1, 2, 4 .. 128 rows
  end)

  it("is not disturbed by what is done to its input afterwards", function()
    local layer, Y = layer_with(), X:copy()
    local cache = layer:cache()
    layer:step(Y:slice(1, 10), cache)
    Y:slice(1, 10):fill(0 / 0)
    assert.within_bound(layer(X, {mask = causal(20)}):slice(11, 20), layer:step(X:slice(11, 20), cache), near)
  end)

  it("leaves the cache as it was when it fails", function()
    local layer = layer_with()
    local cache = layer:cache()
    layer:step(X:slice(1, 5), cache)
    local bad = X:slice(6, 6):copy()
    bad:set(1, 1, 0 / 0)
    assert.is_false(pcall(layer.step, layer, bad, cache))
    assert.is_false(pcall(layer.step, layer, X:slice(6, 6), cache, {mask = function() error "stop" end}))
    assert.equal(5, cache.length)
    assert.within_bound(layer(X, {mask = causal(20)}):slice(6, 20), layer:step(X:slice(6, 20), cache), near)
  end)

  it("names what is wrong", function()
    local layer = layer_with()
    local cache = layer:cache()
    local function message(...)
      local ok, text = pcall(layer.step, layer, ...)
      assert.is_false(ok)
      return text
    end
    assert.matches("bad argument #1 to 'step' (X is 1x5, W_Q takes 12 columns)", message(ts.ones(1, 5), cache), 1, true)
    assert.matches("bad argument #2 to 'step' (cache or list expected, got nil)", message(X), 1, true)
    assert.matches("bad argument #2 to 'step' (the cache is another layer's)", message(X, layer_with():cache()), 1, true)
    assert.matches("bad argument #2 to 'step' (1 cache for 2 inputs)", message({X, X}, {cache}), 1, true)
    assert.matches("the same cache stands twice", message({X, X}, {cache, cache}), 1, true)
    assert.matches("bad argument #3 to 'step' (invalid field 'maks')", message(X, cache, {maks = 1}), 1, true)
    assert.matches("mask is 3x3, 20x20 expected", message(X, cache, {mask = ts.mask.causal(3)}), 1, true)
    assert.equal(0, cache.length)
    assert.error_matches(function() return cache.legnth end, "a cache has no field 'legnth' %(did you mean 'length'%?%)")
    assert.error_matches(function() cache.length = 5 end, "no field 'length' to set")
    assert.error_matches(function() layer:step({X, X}, {nil, layer:cache()}) end, "cache expected, got nil")
  end)
end)

describe("cache:fork", function()
  local X, Y = ts.randn(12, 12, {seed = 2}), ts.randn(6, 12, {seed = 3})

  it("goes on by itself from what both share", function()
    for _, fields in ipairs{{}, {rope = true, bias = {"o"}}} do
      local layer = layer_with(fields)
      local cache = layer:cache()
      layer:step(X:slice(1, 8), cache)
      local branch = cache:fork()
      assert.equal(8, branch.length)
      local a = layer:step(X:slice(9, 12), cache)
      local b = layer:step(Y, branch)
      assert.same({12, 14}, {cache.length, branch.length})
      assert.within_bound(layer(X, {mask = causal(12)}):slice(9, 12), a, near)
      assert.within_bound(layer(ts.vcat(X:slice(1, 8), Y), {mask = causal(14)}):slice(9, 14), b, near)
    end
  end)

  it("forks a tree: forks of forks, several from one place, and of an empty cache", function()
    local layer = layer_with{rope = true}
    local root = layer:cache()
    local early = root:fork()
    layer:step(X:slice(1, 3), root)
    local a, b = root:fork(), root:fork()
    layer:step(Y:slice(1, 2), a)
    local c = a:fork()
    assert.same({0, 3, 5, 3, 5}, {early.length, root.length, a.length, b.length, c.length})
    local want = layer(ts.vcat(X:slice(1, 3), Y:slice(1, 2), X:slice(9, 10)), {mask = causal(7)}):slice(6, 7)
    assert.within_bound(want, layer:step(X:slice(9, 10), c), near)
    want = layer(ts.vcat(X:slice(1, 3), Y:slice(4, 4)), {mask = causal(4)}):slice(4, 4)
    assert.within_bound(want, layer:step(Y:slice(4, 4), b), near)
    assert.within_bound(layer(Y, {mask = causal(6)}), layer:step(Y, early), near)
    assert.equal(3, root.length)
  end)

  it("counts masks and scores over the whole sequence there, too", function()
    local layer = layer_with()
    local options = {mask = function(i, j) return j <= i and i - j < 6 end, score = function(s, i, j) return s - (i - j) / 8 end}
    local cache = layer:cache()
    layer:step(X:slice(1, 8), cache, options)
    cache:fork()
    assert.within_bound(layer(X, options):slice(9, 12), layer:step(X:slice(9, 12), cache, options), near)
    local mask = ts.mask(2, 14, function(i, j) return (i + j) % 3 > 0 end)
    local whole = ts.mask(14, 14, function(i, j) return i > 12 and (i - 12 + j) % 3 > 0 or i == j end)
    local all = ts.vcat(X, Y:slice(1, 2))
    assert.within_bound(layer(all, {mask = whole}):slice(13, 14), layer:step(Y:slice(1, 2), cache, {mask = mask}), near)
  end)

  it("computes the summary of a shared prefix once for all branches of a step", function()
    local layer = layer_with{rope = true}
    local root = layer:cache()
    layer:step(X, root)
    local branches, inputs, want = {}, {}, {}
    for i = 1, 5 do
      branches[i], inputs[i] = root:fork(), ts.randn(i, 12, {seed = 10 + i})
      want[i] = layer(ts.vcat(X, inputs[i]), {mask = causal(12 + i)}):slice(13, 12 + i)
    end
    local summarised, summary = 0, require "tessera.core".problem.methods.summary
    local methods = require "tessera.core".problem.methods
    finally(function() methods.summary = summary end)
    methods.summary = function(P, ...)
      if P.first_key == 1 then summarised = summarised + 1 end
      return summary(P, ...)
    end
    local got = layer:step(inputs, branches)
    assert.equal(1, summarised)
    for i = 1, 5 do
      assert.within_bound(want[i], got[i], near)
      assert.equal(12 + i, branches[i].length)
    end
  end)

  it("keeps the masks and scores of the branches of a step apart", function()
    local layer = layer_with()
    local short, long = layer:cache(), layer:cache()
    layer:step(X:slice(1, 4), long)
    local root = long:fork()
    layer:step(X:slice(5, 6), long)
    local options = {
      mask = function(i, j) return j <= i and (i + j) % 3 > 0 or i == j end,
      score = function(s, i, j) return s * i / 8 - j / 8 end,
    }
    local got = layer:step({Y, Y, Y}, {short, long, root}, options)
    for n, before in ipairs{X:slice(1, 0), X:slice(1, 6), X:slice(1, 4)} do
      local rows = before.rows
      assert.within_bound(layer(ts.vcat(before, Y), options):slice(rows + 1, rows + 6), got[n], near)
    end
  end)

  it("prints how many keys there are and in how many segments", function()
    local layer = layer_with()
    local cache = layer:cache()
    layer:step(X, cache)
    cache:fork()
    assert.equal("cache of 12 keys in 2 segments", tostring(cache))
  end)
end)
