local helper = require "spec.helper"

local nan, inf = 0 / 0, math.huge

-- What a failing assertion says; an error here if it does not fail.
local function complaint(assertion, ...)
  local ok, message = pcall(assertion, ...)
  assert.is_false(ok)
  return tostring(message)
end

-- The pairs of case N07: a comparison that NaN passes has let broken kernels through for months.
local never_near = {{nan, 1}, {1, nan}, {nan, nan}, {inf, 1}, {1, inf}, {inf, -inf}}

describe("helper", function()
  describe("ulps", function()
    it("counts the steps from one number to the next", function()
      assert.equal(1, helper.ulps(1, 1 + 2.0 ^ -52))
      assert.equal(1, helper.ulps(1, 1 + 2.0 ^ -23, "f32"))
      assert.equal(2, helper.ulps(-5e-324, 5e-324))
      assert.equal(0, helper.ulps(-0.0, 0.0))
    end)

    it("does not overflow from one end of the numbers to the other", function()
      assert.is_true(helper.ulps(-inf, inf) > 1.8e19)
    end)

    it("finds NaN infinitely far from everything", function()
      assert.equal(inf, helper.ulps(nan, nan))
    end)
  end)

  describe("matrix_equal", function()
    it("passes the same numbers, with -0 equal to 0 and infinities to themselves", function()
      assert.matrix_equal({{0.0, inf}, {2, -inf}}, {{-0.0, inf}, {2, -inf}})
      assert.matrix_equal({}, {})
    end)

    it("fails on NaN, wherever it stands (N07)", function()
      for _, pair in ipairs(never_near) do
        complaint(assert.matrix_equal, {{7, pair[1]}}, {{7, pair[2]}})
      end
    end)

    it("fails on another shape, an empty one too", function()
      assert.matches("expected a 1x2 matrix, got 2x1", complaint(assert.matrix_equal, {{1, 2}}, {{1}, {2}}))
      complaint(assert.matrix_equal, {}, {{1}})
    end)

    it("names the worst cell, both values and the distance", function()
      local said = complaint(assert.matrix_equal, {{1, 2}, {3, 4}}, {{1, 2 + 2.0 ^ -51}, {3, 5}}, "seed 7")
      assert.matches("2 of 4 cells differ %(seed 7%); the worst is %(2, 2%)", said)
      assert.matches("expected 4\n  got      5\n  1 apart", said)
    end)

    it("can be negated", function()
      assert.is_not.matrix_equal({{1}}, {{2}})
      complaint(assert.is_not.matrix_equal, {{1}}, {{1}})
    end)
  end)

  describe("matrix_identical", function()
    it("tells -0 from 0, and takes NaN for NaN", function()
      assert.matrix_identical({{nan, inf, -0.0}}, {{nan, inf, -0.0}})
      complaint(assert.matrix_identical, {{0.0}}, {{-0.0}})
      complaint(assert.matrix_identical, {{nan}}, {{1}})
    end)
  end)

  describe("within_bound", function()
    it("passes what lies on the bound or inside, cell by cell", function()
      assert.within_bound({{1, 10}}, {{1.5, 11}}, {{0.5, 1}})
      assert.within_bound({{1, 10}}, {{1.5, 11}}, function(_, j) return j / 2 end)
      assert.within_bound(1, 1, 0)
    end)

    it("fails on NaN and on infinities that are not equal (N07)", function()
      for _, pair in ipairs(never_near) do
        complaint(assert.within_bound, pair[1], pair[2], 1e300)
      end
      assert.within_bound(inf, inf, 0)
    end)

    it("fails on a bound that says nothing", function()
      for _, bound in ipairs {inf, nan, -1} do
        complaint(assert.within_bound, 1, 1, bound)
      end
    end)

    it("finds the cell that oversteps its own bound by the largest factor, and prints the bound", function()
      local said = complaint(assert.within_bound, {{1, 1}}, {{2, 1.5}}, {{0.9, 0.1}})
      assert.matches("2 of 2 cells differ; the worst is %(1, 2%)", said)
      assert.matches("bound 0.1", said)
    end)
  end)

  describe("run", function()
    it("gives what was printed and the exit status", function()
      assert.same({"out\nerr\n", 3}, {helper.run "echo out; echo err >&2; exit 3"})
    end)

    it("tells the end by a signal", function()
      assert.same({"", 128 + 9}, {helper.run "kill -9 $$"})
    end)

    it("passes quotes and the environment on to Lua", function()
      assert.same({"it's 7\n", 0}, {helper.lua([[print('it\'s ' .. os.getenv "SEVEN")]], "SEVEN=7")})
    end)
  end)
end)
