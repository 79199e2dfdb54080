-- A small study, with a CSV and a plot: does the order of merges matter for the error, and how does the error grow with the number of keys?
--
-- Every run is written to a CSV as it is done. Stop this with Ctrl-C, start it again, and it goes on where it was.
local ts = require "tessera"

local file = arg[1] or os.tmpname()

local e = ts.experiment{
  grid = {n = {64, 256, 1024}, merge = {"online", "tree", "right"}},
  seeds = 3,
  file = file,
  run = function(p, seed)
    local function randn(rows, stream) return ts.randn(rows, 32, {dtype = "f32", seed = 10 * seed + stream}) end
    local P = ts.problem{Q = randn(16, 1), K = randn(p.n, 2), V = randn(p.n, 3)}
    local tiling = {k = 8, merge = p.merge}
    local O = P:attention(tiling):to "f64"
    local truth = P:to("f64"):softmax()
    local error = (O - truth):abs()
    return {error = error:max() / 2.0 ^ -24, part = error:div(P:bound(tiling).output):max()}
  end,
}

-- A curve for each way to merge: the mean over the seeds, and a band from the least to the largest.
ts.plot.curves(e:curves("n", "error"),
  {log = "x", title = "largest error in units of 2^-24", xlabel = "keys", ylabel = "error", file = arg[2], width = 72})

print "Largest error in units of 2^-24, and as a part of its bound: mean ± standard deviation over the seeds"
print(e)
if not arg[1] then os.remove(file) end
