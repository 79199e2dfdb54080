--- locals.lua -- makes the top-level locals of a chunk globals, so that later lines know them.
--
-- `local x = 1` becomes `x = 1`, `local x` becomes `x = nil`, and `local function f` becomes `function f`; the text keeps
-- its lines. Inside blocks, and where a variable is to be closed, nothing changes.

local opens = {["do"] = true, ["then"] = true, ["function"] = true, ["repeat"] = true}
local closes = {["end"] = true, ["until"] = true, ["elseif"] = true}

-- Where the string, comment or other token at `at` ends.
local function token_end(text, at)
  local level = text:match("^%-%-%[(=*)%[", at) or text:match("^%[(=*)%[", at)
  if level then
    local _, last = text:find("]" .. level .. "]", at, true)
    return last or #text
  end
  if text:find("^%-%-", at) then return (text:find("\n", at, true) or #text + 1) - 1 end
  local quote = text:match("^[\"']", at)
  if not quote then
    local _, last = text:find("^[%a_][%w_]*", at)
    return last or select(2, text:find("^%d[%w%.]*", at)) or at
  end
  local last = at + 1
  while last <= #text and text:sub(last, last) ~= quote do
    last = last + (text:sub(last, last) == "\\" and 2 or 1)
  end
  return last
end

-- What `local` at `at` becomes, and where the text goes on; nil where it must stay.
local function replacement(text, at)
  local _, last = text:find("^local%s+function%f[%W]", at)
  if last then return "function", last + 1 end
  local names, stop = {}, at + #"local"
  repeat
    local name, attribute, after = text:match("^%s*([%a_][%w_]*)%s*(<?%s*%w*%s*>?)()", stop)
    if not name or attribute:find "close" then return nil end
    if not attribute:find "<" then after = select(2, text:find("^%s*[%a_][%w_]*", stop)) + 1 end
    names[#names + 1] = name
    local _, comma = text:find("^%s*,", after)
    stop = comma and comma + 1 or after
  until not comma
  local list = table.concat(names, ", ")
  if not text:find("^%s*=[^=]", stop) then list = list .. " = nil" end
  return list .. text:sub(at, stop - 1):gsub("[^\n]", ""), stop
end

--- The chunk with its top-level locals as globals.
---@param text string
---@return string
return function(text)
  local parts, depth, at = {}, 0, 1
  while at <= #text do
    local last = token_end(text, at)
    local token = text:sub(at, last)
    local instead, after
    if token == "local" and depth == 0 then instead, after = replacement(text, at) end
    if opens[instead or token] then depth = depth + 1 end
    if closes[token] then depth = depth - 1 end
    parts[#parts + 1] = instead or token
    at = after or last + 1
  end
  return table.concat(parts)
end
