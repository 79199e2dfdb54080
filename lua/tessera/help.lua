--- help.lua -- what there is to say of a name or a value, as text.

local annotations = require "tessera.annotations"
local check = require "tessera.check"
local options = require "tessera.help.options"
local reference = require "tessera.reference"
local search = require "tessera.help.search"
local ts = require "tessera"

local help = {}

-- Laying out --------------------------------------------------------------------------------------

-- The text in lines of at most `width` characters, each behind `indent` (the first behind `head`).
local function wrapped(text, width, indent, head)
  local lines, line = {}, head or indent
  local used = utf8.len(line)
  local empty = true
  for word in text:gmatch "%S+" do
    local length = utf8.len(word) or #word
    if not empty and used + 1 + length > width then
      lines[#lines + 1] = line
      line, used, empty = indent, utf8.len(indent), true
    end
    line, used = line .. (empty and "" or " ") .. word, used + length + (empty and 0 or 1)
    empty = false
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- Names and texts in two columns; texts go on under themselves.
local function columns(rows, width)
  local widest = 0
  for _, row in ipairs(rows) do widest = math.max(widest, utf8.len(row[1])) end
  widest = math.min(widest, width // 2)
  local lines = {}
  for n, row in ipairs(rows) do
    local head = "  " .. row[1] .. (" "):rep(widest - utf8.len(row[1])) .. "  "
    lines[n] = row[2] == "" and "  " .. row[1] or wrapped(row[2], width, (" "):rep(widest + 4), head)
  end
  return table.concat(lines, "\n")
end

local function body_text(body, width, style)
  local parts, before = {}, nil
  for _, piece in ipairs(body) do
    local text
    if piece.kind == "code" then text = style("code", "    " .. piece.text:gsub("\n", "\n    "))
    elseif piece.kind == "item" then text = wrapped(piece.text, width, "    ", "  - ")
    else text = wrapped(piece.text, width, "") end
    parts[#parts + 1] = (before == nil and "" or before == "item" and piece.kind == "item" and "\n" or "\n\n") .. text
    before = piece.kind
  end
  return table.concat(parts)
end

-- Neighbours --------------------------------------------------------------------------------------

local function mentioned(topic, found)
  local topics = reference.topics()
  for _, name in ipairs(topic.see) do found[#found + 1] = name end
  for _, piece in ipairs(topic.body) do
    for text in piece.text:gmatch "`([%w_%.:]+)[^`]*`" do
      local kind = topic.name:match "^(%l+)[%.:]" or ""
      for _, name in ipairs{text, kind .. ":" .. text, (text:gsub("^P:", "problem:"):gsub("^S:", "summary:"))} do
        if topics.by_name[name] and name ~= topic.name then found[#found + 1] = name end
      end
    end
  end
end

--- What to read next: the topics that the comment names, and those beside it in its file.
---@param topic table
---@return string[] names
function help.see_also(topic)
  local topics, found = reference.topics(), {}
  mentioned(topic, found)
  for at, other in ipairs(topics) do
    if other == topic then
      for _, beside in ipairs{topics[at - 1] or false, topics[at + 1] or false} do
        if beside and beside.file == topic.file then found[#found + 1] = beside.name end
      end
    end
  end
  local seen, list = {}, {}
  for _, name in ipairs(found) do
    if not seen[name] and #list < 6 then
      seen[name], list[#list + 1] = true, name
    end
  end
  return list
end

-- One topic ---------------------------------------------------------------------------------------

local function plain(_, text) return text end

local function argument_rows(topic)
  local rows = {}
  for _, p in ipairs(topic.params) do
    rows[#rows + 1] = {p.name .. (p.optional and "?" or ""), p.type .. (p.text ~= "" and ": " .. p.text or "")}
  end
  for _, r in ipairs(topic.returns) do
    rows[#rows + 1] = {"→", r.type .. (r.text ~= "" and "  " .. r.text or "")}
  end
  return rows
end

-- A line a topic, or an option.
local function listed(list, width)
  local rows = {}
  for n, topic in ipairs(list) do
    local name = topic.option and ("%s of %s"):format(topic.option, reference.written(topic.topic.name)) or reference.written(topic.name)
    rows[n] = {name, topic.option and topic.text or annotations.summary(topic)}
  end
  return columns(rows, width)
end

-- What stands in a library such as ts.mask.
local function members_of(topic)
  local list = {}
  for _, other in ipairs(reference.topics()) do
    if other.name:sub(1, #topic.name + 1) == topic.name .. "." then list[#list + 1] = other end
  end
  return list
end

--- All of what is said of a topic.
---@param topic table as of reference.topics
---@param width integer
---@param style? fun(kind: string, text: string): string kind is "name", "code" or "note"
---@return string
function help.topic(topic, width, style)
  style = style or plain
  local parts = {style("name", reference.signature(topic))}
  local body = body_text(topic.body, width, style)
  if body ~= "" then parts[#parts + 1] = body end
  local rows = argument_rows(topic)
  if #rows > 0 then parts[#parts + 1] = columns(rows, width) end
  local members = members_of(topic)
  if #members > 0 then parts[#parts + 1] = listed(members, width) end
  local also = {}
  for _, name in ipairs(help.see_also(topic)) do
    local is_member = name:sub(1, #topic.name + 1) == topic.name .. "." -- stands above
    if not is_member then also[#also + 1] = reference.written(name) end
  end
  if #also > 0 then parts[#parts + 1] = style("note", wrapped("See also: " .. table.concat(also, ", "), width, "")) end
  return table.concat(parts, "\n\n")
end

-- Finding -----------------------------------------------------------------------------------------

local most_hits = 8 -- of a search, by the words of comments

local kind_of_receiver = {m = {"matrix", "mask"}, P = {"problem"}, S = {"summary"}, O = {"matrix"}}

-- The topics that a name may mean: itself; with a receiver; or whatever ends in it, those of `ts` first, then those of matrices;
-- and apart from them those of tessera.mpi, of which most people have not asked.
local function by_name(name)
  local topics = reference.topics()
  if topics.by_name[name] then return {topics.by_name[name]}, {} end
  local receiver, rest = name:match "^([%w_]+)([%.:][%w_]+)$"
  local list = {}
  for _, kind in ipairs(receiver and (kind_of_receiver[receiver] or {receiver}) or {}) do
    for _, joint in ipairs{":", "."} do list[#list + 1] = topics.by_name[kind .. joint .. rest:sub(2)] end
  end
  if #list > 0 then return list, {} end
  local apart = {}
  for _, topic in ipairs(topics) do
    local last = topic.name:match "^law (.+)$" or topic.name:match "([%w_]+)$"
    if last == name or topic.name:sub(-#name - 1) == "." .. name then
      local into = topic.name:find "^mpi%." and apart or list
      table.insert(into, topic.name == "ts." .. name and 1 or #into + 1, topic)
    end
  end
  return list, apart
end

local function last_names()
  local list = {}
  for _, topic in ipairs(reference.topics()) do list[#list + 1] = topic.name:match "([%w_]+)$" end
  for name in pairs(options()) do list[#list + 1] = name end
  table.sort(list)
  return list
end

-- What the glossary has to say of words, nil where it says nothing; and a set of the topics that it names.
local function of_glossary(words, width)
  local parts, seen = {}, {}
  for _, entry in ipairs(search.glossary(words)) do
    if entry.note then parts[#parts + 1] = wrapped(entry.note, width, "") end
    if #entry.see > 0 then parts[#parts + 1] = listed(entry.see, width) end
    for _, topic in ipairs(entry.see) do seen[topic] = true end
  end
  return #parts > 0 and table.concat(parts, "\n\n") or nil, seen
end

-- What is told where words are no name: of the glossary, then of comments that speak of them.
local function of_words(words, width)
  local text, seen = of_glossary(words, width)
  local hits, others = search.topics(words), {}
  if not text and #hits == 0 then return nil end
  for _, topic in ipairs(hits) do
    if not seen[topic] and #others < most_hits then others[#others + 1] = topic end
  end
  local parts = {("Nothing is called '%s'."):format(words), text}
  if #others > 0 then
    parts[#parts + 1] = (text and "These speak of it, too:\n" or "These speak of it:\n") .. listed(others, width)
  end
  return table.concat(parts, "\n\n")
end

-- What is known of an option: what the glossary has to say of its name, and what it is where it is taken.
local function of_option(name, width)
  local parts = {}
  for _, entry in ipairs(search.glossary(name)) do
    if entry.note then parts[#parts + 1] = wrapped(entry.note, width, "") end
  end
  parts[#parts + 1] = listed(options()[name], width)
  return table.concat(parts, "\n\n")
end

-- What a name means that is no topic: an option, or a function of Lua's. Nil where it is neither.
local function of_other(name, width)
  if options()[name] then return of_option(name, width) end
  return type(_G[name]) == "function" and ("%s is a function of Lua itself."):format(name) or nil
end

-- Topics of one name, all of the only one or of that of `ts`, of others a line each; then what else has the name.
local function of_topics(name, found, others, width, style)
  local leads = #found == 1 or found[1].name == "ts." .. name
  local list = table.move(others, 1, #others, #found + 1, found)
  if not leads then return ("%d things are called '%s':\n%s"):format(#list, name, listed(list, width)) end
  local text = help.topic(table.remove(list, 1), width, style)
  return #list == 0 and text or text .. "\n\nThe same name elsewhere:\n" .. listed(list, width)
end

-- Of what tessera.mpi alone has: nobody who has not asked for ranks means that, where the name means anything else.
local function of_mpi_name(name, found, width, style)
  local text = of_other(name, width) or of_glossary(name, width)
  if not text then return of_topics(name, found, {}, width, style) end
  return text .. "\n\nIn tessera.mpi:\n" .. listed(found, width)
end

local of_name
function of_name(name, width, style)
  local found, of_mpi = by_name(name)
  if #found == 0 and #of_mpi > 0 then return of_mpi_name(name, of_mpi, width, style) end
  if #found > 0 then
    for _, option in ipairs(options()[name] or {}) do of_mpi[#of_mpi + 1] = option end
    return of_topics(name, found, of_mpi, width, style)
  end
  local gist = #search.glossary(name) == 0 and search.gist(name)
  if gist then return of_name(gist, width, style) end
  local text = of_other(name, width) or of_words(name, width)
  if text then return text end
  local last = name:match "([%w_]*)$"
  local near = check.near(last, last_names())
  if near then return ("Nothing is known of '%s': did you mean '%s'?"):format(name, near) end
  return of_words(last, width) or ("Nothing is known of '%s'."):format(name)
end

-- Values ------------------------------------------------------------------------------------------

-- The file that introduces a kind of value.
local head_of = {matrix = "matrix", mask = "ask", problem = "problem", summary = "summary", layer = "heads", cache = "heads/cache"}

local function of_kind(kind, width, style)
  local topics, list = reference.topics(), {}
  for _, topic in ipairs(topics) do
    if topic.name:find("^" .. kind .. "[%.:]") then list[#list + 1] = topic end
  end
  local head = topics.files[head_of[kind]]
  local about = head and body_text(head.body, width, style):gsub("^[%w_]+%.lua %-%- ", "") .. "\n\n" or ""
  return style("name", kind) .. "\n\n" .. about .. listed(list, width)
end

local function of_value(value, width, style)
  if value == ts then return help.overview(width, style) end
  local topic = reference.topic_of(value)
  if topic then return help.topic(topic, width, style) end
  local kind = check.type_of(value)
  if reference.receivers[kind] then return of_kind(kind, width, style) end
  return ("A %s, of which no help is known: ?NAME and ?WORD search."):format(kind)
end

--- Where to begin: all of `ts`, a line each.
---@param width integer
---@param style fun(kind: string, text: string): string
---@return string
function help.overview(width, style)
  local rows, last = {}, {}
  for _, topic in ipairs(reference.topics()) do
    if topic.name:find "^ts%.[%w_]+$" then table.insert(topic.file == "init" and last or rows, topic) end
  end
  table.move(last, 1, #last, #rows + 1, rows) -- the clock and the like: nobody begins with them
  return style("name", "Tessera: attention as an algebra of summaries") .. "\n\n" .. listed(rows, width)
    .. "\n\n" .. wrapped("?NAME shows all of a name: ?ts.mask.causal, ?P:attention, ?order (an option), ?commutativity (a law); "
      .. "?P lists what a problem can do, ?S a summary, ?m matrices and masks. "
      .. "?WORDS searches. help(x) tells what a value can do.", width, "")
end

--- What is known of a name (a string) or a value; without one, where to begin.
---@param x any
---@param width? integer columns; 80 unless given
---@param style? fun(kind: string, text: string): string
---@return string
function help.text(x, width, style)
  width, style = width or 80, style or plain
  if x == nil or x == "" then return help.overview(width, style) end
  if type(x) ~= "string" then return of_value(x, width, style) end
  local name = x:gsub("^[%s\"']+", ""):gsub("[%s\"']+$", ""):gsub("%(%s*%)$", ""):gsub("[%.:]$", "")
  if name == "" or name == "ts" then return help.overview(width, style) end
  if kind_of_receiver[name] then
    local parts = {}
    for n, kind in ipairs(kind_of_receiver[name]) do parts[n] = of_kind(kind, width, style) end
    return table.concat(parts, "\n\n")
  end
  return of_name(name, width, style)
end

return help
