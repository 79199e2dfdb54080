--- player.lua -- the tile player's part of a page: a schedule, and the steps of a row of each tile of queries.

local check = require "tessera.check"
local core = require "tessera.core"
local html = require "tessera.page.html"
local ranges = require "tessera.ranges"
local tiling_of = require "tessera.plot.tiling"
local words = require "tessera.plot.words"

local player = {}

local most_tiles, most_rows, most_columns = 64, 16, 6

-- JSON of tables, strings, numbers and booleans, that may stand inside a script.
local function json(x)
  if type(x) == "string" then
    return '"' .. words.clean(x):gsub('[\\"]', "\\%0"):gsub("<", "\\u003c") .. '"'
  elseif type(x) ~= "table" then
    return tostring(x)
  end
  local parts = {}
  if x.list then
    for n = 1, #x do parts[n] = json(x[n]) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, value in pairs(x) do parts[#parts + 1] = json(key) .. ":" .. json(value) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

local function list(from, change)
  local copy = {list = true}
  for n, x in ipairs(from) do copy[n] = change and change(x, n) or x end
  return copy
end

-- The first numbers of a row.
local function row_text(m)
  local parts = {}
  for c = 1, math.min(m.cols, most_columns) do parts[c] = words.number(m(1, c)) end
  if m.cols > most_columns then parts[#parts + 1] = "…" end
  return table.concat(parts, "  ")
end

-- A step as text: a summary's numbers, none for ⊥, and the factors of a merge.
local function step_of(step)
  local s = {block = step.block}
  if step.max then s.m, s.l, s.z, s.o = words.number(step.max), words.number(step.norm), row_text(step.value), row_text(step.output) end
  if not step.block then
    s.left, s.right = step.left and words.number(step.left) or "⊥", step.right and words.number(step.right) or "⊥"
  end
  return s
end

-- Which tiles of queries have steps: those that hold one of the rows asked for, else the last row of each (some, of many).
local function rows_of(item, t, n)
  local rows = {}
  if item.rows then
    local kind = check.type_of(item.rows)
    check.arg(kind == "table", 2, "page", "item %d: field 'rows': list of rows expected, got %s", n, kind)
    for _, i in ipairs(item.rows) do
      local row = check.whole(i, 1)
      check.arg(row and row <= item.tiles.n_q, 2, "page", "item %d: field 'rows': there is no row %s of %d", n, i, item.tiles.n_q)
      rows[(row - 1) // t.q + 1] = row
    end
    return rows
  end
  local step = -(-#t.rows // most_rows)
  for tile = #t.rows, 1, -step do rows[tile] = t.rows[tile].last end
  return rows
end

local function data_of(item, t, n)
  local P, rows = item.tiles, rows_of(item, t, n)
  return {
    blocks = list(t.blocks, function(set) return #set > 0 and ranges.text(set, ", ") or "none" end), head = t.head,
    rows = list(t.rows, function(row, tile)
      local trace = rows[tile] and P:trace(rows[tile], item.tiling, t.head)
      local visit = {list = true}
      for b = 1, #t.blocks do visit[b] = row.visit[b] or 0 end
      return {
        first = row.first, last = row.last, content = list(t.blocks, function(_, b) return row.content[b] end), visit = visit,
        row = rows[tile] or 0, steps = trace and list(trace, step_of) or {list = true},
        output = trace and row_text(trace.output) or "", lse = trace and words.number(trace.lse) or "",
      }
    end),
  }
end

--- The HTML of item `n` of a page, {tiles = P, tiling =, h =, rows =, title =}.
---@param item table
---@param n integer
---@return string
function player.section(item, n)
  check.arg(check.type_of(item.tiles) == "problem", 2, "page", "item %d: field 'tiles': problem expected, got %s", n,
    check.type_of(item.tiles))
  core.options(item, 2, "page", {tiles = "any", tiling = "table", h = "positive", rows = "table", title = "string"})
  local t = tiling_of(item.tiles, item.tiling, item.h, 2, "page")
  check.arg(#t.rows > 0 and #t.blocks > 0, 2, "page", "item %d: a problem without queries or keys has no tiles", n)
  check.arg(#t.rows <= most_tiles and #t.blocks <= most_tiles, 2, "page", "item %d: %d × %d tiles; the player shows %d × %d at most", n,
    #t.rows, #t.blocks, most_tiles, most_tiles)
  local data = data_of(item, t, n)
  local first
  for tile = #t.rows, 1, -1 do first = first or data.rows[tile].row > 0 and tile end
  local trace = first and tostring(item.tiles:trace(data.rows[first].row, item.tiling, t.head)) or ""
  return ('<section class="player" tabindex="0" role="group" aria-label="tile player">\n<h3>%s</h3>\n')
    :format(html.escape(tostring(item.title or "Tile by tile"))) .. "<noscript>" .. html.pre(trace) .. "</noscript>\n"
    .. '<script type="application/json">' .. json(data) .. "</script>\n</section>\n"
end

return player
