-- transcript.lua -- runs Lua as the prompt would, line by line, and holds what it shows against what the text promises.
--
-- `code --> 1  2` promises that the entry shows 1 and 2; spaces count once. `-- words` promise nothing.
local sessions = require "tessera.repl.session"
local show = require "tessera.repl.show"

local transcript = {}

local function squeezed(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

-- Values and prints of one entry as one text.
local function said(session, printed, entry)
  local values, message = session:run(entry)
  assert(values, ("%s\n%s"):format(entry, message))
  for n = 1, values.quiet and 0 or values.n do printed[#printed + 1] = show(values[n]) end
  return table.concat(printed, " ")
end

-- What was written to a file since the last time.
local function written(file)
  local last = file:seek "cur"
  file:seek("set", 0)
  local text = file:read(last)
  file:seek("set", 0)
  return text or ""
end

--- Runs the code in a session with these variables. Raises what an entry raises, or where it shows something else than
--- promised. Returns how many promises were kept, and everything shown.
---@param code string
---@param variables table
---@return integer
---@return string
function transcript.run(code, variables)
  local session, entry, promise = sessions.new(), nil, nil
  local kept, all = 0, {}
  for name, value in pairs(variables) do session.env[name] = value end
  local printed
  function session.env.print(...)
    for _, value in ipairs{...} do printed[#printed + 1] = show(value) end
  end
  local before, output = io.output(), io.tmpfile()
  io.output(output)
  local _ <close> = setmetatable({}, {__close = function() io.output(before) end})
  for line in (code .. "\n"):gmatch "([^\n]*)\n" do
    local text, wanted = line:match "^(.-)%s*%-%->%s*(.-)%s*$"
    entry = entry and entry .. "\n" .. (text or line) or text or line
    promise = wanted or promise
    if not session:is_unfinished(entry) then
      printed = {}
      local shown = said(session, printed, entry)
      shown = shown .. written(output)
      all[#all + 1] = shown ~= "" and shown or nil
      if promise then
        assert(squeezed(shown) == squeezed(promise), ("%s\n  shows    %s\n  promised %s"):format(entry, shown, promise))
        kept = kept + 1
      end
      entry, promise = nil, nil
    end
  end
  assert(not entry, "unfinished: " .. tostring(entry))
  return kept, table.concat(all, "\n")
end

return transcript
