--- What a mask can be asked, and how masks combine.
--
-- m(i, j) is true where query i may use key j, both from 1; of a mask with heads m(i, j, h). Masks of one
-- shape combine: `a & b`, `a | b`, `~a`, `a ~ b` (exclusive or), `a - b` (in a, not in b), and
-- compare: `a <= b` (subset), `a < b`, `a == b`. A mask without heads serves every head of one that
-- has them. Fields: m.rows, m.cols, m.heads (nil without), m.kind ("lifted" or "called").

local check = require "tessera.check"
local core = require "tessera.core"
local draw = require "tessera.draw"
local exact = require "tessera.exact"
local sentence = require "tessera.sentence"

--- What a mask tells of itself.
---     local m = ts.mask.causal{2, 5}
---     m.rows, m.cols, m.heads, m.kind --> 2  5  nil  lifted
---     m(1, 4), m(1, 5)                --> true  false
---     m - ts.mask.window({2, 5}, 1, 0) == m & ~ts.mask.window({2, 5}, 1, 0) --> true
---@class mask
---@field rows integer queries
---@field cols integer keys
---@field heads integer? nil where one mask serves every head
---@field kind "lifted"|"called" whether a program of the core decides a cell, or Lua was asked for each
local methods = core.mask.methods

--- How many cells are kept, over all heads; with ranges, of queries i1..i2 and keys j1..j2 (of head h).
--     ts.mask.causal(4):count()    --> 10
---@param i1? integer
---@param i2? integer
---@param j1? integer
---@param j2? integer
---@param h? integer
---@return integer
methods.count = methods.count

--- The kept part of all cells, from 0 to 1; 0 where there are none.
--     ts.mask.causal(4):density()    --> 0.625
---@return number
methods.density = methods.density

--- How many keys query i may use, over all heads or of head h.
--     ts.mask.window(6, 2, 0):row_count(2)    --> 2
---@param i integer
---@param h? integer
---@return integer
methods.row_count = methods.row_count

--- The queries that may use no key: a list of numbers, or of {i, h} with heads.
--     ts.mask.causal{4, 2}:empty_rows()    --> {1, 2}
---@return integer[]|integer[][]
methods.empty_rows = methods.empty_rows

--- The mask as an n_q × n_k matrix of 0 and 1 (of head h).
--     ts.mask.causal(4):matrix():sum("rows"):table()    --> {{1.0}, {2.0}, {3.0}, {4.0}}
---@param h? integer
---@return matrix
methods.matrix = methods.matrix

--- The mask as text that `ts.mask.parse` reads back: a line a query, `1` keeps and `.` drops.
--     local m = ts.mask.window(5, 1, 1)
--     ts.mask.parse(m:text()) == m    --> true
---@param h? integer
---@return string
methods.text = methods.text

--- The first cell in which two masks of one shape differ, as i, j (and h), or nothing.
--     print(a:differs(b))    --> 3  7
---@param other mask
---@return integer? i, integer? j, integer? h
methods.differs = methods.differs

--- The mask of one head, without heads.
--     local m = ts.mask(4, 4, function(i, j, h) return j <= i and i - j < h end, {heads = 2})
--     m:head(1):count(), m:head(2):count()    --> 4  7
---@param h integer
---@return mask
methods.head = methods.head

--- What n layers of this square mask reach: key j from query i by n steps, each allowed. compose(1) is m.
--     ts.mask.window(9, 2, 0):compose(3) == ts.mask.window(9, 6, 0)    --> true
---@param n integer 1 or more
---@return mask
methods.compose = methods.compose

--- The program that decides a cell of a lifted mask, for tests.
--     ts.mask.causal(4):program():text()    --> return j <= i
---@return program
methods.program = methods.program

--- Why the predicate was called, as the lifter told; nil where it was lifted.
--     ts.mask.causal(4):why()    --> nil
---@return string?
methods.why = methods.why

-- Tiles -----------------------------------------------------------------------------------------

local stacked = methods.tiles

--- Cuts the mask into tiles of q queries by k keys, the last ones ragged, and tells which are empty,
-- partial and full. The counts are over all heads; map is a matrix of 0 (empty), 1 (partial) and 2
-- (full), or a list of one a head. Prints as a picture.
--     print(ts.mask.causal(1024):tiles(64, 128))
---@param q integer
---@param k integer
---@return {q: integer, k: integer, empty: integer, partial: integer, full: integer, map: matrix|matrix[]}
function methods.tiles(m, q, k)
  local t = stacked(m, q, k)
  if m.heads then
    local maps, rows = {}, t.map.rows // m.heads
    for h = 1, m.heads do maps[h] = t.map:slice((h - 1) * rows + 1, h * rows) end
    t.map = maps
  end
  return setmetatable(t, draw.tiles)
end

-- In words and pictures -------------------------------------------------------------------------

--- Prints the mask: half a character a cell, or where that is too large a shade for each block of cells
-- (see the legend). `q` and `k` draw the borders of such tiles; `width` is in characters.
--     ts.mask.causal(12):draw{q = 4, k = 4}
---@param options? {h: integer, q: integer, k: integer, width: integer}
function methods.draw(m, options)
  check.self(m, "mask", "draw")
  local o = core.options(options, 1, "draw", {h = "positive", q = "positive", k = "positive", width = "positive"})
  check.arg(not o.h or o.h <= (m.heads or 1), 1, "draw", "head %s of %d", o.h, m.heads or 1)
  io.write(draw.picture(m, o))
end

--- Which road was taken, and why; of a lifted mask also its program, as Lua would have it.
--     print(ts.mask.causal(8):explain())
---@return string
function methods.explain(m)
  check.self(m, "mask", "explain")
  local shape = ("mask %dx%d%s"):format(m.rows, m.cols, m.heads and sentence(" of %d head(s)", m.heads) or "")
  if m.kind == "called" then
    return ("%s, called: Lua was asked for each cell, because of %s"):format(shape,
      m:why() or "a part that was called")
  end
  return ("%s, lifted: this program decides a cell\n  %s"):format(shape,
    (m:program():text():gsub("\n$", ""):gsub("\n", "\n  ")))
end

local function names()
  local list = {"rows", "cols", "heads", "kind"}
  for name in pairs(methods) do list[#list + 1] = name end
  return list
end

setmetatable(exact.all(methods, 1), {__index = function(_, name)
  check.that(type(name) == "string", "a mask has no cell [%s]; m(i, j) is one", name)
  check.no_field("a mask", name, names())
end})
