-- contents.lua -- whether what all ranks should hold, matrices and masks, is the same on all.

local check = require "tessera.check"
local core = require "tessera.core"
local per_head = require "tessera.per_head"
local ranks = require "tessera.mpi.core"
local ts = require "tessera"

local contents = {}

-- So many numbers of a matrix, or cells of a mask, are looked at where it has more: little beside any work on more.
local most = 1 << 14

-- As many rows of this width as hold that many numbers, evenly spread, the first and the last among them: their number, and
-- where they stand, at(n) for n = 1 .. that.
local function some(rows, width)
  local count = math.min(rows, math.max(2, most // math.max(1, width)))
  return count, function(n) return 1 + (n - 1) * (rows - 1) // math.max(1, count - 1) end
end

local function some_rows(M)
  local count, at = some(M.rows, M.cols)
  if count == M.rows then return M end
  local list = {}
  for n = 1, count do list[n] = at(n) end
  return M:take(list)
end

-- What some rows of a mask keep of n_k keys behind `before`; without one, all.
local function some_cells(m, n_q, before, n_k)
  local count, at = some(n_q, n_k)
  if not m or count == 0 or n_k == 0 then return ts.ones(count, n_k) end
  return ts.mask(count, n_k, function(i, j) return m(at(i), j + before) end):matrix()
end

local function digest(M) return M.dtype .. core.matrix.hash(M) end

--- Whether all ranks' matrices are of one shape and dtype, and the same in all bits.
---@param M matrix
---@return boolean
function contents.are_identical(M)
  local all = ranks.texts(digest(M))
  for _, text in ipairs(all) do
    if text ~= all[1] then return false end
  end
  return true
end

-- What some rows of all heads' masks keep, however they say it.
local function digest_of_masks(P)
  local known, list = {}, {}
  for h = 1, P.heads do
    local m = per_head.single_mask(P, h)
    known[m or false] = known[m or false] or digest(some_cells(m, P.n_q, P.first_key - 1, P.n_k))
    list[h] = known[m or false]
  end
  return table.concat(list)
end

--- Raises, on every rank alike, where some rows tell that not all hold the same K and V (unless each has its own: nil) and
--- masks.
---@param P {mask: mask|mask[]|nil, heads: integer, n_q: integer, first_key: integer, n_k: integer}
---@param K matrix?
---@param V matrix?
function contents.agree(P, K, V)
  local own = ("%s %s %s"):format(K and digest(some_rows(K)), V and digest(some_rows(V)), digest_of_masks(P))
  local all, names = {}, {"K", "V", "mask"}
  for r, text in ipairs(ranks.texts(own)) do all[r] = {text:match "(%S+) (%S+) (%S+)"} end
  for n, name in ipairs(names) do
    for r, digests in ipairs(all) do
      check.that(digests[n] == all[1][n], "ranks 0 and %d: all must hold the same %s, but theirs differ", r - 1, name)
    end
  end
end

return contents
