--- Masks: which keys a query may use.
--
-- `ts.mask(n_q, n_k, predicate)` makes one from a plain Lua function; `ts.mask.NAME(...)` are the
-- masks that people use, each written with such a predicate. Queries i and keys j count from 1.
-- `size` is n for an n × n mask, or {n_q, n_k}. Where n_q ≠ n_k the last query sits on the last
-- key: `offset` = n_k - n_q is added to i, and an option of that name moves it.

local core = require "tessera.core"
local check = require "tessera.check"
local exact = require "tessera.exact"
local lift = require "tessera.lift"

require "tessera.ask"

local LIMIT <const> = 1 << 53 -- of indices, as of every mask's sides: sums of a few of them do not wrap
local mask = {}

--- Makes a mask of `n_q` queries by `n_k` keys from a predicate.
--
-- The predicate is called as `predicate(i, j)`, from 1: `true` keeps the key, `false` or `nil` drops
-- it, anything else is an error. With `{heads = n}` it is called as `predicate(i, j, h)`. It is read
-- once, now, with its upvalues and whatever they hold, and what it could raise is raised now.
-- `m.kind` tells whether it was "lifted" into a program of the core, or had to be "called" for each
-- cell; `m:explain()` tells why.
--     local near = ts.mask(1024, 1024, function(i, j) return j <= i and i - j < 256 end)
---@param n_q integer queries, 0 or more
---@param n_k integer keys, 0 or more
---@param predicate fun(i: integer, j: integer, h?: integer): boolean?
---@param options? {heads: integer}
---@return mask
local function new(_, n_q, n_k, predicate, options)
  n_q = check.count(n_q, 1, "mask", "n_q", 0)
  check.arg(type(n_k) ~= "function", 2, "mask", "n_k is missing: ts.mask(n_q, n_k, predicate)")
  n_k = check.count(n_k, 2, "mask", "n_k", 0)
  check.arg(type(predicate) == "function", 3, "mask", "function expected, got %s", check.type_of(predicate))
  local heads = core.options(options, 4, "mask", {heads = "positive"}).heads
  check.arg(heads or debug.getinfo(predicate, "u").nparams < 3, 4, "mask",
    "a predicate of (i, j, h) needs {heads = n}")
  return lift.mask(n_q, n_k, heads, predicate)
end

-- Arguments -------------------------------------------------------------------------------------

