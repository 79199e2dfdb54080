--- complete.lua -- how a line can go on: names, fields, methods, options, commands, and files in strings.

local commands = require "tessera.repl.commands"
local core = require "tessera.core"
local reference = require "tessera.reference"
local ts = require "tessera"

local complete = {}

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or",
  "repeat", "return", "then", "true", "until", "while",
}

-- Values ------------------------------------------------------------------------------------------

-- The kind of a value that the reference knows, or nil.
local function kind_of(value)
  local kind = core.kind(value)
  return reference.receivers[kind] and kind
end

local function add(names, name, wanted)
  if type(name) == "string" and name:find "^[%a_][%w_]*$" and (name:sub(1, 1) ~= "_" or wanted:sub(1, 1) == "_") then names[name] = true end
end

-- The names behind a dot or a colon of `value`, which is of that kind.
local function fields_of(value, kind, joint, wanted)
  local names = {}
  if kind or value == ts then
    for _, topic in ipairs(reference.topics()) do
      local name = kind and topic.name:match("^" .. kind .. "%" .. joint .. "([%w_]+)$") or value == ts and topic.name:match "^ts%.([%w_]+)"
      if name then add(names, name, wanted) end
    end
  elseif type(value) == "table" then
    for name, field in next, value do
      if joint == "." or type(field) == "function" then add(names, name, wanted) end
    end
  elseif type(value) == "string" then
    for name in pairs(string) do add(names, name, wanted) end
  end
  return names
end

-- The value of a chain such as `ts.mask` in env, by fields alone: nothing is called. nil of "".
local function value_of(env, chain)
  local value = chain ~= "" and env or nil
  for name in chain:gmatch "[^%.:]+" do
    local ok, field = pcall(core.guarded, function() return value[name] end) -- the user's own __index may fail, or never end
    if not ok or field == nil then return nil end
    value = field
  end
  return value
end

-- The topic of a function, or nil.
local function topic_of(f)
  for _, topic in ipairs(type(f) == "function" and reference.topics() or {}) do
    if not topic.field and reference.value(topic.name) == f then return topic end
  end
end

-- The kind of what a function returns, as its comment tells.
local function returned_kind(f)
  local topic = topic_of(f)
  return topic and topic.returns[1] and topic.returns[1].type:match "^%l+$"
end

-- Options -----------------------------------------------------------------------------------------

-- Whose options a topic takes: its own, or those of P:attention where a tiling is one of its arguments. What all pictures
-- take is told in their module's comment, not in each one's.
local function options_of(topic)
  local picture = topic.name:match "^ts%.plot%.(%w+)$"
  if picture then return require "tessera.plot.picture".options(picture) end
  local owners, names = {[topic.name] = true}, {}
  for _, p in ipairs(topic.params) do owners["problem:attention"] = owners["problem:attention"] or p.name:find "^tiling" ~= nil end
  if topic.name == "problem:with" then owners["ts.problem"] = true end
  for name, list in pairs(require "tessera.help.options"()) do
    for _, option in ipairs(list) do names[name] = names[name] or owners[option.topic.name] end
  end
  return names
end

-- The fields that can stand at the end of `text`, where that is a table that a function takes: `P:attention{q = 4, or`.
local function fields_expected(env, text)
  local open = text:gsub("%b()", ""):gsub("%b{}", "")
  if not open:find "[{,]%s*[%w_]*$" then return {} end
  local chain = open:match "([%a_][%w_%.:]*)%s*{[^{}()]*$" or open:match "([%a_][%w_%.:]*)%s*%([^()]*{[^{}()]*$"
  local topic = chain and topic_of(value_of(env, chain))
  return topic and options_of(topic) or {}
end

