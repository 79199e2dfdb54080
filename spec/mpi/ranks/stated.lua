-- On every rank: problems of which each rank states its own rows; what they cost, and what is refused.
local ts = require "tessera"
local mpi = require "tessera.mpi"
local exchange = require "tessera.mpi.exchange"
local helper = require "spec.helper"
local ranks = require "tessera.mpi.core"

local n = 37
local P = ts.problem{Q = ts.randn(n, 12, {seed = 1}), K = ts.randn(n, 6, {seed = 2}), V = ts.randn(n, 10, {seed = 3}), heads = 4,
  kv_heads = 2, mask = function(i, j, h) return j <= i and (i + j) % 5 ~= h end, sink = {0, 1, 2, 3},
  score = function(s, i, j, h) return s - 0.1 * h * math.abs(i - j) end, empty = "zero"}
local Q, lse_of_all = P:softmax()
local bound = P:bound(false).output + P:bound{k = 1, merge = "online"}.output + P:bound{k = 1, order = "backward", merge = "online"}.output

local function state(rows, changes)
  local f = {Q = exchange.rows(P.Q, rows), K = exchange.rows(P.K, rows), V = exchange.rows(P.V, rows), heads = 4, kv_heads = 2,
    mask = P.mask, sink = P.sink, score = P.score, queries = rows, keys = rows, empty = "zero"}
  for name, value in pairs(changes or {}) do f[name] = value or nil end
  return mpi.problem(f)
end

-- f(), and how many bytes of matrices this rank sent meanwhile, by send.
local function counted(f)
  local send, bytes = ranks.send, 0
  function ranks.send(m, rank)
    bytes = bytes + m.rows * m.cols * (m.dtype == "f32" and 4 or 8)
    return send(m, rank)
  end
  local O, lse = f()
  ranks.send = send
  return O, lse, bytes
end

local function try(D, rows, note)
  for _, scheme in ipairs{"keys", "ring", "heads", "queries"} do
    local O, lse, bytes = counted(function() return mpi.attention(D, {scheme = scheme}) end)
    assert(helper.within_bound(exchange.rows(Q, rows), O, exchange.rows(bound, rows), note .. scheme))
    assert(ts.diff(lse, exchange.rows(lse_of_all, rows)).abs < 1e-13)
    local told = mpi.cost(D, scheme).sent[mpi.rank + 1]
    assert(scheme == "keys" or bytes == told, ("%s%s: %d bytes sent, %d told"):format(note, scheme, bytes, told))
  end
end

for _, how in ipairs{{scheme = "blocks"}, {scheme = "striped"}, {scheme = "striped", width = 3}, {scheme = "zigzag"},
  {scheme = "blocks", ranks = 1}} do
  local rows = mpi.shard(n, how)
  try(state(rows), rows, ("%s: "):format(how.scheme))
  local all = {{1, n}}
  try(state(rows, {Q = P.Q, queries = false}), all, ("%s, keys alone: "):format(how.scheme))
  try(state(rows, {K = P.K, V = P.V, keys = false}), rows, ("%s, queries alone: "):format(how.scheme))
end

-- Of whole problems, too, with what brings the results to all.
for _, scheme in ipairs{"ring", "heads", "queries"} do
  for _, shard in ipairs{"blocks", "striped", "zigzag"} do
    local _, _, bytes = counted(function() return mpi.attention(P, {scheme = scheme, shard = shard}) end)
    local c = mpi.cost(P, {scheme = scheme, shard = shard})
    assert(bytes == c.sent[mpi.rank + 1], ("%s, %s: %d bytes sent, %d told"):format(scheme, shard, bytes, c.sent[mpi.rank + 1]))
  end
end

-- The same error on every rank.
local function refused(act, expected)
  local ok, message = pcall(act)
  assert(not ok and message:find(expected, 1, true), tostring(message))
  local all = ranks.texts(message)
  for _, other in ipairs(all) do assert(other == message, other) end
end

local rows, last = mpi.shard(n), mpi.size - 1
local is_last = mpi.rank == last
refused(function() state(rows, is_last and {keys = {{1, 2}}} or {}) end, "field 'keys': ranges of 2 for")
refused(function() state(rows, is_last and {V = ts.ones(1, 10), K = ts.ones(1, 6), keys = {{n + 1, n + 1}}} or {}) end,
  mpi.size > 1 and "no rank holds key" or "mask is 37x37, 37x38 expected")
