--- checkpoint.lua -- attention layers from files of weights, by the names that common models give them.

local check = require "tessera.check"
local core = require "tessera.core"
local files = require "tessera.files"
local make = require "tessera.heads.make"

local checkpoint = {}

-- How models name what a layer takes, behind a prefix of their own: W_Q, W_K, W_V apart or in one matrix. Weights
-- are stored as PyTorch's Linear stores them, output x input, unless `plain`. `mixed`: the rows of the one
-- matrix are ordered by head first, then q, k, v.
local layouts = {
  {q = "query.weight", k = "key.weight", v = "value.weight", o = "output.weight"},
  {q = "self.query.weight", k = "self.key.weight", v = "self.value.weight", o = "output.dense.weight"}, -- BERT
  {q = "attention.query.weight", k = "attention.key.weight", v = "attention.value.weight", o = "output.dense.weight"}, -- ViT
  {q = "q_proj.weight", k = "k_proj.weight", v = "v_proj.weight", o = "o_proj.weight"}, -- Llama, Mistral, Qwen
  {q = "q_proj.weight", k = "k_proj.weight", v = "v_proj.weight", o = "out_proj.weight"}, -- OPT, CLIP, BART
  {q = "q_lin.weight", k = "k_lin.weight", v = "v_lin.weight", o = "out_lin.weight"}, -- DistilBERT
  {q = "wq.weight", k = "wk.weight", v = "wv.weight", o = "wo.weight"}, -- Llama as Meta keeps it
  {q = "to_q.weight", k = "to_k.weight", v = "to_v.weight", o = "to_out.0.weight"}, -- diffusers
  {q = "q.weight", k = "k.weight", v = "v.weight", o = "o.weight"}, -- T5
  {qkv = "in_proj_weight", o = "out_proj.weight"}, -- PyTorch's MultiheadAttention
  {qkv = "qkv.weight", o = "proj.weight"}, -- timm
  {qkv = "Wqkv.weight", o = "out_proj.weight"}, -- FlashAttention's MHA
  {qkv = "qkv_proj.weight", o = "o_proj.weight"}, -- Phi-3
  {qkv = "c_attn.weight", o = "c_proj.weight", plain = true}, -- GPT-2
  {qkv = "query_key_value.weight", o = "dense.weight", mixed = true}, -- GPT-NeoX, BLOOM
}

local letters = {"qkv", "q", "k", "v", "o"}

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

-- Whether a prefix is of the layer asked for: a number stands between dots, a text at the end.
local function is_of_layer(prefix, layer)
  if layer == nil then return true end
  if math.type(layer) then return ("." .. prefix):find("." .. math.tointeger(layer) .. ".", 1, true) ~= nil end
  return prefix == layer or prefix == layer .. "."
end