-- Both sides of `size`, the first argument (unless it is argument n) of the library function `name`.
local function sides(size, name, n)
  local n_q, n_k = size, size
  local is_list = check.type_of(size) == "table"
  if is_list then n_q, n_k = size[1], size[2] end
  n_q, n_k = math.tointeger(n_q), math.tointeger(n_k)
  check.arg(n_q and n_k and n_q >= 0 and n_k >= 0 and (not is_list or #size == 2), n or 1, name,
    "size is n or {n_q, n_k}, whole numbers from 0 up")
  return n_q, n_k
end

-- Both sides, and what is added to a query's index to find the key it sits on. A number where options stand is mostly n_k.
local function placed(size, options, n, name)
  local n_q, n_k = sides(size, name)
  check.arg(not math.type(options), n, name, "table expected, got number%s", exact.two_sides)
  local offset = core.options(options, n, name, {offset = "integer"}).offset or n_k - n_q
  check.arg(-LIMIT < offset and offset < LIMIT, n, name, "field 'offset': %d is too large", offset)
  return n_q, n_k, offset
end

-- The list at argument `n` as integers from `low` to `high`.
local function integers(list, n, name, low, high)
  check.arg(check.type_of(list) == "table", n, name, "list expected, got %s", check.type_of(list))
  local copy = {}
  for k = 1, #list do
    local x = math.tointeger(list[k])
    if not x or x < low or x > high then
      check.arg(false, n, name, "element %d is %s, not a whole number from %d to %d", k,
        list[k], low, high)
    end
    copy[k] = x
  end
  return copy
end

-- Raises as the mask itself would, before what it needs takes all memory; of floats, whose product does not wrap.
local function check_size(rows, cols)
  check.that(rows < LIMIT and cols < LIMIT and rows * cols <= 2.0 ^ 62, "a %.0fx%.0f mask is too large", rows, cols)
end

-- For pieces of these lengths, laid one behind another: the number of the piece that each token is in.
local function numbered(lengths)
  local piece, n, total = {}, 0, 0.0
  for _, length in ipairs(lengths) do total = total + length end
  check_size(total, total)
  for p, length in ipairs(lengths) do
    for _ = 1, length do
      n = n + 1
      piece[n] = p
    end
  end
  return piece, n
end

-- The library -----------------------------------------------------------------------------------

--- Every query may use every key. A side may be 0, as in all of these: then there is no cell.
--     ts.mask.full{2, 5}
---@param size integer|integer[]
---@return mask
function mask.full(size)
  local n_q, n_k = sides(size, "full")
  return mask(n_q, n_k, function() return true end)
end

--- No query may use any key: every row is ⊥.
--     ts.mask.none(4):empty_rows()    --> {1, 2, 3, 4}
---@param size integer|integer[]
---@return mask
function mask.none(size)
  local n_q, n_k = sides(size, "none")
  return mask(n_q, n_k, function() return false end)
end

--- Causal attention (Vaswani et al. 2017): no query sees a later key: j ≤ i + offset. The corner is at the
-- bottom right: with n_q < n_k the first row sees n_k - n_q + 1 keys, with n_q > n_k the first n_q - n_k rows
-- are empty. `offset = 0` puts it at the top left.
--     ts.mask.causal{2, 5}    -- row 1 sees keys 1..4, row 2 all five
---@param size integer|integer[]
---@param options? {offset: integer}
---@return mask
function mask.causal(size, options)
  local n_q, n_k, offset = placed(size, options, 2, "causal")
  return mask(n_q, n_k, function(i, j) return j <= i + offset end)
end

--- A sliding window (Beltagy et al. 2020): `left` keys before the query's own, and `right` behind it,
-- the own key besides; `window(n, w - 1, 0)` shows w keys. The first and last rows see fewer; a window
-- larger than n is `full`; `math.huge` is no limit. With n_q ≠ n_k the own key of query i is i + offset.
--     ts.mask.window(6, 2, 0)    -- rows see 1, 2, 3, 3, 3, 3 keys
---@param size integer|integer[]
---@param left number a whole number from 0 up, or math.huge
---@param right number likewise
---@param options? {offset: integer}
---@return mask
function mask.window(size, left, right, options)
  local n_q, n_k, offset = placed(size, options, 4, "window")
  left = left == math.huge and left or check.count(left, 2, "window", "left", 0)
  right = right == math.huge and right or check.count(right, 3, "window", "right", 0)
  return mask(n_q, n_k, function(i, j)
    local distance = j - (i + offset)
    return -left <= distance and distance <= right
  end)
end

--- Causal attention within chunks of `chunk` keys (Llama 4): j ≤ i + offset, both in one chunk. The first chunk
-- starts at key 1, the last one may be ragged; the first query of a chunk sees itself alone. A chunk of n_k or
-- more is causal. A query that sits before key 1 (n_q > n_k) sees nothing.
--     ts.mask.chunked(6, 4)    -- rows see 1, 2, 3, 4, 1, 2 keys
---@param size integer|integer[]
---@param chunk integer 1 or more
---@param options? {offset: integer}
---@return mask
function mask.chunked(size, chunk, options)
  local n_q, n_k, offset = placed(size, options, 3, "chunked")
  chunk = check.count(chunk, 2, "chunked", "chunk", 1)
  return mask(n_q, n_k, function(i, j)
    local own = i + offset
    return j <= own and (own - 1) // chunk == (j - 1) // chunk
  end)
end

--- A prefix of `p` keys that everyone sees, and causal behind it (Raffel et al. 2020, "prefix LM").
-- p = 0 is causal, and so is p = 1 for n × n; p ≥ n_k is full. With n_q ≠ n_k the causal part is bottom-right.
--     ts.mask.prefix(4, 2)    -- rows see 2, 2, 3, 4 keys
---@param size integer|integer[]
---@param p integer keys, 0 or more
---@return mask
function mask.prefix(size, p)
  local n_q, n_k, offset = placed(size, nil, 3, "prefix")
  p = check.count(p, 2, "prefix", "p", 0)
  return mask(n_q, n_k, function(i, j) return j <= p or j <= i + offset end)
end

--- Packed documents (Krell et al. 2021): a query sees its own document, all of it; `& causal(n)` gives the
-- causal form. From the documents' lengths, or from one id for each token. A negative id is padding:
-- it is in no document, sees nothing and is seen by nothing. Documents of length 0 are legal, and so is
-- no document (0 × 0). Tokens of one id need not lie together.
--     ts.mask.documents{3, 5, 2} & ts.mask.causal(10)
--     ts.mask.documents{ids = {0, 0, 1, 1, -1, -1}}
---@param lengths integer[]|{ids: integer[]}
---@return mask n × n, for the n tokens of all documents
function mask.documents(lengths)
  check.arg(check.type_of(lengths) == "table", 1, "documents", "list of lengths or {ids = list} expected, got %s",
    check.type_of(lengths))
  local ids, n
  if lengths.ids ~= nil then
    ids = integers(core.options(lengths, 1, "documents", {ids = "table"}).ids, 1, "documents",
      math.mininteger, math.maxinteger)
    n = #ids
  else
    ids, n = numbered(integers(lengths, 1, "documents", 0, math.maxinteger))
  end
  return mask(n, n, function(i, j)
    local own = ids[i]
    return own >= 0 and own == ids[j]
  end)
end

--- Padding: only `real` keys are there, the first ones, or with `side = "left"` the last ones. It
-- says nothing of queries: rows of padding see the real keys, and are the user's to ignore. 0 real keys leave
-- every row empty, n_k is full.
--     ts.mask.padding(8, 5, {side = "left"}) & ts.mask.causal(8)
---@param size integer|integer[]
---@param real integer keys, from 0 to n_k
---@param options? {side: "right"|"left"} where the padding lies; "right" unless given
---@return mask
function mask.padding(size, real, options)
  local n_q, n_k = sides(size, "padding")
  real = check.count(real, 2, "padding", "real", 0)
  check.arg(real <= n_k, 2, "padding", "%d real keys of %d", real, n_k)
  local first = 1
  if core.options(options, 3, "padding", {side = {"right", "left"}}).side == "left" then
    first = n_k - real + 1
  end
  local last = first + real - 1
  return mask(n_q, n_k, function(_, j) return first <= j and j <= last end)
end

--- Dilated attention (Beltagy et al. 2020): every `step`-th key up to `reach` away on both sides, the own
-- key among them. step = 1 is a window; a reach of n or more is every key of i's residue. Query i sits on key
-- i, also with n_q ≠ n_k: rows further than `reach` behind the last key are empty.
--     ts.mask.dilated(7, 4, 2) & ts.mask.causal(7)
---@param size integer|integer[]
---@param reach integer keys, 0 or more
---@param step integer 1 or more
---@return mask
function mask.dilated(size, reach, step)
  local n_q, n_k = sides(size, "dilated")
  reach = check.count(reach, 2, "dilated", "reach", 0)
  step = check.count(step, 3, "dilated", "step", 1)
  return mask(n_q, n_k, function(i, j)
    local distance = math.abs(j - i)
    return distance <= reach and distance % step == 0
  end)
end

--- Global tokens (Beltagy et al. 2020): they see all, and all see them; the others see nothing else. Naming one
-- twice is naming it once; without any, every row is empty.
--     ts.mask.global(512, {1}) | ts.mask.window(512, 64, 64)
---@param n integer
---@param tokens integer[] their indices, from 1 to n
---@return mask n × n
function mask.global(n, tokens)
  n = check.count(n, 1, "global", "n", 0)
  local chosen = {}
  for _, token in ipairs(integers(tokens, 2, "global", 1, n)) do chosen[token] = true end
  return mask(n, n, function(i, j) return chosen[i] or chosen[j] end)
end

--- Strided attention (Child et al. 2019): causal, the last `stride` keys and every `stride`-th before. The first
-- `stride` rows are causal, and so is all where stride is 1, or n or more.
--     ts.mask.strided(9, 3)    -- row 9 sees keys 3, 6, 7, 8, 9
---@param n integer
---@param stride integer 1 or more
---@return mask n × n
function mask.strided(n, stride)
  n = check.count(n, 1, "strided", "n", 0)
  stride = check.count(stride, 2, "strided", "stride", 1)
  return mask(n, n, function(i, j)
    return j <= i and (i - j < stride or (i - j) % stride == 0)
  end)
end

--- Longformer (Beltagy et al. 2020): a window of `radius` keys on both sides, and global tokens. A radius of n or
-- more is full.
--     ts.mask.longformer(4096, 256, {1})
---@param n integer
---@param radius integer keys on each side, 0 or more
---@param tokens integer[] the indices of the global tokens, from 1 to n
---@return mask n × n
function mask.longformer(n, radius, tokens)
  n, radius = check.count(n, 1, "longformer", "n", 0), check.count(radius, 2, "longformer", "radius", 0)
  return mask.window(n, radius, radius) | mask.global(n, integers(tokens, 3, "longformer", 1, n))
end

-- A number from 0 to 2^53 - 1 that depends on its three integers alone: the finaliser of SplitMix64
-- (Steele et al. 2014), twice. Plain integer arithmetic, which can be lifted.
local function hash(seed, i, j)
  local x = (i * 0x9E3779B97F4A7C15 ~ seed) + j * 0xD1B54A32D192ED03
  x = (x ~ x >> 30) * 0xBF58476D1CE4E5B9
  x = (x ~ x >> 27) * 0x94D049BB133111EB
  x = (x ~ x >> 31) * 0xBF58476D1CE4E5B9
  x = (x ~ x >> 29) * 0x94D049BB133111EB
  return (x ~ x >> 32) >> 11
end

-- The r-th number from 1 up that `skipped`, an ascending list, does not hold.
local function nth_free(r, skipped)
  for _, number in ipairs(skipped) do
    if number > r then break end
    r = r + 1
  end
  return r
end

-- For each of `rows` block rows, `count` different blocks out of those that are not in the ascending
-- list `taken(row)` (all of these where they are fewer): lists[k][row] is the k-th, or 0.
local function drawn(rows, count, seed, taken)
  local lists = {}
  for k = 1, count do lists[k] = {} end
  for row = 1, rows do
    local skipped = taken(row)
    for k = 1, count do
      local free, pick = rows - #skipped, 0
      if free > 0 then
        pick = nth_free(hash(seed, row, k) % free + 1, skipped)
        table.insert(skipped, pick)
        table.sort(skipped)
      end
      lists[k][row] = pick
    end
  end
  return lists
end

--- BigBird (Zaheer et al. 2020), by blocks of `block` tokens: `window` blocks around the diagonal, the first
-- and the last `global` blocks as rows and as columns, and `random` further blocks in each other row,
-- drawn from `seed`: they are none of the others, and all that is left where fewer are left. A ragged last
-- block is a block. Unless given, block = 64, window = 3 (it must be odd), random = 3, global = 1, seed = 0.
--     ts.mask.bigbird(4096, {block = 64, window = 3, random = 3, global = 2, seed = 1})
---@param n integer
---@param options? {block: integer, window: integer, random: integer, global: integer, seed: integer}
---@return mask n × n
function mask.bigbird(n, options)
  n = check.count(n, 1, "bigbird", "n", 0)
  check_size(n + 0.0, n)
  local o = core.options(options, 2, "bigbird",
    {block = "positive", window = "positive", random = "count", global = "count", seed = "integer"})
  local block, reach = o.block or 64, (o.window or 3) // 2
  check.arg((o.window or 3) % 2 == 1, 2, "bigbird", "window is %d, not odd", o.window)
  local blocks = n // block + (n % block > 0 and 1 or 0)
  local edge, random = math.min(o.global or 1, blocks), math.min(o.random or 3, blocks)
  local function is_taken(row, b)
    return row <= edge or row > blocks - edge or b <= edge or b > blocks - edge
      or math.abs(row - b) <= reach
  end
  local picks = drawn(blocks, random, o.seed or 0, function(row)
    local list = {}
    for b = 1, edge do list[b] = b end
    for b = math.max(edge + 1, row - reach), math.min(blocks - edge, row + reach) do
      list[#list + 1] = b
    end
    for b = math.max(edge, blocks - edge) + 1, blocks do list[#list + 1] = b end
    return list
  end)
  return mask(n, n, function(i, j)
    local row, b = (i - 1) // block + 1, (j - 1) // block + 1
    if is_taken(row, b) then return true end
    for k = 1, #picks do
      if picks[k][row] == b then return true end
    end
    return false
  end)
end

--- Neighbourhood attention (Hassani et al. 2023) on a canvas of rows × cols cells, laid out row by row:
-- a query sees the krows × kcols cells around it. At the rim the neighbourhood is pushed back
-- inside, so that every query sees as many; where the kernel is larger than the canvas, all of that
-- side. An even kernel reaches one cell further up and left.
--     ts.mask.natten({32, 32}, {7, 7})
---@param canvas integer[] {rows, cols}
---@param kernel integer[] {krows, kcols}, 1 or more
---@return mask rows · cols on both sides
function mask.natten(canvas, kernel)
  local sizes = integers(canvas, 1, "natten", 0, math.maxinteger)
  local reach = integers(kernel, 2, "natten", 1, math.maxinteger)
  check.arg(#sizes == 2, 1, "natten", "{rows, cols} expected")
  check.arg(#reach == 2, 2, "natten", "{krows, kcols} expected")
  local rows, cols, krows, kcols = sizes[1], sizes[2], reach[1], reach[2]
  check_size(rows * (cols + 0.0), rows * (cols + 0.0))
  -- Whether cell b is among the k around cell a, on a side of `length` cells counted from 0.
  local function near(a, b, k, length)
    local first = math.max(0, math.min(a - k // 2, length - k))
    return first <= b and b < first + k
  end
  return mask(rows * cols, rows * cols, function(i, j)
    return near((i - 1) // cols, (j - 1) // cols, krows, rows)
      and near((i - 1) % cols, (j - 1) % cols, kcols, cols)
  end)
end

-- A list of zeros from 0 to n: what is then filled in any order stays an array of Lua's.
local function zeros(n)
  local list = {[0] = 0}
  for i = 1, n do list[i] = 0 end
  return list
end

-- Numbers the nodes of a forest so that those under node i are first[i] .. last[i]: in the order in
-- which a walk from the roots meets them. Nodes on a cycle are not met, and get none.
local function walked(parents)
  local n = #parents
  local child, sibling = zeros(n), zeros(n) -- of 0, the first root; and the next node with the same parent; 0: none
  for i = n, 1, -1 do
    sibling[i], child[parents[i]] = child[parents[i]], i
  end
  local first, last, count = zeros(n), zeros(n), 0
  local node = child[0]
  while node ~= 0 do
    count = count + 1
    first[node] = count
    if child[node] ~= 0 then
      node = child[node]
    else
      last[node] = count
      while node ~= 0 and sibling[node] == 0 do
        node = parents[node]
        last[node] = count
      end
      node = sibling[node]
    end
  end
  return first, last, count
end

--- A tree of tokens (Miao et al. 2024, SpecInfer): a query sees itself, its ancestors, and the
-- `prefix` keys before the tree. parents[i] is the parent of token i, 0 for a root, of which there may be
-- several; a parent may come behind its child, but nothing may be its own ancestor.
--     ts.mask.tree({0, 1, 1, 2}, {prefix = 128})
---@param parents integer[]
---@param options? {prefix: integer} 0 unless given
---@return mask n × (prefix + n), for n parents
function mask.tree(parents, options)
  local above = integers(parents, 1, "tree", 0, type(parents) == "table" and #parents or 0)
  local prefix = core.options(options, 2, "tree", {prefix = "count"}).prefix or 0
  local n = #above
  check_size(n, prefix + 0.0 + n)
  local first, last, met = walked(above)
  check.arg(met == n, 1, "tree", "nodes on a cycle, or under one: %d", n - met)
  return mask(n, prefix + n, function(i, j)
    if j <= prefix then return true end
    local key = j - prefix
    return first[key] <= first[i] and first[i] <= last[key]
  end)
end

--- Pieces that share prefixes (as in Hydragen, Juravsky et al. 2024): piece p sees itself causally, and
-- the whole of piece prefix[p], which is p itself where p is a prefix (and then sees no other). Only that one: the
-- prefix of a prefix is not seen. Pieces may have length 0.
--     ts.mask.shared_prefix({100, 20, 30}, {1, 1, 1})    -- two answers to one question
---@param lengths integer[]
---@param prefix integer[] for each piece, the number of its prefix
---@return mask n × n, for the n tokens of all pieces
function mask.shared_prefix(lengths, prefix)
  local length = integers(lengths, 1, "shared_prefix", 0, math.maxinteger)
  local before = integers(prefix, 2, "shared_prefix", 1, #length)
  check.arg(#before == #length, 2, "shared_prefix", "a list of %d for %d piece(s)", #before, #length)
  local piece, n = numbered(length)
  local seen = {}
  for i = 1, n do seen[i] = before[piece[i]] end
  return mask(n, n, function(i, j)
    local p = piece[j]
    return piece[i] == p and j <= i or piece[i] ~= p and seen[i] == p
  end)
end

--- Block diffusion (Arriola et al. 2025): 2n tokens, n noised ones and then the n clean ones. A token sees
-- its own block of its own kind, and the clean tokens of earlier blocks: the first block sees itself alone. The
-- last block may be ragged; a block of n or more leaves two full squares.
--     ts.mask.block_diffusion(1024, 16)
---@param n integer clean tokens
---@param block integer 1 or more
---@return mask 2n × 2n
function mask.block_diffusion(n, block)
  n = check.count(n, 1, "block_diffusion", "n", 0)
  check_size(2.0 * n, 2.0 * n)
  block = check.count(block, 2, "block_diffusion", "block", 1)
  return mask(2 * n, 2 * n, function(i, j)
    local row, col = (i - 1) % n // block, (j - 1) % n // block
    if row == col then return (i <= n) == (j <= n) end
    return j > n and col < row
  end)
end

--- Blocks of q × k cells, kept where the matrix B has no 0: cell (i, j) is B(⌈i/q⌉, ⌈j/k⌉). The last blocks may
-- be ragged; what B has beyond them is not read.
--     ts.mask.blocks(ts.matrix{{1, 0}, {1, 1}}, 64, 64, 100)
---@param B matrix at least ⌈n_q/q⌉ × ⌈n_k/k⌉
---@param q integer rows of a block
---@param k integer keys of a block
---@param size integer|integer[]
---@return mask
function mask.blocks(B, q, k, size)
  local rows, cols = check.type(B, "matrix", 1, "blocks"):shape()
  q = check.count(q, 2, "blocks", "q", 1)
  k = check.count(k, 3, "blocks", "k", 1)
  local n_q, n_k = sides(size, "blocks", 4)
  check.arg(rows * (q + 0.0) >= n_q and cols * (k + 0.0) >= n_k, 1, "blocks",
    "%d x %d blocks of %d x %d do not cover %d x %d", rows, cols, q, k, n_q, n_k)
  return mask(n_q, n_k, function(i, j) return B((i - 1) // q + 1, (j - 1) // k + 1) ~= 0 end)
end

--- A mask from a matrix: keeps what is not 0. NaN is an error. A copy: later changes of M do not count.
--     ts.mask.from(ts.matrix{{1, 0}, {1, 1}})
---@param M matrix
---@return mask of M's shape
mask.from = core.mask.from

--- A mask from a drawing, one line a row: `1`, `#`, `x` keep, `0`, `.`, `-` drop. `m:text()` writes one. Blanks
-- and empty lines do not count; no line at all is 0 × 0.
--     ts.mask.parse "x..\n xx.\n xxx"
---@param text string
---@return mask
mask.parse = core.mask.parse

--- A random mask: each cell is kept with probability `density`, by a draw that depends on (seed, i, j) alone,
-- so that a larger mask of the same seed holds the smaller one, and a denser one the thinner one.
--     ts.mask.random(1024, 0.1, {seed = 7})
---@param size integer|integer[]
---@param density number from 0 to 1
---@param options? {seed: integer} 0 unless given
---@return mask
function mask.random(size, density, options)
  local n_q, n_k = sides(size, "random")
  check.arg(math.type(density) and density >= 0 and density <= 1, 2, "random",
    "density is %s, not a number from 0 to 1", density)
  local seed = core.options(options, 3, "random", {seed = "integer"}).seed or 0
  local limit = math.ceil(density * 2.0 ^ 53)
  return mask(n_q, n_k, function(i, j) return hash(seed, i, j) < limit end)
end

return check.closed(mask, "ts.mask", new)
