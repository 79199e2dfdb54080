-- Axes near 2^63 beside an axis of length zero: there is nothing to store, and no size that is added up may wrap. (Under the
-- sanitizers of make check-asan a sum that wraps ends the process.)
require "spec.helper"
local ts = require "tessera"

local huge = math.maxinteger
local roads = {"softmax", "attention", "oracle"}

local function problem(Q, K, V) return ts.problem{Q = Q, K = K, V = V, scale = 1, empty = "zero"} end

for _, n in ipairs{huge, huge - 1, huge - 9, 1 << 40} do
  describe("an axis of length " .. n, function()
    it("may be any of a product's three", function()
      assert.same({n, 0}, {(ts.zeros(n, 0) * ts.zeros(0, 0)):shape()})
      assert.same({0, n}, {(ts.zeros(0, 0) * ts.zeros(0, n)):shape()})
      assert.same({0, 0}, {(ts.zeros(0, n) * ts.zeros(n, 0)):shape()})
    end)

    for _, dtype in ipairs{"f32", "f64"} do
      local o = {dtype = dtype}
      local function zeros(rows, cols) return ts.zeros(rows, cols, o) end

      it("may be the width of " .. dtype .. " values or queries, unless no number is left for what is added to it", function()
        local function of_values() return problem(zeros(0, 3), zeros(0, 3), zeros(0, n)) end
        local function of_queries() return problem(zeros(0, n), zeros(0, n), zeros(0, 0)) end
        if n > huge - 4 then assert.has_error(of_values, "problem: too large") end
        if n == huge then assert.has_error(of_queries, "problem: too large") return end
        local P = of_queries()
        for _, road in ipairs(roads) do assert.same({0, 0}, {(P[road](P)):shape()}) end
        assert.equal(0, P:summary():output().rows)
        assert.equal(0, P:bound{}.output.rows)
      end)

      it("may be the number of " .. dtype .. " keys where no query asks for them", function()
        if n == huge then return end -- the number behind the last key is one, too
        local P = problem(zeros(0, 0), zeros(n, 0), zeros(n, 0))
        for _, road in ipairs(roads) do assert.same({0, 0}, {(P[road](P)):shape()}) end
        local one = problem(zeros(1, 0), zeros(n, 0), zeros(n, 0))
        if n > 1 << 40 then assert.has_error(function() one:softmax() end, "softmax: too large") end
        assert.has_error(function() one:attention() end, "attention: too large")
      end)
    end
  end)
end
