--- colour.lua -- colours for people who look at a terminal, and for nobody else.

local core = require "tessera.core"

local codes = {name = "1", code = "36", note = "2", error = "31"}

--- style(kind, text) for a stream: the text in the colour of its kind ("name", "code", "note" or "error") where the stream
--- is a terminal and NO_COLOR is not set; elsewhere the text as it is.
---@param stream "stdout"|"stderr"
---@return fun(kind: string, text: string): string
return function(stream)
  local refused = os.getenv "NO_COLOR" or ""
  if refused ~= "" or os.getenv "TERM" == "dumb" or not core.isatty(stream) then
    return function(_, text) return text end
  end
  return function(kind, text) return "\27[" .. codes[kind] .. "m" .. text .. "\27[0m" end
end
