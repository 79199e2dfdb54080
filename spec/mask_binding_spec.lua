--- Masks: their algebra, and what they can be asked, against counting cells one by one.
local helper = require "spec.helper"
local ts = require "tessera"
local core = require "tessera.core"

-- A small generator of its own, so that a failure names a seed.
local function generator(seed)
  local state = seed * 0x9e3779b97f4a7c15
  return function(n)
    state = state * 6364136223846793005 + 1442695040888963407
    return (state >> 33) % n + 1
  end
end

local kinds = {
  function(n_q, n_k) return ts.mask.causal{n_q, n_k} end,
  function(n_q, n_k, draw) return ts.mask.window({n_q, n_k}, draw(9) - 1, draw(5) - 1) end,
  function(n_q, n_k, draw) return ts.mask.random({n_q, n_k}, draw(100) / 100, {seed = draw(1000)}) end,
  function(n_q, n_k, draw) return ts.mask.chunked({n_q, n_k}, draw(20)) end,
  function(n_q, n_k, draw)
    local a, b, c = draw(30), draw(30), draw(7)
    return ts.mask(n_q, n_k, function(i, j) return (a * i + b * j) % c ~= 0 end)
  end,
  function(n_q, n_k, draw)
    local lines = {}
    for i = 1, n_q do
      local cells = {}
      for j = 1, n_k do cells[j] = draw(3) == 1 and "1" or "0" end
      lines[i] = table.concat(cells)
    end
    return ts.mask.parse(table.concat(lines, "\n"))
  end,
  function(n_q, n_k) return ts.mask.full{n_q, n_k} end,
  function(n_q, n_k) return ts.mask.none{n_q, n_k} end,
}

