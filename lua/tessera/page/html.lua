--- html.lua -- HTML from text, tables and pictures: whatever they hold is shown, never read as HTML.

local script = require "tessera.page.script"
local style = require "tessera.page.style"
local words = require "tessera.plot.words"

local html = {}

local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;"}

--- Text that may stand between tags, or in an attribute; control characters are shown.
function html.escape(text) return (words.clean(text):gsub("[&<>\"']", entities)) end

-- Several lines, which stay lines.
local function escape_lines(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = html.escape(line) end
  return table.concat(lines, "\n")
end

--- Paragraphs with an empty line between; a line that begins with `# ` is a heading.
function html.text(text)
  local parts = {}
  for block in (text:gsub("\n(#+ )", "\n\n%1"):gsub("(\n?# [^\n]*)\n", "%1\n\n") .. "\n\n"):gmatch "(.-)\n\n+" do
    local heading = block:match "^%s*# ([^\n]*)$"
    if heading then
      parts[#parts + 1] = "<h2>" .. html.escape(heading) .. "</h2>\n"
    elseif block:find "%S" then
      parts[#parts + 1] = "<p>" .. escape_lines(block) .. "</p>\n"
    end
  end
  return table.concat(parts)
end

--- What is printed, in characters of one width.
function html.pre(text) return '<pre tabindex="0">' .. escape_lines(text) .. "</pre>\n" end

-- Which columns hold numbers only.
local function numeric(rows)
  local columns = {}
  for _, list in ipairs(rows) do
    for c, x in ipairs(list) do columns[c] = columns[c] ~= false and math.type(x) ~= nil end
  end
  return columns
end

local function row(tag, list, columns)
  local cells = {}
  for c, x in ipairs(list) do
    local text = math.type(x) == "float" and words.number(x) or tostring(x)
    cells[c] = ("<%s%s>%s</%s>"):format(tag, columns[c] and ' class="number"' or "", html.escape(text), tag)
  end
  return "<tr>" .. table.concat(cells) .. "</tr>\n"
end

--- A table, with a heading and a caption where they are given.
function html.table(rows, head, caption)
  local parts, columns = {'<div class="wide" tabindex="0"><table>\n'}, numeric(rows)
  if caption then parts[#parts + 1] = "<caption>" .. html.escape(caption) .. "</caption>\n" end
  if head then parts[#parts + 1] = "<thead>" .. row("th", head, columns) .. "</thead>\n" end
  for _, list in ipairs(rows) do parts[#parts + 1] = row("td", list, columns) end
  parts[#parts + 1] = "</table></div>\n"
  return table.concat(parts)
end

-- What is black in gnuplot's SVG takes the colour of the page's text, so that it can be seen on a dark page too.
local function inked(svg)
  return (svg:gsub('fill="black"', 'fill="currentColor"'):gsub('color="black"', 'color="currentColor"')
    :gsub("(stroke=['\"])rgb%(221, 221, 221%)(['\"])", "%1currentColor%2 stroke-opacity=%20.15%2") -- the lines behind curves
    :gsub("fill *= *(['\"])rgb%(222, 222, 222%)(['\"])", "fill=%1#808080%2 fill-opacity=%1.255%2") -- a shade
    :gsub("stroke='black'", "stroke='currentColor'"):gsub('stroke="black"', 'stroke="currentColor"'))
end

--- An SVG of gnuplot's, as a part of a page. Its inner names get the number `n`, so that two pictures share none.
function html.picture(svg, n, title)
  svg = svg:match "<svg.*</svg>"
  svg = inked(svg):gsub("<title>[^<]*</title>", ""):gsub("<desc>[^<]*</desc>", "")
  svg = svg:gsub("id='([%w_]+)'", "id='%1-" .. n .. "'"):gsub('id="([%w_]+)"', 'id="%1-' .. n .. '"')
  svg = svg:gsub("href='#([%w_]+)'", "href='#%1-" .. n .. "'"):gsub("url%(#([%w_]+)%)", "url(#%1-" .. n .. ")")
  return ('<figure role="img" aria-label="%s">%s</figure>\n'):format(html.escape(title), svg)
end

--- The whole page.
function html.page(title, sections)
  local player = false
  for _, text in ipairs(sections) do player = player or text:find('<section class="player"', 1, true) ~= nil end
  title = html.escape(title)
  return table.concat{
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>', title, "</title>\n",
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n',
    "<style>\n", style, "</style>\n</head>\n<body>\n<main>\n<h1>", title, "</h1>\n", table.concat(sections), "</main>\n",
    player and "<script>\n" .. script .. "</script>\n" or "", "</body>\n</html>\n",
  }
end

return html
