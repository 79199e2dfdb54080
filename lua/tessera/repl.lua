--- repl.lua -- the prompt: reads, runs and prints until the user leaves.

local colour = require "tessera.repl.colour"
local commands = require "tessera.repl.commands"
local complete = require "tessera.complete"
local core = require "tessera.core"
local coroutines = require "tessera.repl.coroutines"
local help = require "tessera.help"
local input = require "tessera.repl.input"
local sessions = require "tessera.repl.session"
local show = require "tessera.repl.show"
local ts = require "tessera"

local repl = {}
repl.__index = repl

-- Output ------------------------------------------------------------------------------------------

local function print_values(self, values)
  if values.quiet then return end
  local texts = {}
  for n = 1, values.n do texts[n] = show(values[n]) end
  -- Matrices and the like have lines of their own.
  local separator = table.concat(texts):find "\n" and "\n" or "\t"
  if values.n > 0 then self.say(table.concat(texts, separator)) end
end

local function help_width() return math.min(core.width() or 80, 100) end

-- What the commands and lines need; `self.say` and so on take no self.
local function new()
  local self = setmetatable({session = sessions.new(), done = false}, repl)
  local style, alarm = colour "stdout", colour "stderr"
  function self.say(text) io.write(text, "\n") end
  function self.complain(message)
    io.flush()
    io.stderr:write(alarm("error", message), "\n")
    self.failed = true
  end
  function self.help(x) self.say(help.text(x, help_width(), style)) end
  function self.leave() self.done = true end
  function self.run(text) -- also returns the seconds that it took, without the printing
    local begun = core.clock()
    local values, message = self.session:run(text)
    local seconds = core.clock() - begun
    if values then print_values(self, values) else self.complain(message) end
    return values, seconds
  end
  self.session.env.help = self.help
  self.session.given.help = true
  return self
end

-- Lines -------------------------------------------------------------------------------------------

--- Does what one whole entry says: Lua, `?name`, or `:command`.
function repl:enter(text)
  local topic, command = text:match "^%s*%?(.*)$", text:match "^%s*:([^:].*)$" or text:match "^%s*:%s*$"
  local word = text:match "^%s*(%a+)%s*$"
  if topic or word == "help" and self.session.env.help == self.help then self.help(topic)
  elseif (word == "quit" or word == "exit") and self.session.env[word] == nil then self.leave()
  elseif command then commands.run(self, command)
  elseif text:find "%S" then self.run(text) end
end

-- Reads one entry, of as many lines as it takes, and does what it says.
local function step(self, lines)
  local text, prompt = nil, "> "
  repeat
    local line, why = lines.line(prompt)
    if why == "interrupted" then return end
    if why == "end" then
      if text then self.complain "unfinished" end
      self.done = true
      return io.write "\n"
    end
    text, prompt = text and text .. "\n" .. line or line, ">> "
  until text:find "^%s*[?:]" or not self.session:is_unfinished(text)
  local ok, message = pcall(core.guarded, self.enter, self, text) -- no command that fails or never ends takes the session with it
  if not ok then self.complain(tostring(message)) end
end

-- os.exit(...) as the user calls it, which first closes the input.
local function closing_exit(lines)
  local os_copy = {}
  for name, value in pairs(os) do os_copy[name] = value end
  function os_copy.exit(...)
    lines.close()
    return os.exit(...)
  end
  return os_copy
end

--- Opens the prompt; a script may come first, whose variables stay. Returns when the user leaves.
---@param script? string the path of a file
function repl.open(script)
  coroutines()
  local self = new()
  local lines = input.open(function(text, from, to) return complete.matches(self.session.env, text, from, to) end)
  self.session.env.os = closing_exit(lines)
  self.say(("Tessera %s: `ts` is loaded. ?NAME or ?WORDS for help, : for commands, Ctrl-D to leave."):format(ts.version))
  if script then commands.run(self, "load " .. script) end
  repeat step(self, lines) until self.done
  lines.close()
end

return repl
