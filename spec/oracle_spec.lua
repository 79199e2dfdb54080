-- The oracle as Lua sees it: digits that are known, rows, called scores, and what it refuses.
require "spec.helper"
local ts = require "tessera"

-- One query of 1 and keys of width 1: the keys are the scores.
local function scored(scores, values, fields)
  local all = {Q = ts.ones(1, 1), K = ts.matrix(#scores, 1, function(j) return scores[j] end),
    V = ts.matrix(#values, 1, function(j) return values[j] end), scale = 1}
  for name, value in pairs(fields or {}) do all[name] = value end
  return ts.problem(all)
end

local function refuses(message, f)
  local ok, err = pcall(f)
  assert.is_false(ok)
  assert.is_truthy(tostring(err):find(message, 1, true), tostring(err))
end

describe("P:oracle", function()
  it("gives the digits of 1 / (1 + 1/e) and of ln(1 + e)", function()
    for _, bits in ipairs{64, 128, 256, 2000} do
      local O, lse = scored({0, 1}, {0, 1}):oracle{bits = bits}
      assert.equal(0.73105857863000487925115924182, O(1, 1))
      assert.equal(1.31326168751822283404899549497, lse(1, 1))
    end
  end)

  it("sees what doubles lose: a sum that cancels", function()
    local P = ts.problem{Q = ts.matrix{{1e16, 1, -1e16}}, K = ts.matrix{{1, 1, 1}, {0, 0, 0}}, V = ts.matrix{{1}, {0}}, scale = 1}
    assert.equal(0.73105857863000487925115924182, (P:oracle())(1, 1))
  end)

  it("evaluates lifted scores in as many bits", function()
    local third = scored({1, 2}, {0, 1}, {score = function(s) return s / 3 - 1 / 3 end})
    local O, _, note = third:oracle()
    assert.is_nil(note)
    -- 1/3 in the function is the double; s / 3 is not rounded: the scores are 0 + δ and 1/3 + δ.
    assert.equal(0.58257020646231467686639461396, O(1, 1))
  end)

  it("takes no sine of a number beyond 2^65536, whose digits would take for ever", function()
    local exp, sin, cos, tan = math.exp, math.sin, math.cos, math.tan -- a lifted function's: busted's globals are no plain table
    for _, score in ipairs{
      function(s) return sin(exp(exp(s + 10))) end,
      function(s) return cos(exp(exp(s + 10))) end,
      function(s) return tan(exp(exp(s + 10))) end,
    } do
      local _, lse, note = scored({0}, {1}, {score = score}):oracle{bits = 40000} -- e^(e^10) has 31778 before the point
      assert.is_nil(note)
      assert.matrix_equal(lse, (select(2, scored({0}, {1}, {score = score}):oracle{bits = 50000})))
      refuses("score of query 1, key 1, head 1 is nan", function() scored({10}, {1}, {score = score}):oracle() end)
    end
  end)

  it("says so where a called score makes it good to double only", function()
    local hidden = setmetatable({}, {__index = function() return 2 end})
    local O, _, note = scored({0, 0.5}, {0, 1}, {score = function(s) return s * hidden[1] end}):oracle()
    assert.matches("good to double only", note)
    assert.equal(0.73105857863000487925115924182, O(1, 1))
  end)

  it("answers some rows, in the order of the list", function()
    local P = ts.problem{Q = ts.randn(9, 3, {seed = 1}), K = ts.randn(7, 3, {seed = 2}), V = ts.randn(7, 4, {seed = 3}), heads = 1}
    local O, lse = P:oracle()
    local some, some_lse = P:oracle{rows = {9, 1, 4, 4}}
    assert.matrix_identical(O:take{9, 1, 4, 4}, some)
    assert.matrix_identical(lse:take{9, 1, 4, 4}, some_lse)
    assert.equal(0, P:oracle{rows = {}}.rows)
  end)

  it("rounds to the problem's dtype once", function()
    local P = ts.problem{Q = ts.ones(1, 1, {dtype = "f32"}), K = ts.matrix({{0}, {1}}, {dtype = "f32"}),
      V = ts.matrix({{0}, {1}}, {dtype = "f32"}), scale = 1}
    assert.equal("f32", P:oracle().dtype)
    assert.equal(string.unpack("f", string.pack("f", 0.73105857863000487925115924182)), (P:oracle())(1, 1))
  end)

  it("agrees with full softmax to an ulp or two where nothing cancels", function()
    local P = ts.problem{Q = ts.rand(6, 4, {seed = 1}), K = ts.rand(20, 4, {seed = 2}), V = ts.rand(20, 3, {seed = 3})}
    assert.is_true(ts.diff((P:softmax()), (P:oracle())).ulps <= 8)
  end)

  it("has rows without keys as the other roads do", function()
    local P = ts.problem{Q = ts.ones(3, 1), K = ts.ones(2, 1), V = ts.ones(2, 1), mask = function(i) return i == 2 end}
    refuses("1, 3", function() P:oracle() end)
    refuses("row 3", function() P:oracle{rows = {2, 3}} end)
    assert.matrix_equal({{0}, {1}, {0}}, (P:oracle{empty = "zero"}))
    assert.matrix_equal({{-math.huge}}, (select(2, P:oracle{empty = "zero", rows = {3}})))
    assert.equal(1, (P:oracle{rows = {2}})(1, 1))
  end)

  it("refuses bits, rows and options that are none", function()
    local P = scored({0}, {1})
    refuses("field 'bits'", function() P:oracle{bits = 63} end)
    refuses("field 'bits'", function() P:oracle{bits = 65537} end)
    refuses("field 'rows': row 2, there are 1", function() P:oracle{rows = {2}} end)
    refuses("field 'rows'", function() P:oracle{rows = {1.5}} end)
    local endless = setmetatable({1, 1, 1}, {__len = function() return 1 << 61 end}) -- 8 bytes each are 0 again
    assert.equal(3, P:oracle{rows = endless}.rows)
    refuses("invalid field 'bit'", function() P:oracle{bit = 64} end)
  end)
end)
