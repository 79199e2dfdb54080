-- P:cost counts what a tiling takes: here against counting by hand, and cell by cell.
local ts = require "tessera"

describe("P:cost", function()
  it("counts what one can count by hand", function()
    -- 8 queries in tiles of 4, 8 keys in blocks of 2, causal: tile 1 sees blocks 1 (full below row 2: no, row 1 lacks key 2)
    -- and 2, tile 2 sees blocks 1 and 2 whole, 3 and 4 in part.
    local P = ts.problem{Q = ts.zeros(8, 3), K = ts.zeros(8, 3), V = ts.zeros(8, 5), mask = ts.mask.causal(8)}
    local c = P:cost{q = 4, k = 2, merge = "tree"}
    assert.same({8, 6, 2, 2, 4}, {c.tiles, c.visited, c.skipped, c.full, c.partial})
    assert.same({2, 4, 1}, {c.query_tiles, c.blocks, c.parts})
    assert.same({48, 36}, {c.pairs, c.allowed})
    assert.same({4, 16, 48 + 32}, {c.merges, c.rescales, c.exponentials})
    assert.equal(2 * 48 * 8 + 3 * 16 * 6 + 8 * 5, c.flops)
    assert.same({4 * 8 * 8, 8 * 8 * 8}, c.reads)
    assert.equal(12 * 64 + 8 * 8 * 8, c.bytes)
    assert.equal(c.flops / c.bytes, c.intensity)
    assert.equal(3, c.depth)
  end)

  it("agrees with the mask cell by cell, for ranges and key sets, heads and groups", function()
    for seed = 1, 20 do
      local mask = ts.mask.random({10, 14}, 0.2, {seed = seed})
      local P = ts.problem{Q = ts.zeros(10, 8), K = ts.zeros(14, 4), V = ts.zeros(14, 6), heads = 4, kv_heads = 2, mask = mask}
      local sets = seed % 2 == 0 and ts.sample.partition(14, 4, {seed = seed}) or {{{1, 3}}, {{4, 6}}, {{7, 7}}, {{8, 14}}}
      local c = P:cost{q = 3, k = sets}
      local visited, full, allowed = 0, 0, 0
      for first = 1, 10, 3 do
        for _, set in ipairs(sets) do
          local cells, kept = 0, 0
          for i = first, math.min(10, first + 2) do
            for _, range in ipairs(set) do
              for j = range[1], range[2] do cells, kept = cells + 1, kept + (mask(i, j) and 1 or 0) end
            end
          end
          allowed = allowed + kept
          if kept > 0 then visited = visited + 1 end
          if kept == cells then full = full + 1 end
        end
      end
      assert.same({4 * visited, 4 * full, 4 * allowed}, {c.visited, c.full, c.allowed})
    end
  end)

  it("counts masks of each head on their own", function()
    local one = ts.problem{Q = ts.zeros(6, 4), K = ts.zeros(6, 4), V = ts.zeros(6, 4), heads = 2,
      mask = ts.mask(6, 6, function(_, j, h) return h == 1 or j == 6 end, {heads = 2})}
    local c = one:cost{q = 6, k = 3}
    assert.same({4, 3, 2}, {c.tiles, c.visited, c.full})
    local listed = one:with{mask = {ts.mask.full(6), ts.mask(6, 6, function(_, j) return j == 6 end)}}
    local other = listed:cost{q = 6, k = 3}
    assert.same({c.visited, c.full, c.reads, c.flops}, {other.visited, other.full, other.reads, other.flops})
  end)

  it("knows the numbers of keys that continue a sequence", function()
    local P = ts.problem{Q = ts.zeros(4, 2), K = ts.zeros(4, 2), V = ts.zeros(4, 2), first_key = 5,
      mask = ts.mask(4, 8, function(_, j) return j >= 7 end)}
    local c = P:cost{q = 4, k = 2}
    assert.same({2, 1, 1}, {c.tiles, c.visited, c.full})
  end)

  it("tells the depth of the stack: at most 1 + log2 of the blocks", function()
    local P = ts.problem{Q = ts.zeros(4, 2), K = ts.zeros(64, 2), V = ts.zeros(64, 2)}
    assert.equal(2, P:cost{k = 1, merge = "online"}.depth)
    assert.equal(2, P:cost{k = 1, merge = "right"}.depth)
    assert.equal(7, P:cost{k = 1, merge = "tree"}.depth)
    for seed = 1, 20 do assert.is_true(P:cost{k = 1, merge = "random", seed = seed}.depth <= 7) end
  end)

  it("tells the work space: more for larger tiles (spec/core/attention.c compares it with what is asked for)", function()
    local P = ts.problem{Q = ts.zeros(300, 16), K = ts.zeros(900, 16), V = ts.zeros(900, 16)}
    local few, many = P:cost{q = 16, k = 64, threads = 1}, P:cost{q = 300, k = 900, threads = 1}
    assert.is_true(few.memory > 0 and many.memory > few.memory)
  end)

  it("prints a line a figure, and nothing odd where there is nothing", function()
    local P = ts.problem{Q = ts.zeros(0, 3), K = ts.zeros(0, 3), V = ts.zeros(0, 1)}
    local text = tostring(P:cost())
    assert.matches("tiles +0 of 0 × 0 blocks: 0 visited, of which 0 full; 0 skipped", text)
    assert.is_nil(text:find "nan")
    assert.error_matches(function() P:cost{ordr = 1} end, "bad argument #1 to 'cost' %(invalid field 'ordr'%)")
  end)
end)