local function any_mask(n_q, n_k, draw)
  local m = kinds[draw(#kinds)](n_q, n_k, draw)
  local other = kinds[draw(#kinds)](n_q, n_k, draw)
  local how = draw(6)
  if how == 1 then return m & other elseif how == 2 then return m | ~other elseif how == 3 then return m ~ other end
  return m
end

-- The cells of m, as rows of booleans.
local function cells_of(m, h)
  local cells = {}
  for i = 1, m.rows do
    cells[i] = {}
    for j = 1, m.cols do cells[i][j] = m(i, j, h) end
  end
  return cells
end

local function each_case(count, f)
  for seed = 1, count do
    local draw = generator(seed)
    local n_q, n_k = draw(40), draw(70)
    local ok, message = pcall(f, draw, n_q, n_k)
    if not ok then error(("seed %d: %s"):format(seed, message), 0) end
  end
end

describe("mask", function()
  describe("algebra", function()
    it("combines cell by cell", function()
      each_case(60, function(draw, n_q, n_k)
        local a, b = any_mask(n_q, n_k, draw), any_mask(n_q, n_k, draw)
        local both, either, one, without, none = a & b, a | b, a ~ b, a - b, ~a
        for i = 1, n_q do
          for j = 1, n_k do
            local x, y = a(i, j), b(i, j)
            assert(both(i, j) == (x and y) and either(i, j) == (x or y) and one(i, j) == (x ~= y)
              and without(i, j) == (x and not y) and none(i, j) == not x, ("(%d, %d)"):format(i, j))
          end
        end
      end)
    end)

    it("keeps the laws of sets", function()
      each_case(60, function(draw, n_q, n_k)
        local a, b, c = any_mask(n_q, n_k, draw), any_mask(n_q, n_k, draw), any_mask(n_q, n_k, draw)
        assert(a & b == b & a and a | b == b | a)
        assert(~(a & b) == ~a | ~b and ~(a | b) == ~a & ~b)
        assert(a & (b | c) == (a & b) | (a & c))
        assert(a - b == a & ~b and a ~ b == (a - b) | (b - a))
        assert(a & b <= a and a <= a | b)
        assert((a < b) == (a <= b and a ~= b))
      end)
    end)

    it("does not grow by what changes nothing", function()
      local a, b = ts.mask.causal(64), ts.mask.window(64, 3, 9)
      local size = #(a & b):program()
      assert.equal(#a:program(), #(~~a):program())
      assert.equal(#a:program(), #(a & a):program())
      assert.equal(#a:program(), #(a | (a & b)):program())
      assert.equal(1, #(a & ~a):program())
      local m = a & b
      for _ = 1, 100 do m = (m & a) | (m & b) end
      assert.is_true(m == a & b)
      assert.is_true(#m:program() < 4 * size)
    end)

    it("finds the first cell that differs", function()
      each_case(60, function(draw, n_q, n_k)
        local a, b = any_mask(n_q, n_k, draw), any_mask(n_q, n_k, draw)
        local x, y
        for i = 1, n_q do
          for j = 1, n_k do
            if not x and a(i, j) ~= b(i, j) then x, y = i, j end
          end
        end
        local i, j = a:differs(b)
        assert(i == x and j == y)
        assert((a == b) == (x == nil))
      end)
      assert.is_nil(ts.mask.causal(9):differs(ts.mask(9, 9, function(i, j) return i >= j end)))
    end)

    it("names both shapes where they do not fit, and only == takes them", function()
      local a, b = ts.mask.full{2, 3}, ts.mask.full{3, 2}
      for _, f in ipairs{
        function() return a & b end, function() return a | b end, function() return a ~ b end,
        function() return a - b end, function() return a <= b end, function() return a < b end,
        function() return (a:differs(b)) end} do
        local ok, message = pcall(f)
        assert.is_false(ok)
        assert.truthy(message:find("2x3", 1, true) and message:find("3x2", 1, true), message)
      end
      assert.is_false(a == b)
      assert.is_false(a == 1)
      assert.has_error(function() return a & 1 end)
    end)

    it("serves every head with a mask that has none", function()
      local h = ts.mask(3, 4, function(i, j, h) return j <= i + h end, {heads = 2})
      local m = ts.mask.window({3, 4}, 0, 1, {offset = 0})
      local both = h & m
      assert.equal(2, both.heads)
      for k = 1, 2 do
        for i = 1, 3 do
          for j = 1, 4 do assert.equal(h(i, j, k) and m(i, j), both(i, j, k)) end
        end
      end
      assert.is_true(both:head(2) == h:head(2) & m)
      assert.is_nil(both:head(1).heads)
      assert.is_false(h == m)
      assert.has_error(function() return h & ts.mask(3, 4, function(_, _, g) return g == 1 end, {heads = 3}) end)
    end)
  end)

  describe("counts", function()
    it("are those of its cells", function()
      each_case(80, function(draw, n_q, n_k)
        local m = any_mask(n_q, n_k, draw)
        local cells, total, empty = cells_of(m), 0, {}
        for i = 1, n_q do
          local row = 0
          for j = 1, n_k do row = row + (cells[i][j] and 1 or 0) end
          total = total + row
          if row == 0 then empty[#empty + 1] = i end
          assert(m:row_count(i) == row, i)
        end
        assert(m:count() == total and m:density() == total / (n_q * n_k))
        assert.same(empty, m:empty_rows())
      end)
    end)

    it("go over all heads", function()
      local m = ts.mask(3, 3, function(i, j, h) return h == 2 and j <= i and i > 1 end, {heads = 2})
      assert.equal(5, m:count())
      assert.equal(5 / 18, m:density())
      assert.equal(2, m:row_count(2))
      assert.equal(0, m:row_count(2, 1))
      assert.same({{1, 1}, {2, 1}, {3, 1}, {1, 2}}, m:empty_rows())
    end)

    it("are 0 where an axis is", function()
      for _, m in ipairs{ts.mask.full{0, 5}, ts.mask.full{5, 0}, ts.mask.full{0, 0}} do
        assert.equal(0, m:count())
        assert.equal(0, m:density())
        assert.is_true(m == ~m)
        assert.equal(0, m:tiles(2, 2).full)
        assert.is_true(ts.mask.from(m:matrix()) == m)
      end
      assert.same({1, 2}, ts.mask.full{2, 0}:empty_rows())
      -- full bands are closed a word of rows at a time
      local band = ts.mask(500, 500, function(i) return i > 67 and i < 402 end)
      assert.equal(67 + 99, #band:empty_rows())
      assert.same({67, 402}, {band:empty_rows()[67], band:empty_rows()[68]})
      for n = 120, 130 do -- and none behind the last one of a band
        assert.equal(64, ts.mask(n, 2000, function(i) return i <= 63 end):empty_rows()[1])
      end
    end)

    it("of a million tokens take a moment, and a few hundred bytes", function()
      local n = 1 << 20
      collectgarbage() collectgarbage()
      local before = collectgarbage "count"
      local m = core.mask.new(n, n, nil, core.program.new{{"i"}, {"j"}, {"ile", 2, 1}, {"isub", 1, 2},
        {"iconst", 512}, {"ilt", 4, 5}, {"band", 3, 6}})
      collectgarbage() collectgarbage()
      local bytes = (collectgarbage "count" - before) * 1024
      assert.is_true(bytes < 1000, bytes .. " bytes")
      local clock = ts.clock()
      assert.equal(512 * n - 511 * 512 // 2, m:count())
      assert.equal(512, m:row_count(n))
      assert.same({}, m:empty_rows())
      assert.is_true(m <= ts.mask.causal(n))
      assert.is_true(ts.clock() - clock < 10 * helper.slow)
    end)
  end)

  describe("tiles", function()
    it("agree with counting, ragged ones too", function()
      each_case(2000, function(draw, n_q, n_k)
        local m, q, k = any_mask(n_q, n_k, draw), draw(n_q + 3), draw(n_k + 3)
        local t, cells, counts = m:tiles(q, k), cells_of(m), {[0] = 0, 0, 0}
        assert(t.q == q and t.k == k)
        assert(t.map.rows == (n_q + q - 1) // q and t.map.cols == (n_k + k - 1) // k)
        for r = 1, t.map.rows do
          for c = 1, t.map.cols do
            local kept, all = 0, 0
            for i = (r - 1) * q + 1, math.min(r * q, n_q) do
              for j = (c - 1) * k + 1, math.min(c * k, n_k) do
                kept, all = kept + (cells[i][j] and 1 or 0), all + 1
              end
            end
            local want = kept == 0 and 0 or kept == all and 2 or 1
            counts[want] = counts[want] + 1
            assert(t.map(r, c) == want, ("tile (%d, %d) of %d x %d"):format(r, c, q, k))
          end
        end
        assert(t.empty == counts[0] and t.partial == counts[1] and t.full == counts[2])
      end)
    end)

    it("may be larger than the mask", function()
      local t = ts.mask.causal(5):tiles(math.maxinteger, math.maxinteger)
      assert.same({0, 1, 0}, {t.empty, t.partial, t.full})
      assert.equal(1, t.map(1, 1))
    end)

    it("of a hole are not full (M09)", function()
      local m = ts.mask(4, 4, function(i, j) return not (i == 2 and j == 3) end)
      local t = m:tiles(4, 4)
      assert.same({0, 1, 0}, {t.empty, t.partial, t.full})
      t = m:tiles(2, 2)
      assert.same({0, 1, 3}, {t.empty, t.partial, t.full})
      t = (~m):tiles(2, 2)
      assert.same({3, 1, 0}, {t.empty, t.partial, t.full})
    end)

    it("of each head have a map each", function()
      local t = ts.mask(4, 4, function(_, j, h) return h == 2 or j > 2 end, {heads = 2}):tiles(4, 2)
      assert.same({1, 0, 3}, {t.empty, t.partial, t.full})
      assert.same({{0, 2}}, t.map[1]:table())
      assert.same({{2, 2}}, t.map[2]:table())
    end)
  end)

  describe("called", function()
    local function called(n_q, n_k, f, heads) return core.mask.called(n_q, n_k, heads, f, "a test") end

    it("asks each cell once, row by row, head by head", function()
      local seen = {}
      local m = called(2, 2, function(i, j, h) seen[#seen + 1] = i .. j .. h return j == h end, 2)
      assert.equal("111 121 211 221 112 122 212 222", table.concat(seen, " "))
      assert.equal("called", m.kind)
      assert.is_true(m(1, 1, 1) and m(2, 2, 2) and not m(1, 2, 1))
      assert.equal("called", (m & ts.mask.full(2)).kind)
      assert.equal("lifted", (ts.mask.full(2) & ts.mask.causal(2)).kind)
    end)

    it("drops for false and nil, and refuses everything else (L07)", function()
      assert.equal(0, called(1, 2, function(_, j) if j == 1 then return false end return nil end):count())
      assert.equal(0, called(1, 1, function() end):count())
      assert.equal(1, called(1, 1, function() return true, false end):count())
      for _, x in ipairs{0, 1, "", 0 / 0, {}, print} do
        local ok, message = pcall(called, 3, 4, function(i, j) return i == 2 and j == 3 and x end)
        assert.is_false(ok)
        assert.truthy(message:find("query 2, key 3", 1, true) and message:find(type(x), 1, true), message)
      end
    end)

    it("lets the predicate's own error through", function()
      local reason = {}
      local ok, got = pcall(called, 2, 2, function() error(reason) end)
      assert.is_false(ok)
      assert.equal(reason, got)
    end)

    it("refuses more than 2^32 cells before the first call, with the number", function()
      local asked = false
      local ok, message = pcall(called, 1 << 16, (1 << 16) + 1, function() asked = true end)
      assert.is_false(ok)
      assert.is_false(asked)
      assert.truthy(message:find(tostring((1 << 32) + (1 << 16)), 1, true), message)
    end)
  end)

  describe("shapes", function()
    it("that do not fit are errors, never a wrapped size (S09)", function()
      local yes = core.program.new{{"bconst", true}}
      for _, shape in ipairs{{1 << 40, 1}, {1 << 32, 1 << 32}, {1 << 61, 1}, {-1, 5}, {math.maxinteger, math.maxinteger}} do
        assert.has_error(function() return core.mask.new(shape[1], shape[2], nil, yes) end)
      end
      assert.has_error(function() return core.mask.new(1 << 31, 1 << 31, 2, yes) end)
      assert.equal(1 << 62, core.mask.new(1 << 31, 1 << 31, nil, yes):count())
      assert.has_error(function() return core.mask.new(1 << 31, 1 << 31, nil, yes):matrix() end)
      assert.has_error(function() return core.mask.new(1 << 31, 1 << 31, nil, yes):text() end)
      assert.has_error(function() return core.mask.new(1 << 31, 1 << 31, nil, yes):compose(2) end)
    end)

    it("and types of programs are checked", function()
      local text = function(nodes, heads)
        local ok, message = pcall(core.mask.new, 2, 2, heads, core.program.new(nodes))
        assert.is_false(ok)
        return message
      end
      assert.truthy(text{{"i"}}:find("no boolean", 1, true))
      assert.truthy(text{{"s"}, {"feq", 1, 1}}:find("score", 1, true))
      assert.truthy(text{{"h"}, {"j"}, {"ieq", 1, 2}}:find("heads", 1, true))
    end)

    it("of cells outside are errors that name them", function()
      local m = ts.mask.full{2, 3}
      for _, at in ipairs{{0, 1}, {3, 1}, {1, 0}, {1, 4}, {1.5, 1}, {1}, {"x", 1}, {0 / 0, 1}, {-1, 1}} do
        assert.has_error(function() return m(at[1], at[2]) end)
      end
      assert.is_true(m(2.0, "3"))
      assert.has_error(function() return m.heads.x end)
      assert.has_error(function() return m.typo end)
      assert.has_error(function() m.rows = 3 end)
    end)
  end)

  describe("from, parse, text and matrix", function()
    it("read back what they write", function()
      each_case(60, function(draw, n_q, n_k)
        local m = any_mask(n_q, n_k, draw)
        assert(ts.mask.parse(m:text()) == m)
        assert(ts.mask.from(m:matrix()) == m)
        assert(m:matrix():sum() == m:count())
      end)
    end)

    it("take any sign that stands for a cell, and refuse others by line", function()
      local m = ts.mask.parse "\n  1 # x\n  0 . -\n\n"
      assert.same({{1, 1, 1}, {0, 0, 0}}, m:matrix():table())
      assert.has_error(function() return ts.mask.parse "11\n1\n" end)
      local _, message = pcall(ts.mask.parse, "11\n1?\n")
      assert.truthy(message:find("line 2", 1, true), message)
      _, message = pcall(ts.mask.parse, "1█")
      assert.truthy(message:find("line 1 has a '█', none", 1, true), message)
      assert.equal(0, ts.mask.parse "".rows)
    end)

    it("keep what is not 0, refuse NaN, and copy", function()
      local M = ts.matrix{{0, -0.0, 1}, {math.huge, 5e-324, -2}}
      local m = ts.mask.from(M)
      assert.same({{0, 0, 1}, {1, 1, 1}}, m:matrix():table())
      M:set(1, 1, 7)
      assert.is_false(m(1, 1))
      assert.has_error(function() return ts.mask.from(ts.matrix{{0 / 0}}) end)
      assert.is_true(ts.mask.from(M:t()):matrix():t() == ts.mask.from(M):matrix())
    end)
  end)

  describe("compose", function()
    it("is the boolean power", function()
      each_case(30, function(draw)
        local n = draw(20)
        local m, layers = any_mask(n, n, draw), draw(5)
        local power = m
        for _ = 2, layers do
          local P, M = power:matrix(), m:matrix()
          power = ts.mask.from(P * M)
        end
        assert(m:compose(layers) == power)
      end)
    end)

    it("reaches further layer by layer", function()
      local m = ts.mask.window(50, 3, 0)
      assert.is_true(m:compose(1) == m)
      assert.is_true(m:compose(4) == ts.mask.window(50, 12, 0))
      assert.is_true(m:compose(10 ^ 15 | 0) == ts.mask.causal(50))
      assert.has_error(function() return ts.mask.full{2, 3}:compose(2) end)
      assert.has_error(function() return m:compose(0) end)
    end)

    it("goes head by head", function()
      local m = ts.mask(4, 4, function(i, j, h) return i - j == h end, {heads = 2})
      assert.equal(2, m:compose(2).heads)
      assert.is_true(m:compose(2):head(1) == m:head(2))
    end)
  end)
end)
