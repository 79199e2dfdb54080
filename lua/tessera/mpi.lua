--- Keys, queries and heads spread over many processes.
--
--     local mpi = require "tessera.mpi"
--     print(mpi.rank, mpi.size)
-- `mpirun -n 4 scripts/tessera FILE.lua` runs the script four times: each process is a *rank*, numbered from 0 as MPI has it,
-- with matrices of its own. Whatever is here is called by all ranks alike, unless it says otherwise. An error on one rank ends
-- all of them, and so does a rank that is killed. `make mpi` builds it.

local attention = require "tessera.mpi.attention"
local check = require "tessera.check"
local contents = require "tessera.mpi.contents"
local core = require "tessera.core"
local exact = require "tessera.exact"
local exchange = require "tessera.mpi.exchange"
local merge = require "tessera.mpi.merge"
local ranks = require "tessera.mpi.core"
local shard = require "tessera.mpi.shard"

--- `tessera.mpi` itself.
---     local mpi = require "tessera.mpi"
---     mpi.print(("rank %d of %d"):format(mpi.rank, mpi.size))
---@class mpi
---@field rank integer which one this is, from 0
---@field size integer how many there are
local mpi = {rank = ranks.rank, size = ranks.size}

local fields_of_how = {scheme = {"keys", "ring", "heads", "queries"}, shard = shard.schemes, width = "positive", ranks = "positive"}

-- Arguments -----------------------------------------------------------------------------------------

local function check_root(root, n, fname)
  if root == nil then return 0 end
  root = check.count(root, n, fname, "root", 0)
  check.arg(root < mpi.size, n, fname, "there is no rank %d, the last is %d", root, mpi.size - 1)
  return root
end

local function check_sendable(x, n, fname)
  local kind = check.type_of(x)
  check.arg(kind == "matrix" or kind == "summary", n, fname, "matrix or summary expected, got %s", kind)
  return x
end

-- A function from heads to the list of score functions that the caller names for summaries; nil without.
local function scores_of(options, n, fname)
  local score = core.options(options, n, fname, {score = "any"}).score
  if score == nil then return nil end
  return function(heads)
    local list = {}
    for h = 1, heads do list[h] = type(score) == "table" and score[h] or score end
    return list
  end
end

-- Together ------------------------------------------------------------------------------------------

--- Waits until all ranks have come here.
---     mpi.barrier()
function mpi.barrier() ranks.barrier() end

--- Prints as `print` does, first what rank 0 gives, then rank 1 and so on; a rank that gives nothing prints no line.
---     mpi.print("rank", mpi.rank, "is here")
---@param ... any
function mpi.print(...)
  local words = table.pack(...)
  for n = 1, words.n do words[n] = tostring(words[n]) end
  local lines = ranks.texts(words.n > 0 and table.concat(words, "\t") .. "\n" or "")
  if mpi.rank == 0 then io.stdout:write(table.concat(lines)):flush() end
end

--- The keys (or rows) of each rank, of n: this rank's as a list of {first, last}, and the list of all ranks', rank r's at r + 1.
--- * `scheme`: "blocks", one range each; "striped", stripes of `width` (1 unless given) in turn; "zigzag", one block from the
---   front and its mirror image from the back. The last two give every rank as much to do under a causal mask.
--- * `ranks`: the first so many alone; the others get none, as do the last where there are fewer keys than ranks.
---     local mine, all = mpi.shard(1024, {scheme = "zigzag"})
---     for _, range in ipairs(mine) do print(range[1], range[2]) end
---@param n integer
---@param options? {scheme: string, width: integer, ranks: integer}
---@return integer[][] mine
---@return integer[][][] all
function mpi.shard(n, options)
  n = check.count(n, 1, "shard", "n", 0)
  local o = core.options(options, 2, "shard", {scheme = shard.schemes, width = "positive", ranks = "positive"})
  check.arg(not o.width or o.scheme == "striped", 2, "shard", "field 'width': only stripes have one")
  check.arg(not o.ranks or o.ranks <= mpi.size, 2, "shard", "field 'ranks': %d of %d", o.ranks, mpi.size)
  local all = shard.deal(n, {scheme = o.scheme, width = o.width, ranks = o.ranks or mpi.size, size = mpi.size})
  return all[mpi.rank + 1], all
end

-- Matrices and summaries ----------------------------------------------------------------------------

--- Rank `root`'s matrix or summary, on every rank; what the others give is not looked at.
---     local K = mpi.broadcast(mpi.rank == 0 and ts.randn(64, 8) or nil)
---@param x matrix|summary|nil
---@param root? integer 0 unless given
---@param options? {score: function|function[]} the score function of a summary's problem
---@return matrix|summary
function mpi.broadcast(x, root, options)
  root = check_root(root, 2, "broadcast")
  if mpi.rank == root then check_sendable(x, 1, "broadcast") end
  return exchange.broadcast(x, root, scores_of(options, 3, "broadcast"))
end

