--- input.lua -- lines that a user types: with lua-readline where it is, else plain ones.
--
-- An input has line(prompt) -> a line, or nil and "end" or "interrupted"; and close(). From open to close Ctrl-C is held back
-- everywhere but in the wait for input, and in calls that core.guarded makes.

local core = require "tessera.core"

local input = {}

-- With readline -----------------------------------------------------------------------------------

local function history_file()
  return os.getenv "TESSERA_HISTORY" or (os.getenv "HOME" and "~/.tessera_history" or "")
end

-- lua-readline talks to the terminal by itself, so it is for terminals alone.
local function load_readline()
  if not core.isatty "stdin" or os.getenv "TERM" == "dumb" or os.getenv "TESSERA_READLINE" == "no" then return nil end
  local ok, readline = pcall(require, "readline")
  return ok and readline.handler_install and readline.sigcleanup and readline or nil
end

local left_open -- the descriptor of the stream that an interrupted line left behind

-- The user's line by read_char's callbacks, which end at once when Ctrl-C comes. Then the next handler_install begins a
-- new line; handler_remove would do so too, but lua-readline's first closes the stream that readline then writes to. So
-- that stream, which handler_install opens, is closed here, when readline has another.
local function read_line(readline, prompt)
  local line, finished
  local descriptor = core.next_descriptor()
  readline.handler_install(prompt, function(text)
    line, finished = text, true
    readline.handler_remove()
  end)
  if left_open then core.close_terminal(left_open) end
  left_open = nil
  while not finished do
    local what = core.wait()
    if what == "ready" then
      readline.read_char()
    elseif what == "interrupted" then
      readline.sigcleanup()
      left_open = descriptor
      io.write "\n"
      return nil, "interrupted"
    end
  end
  return line, line == nil and "end" or nil
end

local function with_readline(readline, matches)
  readline.set_options{histfile = history_file(), keeplines = 5000, auto_add = false, completion = true}
  readline.set_readline_name "tessera"
  readline.set_complete_function(function(text, from, to)
    readline.set_completion_append_character ""
    return matches(text, from, to - 1) -- lua-readline 3's `to` is one beyond the word
  end)
  local last
  return {
    line = function(prompt)
      local line, why = read_line(readline, prompt)
      if line and line:find "%S" and line ~= last then
        readline.add_history(line)
        last = line
      end
      return line, why
    end,
    close = function() readline.save_history() end, -- appends all since the start, so it is called once
  }
end

-- Plain -------------------------------------------------------------------------------------------

local function plain()
  io.stdin:setvbuf "no" -- what stood in a buffer, the wait would not see
  return {
    line = function(prompt)
      io.write(prompt)
      io.flush()
      local what
      repeat what = core.wait() until what ~= "timeout"
      if what == "interrupted" then
        io.write "\n"
        return nil, "interrupted"
      end
      local line = io.read "l"
      return line, line == nil and "end" or nil
    end,
    close = function() end,
  }
end

--- The input for this terminal. `matches(text, from, to)` are the completions of a part of a line.
---@param matches fun(text: string, from: integer, to: integer): string[]
---@return {line: function, close: function}
function input.open(matches)
  local readline = load_readline()
  local opened = readline and with_readline(readline, matches) or plain()
  local close = opened.close
  function opened.close()
    core.hold_interrupts(false)
    close()
  end
  core.hold_interrupts(true)
  return opened
end

return input
