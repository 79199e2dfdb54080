-- What rounding does: single precision against the oracle, as the number of keys grows.
--
-- The oracle computes with 256 bits and rounds once. Two figures judge a result: its distance from the oracle, and what
-- part that is of the bound, which no result can pass unless there is a bug.
local ts = require "tessera"

local function problem(n)
  return ts.problem{Q = ts.randn(8, 16, {seed = 1, dtype = "f32"}), K = ts.randn(n, 16, {seed = 2, dtype = "f32"}),
    V = ts.randn(n, 16, {seed = 3, dtype = "f32"})}
end

-- The largest error of a tiling, in units of u = 2^-24, and its part of the bound.
local function errors(P, tiling, truth)
  local apart = (P:attention(tiling):to "f64" - truth):abs()
  return apart:max() * 2.0 ^ 24, apart:div(P:bound(tiling).output):max()
end

local ways = {online = {k = 8, merge = "online"}, tree = {k = 8, merge = "tree"}}
local curves, within = {}, true
for _, name in ipairs{"online", "tree"} do
  local s = {x = {}, y = {}, label = "merged " .. name}
  for n = 64, 1024, 320 do
    local P = problem(n)
    local truth = P:to("f64"):oracle()
    local error, part = errors(P, ways[name], truth)
    within = within and part <= 1
    s.x[#s.x + 1], s.y[#s.y + 1] = n, error
  end
  curves[#curves + 1] = s
end
ts.plot.curves(curves, {title = "largest error in units of 2^-24", xlabel = "keys", ylabel = "error / u", width = 72, file = arg[1]})
print("every error within its bound:", within)                              --> every error within its bound:	true

-- In base 2 with whole numbers there is nothing to round: all roads agree to the last bit.
local exact = ts.sample.exact{n_q = 8, n_k = 64, dtype = "f32", seed = 1}
print("exact:", exact:attention{k = 8}:identical((exact:oracle())))           --> exact:	true

-- Where large terms cancel, ulps mean little and the bound still knows.
local P = ts.problem{Q = ts.ones(1, 1), K = ts.zeros(2, 1), V = ts.matrix{{1e8}, {-99999999}}}
print("(1e8 - 99999999) / 2 =", P:softmax()(1, 1))                            --> (1e8 - 99999999) / 2 =	0.5
