-- shard.lua -- rows or keys dealt to ranks, as lists of {first, last}.

local shard = {}

local schemes = {}

--- One range a rank, in the order of the ranks, none longer than another by more than one.
function schemes.blocks(n, ranks)
  local all = {}
  for r = 0, ranks - 1 do
    local first, last = n * r // ranks + 1, n * (r + 1) // ranks
    all[r + 1] = first <= last and {{first, last}} or {}
  end
  return all
end

--- Stripes of `width`, dealt in turn: under a causal mask every rank has about as much to do at every step of a ring (Brandon
--- et al. 2023).
function schemes.striped(n, ranks, width)
  local all = {}
  for r = 1, ranks do all[r] = {} end
  for stripe = 0, (n - 1) // width do
    local mine = all[stripe % ranks + 1]
    mine[#mine + 1] = {stripe * width + 1, math.min(n, (stripe + 1) * width)}
  end
  return all
end

-- Two ranges as one where they touch.
local function joined(a, b)
  if #a == 0 or #b == 0 then return #a == 0 and b or a end
  if a[1][2] + 1 == b[1][1] then return {{a[1][1], b[1][2]}} end
  return {a[1], b[1]}
end

--- Twice as many blocks as ranks: to each rank one from the front and its mirror image from the back, so that under a causal
--- mask all have about as much to do.
function schemes.zigzag(n, ranks)
  local blocks, all = schemes.blocks(n, 2 * ranks), {}
  for r = 1, ranks do all[r] = joined(blocks[r], blocks[2 * ranks + 1 - r]) end
  return all
end

shard.schemes = {"blocks", "striped", "zigzag"}

--- Numbers 1 .. n dealt to the first `ranks` of `size` ranks.
---@param n integer
---@param o {scheme: string?, ranks: integer, size: integer, width: integer?}
---@return integer[][][] all rank r's are at r + 1
function shard.deal(n, o)
  local all = schemes[o.scheme or "blocks"](n, o.ranks, o.width or 1)
  for r = o.ranks + 1, o.size do all[r] = {} end
  return all
end

--- Heads 1 .. n dealt likewise, as {first, last} each; {1, 0} for none.
---@param n integer
---@param dealt_to integer
---@param size integer
---@return integer[][]
function shard.heads(n, dealt_to, size)
  local list = {}
  for r, own in ipairs(shard.deal(n, {ranks = dealt_to, size = size})) do list[r] = own[1] or {1, 0} end
  return list
end

return shard
