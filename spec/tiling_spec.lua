-- Tilings: every way to cut, order and bracket the keys, and what is refused.
local helper = require "spec.helper"
local ts = require "tessera"
local core = require "tessera.core"

local function refuses(message, f)
  local ok, err = pcall(f)
  assert.is_false(ok)
  message = "bad argument #1 to 'attention' (" .. message .. ")"
  assert.is_truthy(tostring(err):find(message, 1, true), ("expected '%s' in '%s'"):format(message, tostring(err)))
end

-- Ten keys, five queries, two heads; exact, so that every right tiling gives these very bits.
local P = ts.sample.exact{n_q = 5, n_k = 10, heads = 2, kv_heads = 1, density = 0.8, empty = "zero", seed = 11}
local O = P:softmax()

local function tile(tiling) return function() local A = P:attention(tiling) return A end end

-- The word of a tiling as text, with * for ⋆.
local function word(tiling, q_tile)
  return (table.concat(core.problem.plan(P, tiling, q_tile).word, " "):gsub("%f[%d]0%f[%D]", "*"))
end

describe("a tiling", function()
  describe("gives the bits of full softmax on an exact problem,", function()
    for name, tiling in pairs{
      ["without anything"] = {},
      ["with blocks of one"] = {q = 1, k = 1},
      ["with blocks larger than all keys"] = {q = 100, k = 100},
      ["with ragged tiles"] = {q = 3, k = 4},
      ["with blocks given by their last keys"] = {k = {1, 4, 9, 10}},
      ["with key sets that interleave"] = {k = {{{1, 1}, {3, 3}, {10, 10}}, {{4, 9}}, {{2, 2}}}},
      ["with key sets of one range"] = {k = {{4, 10}, {1, 3}}},
      ["with an empty key set"] = {k = {{{1, 10}}, {{4, 3}}}},
      ["backward"] = {k = 3, order = "backward"},
      ["along the diagonal"] = {q = 2, k = 3, order = "diagonal"},
      ["outward"] = {k = 2, order = "outward"},
      ["shuffled"] = {k = 1, order = "shuffle", seed = 5},
      ["in an order listed"] = {k = 3, order = {3, 1, 4, 2}},
      ["in an order asked for"] = {q = 2, k = 3, order = function(_, q) return q[1] == 1 and {2, 1, 3, 4} or {4, 3, 2, 1} end},
      ["merged online"] = {k = 2, merge = "online"},
      ["merged from the right"] = {k = 2, merge = "right"},
      ["merged as a tree"] = {k = 2, merge = "tree"},
      ["merged by chance"] = {k = 1, merge = "random", seed = 3},
      ["merged as nested tables say"] = {k = 2, merge = {{1, {5, 2}}, {3, 4}}},
      ["merged as a word says"] = {k = 2, merge = "1 2 * 3 4 * 5 * *"},
      ["merged as a word with ⋆ says"] = {k = 3, merge = "4 3 ⋆ 2 ⋆ 1 ⋆"},
      ["merged as a function says"] = {k = 2, merge = function(n) assert(n == 5) return {1, {2, {3, {4, 5}}}} end},
      ["merged as the one block that there is"] = {k = 10, merge = {1}},
      ["split"] = {k = 1, split = 3},
      ["split into more parts than blocks"] = {k = 4, split = 9},
      ["with the polynomial"] = {k = 4, exp = "poly"},
      ["on three threads"] = {q = 1, k = 2, threads = 3},
    } do
      it(name, function()
        local A, lse = P:attention(tiling)
        assert.matrix_identical(O, A)
        assert.within_bound(select(2, P:softmax()):slice(1, 1), lse:slice(1, 1), 1e-14)
      end)
    end
  end)

  it("gives the same bits on any number of threads, also where rounding shows", function()
    local R = ts.problem{Q = ts.randn(40, 32, {seed = 1}), K = ts.randn(70, 16, {seed = 2}), V = ts.randn(70, 6, {seed = 3}),
      heads = 4, kv_heads = 2, mask = function(i, j) return (i * 5 + j * 3) % 7 ~= 0 end}
    for _, tiling in ipairs{{q = 8, k = 16}, {q = 8, k = 8, order = "shuffle", merge = "random"}, {k = 8, split = 4}} do
      tiling.threads = 1
      local right, lse = R:attention(tiling)
      for _, threads in ipairs{2, 3, 8} do
        tiling.threads = threads
        local A, l = R:attention(tiling)
        assert.matrix_identical(right, A)
        assert.matrix_identical(lse, l)
      end
    end
  end)

  describe("runs as the word that it says:", function()
    it("online, right, tree", function()
      assert.are.equal("1 2 * 3 * 4 * 5 *", word{k = 2, merge = "online"})
      assert.are.equal("4 5 * 3 * 2 * 1 *", word{k = 2, merge = "right"})
      assert.are.equal("1 2 * 3 * 4 5 * *", word{k = 2, merge = "tree"})
    end)
    it("the order stands at the leaves", function()
      assert.are.equal("5 4 * 3 * 2 * 1 *", word{k = 2, order = "backward"})
      assert.are.equal("3 4 * 2 * 5 * 1 *", word{k = 2, order = "outward"})
      assert.are.equal("2 3 * 1 5 * 4 * *", word{k = 2, order = {2, 3, 1, 5, 4}, merge = {{1, 2}, {{3, 4}, 5}}})
    end)
    it("diagonal begins where the tile stands", function()
      assert.are.equal("1 2 * 3 * 4 * 5 *", word({q = 1, k = 2, order = "diagonal"}, 1))
      assert.are.equal("5 1 * 2 * 3 * 4 *", word({q = 1, k = 2, order = "diagonal"}, 5))
    end)
    it("split runs parts online, and merges them as a tree", function()
      assert.are.equal("1 2 * 3 4 * 5 * *", word{k = 2, split = 2})
      assert.are.equal("1 2 *", word{k = 5, split = 7})
    end)
    it("the deeper side of each node first", function()
      assert.are.equal("4 5 * 3 * 2 * 1 *", word{k = 2, merge = {1, {2, {3, {4, 5}}}}})
      assert.are.equal("1 2 * 3 4 * * 5 *", word{k = 2, merge = "5 1 2 * 3 4 * * *"})
    end)
  end)

  it("shuffles and draws by its seed alone", function()
    assert.are.equal(word{k = 1, order = "shuffle", seed = 7}, word{k = 1, order = "shuffle", seed = 7})
    assert.are_not.equal(word{k = 1, order = "shuffle", seed = 7}, word{k = 1, order = "shuffle", seed = 8})
    assert.are.equal(word{k = 1, merge = "random", seed = 7}, word{k = 1, merge = "random", seed = 7})
    assert.are_not.equal(word{k = 1, merge = "random", seed = 7}, word{k = 1, merge = "random", seed = 8})
    assert.are.equal(word{k = 1, order = "shuffle"}, word{k = 1, order = "shuffle", seed = 1})
  end)

  it("asks an order once a query tile, with the blocks and the tile", function()
    local asked = {}
    P:attention{q = 2, k = {{{1, 4}}, {{5, 6}, {9, 10}}, {{7, 8}}}, order = function(blocks, q_tile)
      asked[#asked + 1] = q_tile
      assert.are.same({{1, 4}, {{5, 6}, {9, 10}}, {7, 8}}, blocks)
      return {1, 2, 3}
    end}
    assert.are.same({{1, 2}, {3, 4}, {5, 5}}, asked)
  end)
  it("passes on what an order or merge function raises", function()
    local reason = {}
    for _, field in ipairs{"order", "merge"} do
      local ok, err = pcall(tile{[field] = function() error(reason) end})
      assert.is_false(ok)
      assert.are.equal(reason, err)
    end
  end)

  describe("refuses", function()
    it("fields that nobody knows, and wrong types", function()
      refuses("invalid field 'ordre'", tile{ordre = "forward"})
      refuses("table expected, got number", tile(3))
      refuses("field 'q': 0 is less than 1", tile{q = 0})
      refuses("field 'k': -1 is less than 1", tile{k = -1})
      refuses("field 'k': number has no integer representation", tile{k = 1.5})
      refuses("field 'k': number expected, got string", tile{k = "x"})
      refuses("field 'threads': 0 is less than 1", tile{threads = 0})
      refuses("field 'degree': exp = \"poly\" expected with it", tile{degree = 4})
      refuses("field 'exp': \"sleef\" or \"poly\" expected, got 'fast'", tile{exp = "fast"})
      refuses("field 'order': \"forward\", \"backward\", \"diagonal\", \"outward\", \"shuffle\", "
        .. "a list or a function expected, got 'sideways'", tile{order = "sideways"})
      refuses("field 'order': \"forward\", \"backward\", \"diagonal\", \"outward\", \"shuffle\", "
        .. "a list or a function expected, got number", tile{order = 3.5})
      refuses("field 'merge': a name, a word, nested tables or a function expected, got boolean", tile{merge = true})
      refuses("field 'merge': 'leftish' is neither \"online\", \"right\", \"tree\" or \"random\" nor a word", tile{merge = "leftish"})
      refuses("fields 'split' and 'merge' exclude each other", tile{split = 2, merge = "tree"})
    end)
    it("keys in no block, in two blocks, or that are none", function()
      refuses("field 'k': key 10 is in no block", tile{k = {3, 9}})
      refuses("field 'k': the problem has no key 11", tile{k = {3, 11}})
      refuses("field 'k': block 2 ends at key 3, block 1 at key 3", tile{k = {3, 3, 10}})
      refuses("field 'k': key 1 is in no block", tile{k = {{{2, 10}}}})
      refuses("field 'k': key 4 is in two blocks", tile{k = {{{1, 4}}, {{4, 10}}}})
      refuses("keys {4, 11} are outside 1..10", tile{k = {{{1, 3}}, {{4, 11}}}})
      refuses("key 2 is named twice", tile{k = {{{1, 3}, {2, 10}}}})
      refuses("field 'k': entry 2 is x, a whole number expected", tile{k = {3, "x"}})
      refuses("field 'k': entry 2 is table, a whole number expected", tile{k = {3, {4}}})
      refuses("field 'k': block 2 is no set of keys, {{first, last}, ..}", tile{k = {{{1, 3}}, 10}})
      refuses("field 'k': key 1 is in no block", tile{k = {}})
    end)
    it("orders that leave out a block, or use one twice", function()
      refuses("field 'order': block 3 is left out", tile{k = 4, order = {1, 2}})
      refuses("field 'order': block 2 is used twice", tile{k = 4, order = {2, 2, 1}})
      refuses("field 'order': there is no block 4, only 3", tile{k = 4, order = {1, 2, 4}})
      refuses("field 'order': a list of 4 for 3 blocks", tile{k = 4, order = {1, 2, 3, 1}})
      refuses("field 'order': block 1 is left out", tile{k = 4, order = function() return {3, 2} end})
      refuses("field 'order': a permutation expected, got nil", tile{k = 4, order = function() end})
    end)
    it("bracketings that leave out a position, use one twice, or are none", function()
      refuses("field 'merge': position 3 is left out", tile{k = 4, merge = {1, 2}})
      refuses("field 'merge': position 2 is used twice", tile{k = 4, merge = {{1, 2}, 2}})
      refuses("field 'merge': there is no position 4, only 3", tile{k = 4, merge = {{1, 2}, 4}})
      refuses("field 'merge': more leaves than the 3 blocks", tile{k = 4, merge = {{1, 2}, {3, 1}}})
      refuses("field 'merge': a node is {left, right}, not a list of 3", tile{k = 4, merge = {1, 2, 3}})
      refuses("field 'merge': a node is {left, right}, not boolean", tile{k = 4, merge = {{1, 2}, true}})
      refuses("field 'merge': position 3 is left out", tile{k = 4, merge = "1 2 *"})
      refuses("field 'merge': 2 summaries are left unmerged", tile{k = 4, merge = "1 2 * 3"})
      refuses("field 'merge': * number 2 merges less than two", tile{k = 4, merge = "1 * 2 3 *"})
      refuses("field 'merge': position 3 is left out", tile{k = 4, merge = function() return {2, 1} end})
    end)
    it("a nested table that holds itself", function()
      local loop = {1}
      loop[2] = loop
      refuses("field 'merge': more leaves than the 3 blocks", tile{k = 4, merge = loop})
      local alone = {}
      alone[1] = alone
      refuses("field 'merge': a node is {left, right}, not a list of 1", tile{k = 4, merge = alone})
    end)
  end)

  it("L05: takes bracketings as deep as there are blocks, and long lists", function()
    local n = 20000
    local R = ts.problem{Q = ts.ones(1, 1), K = ts.zeros(n, 1), V = ts.ones(n, 1)}
    local left, right, order = 1, n, {}
    for b = 2, n do left, right = {left, b}, {n + 1 - b, right} end
    for b = 1, n do order[b] = n + 1 - b end
    for _, merge in ipairs{left, right} do
      assert.matrix_equal({{1}}, (R:attention{k = 1, merge = merge, order = order}))
    end
    assert.are.same({{1, n}}, R:summary((function()
      local ranges = {}
      for key = 1, n do ranges[key] = {key, key} end
      return ranges
    end)()):keys())
  end)

  it("whose blocks a finalizer makes longer while they are read is refused, at worst", function()
    assert.are.equal("alive\n", (helper.lua [[
      local ts = require "tessera"
      local n = 20000
      local P = ts.problem{Q = ts.ones(1, 1), K = ts.ones(n, 1), V = ts.ones(n, 1)}
      local long = {}
      for j = 2, n, 2 do long[#long + 1] = {j, j} end
      for _ = 1, 100 do
        local k = {}
        for b = 1, 500 do k[b] = {{b, b}} end
        setmetatable({}, {__gc = function() k[500] = long end})
        pcall(P.attention, P, {k = k})
      end
      print "alive"]]))
  end)

  it("of a problem without keys or queries has nothing to do", function()
    local none = ts.problem{Q = ts.ones(2, 1), K = ts.ones(0, 1), V = ts.ones(0, 1), empty = "zero"}
    for _, tiling in ipairs{{k = {}}, {k = 3, order = "shuffle", merge = "random"}, {order = {}, merge = "tree"}} do
      assert.matrix_equal({{0}, {0}}, (none:attention(tiling)))
    end
    local no_rows = ts.problem{Q = ts.ones(0, 1), K = ts.ones(3, 1), V = ts.ones(3, 1)}
    assert.are.equal(0, no_rows:attention{q = 2, k = 1, order = function() error "not asked" end}.rows)
  end)
end)
