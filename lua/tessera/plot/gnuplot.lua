--- gnuplot.lua -- gnuplot, given its commands and data through a pipe.
--
-- gnuplot runs what stands between backquotes in double-quoted strings, `set output "|cmd"` and `plot "<cmd"`. So nothing
-- of the user's reaches it but numbers, and text in single quotes with none inside; it never hears the name of a file of the user's: it
-- writes to one that we have named.

local core = require "tessera.core"
local fonts = require "tessera.plot.fonts"
local number = require "tessera.number"
local words = require "tessera.plot.words"

local gnuplot = {}

-- A single-quoted string knows no escapes but the doubled quote, and that one not as the first character (''''a' is taken for
-- an empty string, and then whatever stands there). So single quotes are strings of our own between those of the user's.
local function literal(text) return "'" .. text:gsub("'", [['."'".']]) .. "'" end

--- Text as an expression of gnuplot's that has just this value; lines are joined by a newline of our own.
---@param text string
---@return string
function gnuplot.quote(text)
  local lines = {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = literal(words.clean(line)) end
  return table.concat(lines, '."\\n".')
end

--- Text for a tick or a legend: always one line.
function gnuplot.quote_line(text) return literal(words.clean(text)) end

--- A number as gnuplot reads it; what is none leaves a gap.
function gnuplot.number(x) return x - x == 0 and number.format("%.17g", x) or "NaN" end

local font = "font 'DejaVu Sans,10'"

local terminals = {
  png = function(w, h) return ("pngcairo noenhanced background rgb 'white' size %d,%d %s"):format(w, h, font) end,
  svg = function(w, h, name) return ("svg noenhanced dynamic size %d,%d name '%s' %s"):format(w, h, name or "picture", font) end,
  pdf = function(w, h)
    return ("pdfcairo noenhanced size %sin,%sin %s"):format(number.format("%.3f", w / 96), number.format("%.3f", h / 96), font)
  end,
  sixel = function(w, h) return ("sixelgd noenhanced truecolor size %d,%d %s"):format(w, h, font) end,
}

--- Whether `ending` is one of png, svg, pdf, sixel.
function gnuplot.knows(ending) return terminals[ending] ~= nil end

-- A file of a name that needs no quotes, which goes when the variable that holds it does.
local temporary = {}
temporary.__index = temporary
function temporary.new() return setmetatable({name = os.tmpname()}, temporary) end
function temporary:__close() os.remove(self.name) end
function temporary:read()
  local file <close> = assert(io.open(self.name, "rb"))
  return file:read "a"
end

-- The shell reads on where gnuplot stopped early, so that writing to the pipe never kills this process; Ctrl-C waits for
-- the picture, which takes a moment.
local command = "{ trap '' INT; LC_ALL=C.UTF-8 gnuplot 2>%s; s=$?; cat >/dev/null; exit $s; } >%s"

-- A part of a script is text, or {bytes}, which are data.
local function write(pipe, part, ending)
  if type(part) == "table" then return pipe:write(part[1]) end
  pipe:write(ending == "svg" and part or fonts.drawable(part)) -- whoever looks at an SVG has fonts of their own
end

--- Runs a script: what gnuplot drew, as bytes; nil and "missing" where there is no gnuplot. Raises what gnuplot complains of.
---@param script (string|table)[] commands; a table {bytes} is data
---@param ending string png, svg, pdf or sixel
---@param width integer pixels
---@param height integer
---@param name? string of the picture, for the names inside an SVG: letters only
---@return string? bytes
---@return string? why
function gnuplot.run(script, ending, width, height, name)
  local said <close> = temporary.new()
  local drawn <close> = temporary.new()
  local pipe = assert(io.popen(command:format(said.name, drawn.name), "w"))
  pipe:write("set encoding utf8\nset terminal ", terminals[ending](width, height, name), "\n")
  for _, part in ipairs(script) do write(pipe, part, ending) end
  local ok, _, status = pipe:close()
  if status == 127 then return nil, "missing" end
  local bytes = drawn:read()
  if not ok or #bytes == 0 then core.fail("gnuplot cannot draw this: " .. said:read():gsub("%s+", " ")) end
  return bytes
end

return gnuplot