-- The tensors of a layout behind a prefix: full names by letter, and the list of those that are missing.
local function resolved(layout, prefix, present)
  local found, missing = {prefix = prefix, plain = layout.plain, mixed = layout.mixed}, {}
  for _, letter in ipairs(letters) do
    if layout[letter] then
      found[letter] = prefix .. layout[letter]
      if not present[found[letter]] then missing[#missing + 1] = found[letter] end
    end
  end
  return found, missing
end

-- All places in the file where a known layout is complete; and the one that misses least where none is.
local function search(names, layer)
  local present, complete, nearest, least = set_of(names), {}, nil, math.huge
  for _, layout in ipairs(layouts) do
    local first = layout.q or layout.qkv
    for _, name in ipairs(names) do
      local prefix = name:sub(-#first) == first and name:sub(1, -#first - 1)
      if prefix and (prefix == "" or prefix:find("%.$")) and is_of_layer(prefix, layer) then
        local found, missing = resolved(layout, prefix, present)
        if #missing == 0 then complete[#complete + 1] = found end
        if #missing < least then nearest, least = missing, #missing end
      end
    end
  end
  return complete, nearest
end

local function prefixes(found)
  local list = {}
  for i = 1, math.min(#found, 6) do list[i] = "'" .. found[i].prefix .. "'" end
  if #found > 6 then list[7] = ("and %d more"):format(#found - 6) end
  return table.concat(list, ", ")
end

-- The names that the caller gave, {layer} in them replaced.
local function named(given, layer, names, path)
  local present, found, missing = set_of(names), {}, {}
  for _, letter in ipairs(letters) do
    if given[letter] ~= nil then
      check.arg(type(given[letter]) == "string", 2, "load", "field 'names': string expected for %s, got %s", letter,
        check.type_of(given[letter]))
      found[letter] = given[letter]:gsub("{layer}", (tostring(layer):gsub("%%", "%%%%")))
      if not present[found[letter]] then missing[#missing + 1] = found[letter] end
    end
  end
  check.arg(found.o and (found.qkv or found.q and found.k and found.v), 2, "load",
    "field 'names': o, and qkv or q, k and v expected")
  check.that(#missing == 0, "cannot load a layer from '%s': it has no '%s'", path, table.concat(missing, "', '"))
  return found
end

local function find(path, names, options)
  if options.names then return named(options.names, options.layer, names, path) end
  local complete, nearest = search(names, options.layer)
  local of_layer = options.layer and (" of layer '%s'"):format(options.layer) or ""
  check.that(#complete > 0 or not nearest, "cannot load a layer from '%s': it has no '%s'", path,
    table.concat(nearest or {}, "', '"))
  check.that(#complete > 0, "cannot load a layer from '%s': no attention weights%s with names that are known; give {names = "
    .. "{q =, k =, v =, o =}}", path, of_layer)
  check.that(#complete == 1, "cannot load a layer from '%s': there are %d; say which with {layer = }: %s", path, #complete,
    prefixes(complete))
  return complete[1]
end

-- The bias that belongs to a weight: the same name with bias for weight.
local function bias_name(name) return (name:gsub("weight$", "bias")) end

-- Columns first + 1 .. first + count.
local function columns(m, first, count) return m:slice(1, m.rows, first + 1, first + count) end

-- W_Q | W_K | W_V of a fused matrix (or bias), inputs in rows, as three.
local function split(all, sizes, mixed, path)
  local q, kv = sizes.heads * sizes.d_h, sizes.kv_heads * sizes.d_h
  check.that(all.cols == q + 2 * kv, "cannot load a layer from '%s': %d column(s) for %d and twice %d key head(s) of %d", path,
    all.cols, sizes.heads, sizes.kv_heads, sizes.d_h)
  if not mixed then return columns(all, 0, q), columns(all, q, kv), columns(all, q + kv, kv) end
  local parts, d = {{}, {}, {}}, sizes.d_h
  for h = 0, sizes.heads - 1 do
    for part = 1, 3 do parts[part][h + 1] = columns(all, (3 * h + part - 1) * d, d) end
  end
  return core.matrix.hcat(table.unpack(parts[1])), core.matrix.hcat(table.unpack(parts[2])),
    core.matrix.hcat(table.unpack(parts[3]))
end

-- Heads, key heads and the width of one, from what the caller says, the metadata, and the shapes.
local function sizes_of(found, tensors, options, metadata, path)
  local count = options.heads or math.tointeger(tonumber(metadata.heads))
  check.that(count and count > 0, "cannot load a layer from '%s': say how many heads with {heads = n}", path)
  local into = tensors[found.o].rows -- of W^O, h * d_vh
  local kv = options.kv_heads or math.tointeger(tonumber(metadata.kv_heads))
  check.that(not kv or kv > 0, "cannot load a layer from '%s': %d key heads", path, kv)
  local q_cols = found.q and tensors[found.q].cols or into
  check.that(q_cols % count == 0, "cannot load a layer from '%s': %d column(s) of W_Q, which %d heads do not divide", path,
    q_cols, count)
  local d_h = q_cols // count
  if kv or d_h == 0 then return {heads = count, kv_heads = kv or count, d_h = d_h} end
  local name = found.k or found.qkv
  local both = found.k and 2 * tensors[name].cols or tensors[name].cols - q_cols -- the columns of W_K and W_V
  check.that(both > 0 and both % (2 * d_h) == 0, "cannot load a layer from '%s': '%s' has %d column(s), no whole number of heads of %d",
    path, name, tensors[name].cols, d_h)
  return {heads = count, kv_heads = both // (2 * d_h), d_h = d_h}
end

-- The tensors of `found` by name, in the layer's dtype and with inputs in rows; and their biases.
local function read(path, found, options, all_names)
  local present, tensors, biases = set_of(all_names), {}, {}
  local transposed = options.transposed
  if transposed == nil then transposed = not found.plain end
  for _, letter in ipairs(letters) do
    local name = found[letter]
    if name then
      local m = files.load(path, name):to(options.dtype or "f64")
      tensors[name] = transposed and m:t() or m
      if present[bias_name(name)] and bias_name(name) ~= name then
        biases[letter] = files.load(path, bias_name(name)):to(options.dtype or "f64")
      end
    end
  end
  return tensors, biases
end

--- See ts.heads.load.
function checkpoint.load(path, options)
  check.type(path, "string", 1, "load")
  local ending = path:lower():match "%.%w+$"
  check.arg(ending == ".safetensors" or ending == ".npz", 1, "load", "the ending of '%s' is neither .safetensors nor .npz", path)
  options = core.options(options, 2, "load", {layer = "any", names = "table", heads = "positive", kv_heads = "positive",
    transposed = "boolean", rope = "any", dtype = "dtype"})
  check.arg(options.layer == nil or type(options.layer) == "string" or check.whole(options.layer, 0), 2, "load",
    "field 'layer': whole number or text expected, got %s", options.layer)
  local all_names = files.names(path)
  local found = find(path, all_names, options)
  local tensors, biases = read(path, found, options, all_names)
  local sizes = sizes_of(found, tensors, options, files.metadata(path), path)
  local fields = {heads = sizes.heads, kv_heads = sizes.kv_heads, WO = tensors[found.o], bO = biases.o, rope = options.rope,
    dtype = options.dtype, WQ = tensors[found.q], WK = tensors[found.k], WV = tensors[found.v], bQ = biases.q, bK = biases.k,
    bV = biases.v}
  if found.qkv then
    fields.WQ, fields.WK, fields.WV = split(tensors[found.qkv], sizes, found.mixed, path)
    if biases.qkv then fields.bQ, fields.bK, fields.bV = split(biases.qkv, sizes, found.mixed, path) end
  end
  return make(fields)
end

return checkpoint
