--- Reports: one HTML file with text, tables, pictures and the tile player, that needs no network and no library.

local attempt = require "tessera.attempt"
local check = require "tessera.check"
local html = require "tessera.page.html"
local player = require "tessera.page.player"
local replacing = require "tessera.replacing"
local words = require "tessera.plot.words"

local function is_picture(item) return type(item) == "table" and getmetatable(item) == nil and item.plot ~= nil end

-- x as it prints; `what` names it where its __tostring fails.
local function printed(x, what)
  local ok, text = attempt(tostring, x)
  check.arg(ok, 2, "page", "%s cannot be printed: %s", what, text)
  return text
end

-- The one of these fields that the item has tells what it is.
local readers = {}

function readers.plot(item, n)
  local picture = require "tessera.plot.picture"
  local known = table.concat(picture.kinds, ", ")
  local kind
  for _, name in ipairs(picture.kinds) do kind = kind or item.plot == name and name end
  check.arg(kind, 2, "page", "item %d: there is no picture '%s'; these there are: %s", n, item.plot, known)
  local options = {}
  for key, value in pairs(item) do
    if key ~= 1 and key ~= "plot" then options[key] = value end
  end
  check.arg(options.file == nil, 2, "page", "item %d: a picture of a page has no file", n)
  options.size = options.size or {480, 380} -- small, so that its words can be read on a phone
  local svg, text = picture.for_page(kind, item[1], options, ("picture%d"):format(n))
  return svg and html.picture(svg, n, item.title or kind) or html.pre(text)
end

local function need_list(x, n, what)
  local kind = check.type_of(x)
  check.arg(kind == "table", 2, "page", "item %d: %s expected, got %s", n, what, kind)
end

function readers.table(item, n)
  need_list(item.table, n, "field 'table': list of rows")
  for r, row in ipairs(item.table) do
    need_list(row, n, ("row %d: list"):format(r))
    for c, cell in ipairs(row) do printed(cell, ("item %d: row %d, column %d"):format(n, r, c)) end
  end
  if item.head ~= nil then
    need_list(item.head, n, "field 'head': list")
    for c, cell in ipairs(item.head) do printed(cell, ("item %d: head %d"):format(n, c)) end
  end
  return html.table(item.table, item.head, item.title and printed(item.title, ("item %d: its title"):format(n)))
end

function readers.tiles(item, n) return player.section(item, n) end

-- An item as HTML. What has no form of its own stands as it prints.
local function section(item, n)
  if type(item) == "string" then return html.text(item) end
  if type(item) == "table" and getmetatable(item) == nil then
    for _, field in ipairs{"plot", "table", "tiles"} do
      if item[field] ~= nil then return readers[field](item, n) end
    end
    check.arg(false, 2, "page", "item %d: a table with 'plot', 'table' or 'tiles' expected", n)
  end
  return html.pre(printed(item, ("item %d"):format(n)))
end

--- Writes a page: one HTML file, to be opened in any browser, sent by mail, or kept.
--
-- `items` is a list, with the page's `title`, of
--
-- * strings: paragraphs, with an empty line between; a line that begins with `# ` is a heading;
-- * {plot = "matrix", x, title =, ..}: a picture, with the options of ts.plot; it stands in the page as SVG;
-- * {table = {{..}, ..}, head = {..}, title =}: a table;
-- * {tiles = P, tiling = {..}, h = 1, rows = {..}, title =}: the tile player: it goes through the schedule tile by tile, and
--   shows how (m, ℓ, z) of a row grows. One row of each tile of queries has its steps; `rows` says which (the last ones). Keys:
--   ← → a step, ↑ ↓ another tile of queries, Home, End, Space plays;
-- * anything else, as it prints: a matrix, P:verify(), an experiment.
--
--     ts.page("report.html", {title = "Orders", "# Backward", {plot = "mask", P.mask}, {tiles = P, tiling = {q = 4, k = 4}}, P:verify()})
-- Without gnuplot, pictures stand as characters. Errors name the item.
---@param path string
---@param items table
---@return string path
local function page(path, items)
  check.arg(type(path) == "string", 1, "page", "string expected, got %s", check.type_of(path))
  check.arg(path:lower():find "%.html?$", 1, "page", "the ending of '%s' is not .html", path)
  local kind = check.type_of(items)
  check.arg(kind == "table" and not is_picture(items), 2, "page", "list of items expected, got %s", kind)
  local last = 0
  for key in pairs(items) do
    check.arg(math.type(key) == "integer" and key > 0 or key == "title", 2, "page", "invalid field '%s'", key)
    if key ~= "title" then last = math.max(last, key) end
  end
  local title, sections = items.title and words.clean(printed(items.title, "its title")) or "Tessera", {}
  for n = 1, last do
    check.arg(items[n] ~= nil, 2, "page", "item %d is nil", n)
    sections[n] = section(items[n], n)
  end
  replacing(path, function(write) write(html.page(title, sections)) end)
  return path
end

return page
