--- tiling.lua -- what a tiling does to a problem, tile by tile: what each holds, and when it is visited.

local check = require "tessera.check"
local per_head = require "tessera.per_head"
local plan_of = require "tessera.plan"
local ranges = require "tessera.ranges"

-- "empty", "partial" or "full": rows first..last of mask m, against a block of keys.
local function content(m, first, last, block)
  if not m then return "full" end
  local kept = 0
  for _, range in ipairs(block) do kept = kept + m:count(first, last, range[1], range[2]) end
  return kept == 0 and "empty" or kept == (last - first + 1) * ranges.count(block) and "full" or "partial"
end

-- The number of each block's visit; an empty tile is passed over.
local function visits(word, contents)
  local order, count = {}, 0
  for _, entry in ipairs(word) do
    if entry > 0 and contents[entry] ~= "empty" then
      count = count + 1
      order[entry] = count
    end
  end
  return order
end

--- {q =, blocks =, rows = {{first =, last =, word =, content = {[block] = "full"}, visit = {[block] = 1}}, ..}}: a row for
--- each tile of queries, under head `h`. Errors are those of argument `n` of `fname`.
---@return table
return function(P, tiling, h, n, fname)
  local head = check.whole(h or 1, 1)
  check.arg(head and head <= P.heads, n, fname, "field 'h': there is no head %s of %d", h, P.heads)
  local place = {n = n, fname = fname, what = "tiling: "}
  local whole = plan_of(P, tiling, nil, place)
  local m = per_head.single_mask(P, head)
  local rows = {}
  for tile = 1, whole.tiles do
    local plan = plan_of(P, tiling, tile, place)
    local first, last = (tile - 1) * plan.q + 1, math.min(tile * plan.q, P.n_q)
    local row = {first = first, last = last, word = plan.word, content = {}}
    for b, block in ipairs(plan.blocks) do row.content[b] = content(m, first, last, block) end
    row.visit = visits(plan.word, row.content)
    rows[tile] = row
  end
  return {q = whole.q, blocks = whole.blocks, rows = rows, head = head}
end
