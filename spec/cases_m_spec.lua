-- Mask geometry: group M of the public reports, with S01, X02 and X04, each on every road, in both
-- dtypes, for many tilings. Indices in the reports count from 0, ours from 1.
require "spec.helper"
local ts = require "tessera"
local mask = ts.mask

local EMPTY = {} -- an expected row that may see nothing

-- Tilings worth trying for n_k keys: blocks of every small size and of all, in orders and bracketings.
local function tilings(n_k)
  local list, seen = {}, {}
  for _, k in ipairs {1, 2, 3, 4, math.max(n_k, 1), n_k + 1} do
    if seen[k] or k > n_k + 1 then goto continue end
    seen[k] = true
    for at, order in ipairs {"forward", "backward", "shuffle"} do
      local merge = ({"online", "tree", "right"})[(at + k) % 3 + 1]
      list[#list + 1] = {q = at, k = k, order = order, merge = merge, threads = at == 2 and 3 or 1}
    end
    ::continue::
  end
  list[#list + 1] = {k = 2, split = 3, threads = 2}
  return list
end

-- f(O, lse, name, tiling) for every road of P: full softmax, attention by tiles, the merged summaries of
-- single keys, the oracle.
local function each_road(P, f)
  local O, lse = P:softmax {empty = "zero"}
  f(O, lse, "softmax")
  for _, tiling in ipairs(tilings(P.n_k)) do
    tiling.empty = "zero"
    O, lse = P:attention(tiling)
    f(O, lse, ("attention, k = %d, %s, %s"):format(tiling.k, tiling.order or "forward", tiling.merge or "split"), tiling)
  end
  local S = P:bottom()
  for key = P.first_key, P.first_key + P.n_k - 1 do S = S * P:summary(key, key) end
  f(S:output {empty = "zero"}, S:lse(), "summaries")
  O, lse = P:oracle {empty = "zero"}
  f(O, lse, "oracle")
end

-- x as the nearest number of the dtype.
local function rounded(x, dtype) return dtype == "f32" and string.unpack("f", string.pack("f", x)) or x end

-- A problem in which every score is 0: row i's output is the mean of the values it sees.
local function zeros(dtype, n_q, n_k, values, fields)
  local o = {dtype = dtype}
  local V = ts.matrix(n_k, 1, function(j) return values[j] end, o)
  local given = {Q = ts.zeros(n_q, 1, o), K = ts.zeros(n_k, 1, o), V = V, scale = 1}
  for name, value in pairs(fields) do given[name] = value end
  return ts.problem(given)
end

-- Output and lse of a row: ln of how many it sees, within the 4 ulp that ln and the roundings around it need.
local function check_row(O, lse, i, h, want, sees, dtype, note)
  if want == EMPTY then
    assert.are.equal(0, O(i, h), note)
    assert.are.equal(-math.huge, lse(i, h), note)
  else
    assert.are.equal(rounded(want, dtype), O(i, h), ("%s, row %d"):format(note, i))
    local ulp = dtype == "f32" and 2.0 ^ -23 or 2.0 ^ -52
    assert(math.abs(lse(i, h) - math.log(sees)) <= 4 * ulp * math.log(sees), ("%s, lse of row %d"):format(note, i))
  end
end

-- Row i of the zero-score problem gives the mean of the values listed in seen[i], whichever road is taken.
local function sees(n_q, n_k, values, fields, seen)
  for _, dtype in ipairs {"f64", "f32"} do
    local P = zeros(dtype, n_q, n_k, values, fields)
    each_road(P, function(O, lse, name)
      for i = 1, n_q do
        local sum = 0
        for _, j in ipairs(seen[i]) do sum = sum + values[j] end
        local want = #seen[i] > 0 and sum / #seen[i] or EMPTY
        check_row(O, lse, i, 1, want, #seen[i], dtype, dtype .. ", " .. name)
      end
    end)
    local empty = {}
    for i = 1, n_q do
      if #seen[i] == 0 then empty[#empty + 1] = i end
    end
    if P.mask and not fields.score then assert.are.same(empty, P.mask:empty_rows()) end
  end
end

local function range(first, last)
  local list = {}
  for j = first, last do list[#list + 1] = j end
  return list
end

-- Rows of the means wanted, as a check that the lists say what the report says.
local function means(seen, values)
  local list = {}
  for i, keys in ipairs(seen) do
    local sum = 0
    for _, j in ipairs(keys) do sum = sum + values[j] end
    list[i] = #keys > 0 and sum / #keys or "empty"
  end
  return list
end

describe("mask geometry", function()
  it("M01: causal with fewer queries than keys is bottom-right, offset moves it", function()
    local v = {0, 1, 2, 3, 4}
    local right, left = {range(1, 4), range(1, 5)}, {range(1, 1), range(1, 2)}
    assert.are.same({1.5, 2.0}, means(right, v))
    assert.are.same({0, 0.5}, means(left, v))
    sees(2, 5, v, {mask = mask.causal {2, 5}}, right)
    sees(2, 5, v, {mask = mask.causal({2, 5}, {offset = 0})}, left)
    sees(2, 5, v, {mask = function(i, j) return j <= i + 3 end}, right)
    sees(1, 5, v, {mask = mask.causal {1, 5}}, {range(1, 5)})
    sees(1, 5, v, {mask = mask.causal({1, 5}, {offset = 0})}, {range(1, 1)})
    sees(2, 3, v, {mask = mask.causal {2, 3}}, {range(1, 2), range(1, 3)})
  end)

  it("M02: causal with more queries than keys leaves the first rows empty", function()
    local v = {10, 20}
    local seen = {{}, {}, {1}, {1, 2}}
    assert.are.same({"empty", "empty", 10, 15}, means(seen, v))
    sees(4, 2, v, {mask = mask.causal {4, 2}}, seen)
    sees(4, 2, v, {mask = mask.causal({4, 2}, {offset = 0})}, {{1}, {1, 2}, {1, 2}, {1, 2}})
    local values, tall = {}, {}
    for j = 1, 64 do values[j] = j end
    for i = 1, 192 do tall[i] = range(1, i - 128) end
    sees(192, 64, values, {mask = mask.causal {192, 64}}, tall)
    assert.has_error(function() zeros("f64", 4, 2, v, {mask = mask.causal {4, 2}}):softmax() end)
  end)

  it("M03: a window counts the own key besides left and right", function()
    local v = {0, 1, 2, 3, 4, 5}
    local three = {{1}, {1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}}
    assert.are.same({0, .5, 1, 2, 3, 4}, means(three, v))
    sees(6, 6, v, {mask = mask.window(6, 2, 0)}, three)
    sees(6, 6, v, {mask = mask.window(6, 3, 0)}, {{1}, {1, 2}, range(1, 3), range(1, 4), range(2, 5), range(3, 6)})
    sees(6, 6, v, {mask = mask.window(6, 1, 1)}, {{1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}, {5, 6}})
    sees(6, 6, v, {mask = function(i, j) return j <= i and i - j < 3 end}, three)
  end)

  it("M05: a score function comes before the mask, and is not asked for masked keys", function()
    -- c = 2 on the scores 3, -1, 0.5 with values 1, 2, 4: masked keys must not come back as c * tanh(-inf) = -c.
    local function expected(scores, values, kept)
      local sum, weighted = 0, 0
      for k, s in ipairs(scores) do
        if kept[k] then
          local w = math.exp(2 * ts.tanh(s / 2))
          sum, weighted = sum + w, weighted + w * values[k]
        end
      end
      return weighted / sum
    end
    local scores, values = {3, -1, 0.5}, {1, 2, 4}
    local all, some = expected(scores, values, {true, true, true}), expected(scores, values, {true, false, true})
    assert(math.abs(all - 1.6501526552) < 1e-10 and math.abs(some - 1.6322257229) < 1e-10)
    local softcap = ts.score.softcap(2)
    local function called(s, i, j, h) local t = {softcap(s, i, j, h)} return t[1] end
    for _, dtype in ipairs {"f64", "f32"} do
      for _, score in ipairs {softcap, called} do
        for want, m in pairs {[all] = mask.full {1, 3}, [some] = mask(1, 3, function(_, j) return j ~= 2 end)} do
          local o = {dtype = dtype}
          local P = ts.problem {Q = ts.ones(1, 1, o), K = ts.matrix({{3}, {-1}, {0.5}}, o),
            V = ts.matrix({{1}, {2}, {4}}, o), scale = 1, mask = m, score = score}
          local lifted = P:with {score = softcap} -- a called score has no bound; it rounds less often
          each_road(P, function(O, _, name, tiling)
            local bound = lifted:bound(tiling).output(1, 1)
            assert(bound < 1e-3, "the bound is no use")
            assert.within_bound(want, O:to "f64", bound + math.abs(want) * 2.0 ^ -50, dtype .. ", " .. name)
          end)
        end
      end
    end
    local ones = {}
    for j = 1, 65 do ones[j] = 1 end
    sees(1, 65, ones, {score = softcap}, {range(1, 65)})
  end)

  it("M06: no key beyond the last one counts, whatever stands behind it", function()
    for _, dtype in ipairs {"f64", "f32"} do
      for n_k = 1, 9 do
        for _, junk in ipairs {0 / 0, 1e30} do
          local o = {dtype = dtype}
          -- Views of larger matrices: behind the last key, and right of the last column, stands junk.
          local K, V = ts.matrix(n_k + 5, 3, junk, o), ts.matrix(n_k + 5, 3, junk, o)
          for j = 1, n_k do K:set(j, 1, -5) V:set(j, 1, 1) end
          local P = ts.problem {Q = ts.ones(2, 1, o), K = K:slice(1, n_k, 1, 1), V = V:slice(1, n_k, 1, 1), scale = 1}
          each_road(P, function(O, lse, name, tiling)
            local bound = P:bound(tiling)
            assert.within_bound(ts.ones(2, 1), O:to "f64", bound.output, name)
            assert.within_bound(ts.matrix(2, 1, math.log(n_k) - 5), lse:to "f64", bound.lse + 2.0 ^ -50, name)
          end)
        end
      end
    end
  end)

  it("M07: a mask made for other lengths is an error that names both shapes", function()
    for _, m in ipairs {mask.causal(8), mask.window(8, 1, 1)} do
      for _, sizes in ipairs {{4, 4}, {8, 5}, {2, 8}} do
        local ok, err = pcall(zeros, "f64", sizes[1], sizes[2], range(1, 8), {mask = m})
        assert.is_false(ok)
        assert.is_truthy(err:find("8x8", 1, true) and err:find(("%dx%d"):format(sizes[1], sizes[2]), 1, true), err)
      end
    end
  end)

  it("M09: a tile with one hole is not full, one with one key is not empty", function()
    local v = {1, 10, 100, 1000}
    local all = range(1, 4)
    local hole = {all, {1, 2, 4}, all, all} -- the report counts from 0: query 1, key 2
    assert.are.same({277.75, 337, 277.75, 277.75}, means(hole, v))
    sees(4, 4, v, {mask = function(i, j) return not (i == 2 and j == 3) end}, hole)
    sees(4, 4, v, {mask = function(i, j) return i == 2 and j == 3 end}, {{}, {3}, {}, {}})
    local text = "####\n##.#\n####\n####"
    sees(4, 4, v, {mask = mask.parse(text)}, hole)
    assert.are.equal(1, mask.parse(text):tiles(4, 4).partial)
    assert.are.equal(1, mask.parse(text):tiles(2, 2).partial)
  end)

  it("M10: a tile that is skipped leaves nothing behind, however often", function()
    local v, seen = {5, 7}, {{}, {}, {}, {}, {1}, {1, 2}}
    sees(6, 2, v, {mask = mask.causal {6, 2}}, seen)
    local P = zeros("f64", 6, 2, v, {mask = mask.causal {6, 2}, empty = "zero"})
    local small = zeros("f64", 3, 1, {9}, {mask = mask.causal {3, 1}, empty = "zero"})
    for k = 1, 1000 do
      local O = P:attention {q = 2, k = 1, threads = k % 4 + 1}
      assert(O(1, 1) == 0 and O(4, 1) == 0 and O(5, 1) == 5 and O(6, 1) == 6)
      local o = small:attention {q = 2, k = 1, threads = k % 3 + 1}
      assert(o(1, 1) == 0 and o(2, 1) == 0 and o(3, 1) == 9)
    end
  end)

  it("M11: a mask is queries by keys, never spread", function()
    local o = {dtype = "f64"}
    local V = ts.matrix(3, 7, function(j) return j - 1 end, o)
    local function problem(m)
      return ts.problem {Q = ts.zeros(2, 5), K = ts.zeros(3, 5), V = V, scale = 1, mask = m}
    end
    each_road(problem(function(_, j) return j ~= 2 end), function(O, _, name)
      assert.matrix_equal(ts.ones(2, 7), O, name)
    end)
    each_road(problem(function(i) return i == 1 end), function(O, lse, name)
      assert.matrix_equal(ts.vcat(ts.ones(1, 7), ts.zeros(1, 7)), O, name)
      assert.are.equal(-math.huge, lse(2, 1))
    end)
    assert.has_error(function() problem(mask.from(ts.matrix {{1, 0, 1}})) end)
    assert.has_error(function() problem(mask.from(ts.matrix {{1}, {0}})) end)
  end)

  it("M12: a mask of one's own and causal are both obeyed", function()
    local v = {1, 10, 100}
    sees(3, 3, v, {mask = mask.causal(3) & mask.full(3)}, {{1}, {1, 2}, {1, 2, 3}})
    local seen = {{}, {2}, {2, 3}}
    assert.are.same({"empty", 10, 55}, means(seen, v))
    sees(3, 3, v, {mask = mask.causal(3) & mask(3, 3, function(_, j) return j ~= 1 end)}, seen)
    local causal = mask.causal(3)
    sees(3, 3, v, {mask = function(i, j) return causal(i, j) and j ~= 1 end}, seen)
    sees(3, 3, v, {mask = causal, score = function(s, _, j) if j == 1 then return -math.huge end return s end}, seen)
  end)

  it("M14: the prefix ends behind its last key", function()
    local v = {1, 10, 100, 1000}
    for p = 0, 5 do
      local seen = {}
      for i = 1, 4 do seen[i] = range(1, math.min(4, math.max(p, i))) end
      sees(4, 4, v, {mask = mask.prefix(4, p)}, seen)
    end
    assert.is_true(mask.prefix(4, 0) == mask.causal(4) and mask.prefix(4, 1) == mask.causal(4))
    assert.is_true(mask.prefix(4, 4) == mask.full(4) and mask.prefix(4, 5) == mask.full(4))
  end)

  it("M15: padding is in no document, though its ids are equal", function()
    sees(6, 6, {1, 2, 4, 8, 16, 32}, {mask = mask.documents {ids = {0, 0, 1, 1, -1, -1}}},
      {{1, 2}, {1, 2}, {3, 4}, {3, 4}, {}, {}})
  end)

  it("M16: each head has its own mask, at exactly the right place", function()
    local patterns = {["10"] = 1, ["01"] = 10, ["11"] = 5.5}
    -- One row for each head and query, neighbours never alike; the items of the report are two problems.
    for _, item in ipairs {{{"10", "01"}, {"11", "10"}, {"01", "11"}}, {{"01", "11"}, {"10", "01"}, {"11", "10"}}} do
      for _, dtype in ipairs {"f64", "f32"} do
        local o = {dtype = dtype}
        local function keeps(i, j, h) return item[h][i]:byte(j) == 49 end
        local list, grid = {}, {}
        for h = 1, 3 do
          list[h] = mask.parse(item[h][1] .. "\n" .. item[h][2])
          grid[h] = {}
          for i = 1, 2 do grid[h][i] = {keeps(i, 1, h), keeps(i, 2, h)} end
        end
        for _, m in ipairs {mask(2, 2, keeps, {heads = 3}), list,
          mask(2, 2, function(i, j, h) return grid[h][i][j] end, {heads = 3})} do
          local V = ts.matrix(2, 3, function(j) return j == 1 and 1 or 10 end, o)
          local P = ts.problem {Q = ts.zeros(2, 3, o), K = ts.zeros(2, 3, o), V = V, scale = 1, heads = 3, mask = m}
          each_road(P, function(O, _, name)
            for h = 1, 3 do
              for i = 1, 2 do assert.are.equal(patterns[item[h][i]], O(i, h), ("%s, row %d, head %d"):format(name, i, h)) end
            end
          end)
        end
      end
    end
  end)

  it("S01: query heads share key heads in order, each as often", function()
    for _, case in ipairs {{4, 2, {0, 0, 1, 1}}, {6, 3, {0, 0, 1, 1, 2, 2}}, {4, 1, {0, 0, 0, 0}}} do
      local heads, kv_heads, want = table.unpack(case)
      for _, dtype in ipairs {"f64", "f32"} do
        local o = {dtype = dtype}
        local P = ts.problem {Q = ts.zeros(1, heads, o), K = ts.zeros(1, kv_heads, o), heads = heads, kv_heads = kv_heads,
          V = ts.matrix(1, kv_heads, function(_, g) return g - 1 end, o), scale = 1}
        each_road(P, function(O, _, name)
          for h = 1, heads do assert.are.equal(want[h], O(1, h), name) end
        end)
      end
    end
    for _, wrong in ipairs {{3, 2}, {2, 4}, {0, 1}} do
      assert.has_error(function()
        ts.problem {Q = ts.zeros(1, wrong[1]), K = ts.zeros(1, wrong[2]), V = ts.zeros(1, wrong[2]), heads = wrong[1],
          kv_heads = wrong[2]}
      end)
    end
  end)

  it("X02: true keeps", function()
    sees(1, 2, {1, 2}, {mask = function(_, j) return j == 1 end}, {{1}})
    sees(1, 2, {1, 2}, {mask = mask.parse "x."}, {{1}})
    sees(1, 2, {1, 2}, {mask = mask.from(ts.matrix {{1, 0}})}, {{1}})
  end)

  it("X04: chunks, with and without padding on the left", function()
    local v = {1, 2, 4, 8, 16, 32, 64, 128}
    local chunks = {{1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}, {5}, {5, 6}}
    sees(6, 6, v, {mask = mask.chunked(6, 4)}, chunks)
    -- Two pads before six tokens: chunks are of tokens, so the mask is moved by two.
    local seen = {{}, {}, {3}, {3, 4}, {3, 4, 5}, {3, 4, 5, 6}, {7}, {7, 8}}
    assert.are.same({"empty", "empty", 4, 6, 28 / 3, 15, 64, 96}, means(seen, v))
    local inner = mask.chunked(6, 4)
    sees(8, 8, v, {mask = function(i, j) return i > 2 and j > 2 and inner(i - 2, j - 2) end}, seen)
  end)
end)
