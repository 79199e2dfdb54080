local helper = require "spec.helper"
local ts = require "tessera"

local function through_file(S, options)
  local path = helper.path ".safetensors"
  S:save(path)
  return ts.summary.load(path, options)
end

local function problem(fields)
  local f = {Q = ts.randn(4, 6, {seed = 1}), K = ts.randn(9, 6, {seed = 2}), V = ts.randn(9, 4, {seed = 3}), heads = 2}
  for name, value in pairs(fields or {}) do f[name] = value end
  return ts.problem(f)
end

describe("a summary in a file", function()
  it("comes back bit for bit, with its keys, and merges as if it had never left", function()
    for _, fields in ipairs{
      {}, {base = 2}, {scale = -0.3}, {scale = {0.1, 7}}, {sink = {0.5, -math.huge}},
      {mask = function(i, j) return i ~= 2 and j < 8 end, empty = "zero"},
      {Q = ts.randn(4, 6, {seed = 1, dtype = "f32"}), K = ts.randn(9, 6, {seed = 2, dtype = "f32"}),
        V = ts.randn(9, 4, {seed = 3, dtype = "f32"})},
    } do
      local P = problem(fields)
      local S, T = P:summary{{1, 3}, {6, 7}}, P:summary{{4, 5}, {8, 9}}
      local S2, T2 = through_file(S), through_file(T)
      assert.is_true(S2 == S)
      assert.same({{1, 3}, {6, 7}}, S2:keys())
      assert.is_true(S2 * T == S * T and S * T2 == S * T and S2 * T2 == S * T)
      assert.matrix_identical((S * T):output{empty = "zero"}, (S2 * T2):output{empty = "zero"})
      assert.matrix_identical((S * T):lse(), (S2 * T2):lse())
      assert.is_true(through_file(P:bottom()) * S == S)
    end
  end)

  it("keeps NaN that was let through", function()
    local K = ts.randn(9, 6, {seed = 2})
    K:set(3, 1, 0 / 0)
    local P = problem{K = K, nonfinite = "propagate"}
    local S = P:summary(1, 5)
    assert.is_true(through_file(S) == S)
    assert.matrix_identical((S * P:summary(6, 9)):lse(), (through_file(S) * P:summary(6, 9)):lse())
  end)

  it("is refused by strangers, who are told why", function()
    local S = through_file(problem():summary(1, 4))
    for why, fields in pairs{
      queries = {Q = ts.randn(4, 6, {seed = 9})}, scale = {scale = 2}, sink = {sink = 0}, base = {base = 2},
      score = {score = function(s) return s end},
    } do
      assert.error_matches(function() return S * problem(fields):summary(5, 9) end, why)
    end
    assert.error_matches(function() return S * problem():summary(4, 9) end, "key 4 is in both")
    assert.error_matches(function() return S * S end, "keys 1..4 are in both")
  end)

  it("keeps apart problems by their score functions, which must be named again", function()
    local slope = 0.5
    local function score(s, i, j) return s - slope * math.abs(i - j) end
    local P = problem{score = score}
    local S, T = P:summary(1, 4), P:summary(5, 9)
    local path = helper.path ".safetensors"
    S:save(path)
    assert.is_true(ts.summary.load(path, {score = score}) * T == S * T)
    assert.is_true(ts.summary.load(path, {score = {score, score}}) * T == S * T)
    assert.error_matches(function() ts.summary.load(path) end, "give the same with {score = f}")
    assert.error_matches(function() ts.summary.load(path, {score = function(s) return s end}) end, "another score function")
    slope = 0.25
    assert.error_matches(function() ts.summary.load(path, {score = score}) end, "another score function")
    local plain = helper.path ".safetensors"
    problem():summary(1, 4):save(plain)
    assert.error_matches(function() ts.summary.load(plain, {score = score}) end, "has no score function")
  end)

  it("knows the library's score functions, and tells them apart by what they close over", function()
    local path = helper.path ".safetensors"
    local function saved(score) problem{score = score}:summary(1, 4):save(path) end
    local function names(score) return (pcall(ts.summary.load, path, {score = score})) end
    local of = ts.score
    for _, pair in ipairs{
      {of.softcap(5), of.softcap(5), of.softcap(6)},
      {of.alibi(2), of.alibi(2), of.alibi(3)},
      {of.relative{1, 2, 3}, of.relative{1, 2, 3}, of.relative{1, 2, 4}},
      {of.relative(ts.ones(2, 3)), of.relative(ts.ones(2, 3)), of.relative(ts.eye(3):slice(1, 2))},
      {of.chain(of.softcap(5), of.alibi(2)), of.chain(of.softcap(5), of.alibi(2)), of.chain(of.alibi(2), of.softcap(5))},
    } do
      saved(pair[1])
      assert.same({true, true, false}, {names(pair[1]), names(pair[2]), names(pair[3])})
    end
    local function inside(m) return function(s, i, j) return m(i, j) and s or s / 2 end end
    local function called(keeps)
      return ts.mask(9, 9, function(i, j) return ({i, j})[1] == keeps end) -- the table stops the lifting
    end
    for _, masks in ipairs{
      {ts.mask.causal(9), ts.mask.causal(9), ts.mask.causal(9, {offset = 1})},
      {ts.mask.documents{4, 5}, ts.mask.documents{4, 5}, ts.mask.documents{5, 4}},
      {ts.mask.global(9, {2, 7}), ts.mask.global(9, {2, 7}), ts.mask.global(9, {2, 8})},
      {ts.mask(9, 9, function(i, j) return i * 7.1 < j * j end), ts.mask(9, 9, function(i, j) return i * 7.1 < j * j end),
        ts.mask(9, 9, function(i, j) return i * 7.1000000000000005 < j * j end)},
      {ts.mask.blocks(ts.eye(2), 5, 5, 9), ts.mask.blocks(ts.eye(2), 5, 5, 9), ts.mask.blocks(ts.ones(2, 2), 5, 5, 9)},
      {ts.mask.padding(9, 3), ts.mask.padding(9, 3), ts.mask.padding({9, 10}, 3)},
      {called(1), called(1), called(2)},
    } do
      saved(inside(masks[1]))
      assert.same({true, true, false}, {names(inside(masks[1])), names(inside(masks[2])), names(inside(masks[3]))})
    end
    local function with(f) return function(s) return f(s) end end
    saved(with(math.abs))
    assert.same({true, false}, {names(with(math.abs)), names(with(math.floor))})
    assert.error_matches(function() saved(with(string.len)) end, "no plain Lua function")
    local other = problem()
    assert.error_matches(function() saved(function(s) return s + other.d end) end, "reads a problem")
  end)

  it("is of a problem, of keys alone, or of none, as it was", function()
    local max, norm, value = ts.zeros(2, 1), ts.ones(2, 1), ts.ones(2, 3)
    local alone = ts.summary{max = max, norm = norm, value = value}
    assert.is_true(through_file(alone) * alone == alone * alone)
    local keyed = ts.summary{max = max, norm = norm, value = value, keys = {{1, 2}}}
    assert.is_true(through_file(keyed) == keyed)
    assert.error_matches(function() return through_file(keyed) * alone end, "names no keys")
  end)

  it("says what is wrong with a path or a file", function()
    local S = problem():summary()
    assert.error_matches(function() S:save "x.npy" end, "bad argument #1 to 'save' %(a name that ends in .safetensors")
    assert.error_matches(function() ts.summary.load "x.npy" end, "bad argument #1 to 'load'")
    assert.error_matches(function() ts.summary.load "none.safetensors" end, "cannot load 'none.safetensors': No such file")
    assert.error_matches(function() ts.summary.load "spec/fixtures/ok.safetensors" end, "it holds no summary")
    local path = helper.path ".safetensors"
    S:save(path)
    local parts, metadata = ts.load(path)
    local function damaged(changed_parts, changes)
      local all, text = {}, {}
      for name, m in pairs(parts) do all[name] = m end
      for name, m in pairs(changed_parts) do all[name] = m or nil end
      for name, value in pairs(metadata) do text[name] = value end
      for name, value in pairs(changes) do text[name] = value or nil end
      ts.save(path, all, {metadata = text})
      assert.error_matches(function() ts.summary.load(path) end, "the summary in it is damaged")
    end
    damaged({norm = false}, {})
    damaged({norm = ts.ones(1, 1)}, {})
    damaged({norm = ts.zeros(4, 2)}, {})
    damaged({value = ts.ones(3, 4)}, {})
    damaged({value = ts.ones(4, 4, {dtype = "f32"})}, {})
    damaged({}, {keys = "1-x"})
    damaged({}, {keys = "1-5 3-6"})
    damaged({}, {keys = "0-5"})
    damaged({}, {owner = "12"})
    damaged({}, {owner = false})
    damaged({}, {sink = "1 2 3"})
  end)
end)