--- Each rank's element of rank `root`'s list of matrices or summaries, rank r's at r + 1.
---     local mine = mpi.scatter(mpi.rank == 0 and parts or nil)
---@param list (matrix|summary)[]|nil
---@param root? integer 0 unless given
---@param options? {score: function|function[]}
---@return matrix|summary
function mpi.scatter(list, root, options)
  root = check_root(root, 2, "scatter")
  if mpi.rank == root then
    check.arg(type(list) == "table" and #list == mpi.size, 1, "scatter", "a list of %d, one a rank, expected", mpi.size)
    for r = 1, mpi.size do check_sendable(list[r], 1, "scatter") end
  end
  return exchange.scatter(list, root, scores_of(options, 3, "scatter"))
end

--- The list of all ranks' matrices or summaries, rank r's at r + 1, on rank `root`; nil on the others.
---     local all = mpi.gather(S)
---     if all then print(ts.fold(all)) end
---@param x matrix|summary
---@param root? integer 0 unless given
---@param options? {score: function|function[]}
---@return (matrix|summary)[]?
function mpi.gather(x, root, options)
  check_sendable(x, 1, "gather")
  return exchange.gather(x, check_root(root, 2, "gather"), scores_of(options, 3, "gather"))
end

--- Whether all ranks' matrices are of one shape and dtype, and the same in all bits; the same answer on every rank.
---     local K = ts.randn(64, 8, {seed = 1})
---     assert(mpi.identical(K))
---@param M matrix
---@return boolean
function mpi.identical(M) return contents.are_identical(check.type(M, "matrix", 1, "identical")) end

-- Summaries merged ----------------------------------------------------------------------------------

--- The summary of the keys of all ranks, each of which gives its own, on every rank.
---
--- The order and bracketing are MPI's, so that other numbers of ranks may round otherwise; every rank gets the same bits.
--- Keys that two ranks share, and summaries of different problems, are an error, which is the same on all.
---     local S = mpi.allreduce(P:summary(mpi.shard(P.n_k)))
---@param S summary
---@return summary
function mpi.allreduce(S) return merge.allreduce(check.type(S, "summary", 1, "allreduce")) end

--- As mpi.allreduce, on rank `root` alone; nil on the others.
---     local S = mpi.reduce(P:summary(mpi.shard(P.n_k)), 0)
---@param S summary
---@param root? integer 0 unless given
---@return summary?
function mpi.reduce(S, root)
  return merge.reduce(check.type(S, "summary", 1, "reduce"), check_root(root, 2, "reduce"))
end

--- The summary of the keys of all ranks, on every rank, merged with a bracketing of positions, of which rank r is r + 1: bit
--- for bit `ts.fold` of the list of their summaries. The right one of a pair goes to the rank that has the left one.
---     local S = mpi.fold(P:summary(mpi.shard(P.n_k)), "tree")
---@param S summary
---@param how? string|table as of ts.fold
---@return summary
function mpi.fold(S, how) return merge.fold(check.type(S, "summary", 1, "fold"), how) end

-- Attention -----------------------------------------------------------------------------------------

--- A problem of which each rank holds some queries and keys: what no single memory would hold.
---
--- The fields are those of `ts.problem`, where Q, K and V are this rank's rows, and
--- * `queries`: which ones Q's rows are, a list of {first, last}; without it every rank has all of them;
--- * `keys`: which ones K's and V's rows are, likewise.
--- Together they are all of them, each once; a rank may have none. Masks and scores see the numbers that all ranks share: `mask`
--- is of all queries and keys.
---     local mine = mpi.shard(1024)
---     local rows = 0
---     for _, range in ipairs(mine) do rows = rows + range[2] - range[1] + 1 end
---     local X = ts.randn(rows, 8, {seed = mpi.rank})
---     local D = mpi.problem{Q = X, K = X, V = X, queries = mine, keys = mine, mask = ts.mask.causal(1024)}
---     local O, lse = mpi.attention(D, {scheme = "ring"})
---@param fields table
---@return table
function mpi.problem(fields) return require "tessera.mpi.stated"(fields) end

--- Attention over the ranks, each of which does its part.
---
--- * `scheme`: "keys" (queries travel, summaries are reduced), "ring" (keys and values travel, while others are computed; the
---   default), "heads" (each rank gets some heads) or "queries" (each gets all keys).
--- * `shard`, `width`, `ranks`: how a whole problem's queries and keys are dealt; as of mpi.shard, whose `scheme` is `shard` here.
---
--- Of a problem that every rank holds, each gets all of O and lse; of one that mpi.problem stated, the rows of its queries.
--- Results differ from P:attention by rounding alone, within the sum of the bounds. An error on any rank is raised on all.
---
--- What every rank holds must be the same on all, else it is an error: all of Q and of the settings is compared, and of K, V
--- and each mask up to 16,384 numbers in rows evenly spread, or the first row and the last (mpi.identical compares all of a
--- matrix).
---     local O, lse = mpi.attention(P, {scheme = "ring", shard = "zigzag"})
---@param P problem|table
---@param options? {scheme: string, shard: string, width: integer, ranks: integer}
---@return matrix O
---@return matrix lse
function mpi.attention(P, options) return attention.run(P, core.options(options, 2, "attention", fields_of_how)) end

--- What a scheme would take, from sizes and the mask alone: nothing is computed or sent, and no other rank need ask.
---
--- * `sent`: the bytes of matrices that each rank sends, a list (rank r's at r + 1), and `bytes`, their sum; of them `gathered`,
---   by which every rank comes to hold all of a whole problem's results.
--- * `steps`: messages that wait for one another.
--- * `pairs`: the allowed cells that each rank computes, and `balance`, their mean ÷ their most: 1 where all have as much to do.
--- * `buffers`: the bytes that each rank sets aside for what travels.
---
---     for _, scheme in ipairs{"keys", "ring", "heads", "queries"} do
---       local c = mpi.cost(P, {scheme = scheme, ranks = 4})
---       print(scheme, c.bytes, c.steps, c.balance)
---     end
---@param P problem|table
---@param options? {scheme: string, shard: string, width: integer, ranks: integer}|string `ranks` may be more than there are
---@return table
function mpi.cost(P, options)
  if type(options) == "string" then options = {scheme = options} end
  return attention.cost(P, core.options(options, 2, "cost", fields_of_how))
end

return exact.all(mpi, 0)
