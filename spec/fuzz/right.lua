-- Right calls of everything public: what the fuzzers spoil, and what must be an error in words when memory fails.
--
-- Each is a name, as public.lua has them, and a list of arguments. They are quick, and touch no file but those in `folder`.
local core = require "tessera.core"
local ts = require "tessera"

--- One object of each kind; fresh, since some calls write to them.
local function objects()
  local X = ts.randn(6, 4, {seed = 1})
  local P = ts.problem{Q = X, K = X, V = X, heads = 2, mask = ts.mask.causal(6)}
  local layer = ts.heads{heads = 2, d_q = 4, seed = 1, bias = true}
  local mask = P.mask
  return {
    matrix = X, mask = mask, summary = P:summary(1, 3), problem = P, program = mask:program(), layer = layer, cache = layer:cache(),
    diff = ts.diff(X, -X), tiles = mask:tiles(2, 3), verify = P:verify{}, info = ts.info(), wide = ts.laws.wide.exp(3),
      score = ts.score.compile(function(s, i, j) return s * (i - j) end, 6, 6),
  }
end

--- A list of {name, arguments...}. `o` is what `objects` gave; files are made in `folder`, which ends with "/".
local function calls(o, folder)
  local X, mask, S, P, layer, cache = o.matrix, o.mask, o.summary, o.problem, o.layer, o.cache
  local B = ts.matrix{{1, 2, 3, 4}}
  local T = P:summary(4, 6)
  local O, lse = P:attention()
  local function causal(i, j) return j <= i end
  local function called(i, j) return tostring(i + j):find "1" ~= nil end
  local function slope(s, i, j) return s - 0.5 * (i - j) end
  local function same(x) return x end
  local function halves(i, j, h) return (i + j) % h == 0 end
  local function sum(scores) return #scores end
  X:save(folder .. "right.npy")
  S:save(folder .. "right-summary.safetensors")
  local weights = {}
  for _, name in ipairs{"q_proj", "k_proj", "v_proj", "o_proj"} do weights["layer.0." .. name .. ".weight"] = ts.eye(4) end
  for _, ending in ipairs{".npz", ".safetensors"} do ts.save(folder .. "right" .. ending, weights) end
  local list = {
    {"ts.matrix", {{1, 2}, {3, 4}}, {dtype = "f32"}}, {"ts.matrix", {1, 2, 3}}, {"ts.matrix", 2, 3, 1.5, {}},
    {"ts.matrix", 2, 3, math.max},
    {"ts.zeros", 2, 3, {dtype = "f32"}}, {"ts.ones", 2, 3, {}}, {"ts.eye", 3, {}}, {"ts.linspace", 0, 1, 5, {}},
    {"ts.rand", 2, 3, {seed = 1}}, {"ts.randn", 2, 3, {seed = 1, dtype = "f32"}},
    {"ts.hcat", X, X}, {"ts.vcat", X, B}, {"ts.vcat", {X, B}},
    {"ts.diff", X, O}, {"ts.ulps", X, O}, {"ts.clock"}, {"ts.trim"}, {"ts.threads", 2}, {"ts.info"},
    {"ts.load", folder .. "right.npy", nil, {reshape = {3, 8}}}, {"ts.load", folder .. "right.safetensors", "layer.0.q_proj.weight", {}},
    {"ts.load", folder .. "right.npz", nil, {limit = 1e6}},
    {"ts.names", folder .. "right.npz"}, {"ts.save", folder .. "saved.npy", X}, {"ts.save", folder .. "saved.csv", X, {}},
    {"ts.save", folder .. "saved.safetensors", {a = X, b = B}, {metadata = {x = "y"}}}, {"ts.save", folder .. "saved.npz", {a = X}},
    {"ts.summary.load", folder .. "right-summary.safetensors", {}},
    {"ts.page", folder .. "saved.html", {title = "t", "# A\nb", {table = {{1, "a"}}, head = {"x"}}, {tiles = P, tiling = {q = 2}}, X}},
    {"ts.plot.matrix", X, {title = "t", labels = {"a", "b", "c", "d"}, range = {0, 1}, width = 40}}, {"ts.plot.mask", mask, {h = 1}},
    {"ts.plot.tiles", P, {tiling = {q = 2, k = 2}, h = 2}}, {"ts.plot.tiles", mask:tiles(2, 3), {title = "t"}},
    {"ts.plot.trace", P:trace(5, {k = 2}), {width = 60}}, {"ts.plot.histogram", X, {bins = 3, log = "xy"}},
    {"ts.plot.curves", {{x = {1, 2}, y = {1, 4}, low = {0, 3}, high = {2, 5}, label = "a"}, {y = {3}}}, {log = "x", ylabel = "y"}},
    {"ts.heads.load", folder .. "right.safetensors", {heads = 2, layer = 0}},
    {"ts.summary", {max = lse, norm = ts.ones(6, 2), value = O, keys = {{1, 6}}, base = 2}},
    {"ts.summary", {output = O, lse = lse, keys = {{1, 6}}, problem = P}},
    {"ts.fold", {S, T}, "tree"}, {"ts.fold", {S, T}, {1, 2}}, {"ts.bracketings", 3}, {"ts.permutations", 3}, {"ts.partitions", 3, 2},
    {"ts.sample.permutation", 4, {seed = 1}}, {"ts.sample.bracketing", 4, {seed = 1}}, {"ts.sample.partition", 4, 2, {seed = 1}},
    {"ts.sample.exact", {n_q = 2, n_k = 3, d = 2, d_v = 2, heads = 2, kv_heads = 1, dtype = "f32", density = 0.5, sink = true, seed = 1}},
    {"ts.problem", {Q = X, K = X, V = X, scale = {1, 2}, mask = causal, score = slope, sink = {0, 1}, heads = 2, kv_heads = 2,
      base = 2, first_key = 1, empty = "zero", nonfinite = "propagate"}},
    {"ts.problem", {Q = X, K = X, V = X, heads = 2, mask = halves, score = {slope, same}, scale = 0.5}},
    {"ts.mask", 4, 5, causal}, {"ts.mask", 4, 5, called}, {"ts.mask", 4, 5, halves, {heads = 2}},
    {"ts.mask.full", 4}, {"ts.mask.none", {4, 5}}, {"ts.mask.causal", {4, 5}, {offset = 1}},
    {"ts.mask.window", 5, 2, math.huge, {offset = 0}},
    {"ts.mask.chunked", 5, 2, {offset = 0}}, {"ts.mask.prefix", 5, 2}, {"ts.mask.documents", {2, 3}},
    {"ts.mask.documents", {ids = {1, 1, 2, -1}}}, {"ts.mask.padding", 5, 3, {side = "left"}}, {"ts.mask.dilated", 5, 4, 2},
    {"ts.mask.global", 5, {1, 3}}, {"ts.mask.strided", 6, 2}, {"ts.mask.longformer", 6, 1, {1}},
    {"ts.mask.bigbird", 12, {block = 2, window = 3, random = 1, global = 1, seed = 1}}, {"ts.mask.natten", {3, 4}, {3, 3}},
    {"ts.mask.tree", {0, 1, 1}, {prefix = 2}}, {"ts.mask.shared_prefix", {2, 3}, {1, 1}}, {"ts.mask.block_diffusion", 4, 2},
    {"ts.mask.blocks", ts.eye(3), 2, 2, 6}, {"ts.mask.from", ts.eye(3)}, {"ts.mask.parse", "1.\n.1\n"},
    {"ts.mask.random", 5, 0.5, {seed = 1}},
    {"ts.score.alibi", 2}, {"ts.score.softcap", 3}, {"ts.score.relative", {0, 1, 2}}, {"ts.score.relative", ts.ones(3, 3)},
    {"ts.score.chain", slope, ts.score.softcap(2)}, {"ts.score.compile", slope, 3, 4, 2},
    {"ts.heads", {heads = 2, kv_heads = 1, d_q = 4, d_k = 4, d_v = 4, d_h = 2, d_vh = 3, d_o = 4, bias = {"q"}, rope = true,
      dtype = "f32", seed = 1}},
    {"ts.rope", X, {heads = 2, base = 100, dims = 2, layout = "interleaved", offset = 1}},
    {"ts.laws", {merge = function(a, b) return a + b end, summarize = sum, finish = same, bottom = 0, rounds = 2, seed = 1}},
    {"ts.laws.wide.exp", 3},
    {"matrix:set", X, 1, 2, 3}, {"matrix:row", X, 1}, {"matrix:col", X, -1}, {"matrix:slice", X, 1, 2, 2, 3},
    {"matrix:take", X, {1, 3}, "cols"},
    {"matrix:to", X, "f32"}, {"matrix:fill", X, 1}, {"matrix:assign", X, B}, {"matrix:identical", X, X}, {"matrix:mul", X, B},
    {"matrix:div", X, B}, {"matrix:map", X, same}, {"matrix:save", X, folder .. "saved.npy"}, {"matrix:norm", X, "rows"},
    {"matrix:each", X}, {"matrix:table", X}, {"matrix __call", X, 1, 2}, {"matrix __index", X, "rows"},
    {"matrix __newindex", X, "rows", 1},
    {"matrix __mul", X, 2}, {"matrix __mul", X, X:t()}, {"matrix __add", X, B}, {"matrix __div", X, 2},
    {"mask:count", mask, 1, 2, 1, 3, 1}, {"mask:row_count", mask, 1}, {"mask:matrix", mask}, {"mask:text", mask},
    {"mask:differs", mask, ~mask},
    {"mask:head", ts.mask(3, 3, halves, {heads = 2}), 1}, {"mask:compose", mask, 2}, {"mask:tiles", mask, 2, 3},
    {"mask:draw", mask, {h = 1, q = 2, k = 3, width = 40}}, {"mask __call", mask, 1, 2}, {"mask __band", mask, ~mask},
    {"mask __index", mask, "kind"}, {"mask __newindex", mask, "rows", 1},
    {"summary:output", S, {empty = "zero"}}, {"summary:row", S, 1, 2}, {"summary:save", S, folder .. "saved-summary.safetensors"},
    {"summary __mul", S, T}, {"summary __eq", S, T}, {"summary __index", S, "max"},
    {"problem:softmax", P, {empty = "zero"}}, {"problem:weights", P, 2}, {"problem:scores", P, 1}, {"problem:summary", P, 1, 3},
    {"problem:summary", P, {{1, 2}, {4, 6}}},
    {"problem:attention", P, {q = 2, k = 3, order = "diagonal", merge = "tree", exp = "poly", threads = 2, empty = "zero", seed = 1}},
    {"problem:attention", P, {k = {2, 5, 6}, order = {3, 1, 2}, merge = {1, {2, 3}}}},
    {"problem:attention", P, {k = 1, order = function(blocks) return ts.sample.permutation(#blocks, {seed = 1}) end, split = 2}},
    {"problem:attention", P, {k = {{{1, 1}, {3, 3}}, {{2, 2}, {4, 6}}}, merge = "1 2 *"}},
    {"problem:oracle", P, {bits = 80, rows = {1, 2}, empty = "zero"}}, {"problem:bound", P, {k = 2}}, {"problem:with", P, {scale = 2}},
    {"problem:trace", P, 2, {k = 2}, 1}, {"problem:cost", P, {k = 2}}, {"core.problem.plan", P, {k = 2, merge = "right"}},
    {"problem:verify", P, {seed = 1}}, {"problem __index", P, "Q"},
    {"layer:problem", layer, X, {mask = mask, tiling = {k = 2}}}, {"layer:heads_output", layer, X, {}}, {"layer:weights", layer, X, X},
    {"layer:similarity", layer, X, X, X, {}}, {"layer:without", layer, {1}}, {"layer:only", layer, {2}}, {"layer:group", layer, 1},
    {"layer:step", layer, B, cache, {}}, {"layer:step", layer, {B, B}, {layer:cache(), cache:fork()}},
    {"layer __call", layer, X, {mask = mask}},
    {"layer __index", layer, "WO"}, {"layer __newindex", layer, "WO", ts.eye(4)}, {"cache __index", cache, "length"},
    {"cache __newindex", cache, "length", 1},
    {"core.matrix.ulps", X, X}, {"core.guarded", same, 1}, {"core.kind", X}, {"core.isa"},
    {"core.options", {q = 1}, 1, "f", {q = "positive"}},
    {"core.fail", "text"}, {"core.fail_arg", 1, "f", "text"}, {"core.isatty", "stdin"}, {"core.width", "stdout"},
    {"core.height", "stdout"}, {"core.no_more", "f", "; or so", 0, 1, 5},
    {"core.open_file", folder .. "beside"}, {"core.create_beside", folder .. "beside"}, {"core.sync", io.stdout},
    {"core.matrix.decode", ts.ones(2, 2), 0, ("\1"):rep(4), "u1", false}, {"core.matrix.encode", ts.ones(2, 2), 0, 4, "f8", false},
    {"core.matrix.from_bytes", "f64", 1, 2, "\1\2", 0, "u1", false, false}, {"core.matrix.worst", X, O},
    {"core.program.bound", mask:program(), 1, 3, 1, 3, 1, 1}, {"core.program.run", mask:program(), 1, 2, 1, 3, 1, 0.5},
    {"core.program.score", o.score, "f32", 1, 1, 1, {0.5, 1}},
    {"core.program.survey", {1, 2, 3}}, {"core.matrix.next_seed"}, {"core.versions"}, {"core.bandwidth", 1 << 16, 1},
    {"core.peak", "f32", 1},
    {"core.mask.called", 2, 2, nil, causal}, {"core.mask.ask", causal, 1, 2}, {"core.mask.parse", "1.\n.1\n"},
    {"core.mask.new", 3, 3, nil, mask:program()},
    {"core.program.new", {{"i"}, {"j"}, {"ile", 2, 1}}},
    {"wide __add", o.wide, o.wide}, {"wide __eq", o.wide, o.wide},
  }
  -- What stands in the C module too is the same function.
  for n = 1, #list do
    local name = list[n][1]:match "^ts%.([a-z]+)$"
    if name and core.matrix[name] then
      list[#list + 1] = {"core.matrix." .. name, table.unpack(list[n], 2)}
    end
  end
  return list
end

return {objects = objects, calls = calls}
