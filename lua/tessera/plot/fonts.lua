--- fonts.lua -- which characters this machine can draw.
--
-- gnuplot's cairo terminals draw one that no font has as a box of many times the picture's size, over everything. Such
-- characters are written as \u{65E5} instead.

local fonts = {}

local ranges -- a list of {first, last}; empty where nobody can tell

local function load()
  ranges = {}
  local pipe = io.popen "fc-list : charset 2>/dev/null"
  if not pipe then return end
  for first, last in pipe:read "a":gmatch "(%x+)%-?(%x*)[ \n]" do
    first = tonumber(first, 16)
    ranges[#ranges + 1] = {first, tonumber(last, 16) or first}
  end
  pipe:close()
end

local known = {}

local function has(code)
  if code < 0x250 then return true end
  if known[code] == nil then
    if not ranges then load() end
    known[code] = #ranges == 0
    for _, range in ipairs(ranges) do
      if code >= range[1] and code <= range[2] then known[code] = true end
    end
  end
  return known[code]
end

--- Text in which every character can be drawn.
---@param text string valid UTF-8
---@return string
function fonts.drawable(text)
  if not text:find "[\xC9-\xF7]" then return text end
  return (text:gsub(utf8.charpattern, function(c)
    local code = utf8.codepoint(c)
    return not has(code) and ("\\u{%X}"):format(code) or nil
  end))
end

return fonts
