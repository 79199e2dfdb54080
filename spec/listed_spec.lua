-- Lists that iterators and samples give, as text.
local ts = require "tessera"

describe("a list of a bracketing, an order or key sets", function()
  it("prints as one writes it", function()
    local function all(next_list)
      local texts = {}
      for list in next_list do texts[#texts + 1] = tostring(list) end
      return table.concat(texts, " ")
    end
    assert.equal("{1, {2, 3}} {{1, 2}, 3}", all(ts.bracketings(3)))
    assert.equal("{1, 2} {2, 1}", all(ts.permutations(2)))
    assert.equal("{{{1, 2}}} {{{1, 1}}, {{2, 2}}}", all(ts.partitions(2)))
    assert.matches("^{%d, %d, %d}$", tostring(ts.sample.permutation(3, {seed = 1})))
    assert.matches("^{[{}%d, ]+}$", tostring(ts.sample.bracketing(4, {seed = 1})))
    assert.equal("{1}", tostring(ts.sample.bracketing(1)))
    assert.matches("^{[%d, ]+}$", tostring(ts.sample.permutation(20)))
    assert.matches("^{[%d, ]+, … 21 in all}$", tostring(ts.sample.permutation(21)))
    assert.matches("^{{{1, ", tostring(ts.sample.partition(3, 2, {seed = 1})))
  end)
end)
