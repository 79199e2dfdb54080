-- Any mask: a plain Lua function says which keys a query may use, and runs at the speed of a built-in one.
--
-- The function's bytecode is lifted into a small program, which the core runs on strips of keys and bounds on tiles.
-- What cannot be lifted is called for each cell instead: the answer is the same, and `explain` tells why.
local ts = require "tessera"

-- Three documents in a row. A token sees the first token of its document, and the last four before it.
local document, first = {}, {}
for d, length in ipairs {10, 14, 8} do
  local start = #document + 1
  for _ = 1, length do
    document[#document + 1] = d
    first[#first + 1] = start
  end
end
local n = #document

local near = ts.mask(n, n, function(i, j)
  if document[i] ~= document[j] or j > i then return false end
  return j == first[i] or i - j < 4
end)

near:draw {q = 8, k = 8}
print(near:explain())
print(near:tiles(8, 8))

-- Masks combine, and say where they differ.
local causal = ts.mask.causal(n)
print(("within causal: %s; the first cell that it lacks: %d, %d"):format(near <= causal, near:differs(causal)))

-- The same by tiles as by full softmax, with a score function that favours even keys.
local function even(s, _, j)
  if j % 2 == 0 then return s + 0.5 end
  return s
end
local P = ts.problem {Q = ts.randn(n, 16, {seed = 1}), K = ts.randn(n, 16, {seed = 2}), V = ts.randn(n, 16, {seed = 3}),
  mask = near, score = even}
local tiling = {q = 8, k = 8, order = "shuffle"}
local apart = (P:attention(tiling) - P:softmax()):abs()
print(("tiles and full softmax are at most %.2g apart, %.0f %% of what rounding may do"):format(apart:max(),
  100 * apart:div(P:bound(tiling).output + P:bound().output):max()))

-- What stops lifting costs speed, nothing else.
local slow = ts.mask(n, n, function(i, j)
  local pair = {i, j}
  return pair[2] <= pair[1]
end)
print(slow:explain())
print("equal to causal:", slow == causal)

-- A window over a million tokens is a few hundred bytes, and made in a moment.
local million = 2 ^ 20
local long = ts.mask(million, million, function(i, j) return j <= i and i - j < 512 end)
print(("%d cells kept of %.3g"):format(long:count(), million ^ 2))
