-- The attention of a real layer, computed in many ways that must agree.
--
-- The layer is the first one of a language model (all-MiniLM-L6-v2: 12 heads of 32), the input a sentence, and the judge
-- what another implementation, PyTorch, computed from the same numbers in double precision. `make demo` runs it; with one
-- of the other sentences: scripts/tessera examples/01-a-real-layer.lua river
local ts = require "tessera"

local data = arg[0]:gsub("[^/]*$", "") .. "data/"
local sentence = arg[1] or "tile"
local known = ts.load(data .. "sentences.safetensors")
local tokens = assert(io.open(data .. "tokens.json")):read "a"
local words = {}
for word in tokens:match('"' .. sentence .. '": %[(.-")%]'):gmatch '"(.-)"' do words[#words + 1] = word end
local n, heads = #words, 12

-- The problem between the layer's projections and its W^O: the heads lie side by side in the columns of Q, K and V.
local function problem(dtype)
  local layer = ts.heads.load(data .. "minilm-layer1.safetensors", {dtype = dtype})
  return layer:problem(known[sentence .. ".x"]:to(dtype))
end

-- Some ways to compute it, each with the tiling that it amounts to, from which its bound is derived.
local ways = {}

local function way(label, tiling, compute)
  ways[#ways + 1] = {label = label, compute = compute or function(P) return P:attention(tiling), tiling end}
end

way("tiles of 4 keys, first to last", {k = 4, merge = "online"})
way("tiles of 4 keys, last to first", {k = 4, order = "backward", merge = "online"})
way("tiles of 3 keys, shuffled, as a tree", {k = 3, order = "shuffle", seed = 1, merge = "tree"})
way("single keys, merged from the right", {k = 1, merge = "right"})

way("Σ(keys 1–5) ⋆ Σ(the others)", nil, function(P)
  local S, T = P:summary(1, 5), P:summary(6, n)
  return (S * T):output(), {k = {5, n}, merge = "online"}
end)

-- Four blocks of keys, each summarised by itself, then merged in all 24 orders and with all 5 bracketings: of these
-- results, the one that lies farthest from full softmax.
way("4 blocks, 120 orders and bracketings", nil, function(P, O)
  local edges, blocks, worst, tiling, distance = {}, {}, nil, nil, -1
  for b = 1, 4 do
    edges[b] = b * n // 4
    blocks[b] = P:summary((b - 1) * n // 4 + 1, edges[b])
  end
  for order in ts.permutations(4) do
    local parts = {}
    for position, b in ipairs(order) do parts[position] = blocks[b] end
    for bracketing in ts.bracketings(4) do
      local output = ts.fold(parts, bracketing):output()
      local apart = (output - O):abs():max()
      if apart > distance then
        worst, tiling, distance = output, {k = edges, order = order, merge = bracketing}, apart
      end
    end
  end
  return worst, tiling
end)

-- Fills text up to a width, on the right or (for a negative width) on the left. A width counts characters, not bytes.
local function pad(text, width)
  local space = (" "):rep(math.abs(width) - utf8.len(text))
  return width < 0 and space .. text or text .. space
end

local function line(label, ulps, distance, part, judge)
  print(pad(label, 39) .. pad(ulps, -6) .. pad(distance, -11) .. pad(part, -10) .. pad(judge, -14))
end

-- The largest distance of two numbers in the same place.
local function apart(A, B)
  return ("%.1e"):format((A:to "f64" - B:to "f64"):abs():max())
end

local function compare(P, title)
  local judge = known[sentence .. ".heads"]
  local O = P:softmax()
  local bound = P:bound().output
  print()
  line(title, "ulps", "distance", "of bound", "from PyTorch")
  line("  full softmax, row by row", "", "", "", apart(O, judge))
  for _, w in ipairs(ways) do
    local result, tiling = w.compute(P, O)
    local part = (result - O):to("f64"):abs():div(bound + P:bound(tiling).output):max()
    line("  " .. w.label, ("%d"):format(ts.diff(result, O).ulps), apart(result, O), ("%.1f %%"):format(100 * part), apart(result, judge))
  end
end

print(("“%s”: %d tokens through %d heads of attention."):format(table.concat(words, " ", 2, n - 1), n, heads))
print [[

Each line is another way to the same numbers, and how far the worst of them lies
from full softmax: in ulps, as a distance, and as part of the largest distance
that rounding allows, which is derived from the problem. Thousands of ulps mean a
number near zero, where large terms cancel; the bound knows of them.]]
local P = problem "f64"
compare(P, "double precision")
compare(problem "f32", "single precision")

-- Which word looks at which, in two heads: the words are rows, and in the same order columns.
local function shade(weight)
  return weight >= 0.6 and "██" or weight >= 0.3 and "▓▓" or weight >= 0.1 and "▒▒" or weight >= 0.02 and "░░" or "  "
end

local function row_of(weights, i)
  local cells = {}
  for j = 1, n do cells[j] = shade(weights(i, j)) end
  return table.concat(cells)
end

local function draw(left, right)
  local A, B = P:weights(left), P:weights(right)
  print("\n" .. pad("", 10) .. pad("head " .. left, 2 * n + 3) .. "head " .. right)
  for i = 1, n do print(pad(words[i], -8) .. "  " .. row_of(A, i) .. "   " .. row_of(B, i)) end

  local least = 1
  for i = 2, n do least = math.min(least, A(i, i - 1)) end
  print "\nEach word's row shows how it shares out its weight: ░ from 2 %, ▒ 10 %, ▓ 30 %, █ 60 %."
  print(("Head %d puts %.1f %% or more of it on the word before."):format(left, 100 * least))
end

if n <= 30 then draw(3, 9) end