local function sorted_matches(names, wanted, head)
  local list = {}
  for name in pairs(names) do
    if name:sub(1, #wanted) == wanted then list[#list + 1] = head .. name end
  end
  table.sort(list)
  return list
end

-- Files -------------------------------------------------------------------------------------------

-- The entries of a folder: names, and whether each is a folder too.
local function entries(folder)
  local list = {}
  local ok, lfs = pcall(require, "lfs")
  if not ok then return list end
  local readable, iterator, state = pcall(lfs.dir, folder == "" and "." or folder)
  if not readable then return list end
  for name in iterator, state do
    if name ~= "." and name ~= ".." then list[name] = lfs.attributes(folder .. name, "mode") == "directory" end
  end
  return list
end

local function expanded(path) return (path:gsub("^~/", (os.getenv "HOME" or "~") .. "/")) end

-- Paths that begin with `path`; folders end in a slash. Where a single folder does, what is in it: readline would close
-- the quote behind a single match.
local function file_matches(path)
  local folder, wanted = path:match "^(.*/)([^/]*)$"
  if not folder then folder, wanted = "", path end
  local list = {}
  for name, is_folder in pairs(entries(expanded(folder))) do
    if name:sub(1, #wanted) == wanted and (wanted ~= "" or name:sub(1, 1) ~= ".") then
      list[#list + 1] = folder .. name .. (is_folder and "/" or "")
    end
  end
  if #list == 1 and list[1]:find "/$" and next(entries(expanded(list[1]))) then return file_matches(list[1]) end
  table.sort(list)
  return list
end

-- The text of a string that is open at the end of `text`, or nil.
local function open_string(text)
  local at, quote, from = 1, nil, nil
  while at <= #text do
    local c = text:sub(at, at)
    if quote and c == "\\" then at = at + 1
    elseif quote and c == quote then quote = nil
    elseif not quote and (c == '"' or c == "'") then quote, from = c, at + 1 end
    at = at + 1
  end
  return quote and text:sub(from)
end

-- The whole ---------------------------------------------------------------------------------------

-- Whole completions of the text's last piece, and that piece.
local function completions(env, text)
  local path = text:match "^%s*:load%s+(.*)$" or text:match "^%s*:save%s+(.*)$" or open_string(text)
  if path then return file_matches(path), path end
  local command = text:match "^%s*:(%a*)$"
  if command then
    local names = {}
    for _, name in ipairs(commands.names()) do names[name] = true end
    return sorted_matches(names, command, ""), command
  end
  local before, joint, wanted = text:match "^(.-)([%.:])([%w_]*)$"
  if joint and not before:find "%.$" then
    local called = before:match "([%a_][%w_%.:]*)%b()$" or before:match "([%a_][%w_%.:]*)%b{}$"
    local value = value_of(env, called or before:match "([%a_][%w_%.:]*)$" or "")
    local kind
    if called then kind = returned_kind(value) else kind = value ~= nil and kind_of(value) end
    return sorted_matches(fields_of(not called and value, kind, joint, wanted), wanted, ""), wanted
  end
  wanted = text:match "[%a_][%w_]*$" or ""
  local options = sorted_matches(fields_expected(env, text), wanted, "")
  if #options > 0 then return options, wanted end
  local names = {}
  for name in pairs(env) do add(names, name, wanted) end
  for _, name in ipairs(keywords) do names[name] = true end
  return sorted_matches(names, wanted, ""), wanted
end

--- What could stand in place of text:sub(from, to), a word as readline cuts it, given what stands before. Names are those in
--- `env`, and what is documented.
---@param env table the variables
---@param text string the line
---@param from integer
---@param to integer
---@return string[]
function complete.matches(env, text, from, to)
  local list, piece = completions(env, text:sub(1, to))
  -- The word may begin before the piece ("ts.ma" for "ma"), or inside it (a path with spaces).
  local head = text:sub(from, to - #piece)
  local skip = math.max(0, #piece - (to - from + 1))
  for n, item in ipairs(list) do list[n] = head .. item:sub(skip + 1) end
  return list
end

return complete
