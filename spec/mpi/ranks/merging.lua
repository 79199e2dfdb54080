-- On every rank: what merging summaries of all ranks gives, and what it refuses.
local ts = require "tessera"
local mpi = require "tessera.mpi"
local helper = require "spec.helper"

local n_k = 23

local function problem(changes)
  local f = {Q = ts.randn(5, 6, {seed = 1}), K = ts.randn(n_k, 6, {seed = 2}), V = ts.randn(n_k, 4, {seed = 3}), heads = 2,
    mask = function(i, j) return i ~= 3 and j ~= 7 end, empty = "zero"}
  for name, value in pairs(changes or {}) do f[name] = value end
  return ts.problem(f)
end

local slope = 0.25
local problems = {
  problem(), problem{base = 2, sink = 0.5}, problem{score = function(s, i, j) return s - slope * math.abs(i - j) end},
  problem{Q = ts.randn(5, 6, {seed = 1, dtype = "f32"}), K = ts.randn(n_k, 6, {seed = 2, dtype = "f32"}),
    V = ts.randn(n_k, 4, {seed = 3, dtype = "f32"})},
  problem{Q = ts.zeros(0, 6)}, problem{V = ts.zeros(n_k, 0)},
}

-- Every rank's S is told to all by its bits.
local function assert_same_everywhere(S, P)
  local all = mpi.gather(S, 0, {score = P.score})
  for _, other in ipairs(all or {}) do assert(other == S) end
end

local function try(P, options)
  local mine, all = mpi.shard(P.n_k, options)
  local S, list = P:summary(mine), {}
  for r, keys in ipairs(all) do list[r] = P:summary(keys) end
  local merged = mpi.allreduce(S)
  assert_same_everywhere(merged, P)
  assert(#merged:keys() == 1 and merged:keys()[1][2] == n_k)
  local bound = P:bound{k = {{{1, n_k}}}}
  helper.within_bound(P:attention(), merged:output(), bound.output)
  for root = 0, mpi.size - 1 do
    local reduced = mpi.reduce(S, root)
    assert((reduced ~= nil) == (mpi.rank == root))
    local gathered = mpi.gather(S, root, {score = P.score})
    for r, T in ipairs(gathered or {}) do assert(T == list[r]) end
    assert(mpi.scatter(gathered, root, {score = P.score}) == S)
    assert(mpi.broadcast(S, root, {score = P.score}) == list[root + 1])
  end
  for _, how in ipairs{"left", "right", "tree"} do assert(mpi.fold(S, how) == ts.fold(list, how)) end
  local count = 0
  for b in ts.bracketings(mpi.size) do
    assert(mpi.fold(S, b) == ts.fold(list, b))
    count = count + 1
    if count == 14 then break end
  end
end

for _, P in ipairs(problems) do
  for _, scheme in ipairs{"blocks", "striped", "zigzag"} do try(P, {scheme = scheme}) end
  try(P, {ranks = 1})
end

-- The same error on every rank.
local function refused(S, act, expected)
  local ok, message = pcall(act, S)
  assert(not ok and message:find(expected, 1, true), tostring(message))
  for _, other in ipairs(mpi.gather(ts.matrix{{#message}}) or {}) do assert(other(1, 1) == #message) end
end

if mpi.size > 1 then
  local P, last = problems[1], mpi.size - 1
  local mine = mpi.shard(n_k)
  for _, act in ipairs{mpi.allreduce, mpi.reduce, mpi.fold} do
    refused(P:summary(1, 3), act, "ranks 0 and 1: keys 1..3 are in both summaries")
    for _, case in ipairs{{"scale", {scale = 2}}, {"base", {base = 2}}, {"sink", {sink = 1}}, {"queries", {Q = ts.randn(5, 6, {seed = 9})}},
      {"score", {score = function(s) return s end}}} do
      refused((mpi.rank == last and P:with(case[2]) or P):summary(mine), act,
        ("ranks 0 and %d: summaries are of different problems: they differ in %s"):format(last, case[1]))
    end
    local free = ts.summary{max = ts.zeros(2 + mpi.rank, 1), norm = ts.ones(2 + mpi.rank, 1), value = ts.ones(2 + mpi.rank, 1)}
    refused(free, act, "they differ in the number of queries")
  end
end

-- Matrices, of any strides.
local M = ts.matrix(4, 3, function(i, j) return 10 * i + j + 100 * mpi.rank end)
for _, m in ipairs{M, M:t(), M:slice(2, 3, 2, 3), M:col(2), ts.zeros(0, 3), M:to "f32"} do
  for root = 0, mpi.size - 1 do
    assert(mpi.broadcast(mpi.rank == root and m or nil, root) == m + (m.rows > 0 and 100 * (root - mpi.rank) or 0))
    local all = mpi.gather(m, root)
    for r, other in ipairs(all or {}) do assert(other == m + (m.rows > 0 and 100 * (r - 1 - root) or 0)) end
    assert(mpi.scatter(all, root) == m)
  end
end
