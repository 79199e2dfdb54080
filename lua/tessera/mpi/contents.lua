-- contents.lua -- whether matrices that all ranks should hold are the same on all.

local check = require "tessera.check"
local core = require "tessera.core"
local ranks = require "tessera.mpi.core"

local contents = {}

-- So many numbers of a matrix are looked at where it has more: little beside any work on more.
local most = 1 << 14

-- As many rows as hold that many numbers, evenly spread, the first and the last among them.
local function some_rows(M)
  local count = math.max(2, most // math.max(1, M.cols))
  if M.rows <= count then return M end
  local list = {}
  for n = 0, count - 1 do list[n + 1] = 1 + n * (M.rows - 1) // (count - 1) end
  return M:take(list)
end

-- The first rank whose matrix is another than rank 0's; nil where there is none.
local function stranger(M)
  local all = ranks.texts(M.dtype .. core.matrix.hash(M))
  for r, text in ipairs(all) do
    if text ~= all[1] then return r - 1 end
  end
end

--- Whether all ranks' matrices are of one shape and dtype, and the same in all bits.
---@param M matrix
---@return boolean
function contents.are_identical(M) return stranger(M) == nil end

--- Raises, on every rank alike, where some rows tell that not all hold the same K and V.
---@param K matrix
---@param V matrix
function contents.agree(K, V)
  for _, it in ipairs{{"K", K}, {"V", V}} do
    local r = stranger(some_rows(it[2]))
    check.that(not r, "ranks 0 and %d: all must hold the same %s, but theirs differ", r, it[1])
  end
end

return contents
