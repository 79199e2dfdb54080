--- P:cost: what a tiling takes, told before it runs.

local check = require "tessera.check"
local number = require "tessera.number"
local per_head = require "tessera.per_head"
local plan_of = require "tessera.plan"
local ranges = require "tessera.ranges"

local cost = {__name = "tessera.cost"}

-- Which cells are allowed --------------------------------------------------------------------------

-- Allowed cells of rows first .. last in keys from .. to.
local function count_cells(m, h, first, last, from, to)
  return m.heads and m:count(first, last, from, to, h) or m:count(first, last, from, to)
end

-- Appends {block, allowed cells} for those of blocks low .. high that have any. Blocks that follow each other are asked for
-- together, and in halves where the answer is neither none nor all.
local function descend(m, h, plan, first, last, low, high, into)
  local from, to = plan.blocks[low][1][1], plan.blocks[high][1][2]
  local allowed = count_cells(m, h, first, last, from, to)
  if allowed == 0 then return end
  if low == high then
    into[#into + 1] = {low, allowed}
  elseif allowed == (last - first + 1) * (to - from + 1) then
    for b = low, high do into[#into + 1] = {b, (last - first + 1) * ranges.count(plan.blocks[b])} end
  else
    local middle = (low + high) // 2
    descend(m, h, plan, first, last, low, middle, into)
    descend(m, h, plan, first, last, middle + 1, high, into)
  end
end

-- Is every block one range, behind the one before?
local function is_plain(blocks)
  for b, set in ipairs(blocks) do
    if #set ~= 1 or b > 1 and set[1][1] ~= blocks[b - 1][1][2] + 1 then return false end
  end
  return true
end

-- A function (h, first, last) -> list of {block, allowed cells} of the blocks that these rows of head h see. Heads that share
-- a mask share the answer for the rows asked for last.
local function looker(P, plan)
  local plain, known, row = is_plain(plan.blocks), {}, nil
  local function look(m, h, first, last)
    local list = {}
    if m and plain and #plan.blocks > 0 then
      descend(m, h, plan, first, last, 1, #plan.blocks, list)
      return list
    end
    for b, set in ipairs(plan.blocks) do
      local allowed = m and 0 or (last - first + 1) * ranges.count(set)
      for _, range in ipairs(m and set or {}) do allowed = allowed + count_cells(m, h, first, last, range[1], range[2]) end
      if allowed > 0 then list[#list + 1] = {b, allowed} end
    end
    return list
  end
  return function(h, first, last)
    if row ~= first then known, row = {}, first end
    local m = per_head.mask(P, h)
    local owner = m and (m.heads and ("%p %d"):format(m, h) or ("%p"):format(m)) or "none"
    known[owner] = known[owner] or look(m, h, first, last)
    return known[owner]
  end
end

-- Counting ----------------------------------------------------------------------------------------

-- The most summaries that the word has on its stack.
local function depth_of(word)
  local height, most = 0, 0
  for _, entry in ipairs(word) do
    height = height + (entry > 0 and 1 or -1)
    most = math.max(most, height)
  end
  return most
end

-- One tile of queries under the heads of key head g: what each head sees, and the keys that any of them reads.
local function add_tile(c, P, plan, g, tile, seen_by)
  local group = P.heads // P.kv_heads
  local first, last = (tile - 1) * plan.q + 1, math.min(tile * plan.q, P.n_q)
  local rows, read, wanted = last - first + 1, 0, {}
  for h = (g - 1) * group + 1, g * group do
    local seen = seen_by(h, first, last)
    c.tiles, c.visited, c.skipped = c.tiles + #plan.blocks, c.visited + #seen, c.skipped + #plan.blocks - #seen
    c.merges, c.rescales = c.merges + math.max(0, #seen - 1), c.rescales + rows * math.max(0, #seen - 1)
    for _, entry in ipairs(seen) do
      local keys = ranges.count(plan.blocks[entry[1]])
      c.pairs, c.allowed = c.pairs + rows * keys, c.allowed + entry[2]
      if entry[2] == rows * keys then c.full = c.full + 1 end
      if not wanted[entry[1]] then wanted[entry[1]], read = true, read + keys end
    end
  end
  c.reads[tile] = c.reads[tile] + read * (P.d + P.d_v) * c.size
end

local function count(P, plan)
  local c = {tiles = 0, visited = 0, skipped = 0, full = 0, merges = 0, rescales = 0, pairs = 0, allowed = 0, reads = {},
    size = P.dtype == "f32" and 4 or 8}
  local seen_by = looker(P, plan)
  for tile = 1, plan.tiles do
    c.reads[tile] = 0
    for g = 1, P.kv_heads do add_tile(c, P, plan, g, tile, seen_by) end
  end
  c.partial = c.visited - c.full
  c.exponentials = c.pairs + 2 * c.rescales
  c.flops = 2 * c.pairs * (P.d + P.d_v) + 3 * c.rescales * (P.d_v + 1) + P.n_q * P.heads * P.d_v
  c.bytes = P.n_q * P.heads * (P.d + P.d_v) * c.size
  for _, bytes in ipairs(c.reads) do c.bytes = c.bytes + bytes end
  c.intensity = c.bytes > 0 and c.flops / c.bytes or 0.0
  c.size = nil
  return c
end

--- What a tiling takes, from the problem's sizes and mask alone: nothing is computed.
--
-- * `tiles` (query tiles × blocks × heads), of which `visited`, `skipped` (no allowed cell), `full` and `partial`;
--   `pairs`: cells of visited tiles, of which `allowed`.
-- * `merges` of two tiles' summaries, `rescales`: rows merged, `exponentials`: one a pair, and two a rescale.
-- * `flops`: 2 (d + d_v) a pair, 3 (d_v + 1) a rescale, and the last division.
-- * `reads`: a list of the bytes of K and V that each tile of queries reads (a key head's once for its group), `bytes`: their
--   sum, Q, and the output; `intensity`: flops ÷ bytes.
-- * `depth`: the most summaries on the stack; `memory`: bytes of work space, for the threads that the call would take.
-- * `q` rows a query tile, `query_tiles`, `blocks`, `parts`.
--
--     local c = P:cost{q = 64, k = 128, order = "backward", merge = "tree"}
--     print(c)
--     print(c.skipped / c.tiles, c.depth)
-- Errors: those of reading a tiling, as P:attention has them.
---@param tiling? table as of P:attention
---@return table
function cost.of(P, tiling)
  check.type(P, "problem", 0, "cost")
  local plan = plan_of(P, tiling, nil, {n = 1, fname = "cost"})
  local c = setmetatable(count(P, plan), cost)
  c.q, c.query_tiles, c.blocks, c.parts = plan.q, plan.tiles, #plan.blocks, plan.parts
  c.depth, c.memory = depth_of(plan.word), plan.memory
  return c
end

-- Printing ----------------------------------------------------------------------------------------

local units = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}

-- 12345678 as 12.3 M.
local function large(x)
  for _, unit in ipairs(units) do
    if x >= unit[1] then return number.format("%.3g", x / unit[1]) .. " " .. unit[2] end
  end
  return number.format("%.0f", x) .. " "
end

local function trimmed(x) return (large(x):gsub(" $", "")) end

local function part(x, whole) return whole > 0 and number.format("%.1f", 100 * x / whole) .. " %" or "–" end

local function reads_text(reads)
  local least, most, sum = math.huge, 0, 0
  for _, bytes in ipairs(reads) do least, most, sum = math.min(least, bytes), math.max(most, bytes), sum + bytes end
  if #reads == 0 then return "none" end
  return ("%sB (%sB to %sB)"):format(large(sum / #reads), large(least), large(most))
end

function cost:__tostring()
  local lines = {
    {"tiles", ("%s of %d × %d blocks: %s visited, of which %s full; %s skipped (%s)"):format(trimmed(self.tiles), self.query_tiles,
      self.blocks, trimmed(self.visited), trimmed(self.full), trimmed(self.skipped), part(self.skipped, self.tiles))},
    {"pairs", ("%s, of which %s allowed"):format(trimmed(self.pairs), part(self.allowed, self.pairs))},
    {"merges", ("%s; rows rescaled: %s; most summaries on the stack: %d"):format(trimmed(self.merges), trimmed(self.rescales),
      self.depth)},
    {"exponentials", trimmed(self.exponentials)},
    {"flops", trimmed(self.flops)},
    {"K and V a tile", reads_text(self.reads)},
    {"bytes", large(self.bytes) .. "B, " .. number.format("%.3g", self.intensity) .. " flops a byte"},
    {"work space", large(self.memory) .. "B"},
  }
  for n, line in ipairs(lines) do lines[n] = ("%-14s  %s"):format(line[1], line[2]) end
  return table.concat(lines, "\n")
end

return cost.of
