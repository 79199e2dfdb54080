-- P:trace follows the engine's word for one row, in the engine's bits.
local core = require "tessera.core"
local ts = require "tessera"

local function problem(changes)
  local fields = {Q = ts.randn(9, 8, {seed = 1}), K = ts.randn(21, 8, {seed = 2}), V = ts.randn(21, 6, {seed = 3}), heads = 2}
  for name, value in pairs(changes or {}) do fields[name] = value end
  return ts.problem(fields)
end

local function causal(i, j) return j <= 2 * i end

local tilings = {
  {}, {k = 4}, {k = 4, order = "backward", merge = "tree"}, {q = 2, k = 3, order = "diagonal", merge = "right"},
  {k = {{{1, 2}, {5, 6}}, {{3, 4}, {7, 21}}}}, {k = 5, order = "shuffle", merge = "random", seed = 3}, {k = 2, split = 3},
  {q = 4, k = 7, order = function(_, q_tile) return q_tile[1] == 1 and {3, 1, 2} or {2, 3, 1} end},
}

describe("P:trace", function()
  for n, tiling in ipairs(tilings) do
    for _, changes in ipairs{{}, {mask = causal}, {mask = causal, sink = 0.5, base = 2}} do
      it(("ends where the engine does, in bits: tiling %d%s%s"):format(n, changes.mask and ", causal" or "",
        changes.sink and ", with a sink" or ""), function()
        local P = problem(changes)
        local O, lse = P:attention(tiling)
        for i = 1, 9, 4 do
          for h = 1, 2 do
            local t = P:trace(i, tiling, h)
            assert.is_true(t.output:identical(O:slice(i, i, 3 * h - 2, 3 * h)))
            assert.equal(lse(i, h), t.lse)
            assert.equal(#t.word, #t)
            assert.equal(2 * #t.blocks - 1, #t)
          end
        end
      end)
    end
  end

  it("tells each block's summary, and by how much a merge rescales", function()
    -- Scores 0, 2 and 1 (base 2): blocks (0, 1, v), so the merges multiply by 2^-2 and by 2^-1.
    local P = ts.problem{Q = ts.matrix{{1}}, K = ts.matrix{{0}, {2}, {1}}, V = ts.matrix{{8}, {4}, {2}}, scale = 1, base = 2}
    local t = P:trace(1, {k = 1})
    assert.same({1, 2, 0, 3, 0}, t.word)
    assert.equal(1, t[1].block)
    assert.same({{2, 2}}, t[2].keys)
    assert.same({0.0, 1.0, 8.0}, {t[1].max, t[1].norm, t[1].value(1, 1)})
    assert.same({0.25, 1.0, true}, {t[3].left, t[3].right, t[3].moved})
    assert.same({2.0, 1.25, 6.0}, {t[3].max, t[3].norm, t[3].value(1, 1)})
    assert.equal(6 / 1.25, t[3].output(1, 1))
    assert.same({1.0, 0.5, true}, {t[5].left, t[5].right, t[5].moved})
    assert.same({2.0, 1.75, 7.0}, {t[5].max, t[5].norm, t[5].value(1, 1)})
    assert.equal(4.0, t.output(1, 1))
    assert.same({1, 2, 1, 2, 1}, {t[1].depth, t[2].depth, t[3].depth, t[4].depth, t[5].depth})
  end)

  it("has no numbers for ⊥, and no output for a row without keys", function()
    local P = problem{mask = function(i, j) return i > 1 and j > 4 end}
    local t = P:trace(2, {k = 4})
    assert.is_nil(t[1].max)
    assert.is_nil(t[3].left)
    assert.equal(1.0, t[3].right)
    assert.is_false(t[3].moved)
    assert.equal(-math.huge, P:trace(1, {k = 4}).lse)
  end)

  it("prints the word being eaten, a line a step", function()
    local P = ts.problem{Q = ts.matrix{{1}}, K = ts.matrix{{0}, {2}, {1}}, V = ts.matrix{{8}, {4}, {2}}, scale = 1, base = 2}
    local lines = {}
    for line in tostring(P:trace(1, {k = 1})):gmatch "[^\n]+" do lines[#lines + 1] = (line:gsub(" +", " ")) end
    assert.equal("1 2 ⋆ 3 ⋆ Σ of block 1 1 0 1 8 8 1", lines[2])
    assert.equal("⋆ 3 ⋆ ⋆ 0.25 ⋆ 1 2 1.25 6 4.8 1", lines[4])
    assert.equal("row 1, head 1: output 4, lse 1.9459", lines[7])
    assert.equal(7, #lines)
  end)

  it("prints fewer numbers and less of the word where the terminal is narrow", function()
    local known = core.width
    finally(function() core.width = known end)
    local t = problem{mask = causal}:trace(7, {k = 2, merge = "tree"})
    for columns, word in pairs{[200] = 12, [120] = 6, [100] = 3, [80] = 0} do
      function core.width() return columns end
      local lines = {}
      for line in tostring(t):gmatch "[^\n]+" do lines[#lines + 1] = line end
      for n = 1, #t + 1 do assert.is_true(utf8.len(lines[n]) <= columns, lines[n]) end
      local _, entries = (lines[2]:match "^(%d.-)  +Σ" or ""):gsub("%S+", "")
      assert.equal(word, math.max(0, entries - 1)) -- behind them stands …
    end
  end)

  it("is an empty list where there are no keys", function()
    local P = ts.problem{Q = ts.zeros(2, 3), K = ts.zeros(0, 3), V = ts.zeros(0, 1)}
    local t = P:trace(2)
    assert.equal(0, #t)
    assert.equal(-math.huge, t.lse)
  end)

  it("refuses rows and heads that there are not", function()
    local P = problem()
    assert.error_matches(function() P:trace(10) end, "bad argument #1 to 'trace' %(there is no row 10 of 9%)")
    assert.error_matches(function() P:trace(1, {}, 3) end, "there is no head 3 of 2")
    assert.error_matches(function() P:trace(1, {kk = 3}) end, "bad argument #2 to 'trace' %(invalid field 'kk'%)")
  end)
end)
