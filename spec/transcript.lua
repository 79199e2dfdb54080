-- transcript.lua -- types Lua at a prompt, line by line, and holds what is shown against what the text promises.
--
-- `code --> 1  2` promises that the entry shows 1 and 2; spaces count once. `-- words` promise nothing.
local sessions = require "tessera.repl.session"
local show = require "tessera.repl.show"

local transcript = {}
transcript.__index = transcript

local function squeezed(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

-- What was written to a file since the last time.
local function written(file)
  local last = file:seek "cur"
  file:seek("set", 0)
  local text = file:read(last)
  file:seek("set", 0)
  return text or ""
end

--- A prompt with these variables.
---@param variables? table
---@return table
function transcript.new(variables)
  local self = setmetatable({session = sessions.new(), shown = "", kept = 0}, transcript)
  for name, value in pairs(variables or {}) do self.session.env[name] = value end
  function self.session.env.print(...)
    for _, value in ipairs{...} do self.printed[#self.printed + 1] = show(value) end
  end
  return self
end

-- Runs one entry: what it shows, writes and prints, as one text.
local function enter(self, entry)
  local before, output = io.output(), io.tmpfile()
  io.output(output)
  self.printed = {}
  local values, message = self.session:run(entry)
  io.output(before)
  assert(values, ("%s\n%s"):format(entry, message))
  for n = 1, values.quiet and 0 or values.n do self.printed[#self.printed + 1] = show(values[n]) end
  return table.concat(self.printed, "\n") .. written(output)
end

--- Types the code. Raises what an entry raises, and where one shows something else than promised. Then `shown` is what the last
--- entry showed, and `kept` how many promises were kept so far.
---@param code string
function transcript:type(code)
  local entry, promise
  for line in (code .. "\n"):gmatch "([^\n]*)\n" do
    local text, wanted = line:match "^(.-)%s*%-%->%s*(.-)%s*$"
    entry = (entry and entry .. "\n" or "") .. (text or line)
    promise = wanted or promise
    if not self.session:is_unfinished(entry) then
      self.shown = enter(self, entry)
      if promise then
        assert(squeezed(self.shown) == squeezed(promise), ("%s\n  shows    %s\n  promised %s"):format(entry, self.shown, promise))
        self.kept = self.kept + 1
      end
      entry, promise = nil, nil
    end
  end
  assert(not entry, "unfinished: " .. tostring(entry))
end

return transcript
