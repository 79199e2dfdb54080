--- annotations.lua -- reads LuaCATS comments: what a Lua file says of its functions.
--
-- A comment begins with a line of three hyphens and goes on, with two or three, to the line that it describes. Its
-- text is paragraphs, `*` items, and examples, which are indented by four; `@param`, `@return`, `@field`, `@class`,
-- `@operator` and `@see` are read, other tags are left alone.

local annotations = {}

-- Types -------------------------------------------------------------------------------------------

-- Where the type at the head of `text` ends: at the first space outside brackets, unless a colon stands before it.
local function type_end(text)
  local depth = 0
  for at = 1, #text do
    local c = text:sub(at, at)
    if c:find "[%(%[{<]" then depth = depth + 1
    elseif c:find "[%)%]}>]" then depth = depth - 1
    elseif c == " " and depth <= 0 and text:sub(at - 1, at - 1) ~= ":" then return at - 1 end
  end
  return #text
end

-- "integer? the rest" -> "integer?", "the rest".
local function typed(text)
  local last = type_end(text)
  return text:sub(1, last), (text:sub(last + 1):gsub("^%s+", ""))
end

-- Is a bracket of this text left open? Then the next line belongs to it.
local function is_open(text)
  local _, opened = text:gsub("[%({]", "")
  local _, closed = text:gsub("[%)}]", "")
  return opened > closed
end

-- Tags --------------------------------------------------------------------------------------------

local tags = {}

local function named(list_name)
  return function(block, text)
    local name, optional, rest = text:match "^([%w_%.]+)(%??)%s+(.*)$"
    if not name then return end
    local type_text, about = typed(rest)
    table.insert(block[list_name], {name = name, optional = optional == "?", type = type_text, text = about})
  end
end

tags.param, tags.field = named "params", named "fields"

tags["return"] = function(block, text)
  local type_text, about = typed(text)
  table.insert(block.returns, {type = type_text, text = about})
end

function tags.class(block, text) block.class = text:match "^[%w_%.]+" end
function tags.operator(block, text) table.insert(block.operators, text) end
function tags.see(block, text) table.insert(block.see, text) end
function tags.overload(block, text) table.insert(block.overloads, text) end

-- The text of a comment -----------------------------------------------------------------------------

-- Adds a line of the text to block.body, a list of pieces {kind = "text" | "item" | "code", text =}.
local function add_line(block, line)
  local body, code = block.body, line:match "^    (.*)$"
  local last = body[#body]
  if line == "" then
    block.apart = true
  elseif code then
    if last and last.kind == "code" and not block.apart then last.text = last.text .. "\n" .. code
    else body[#body + 1] = {kind = "code", text = code} end
    block.apart = false
  elseif line:find "^%* " then
    body[#body + 1] = {kind = "item", text = line:sub(3)}
    block.apart = false
  else
    local continues = last and not block.apart and last.kind ~= "code" and (last.kind == "text" or line:find "^%s")
    if continues then last.text = last.text .. " " .. line:gsub("^%s+", "")
    else body[#body + 1] = {kind = "text", text = line} end
    block.apart = false
  end
end

local function new_block(line)
  return {line = line, body = {}, params = {}, returns = {}, fields = {}, operators = {}, see = {}, overloads = {}}
end

-- The comment's lines, without hyphens, as a block.
local function parse(lines, at)
  local block, n = new_block(at), 1
  while n <= #lines do
    local tag, text = lines[n]:match "^@(%w+)%s*(.*)$"
    if tag then
      while is_open(text) and n < #lines do
        n = n + 1
        text = text .. " " .. lines[n]:gsub("^%s+", "")
      end
      if tags[tag] then tags[tag](block, text) end
    else
      add_line(block, lines[n])
    end
    n = n + 1
  end
  block.apart = nil
  return block
end

-- Files -------------------------------------------------------------------------------------------

-- What the line of code that follows a comment gives a name to: "mask.causal", "methods:with", "new".
local function target_of(code)
  return code:match "^local function ([%w_]+)" or code:match "^function ([%w_%.:]+)"
    or code:match "^local ([%w_]+) =" or code:match "^([%w_%.]+) ="
    or code:match '^laws%[#laws %+ 1%] = {"([^"]+)"'
end

--- The comments of a file, in its order. Each is {line, target, body, params, returns, fields, class, operators,
--- see, overloads}; the one at the head of the file has target nil.
---@param text string the file's
---@return table[]
function annotations.read(text)
  local blocks, lines, first, number = {}, nil, 0, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local comment = line:match(lines and "^%-%-%-?(.*)$" or "^%-%-%-(.*)$")
    if comment and not (lines == nil and comment:find "^%-") then
      if not lines then lines, first = {}, number end
      lines[#lines + 1] = comment:gsub("^ ", "")
    elseif lines then
      local block = parse(lines, first)
      block.target = target_of(line)
      blocks[#blocks + 1] = block
      lines = nil
    end
  end
  return blocks
end

-- Does every parenthesis of the text close? That of [0, 1) is none.
local function is_closed(text)
  text = text:gsub("%[%d+, %d+%)", "")
  return select(2, text:gsub("%(", "")) == select(2, text:gsub("%)", ""))
end

-- Where the first sentence ends: at a full stop outside parentheses that is none of "..", "et al." or a number's.
local function sentence_end(text)
  local at = 1
  while true do
    local stop = text:find("[^%.]%.%s", at)
    if not stop then return #text end
    local so_far = text:sub(1, stop)
    if not so_far:find " al$" and is_closed(so_far) then return stop + 1 end
    at = stop + 1
  end
end

--- The first sentence of a comment; where it is long, up to its first colon or semicolon.
---@param block table
---@return string
function annotations.summary(block)
  local text = block.body[1] and block.body[1].text or ""
  text = text:sub(1, sentence_end(text)):gsub("^[%w_]+%.lua %-%- ", "")
  local pause = #text > 70 and text:find("[;:]%s", 16)
  return pause and is_closed(text:sub(1, pause)) and text:sub(1, pause - 1) .. "." or text
end

return annotations
