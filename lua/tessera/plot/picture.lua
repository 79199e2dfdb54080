--- picture.lua -- a picture of any kind, its options read, brought to a file, a page or the terminal.

local check = require "tessera.check"
local core = require "tessera.core"
local gnuplot = require "tessera.plot.gnuplot"
local replacing = require "tessera.replacing"

local picture = {}

local common = {
  title = "string", xlabel = "string", ylabel = "string", file = "string", size = "table", width = "positive",
  terminal = {"blocks", "sixel"},
}

-- What each kind takes besides.
local kinds = {
  matrix = {labels = "table", mask = "mask", h = "positive", range = "table", zlabel = "string"},
  mask = {labels = "table", h = "positive", zlabel = "string"},
  tiles = {tiling = "table", h = "positive"},
  trace = {},
  curves = {log = {"x", "y", "xy"}},
  histogram = {bins = "positive", log = {"x", "y", "xy"}},
}
for _, kind in pairs(kinds) do
  for name, what in pairs(common) do kind[name] = what end
end

--- The names of the kinds, sorted.
picture.kinds = {}
for name in pairs(kinds) do table.insert(picture.kinds, name) end
table.sort(picture.kinds)

--- What pictures of this kind take: a set of names.
---@param name string
function picture.options(name) return kinds[name] end

-- The options; a number is a text where text is asked for, as everywhere in Lua.
local function read(name, options)
  local o = core.options(options, 2, name, kinds[name])
  for field, kind in pairs(kinds[name]) do
    if kind == "string" and o[field] then o[field] = tostring(o[field]) end
  end
  return o
end

local function size_of(o, name)
  if not o.size then return 800, 600 end
  local width, height = check.whole(o.size[1], 100), check.whole(o.size[2], 100)
  check.arg(width and height and width <= 8192 and height <= 8192, 2, name,
    "field 'size': {width, height} expected, in pixels from 100 to 8192")
  return width, height
end

local finest = {512, 512} -- cells of a picture that gnuplot draws

-- What gnuplot draws, as bytes; nil where there is no gnuplot.
local function drawn(name, x, o, ending, id)
  local width, height = size_of(o, name)
  return (gnuplot.run(require("tessera.plot." .. name)(x, o, finest):script(width, height), ending, width, height, id))
end

-- The terminal --------------------------------------------------------------------------------------

local function style_of(o)
  local coloured = core.isatty "stdout" and (os.getenv "NO_COLOR" or "") == "" and os.getenv "TERM" ~= "dumb"
  local depth = os.getenv "COLORTERM"
  return {width = math.min(o.width or core.width() or 80, 1000), coloured = coloured, deep = depth == "truecolor" or depth == "24bit"}
end

local function text(name, x, o, style)
  return require("tessera.plot." .. name)(x, o, {48, math.max(1, style.width - 10)}):text(style)
end

-- For pages -----------------------------------------------------------------------------------------

--- An SVG whose inner names begin with `id`, or nil where there is no gnuplot; and the picture as characters.
---@return string? svg
---@return string text
function picture.for_page(name, x, options, id)
  local o = read(name, options)
  return drawn(name, x, o, "svg", id), text(name, x, o, {width = o.width or 100})
end

-- For files -----------------------------------------------------------------------------------------

local function ending_of(path, name)
  local ending = (path:match "%.([^./]*)$" or ""):lower()
  check.arg(ending ~= "sixel" and gnuplot.knows(ending), 2, name, "the ending of '%s' is none of .png, .svg, .pdf", path)
  return ending
end

--- Draws x, as ts.plot does: the file's name, where there is one.
function picture.draw(name, x, options)
  local o = read(name, options)
  local ending = o.file and ending_of(o.file, name) or o.terminal == "sixel" and "sixel"
  local bytes = ending and drawn(name, x, o, ending)
  if ending and not bytes then
    io.stderr:write("gnuplot is not installed, so ", o.file and "nothing is written to '" .. o.file .. "'" or "there are no pixels",
      "; on Debian: apt install gnuplot-nox\n")
  end
  if not bytes then
    io.write(text(name, x, o, style_of(o)), "\n")
  elseif o.file then
    replacing(o.file, function(write) write(bytes) end)
    return o.file
  else
    io.write(bytes, "\n")
  end
end

return picture
