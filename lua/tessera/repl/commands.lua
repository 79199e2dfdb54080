--- commands.lua -- what begins with a colon at the prompt.

local check = require "tessera.check"
local replacing = require "tessera.replacing"
local sentence = require "tessera.sentence"
local show = require "tessera.repl.show"
local timing = require "tessera.repl.timing"
local words = require "tessera.plot.words"

local commands = {}

-- {name, what it takes (in brackets where it may be left out), what it does}
local list = {
  {"time", "EXPRESSION", "runs it, after :time N so many times more, and tells how long a run takes"},
  {"who", "", "the variables so far, with their shapes and bytes"},
  {"load", "FILE", "runs a file here: its variables stay"},
  {"save", "FILE", "writes the lines so far as a script"},
  {"plot", "EXPRESSION", "a picture of a matrix, a mask, its tiles, a trace or a problem's weights"},
  {"help", "[NAME]", "as ?NAME"},
  {"quit", "", "leaves, as Ctrl-D does"},
}

-- What the complaint calls what is not there.
local nouns = {EXPRESSION = "an expression", FILE = "a file name"}

-- name -> f(repl, text); repl has session, run(text) and say(text).
local run = {}

-- What is to be timed, and how often: a number first is the count, where Lua follows, unless that begins with the number.
local function counted(session, text)
  local count, rest = text:match "^(%d%d?%d?%d?%d?%d?)%s+(.+)$"
  if not count or session:compiled(text) or not session:compiled(rest) then return text, nil end
  return rest, math.tointeger(count)
end

function run.time(repl, text)
  local what, count = counted(repl.session, text)
  local values, first = repl.run(what)
  if not values then return end
  if not count or count == 0 then return repl.say(timing.text{first}) end
  local ok, seconds = pcall(timing.runs, repl.session:compiled(what), count)
  if ok then repl.say(timing.text(seconds)) else repl.complain(repl.session:explained(what, seconds)) end
end

-- Variables -----------------------------------------------------------------------------------------

local function bytes_text(bytes)
  for _, unit in ipairs{{2 ^ 30, "GiB"}, {2 ^ 20, "MiB"}, {2 ^ 10, "KiB"}} do
    if bytes >= unit[1] then return ("%.1f %s"):format(bytes / unit[1], unit[2]) end
  end
  return bytes .. " B"
end

local describe = {}

local function size_of(x) return x.dtype == "f32" and 4 or 8 end

function describe.matrix(m) return ("%dx%d %s"):format(m.rows, m.cols, m.dtype), m.rows * m.cols * size_of(m) end

function describe.mask(m)
  return ("%dx%d%s, %s"):format(m.rows, m.cols, m.heads and sentence(" of %d head(s)", m.heads) or "", m.kind)
end

function describe.problem(P)
  return ("n_q %d, n_k %d, d %d, d_v %d, heads %d, %s"):format(P.n_q, P.n_k, P.d, P.d_v, P.heads, P.dtype)
end

function describe.summary(S)
  return ("n_q %d, heads %d, d_v %d, %s"):format(S.n_q, S.heads, S.d_v, S.dtype), S.n_q * S.heads * (S.d_v + 2) * size_of(S)
end

-- Any other value, as much of it as there is room for.
local function in_a_line(value) return words.cut(words.clean((show(value):gsub("%s+", " "))), 50) end

function run.who(repl)
  local rows, widths = {}, {0, 0}
  for n, name in ipairs(repl.session:variables()) do
    local value = repl.session.env[name]
    local kind = check.type_of(value)
    local text, bytes
    if describe[kind] then text, bytes = describe[kind](value) else text = in_a_line(value) end
    rows[n] = {name, kind, text, bytes and bytes_text(math.tointeger(bytes)) or ""}
    widths[1], widths[2] = math.max(widths[1], #name), math.max(widths[2], #kind)
  end
  if #rows == 0 then repl.say "no variables so far" end
  for _, row in ipairs(rows) do
    for k, width in ipairs(widths) do row[k] = row[k] .. (" "):rep(width - #row[k]) end
    repl.say((table.concat(row, "  "):gsub("%s+$", "")))
  end
end

-- Files -------------------------------------------------------------------------------------------

function run.load(repl, path)
  local file, why = io.open(path)
  if not file then return repl.complain(why) end
  local text, problem = file:read "a"
  file:close()
  if not text then return repl.complain(("%s: %s"):format(path, problem)) end
  repl.run((text:gsub("^#[^\n]*", "")))
end

function run.save(repl, path)
  replacing(path, function(write)
    write('local ts = require "tessera"\n' .. table.concat(repl.session.lines, "\n") .. "\n")
  end)
  repl.say(sentence("%d line(s) in %s", #repl.session.lines, path))
end

-- Pictures and the rest -----------------------------------------------------------------------------

local most_cells = 1 << 20 -- of a problem whose weights are drawn

-- Of the problem _, with %s for whose: cells that are not allowed must not look like zeros.
local weights_code = [[ts.plot.matrix(_:weights(), {title = "weights%s", xlabel = "key", ylabel = "query",
  mask = ts.mask.from(_:scores():map(function(s) return s == -math.huge and 0 or 1 end))});]]

-- What draws a value of each kind, and what is said of a choice that was made.
local pictures = {
  matrix = function() return "ts.plot.matrix(_);" end,
  mask = function() return "ts.plot.mask(_);" end,
  tiles = function() return "ts.plot.tiles(_);" end,
  trace = function() return "ts.plot.trace(_);" end,
  problem = function(P)
    if P.n_q * P.n_k > most_cells then
      return "ts.plot.tiles(_);", "the tiles of the default tiling, as there are too many weights to draw"
    end
    local whose = P.heads > 1 and (" of head 1 of %d"):format(P.heads) or ""
    return weights_code:format(whose), ("the weights%s; :plot P:scores() and ts.plot.tiles(P) draw others"):format(whose)
  end,
}

function run.plot(repl, text)
  local ran, message = repl.session:run("_ = " .. text) -- an assignment: a script can have it, too
  if not ran then return repl.complain(message) end
  local value = repl.session.env._
  local kind = check.type_of(value)
  if not pictures[kind] then
    return repl.complain(("no picture for a %s: a matrix, a mask, tiles, a trace or a problem has one"):format(kind))
  end
  local code, note = pictures[kind](value)
  if note then repl.say(note) end
  repl.run(code)
end

function run.help(repl, text) repl.help(text) end

function run.quit(repl) repl.leave() end

--- Carries out `:name text`.
---@param repl table with session, run, say, complain, help and leave
---@param line string behind the colon
function commands.run(repl, line)
  local name, text = line:match "^%s*(%a*)%s*(.-)%s*$"
  for _, command in ipairs(list) do
    local missing = command[1] == name and text == "" and nouns[command[2]]
    if missing then return repl.complain(("%s is missing: :%s %s"):format(missing, name, command[2])) end
  end
  if run[name] then return run[name](repl, text) end
  local near = name and name ~= "" and check.near(name, commands.names())
  if name ~= "" then repl.complain(("there is no command :%s%s"):format(name, near and (", did you mean :%s?"):format(near) or "")) end
  for _, command in ipairs(list) do
    repl.say(("  :%-18s %s"):format(command[1] .. (command[2] ~= "" and " " .. command[2] or ""), command[3]))
  end
end

--- The names of the commands.
---@return string[]
function commands.names()
  local names = {}
  for n, command in ipairs(list) do names[n] = command[1] end
  return names
end

return commands
