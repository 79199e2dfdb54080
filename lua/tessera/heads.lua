--- heads.lua -- multi-head attention layers: Concat(H_1 … H_h) W^O with H_i = Attn(Q W_i^Q, K W_i^K, V W_i^V).

local check = require "tessera.check"
local core = require "tessera.core"
local call = require "tessera.heads.call"
local exact = require "tessera.exact"
local layer = require "tessera.heads.layer"
local projections = require "tessera.heads.projections"

local heads = {}

--- What a layer has: its sizes, and its weights as views that can be set or assigned.
---     local layer = ts.heads{heads = 4, d_q = 8, bias = true, seed = 1}
---     layer.d_h, layer.WQ[1].rows, layer.WQ[1].cols, layer.WO.rows --> 2  8  2  8
---     layer.WQ[2] = ts.zeros(8, 2)
---     layer.bO:fill(1);
---@class layer
---@field heads integer query heads
---@field kv_heads integer key heads
---@field d_q integer the width of the query input
---@field d_k integer the width of the key input
---@field d_v integer the width of the value input
---@field d_h integer the width of one head's queries and keys
---@field d_vh integer the width of one head's values
---@field d_o integer the width of the output
---@field dtype "f64"|"f32" of its weights
---@field WQ matrix[] W^Q of each query head, d_q × d_h
---@field WK matrix[] W^K of each key head, d_k × d_h
---@field WV matrix[] W^V of each key head, d_v × d_vh
---@field WO matrix W^O, heads·d_vh × d_o
---@field bQ matrix[]? the bias of each query head, 1 × d_h; nil where there is none
---@field bK matrix[]? the bias of each key head, 1 × d_h
---@field bV matrix[]? the bias of each key head's values, 1 × d_vh
---@field bO matrix? the bias of the output, 1 × d_o
---@field rope table? how queries and keys are turned, as of `ts.rope`
local methods = layer.methods

--- A multi-head attention layer. `heads` and `d_q` must be given; the other sizes follow:
--- * `kv_heads` = heads, a divisor of it: heads that share keys and values (grouped-query attention, GQA; multi-query with 1);
--- * `d_q`, `d_k`, `d_v`: the widths of its three inputs; `d_k` = d_q, `d_v` = d_k;
--- * `d_h` = d_q / heads: the width of a head's queries and keys; `d_vh` = d_h: that of its values;
--- * `d_o` = d_q: the width of the output.
--- `bias`: true, or a list of "q", "k", "v", "o". `rope`: true, or a table as of `ts.rope`; queries stand at the end of
--- the keys. `dtype`, and `seed` for the weights, which are drawn as PyTorch's MultiheadAttention draws them,
--- unless they are given: `WQ`, `WK`, `WV` as a list with one a head or as one matrix with the heads side by
--- side, `WO`, and `bQ`, `bK`, `bV`, `bO` likewise.
---
---     local layer = ts.heads{heads = 8, d_q = X.cols, bias = true, seed = 1}
---     local O = layer(X, {mask = ts.mask.causal(X.rows)})       -- or layer(X, Y), or layer(Q, K, V)
---     layer.WQ[3] = layer.WQ[3] * 2
---
--- A call takes the options `mask`, `score`, `scale`, `sink`, `base`, `empty`, `nonfinite`, `first_key` of `ts.problem`, and
--- `tiling`. mask, score, scale and sink may be lists with one a head, or functions of h alone
--- that give each head its own.
---@param fields table
---@return layer
local function new(_, fields) return require "tessera.heads.make"(fields) end

function layer.output(self, ...)
  local P, options, n = call.problem(self, "layer", ...)
  return call.finish(self, call.attention(P, options.tiling, n, "layer"))
end

--- The problem between the projections and W^O, for everything that can be asked of one. Arguments as of
--- the layer itself.
---     layer:problem(X, {mask = mask}):verify()
---@return problem
function methods:problem(...) return (call.problem(self, "problem", ...)) end

--- H_1 … H_h, each n_q x d_vh, before W^O. Arguments as of the layer itself.
---     local H = layer:heads_output(X); print(H[3])
---@return matrix[]
function methods:heads_output(...)
  local P, options, n = call.problem(self, "heads_output", ...)
  local concat, list = call.attention(P, options.tiling, n, "heads_output"), {}
  for h = 1, P.heads do list[h] = concat:slice(1, concat.rows, (h - 1) * P.d_v + 1, h * P.d_v) end
  return list
end

--- The attention weights of each head, n_q x n_k. Arguments as of the layer itself.
---     layer:weights(X)[3]:argmax("rows")    -- the key that each query of head 3 looks at most
---@return matrix[]
function methods:weights(...)
  local P, list = call.problem(self, "weights", ...), {}
  for h = 1, P.heads do list[h] = P:weights(h) end
  return list