if mpi.size > 1 then
  local first_rows = is_last and {{1, 1}} or rows
  refused(function() state(rows, {K = exchange.rows(P.K, first_rows), V = exchange.rows(P.V, first_rows), keys = first_rows}) end,
    ("ranks 0 and %d: both hold key 1"):format(last))
  refused(function() state(rows, {sink = is_last and 7 or 0}) end, "they differ in sink")
  refused(function() state(rows, is_last and {queries = false} or {}) end, "all give ranges, or none does")
  refused(function() mpi.attention(is_last and P:with{scale = 2} or P) end, "they differ in scale")
  refused(function() mpi.attention(is_last and P:with{K = P.K:slice(1, 3), V = P.V:slice(1, 3), mask = false} or P) end,
    "problems of 37 keys from 1 on, and of 3 keys from 1 on")
end

-- What every rank must hold is the same on all, wherever it lies.
local function with_one_changed(M)
  local other = M:copy()
  other:set(n, 1, other(n, 1) + 1e-9)
  return other
end
local strided = P.K:copy():t():copy():t()
assert(mpi.identical(P.K) and mpi.identical(is_last and strided or P.K))
assert(mpi.identical(is_last and with_one_changed(P.V) or P.V) == (mpi.size == 1))
assert(mpi.identical(is_last and P.V:to "f32" or P.V) == (mpi.size == 1))
assert(mpi.identical(ts.zeros(0, mpi.rank)) == (mpi.size == 1) and mpi.identical(ts.zeros(0, 4)))
mpi.attention(is_last and P:with{K = strided} or P)
if mpi.size > 1 then
  local function they_differ(name) return ("ranks 0 and %d: all must hold the same %s, but theirs differ"):format(last, name) end
  for _, name in ipairs{"K", "V"} do
    local other = is_last and with_one_changed(P[name]) or P[name]
    for _, scheme in ipairs{"keys", "ring", "heads", "queries"} do
      refused(function() mpi.attention(P:with{[name] = other}, {scheme = scheme}) end, they_differ(name))
    end
    refused(function() state(rows, {K = P.K, V = P.V, keys = false, [name] = other}) end, they_differ(name))
  end
  -- Masks by what they keep, however it is said; the last row is among those that are looked at.
  local function other_mask(i, j, h) return j <= i and (i + j) % 5 ~= h and (i < n or j > 1 or h ~= 2) end
  local function same_mask(i, j, h) return not (j > i or (i + j) % 5 == h) end
  refused(function() mpi.attention(is_last and P:with{mask = other_mask} or P) end, they_differ "mask")
  refused(function() mpi.attention(is_last and P:with{mask = false} or P) end, they_differ "mask")
  refused(function() state(rows, is_last and {mask = other_mask} or {}) end, they_differ "mask")
  mpi.attention(is_last and P:with{mask = same_mask} or P)
  mpi.attention((is_last and P:with{mask = ts.mask.full(n)} or P:with{mask = false}))
  local far = P:with{first_key = 4, mask = ts.mask(n, n + 3, function(i, j) return j <= i or j < 4 and mpi.rank < last end)}
  mpi.attention(far)
  refused(function() mpi.attention(is_last and P:with{score = function(s) return s end} or P) end, "they differ in score")
  -- Of 160,000 numbers a tenth is looked at, the last row among them.
  local K = ts.randn(10000, 16, {seed = is_last and 2 or 1})
  refused(function() mpi.problem{Q = K:slice(1, 9), K = K, V = K} end, "they differ in queries")
  refused(function() mpi.problem{Q = P.Q:slice(1, 9, 1, 4), K = K:slice(1, 10000, 1, 4), V = K} end, they_differ "K")
  local V = ts.zeros(10000, 16)
  V:set(10000, 16, mpi.rank)
  refused(function() mpi.problem{Q = P.Q:slice(1, 9, 1, 4), K = ts.ones(10000, 4), V = V} end,
    "ranks 0 and 1: all must hold the same V, but theirs differ")
end

-- What one rank alone meets is told to all, by the numbers of the whole, and nobody is left waiting.
local K = P.K:copy()
K:set(n, 2, 0 / 0)
local some = P:with{mask = function(i, j) return i ~= 30 and j <= i end, sink = false, empty = "error"}
for _, scheme in ipairs{"keys", "ring", "heads", "queries"} do
  for _, shard in ipairs{"blocks", "striped", "zigzag"} do
    refused(function() mpi.attention(some, {scheme = scheme, shard = shard}) end, "row 30 of head 1 has no allowed key")
    refused(function() mpi.attention(some:with{K = K, empty = "zero"}, {scheme = scheme, shard = shard}) end,
      "score of query 37, key 37, head 1 is nan")
  end
end
