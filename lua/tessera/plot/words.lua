--- words.lua -- text in pictures: drawn as it is written, whatever bytes it has.

local number = require "tessera.number"

local words = {}

local replacement = "\u{FFFD}"

-- What is no UTF-8 is marked, byte by byte.
local function valid(text)
  local parts, at = {}, 1
  while at <= #text do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1)
    if not bad then break end
    parts[#parts + 1] = replacement
    at = bad + 1
  end
  return table.concat(parts)
end

local escapes = {["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r"}

--- Text without control characters and broken UTF-8: a newline is shown as \n, what is no character by U+FFFD.
---@param text string
---@return string
function words.clean(text)
  return (valid(text):gsub("%c", function(c) return escapes[c] or ("\\%d"):format(c:byte()) end))
end

--- How many characters wide a text is.
function words.width(text) return utf8.len(text) or #text end

--- The first `most` characters, the last of them … where some are left out.
function words.cut(text, most)
  if words.width(text) <= most then return text end
  return text:sub(1, utf8.offset(text, most) - 1) .. "…"
end

--- Filled up with spaces to a width; a negative one fills on the left.
function words.pad(text, width)
  local space = (" "):rep(math.abs(width) - words.width(text))
  return width < 0 and space .. text or text .. space
end

--- Parts in lines of at most `width` characters, as far as that is possible; colours take no room.
---@param parts string[]
---@return string
function words.wrapped(parts, width)
  local lines, used = {""}, 0
  for n, part in ipairs(parts) do
    local wide = words.width((part:gsub("\27%[[%d;]*m", "")))
    if n > 1 and used + 3 + wide > width then
      lines[#lines + 1], used = part, wide
    else
      lines[#lines] = n == 1 and part or lines[#lines] .. "   " .. part
      used = used + wide + (n > 1 and 3 or 0)
    end
  end
  return table.concat(lines, "\n")
end

--- A number for a legend or an axis.
function words.number(x)
  if x == -math.huge then return "−∞" elseif x == math.huge then return "∞" elseif x ~= x then return "NaN" end
  return number.format("%.4g", x)
end

return words