end

--- How alike the heads attend, as a heads x heads matrix of cosines: of their attention weights, taken as
--- long vectors, 1 for two heads that attend alike and 0 for two that share no key. A head whose weights are
--- all 0 is like none, 0 to itself too. Arguments as of the layer itself.
---     print(layer:similarity(X))
---@return matrix
function methods:similarity(...)
  local P, weights, norms = call.problem(self, "similarity", ...), {}, {}
  for h = 1, P.heads do
    weights[h] = P:weights(h)
    norms[h] = weights[h]:norm()
  end
  local result = core.matrix.zeros(P.heads, P.heads, {dtype = P.dtype})
  for g = 1, P.heads do
    for h = g, P.heads do
      local size = norms[g] * norms[h]
      local cosine = size > 0 and weights[g]:mul(weights[h]):sum() / size or 0
      result:set(g, h, cosine)
      result:set(h, g, cosine)
    end
  end
  return result
end

--- How many numbers the layer has learnt or would learn: all weights and biases.
---     ts.heads{heads = 4, d_q = 8}:parameters() --> 256
---@return integer
function methods:parameters()
  local state, count = layer.state(self), 0
  local shapes = projections.shapes(state.sizes)
  for name, shape in pairs(shapes) do
    count = count + shape.rows * shape.cols + (state.has_bias[name] and shape.cols or 0)
  end
  return count
end

--- The layer with the heads in `list` switched off: the sum of the others through W^O (and its bias).
--- Heads keep their numbers; the rows of W^O that belong to those in `list` are 0. The weights are copies.
---     layer:without{3, 7}(X)
---@param list integer[]
---@return layer
function methods:without(list) return require "tessera.heads.ablation".without(self, list) end

--- A layer of the heads in `list` alone, in that order: head i is head list[i]. The weights are copies.
---     layer:only{1, 2}(X)
---@param list integer[]
---@return layer
function methods:only(list) return require "tessera.heads.ablation".only(self, list) end

--- A grouped-query layer with `kv_heads` key heads, each the mean of a group of this layer's (Ainslie et al.
--- 2023, §2.1); a divisor of the layer's own number.
---     layer:group(2)
---@param kv_heads integer
---@return layer
function methods:group(kv_heads) return require "tessera.heads.ablation".group(self, kv_heads) end

--- An empty cache for `layer:step`. `cache.length` says how many keys it holds.
---     local cache = layer:cache()
---@return cache
function methods:cache() return require "tessera.heads.cache".cache(self) end

--- Attention of new rows x to all rows so far, which `cache` keeps: their keys and values are appended. Row by
--- row or many rows at once, it gives what one causal call on all rows would have given, within rounding.
--- Options are those of a call; `mask` and `score` count queries and keys over the whole sequence, and a mask
--- takes the place of the causal one. `tiling` serves caches that were never forked.
---     local cache = layer:cache()
---     for i = 1, X.rows do print(layer:step(X:slice(i, i), cache)) end
--- Given lists of inputs and caches, it returns the list of outputs; keys that the caches share (see `fork`)
--- are summarised once for all of them.
---     local x = X:row(1)
---     local y = layer:step({x, x}, {cache, cache:fork()})
---@param x matrix|matrix[] n x d_q
---@param caches table|table[]
---@param options? table
---@return matrix|matrix[] n x d_o
function methods:step(x, cache, options) return require "tessera.heads.cache".step(self, x, cache, options) end

--- A layer from a `.safetensors` (or `.npz`) file. Its tensors are found by the names that common models use
--- (query, key, value; q_proj; in_proj_weight; c_attn; query_key_value; and more), with whatever stands before
--- them; an error tells what is missing, or which layers there are.
--- * `layer`: which, where there are several: a number that stands between dots in the names, or the text
---   before them.
--- * `names`: the full names, {q =, k =, v =, o =} or {qkv =, o =}, in which "{layer}" stands for the layer. A bias
---   has the same name with "bias" for "weight".
--- * `heads`, `kv_heads`: how many; where the file's metadata or the shapes do not tell.
--- * `transposed`: whether weights are stored output x input, as PyTorch's Linear does.
--- * `rope` as of `ts.heads`, and `dtype`, "f64" whatever the file's.
---
---     local layer = ts.heads.load("model.safetensors", {layer = 3, heads = 12})
---@param path string
---@param options? {layer: any, names: table?, heads: integer?, kv_heads: integer?, transposed: boolean?, rope: any, dtype: string?}
---@return layer
function heads.load(path, options) return require "tessera.heads.checkpoint".load(path, options) end

exact.all(methods, 1)
return check.closed(heads, "ts.heads", new)
