--- search.lua -- finds what people mean by words that are no name: by the field's words, and in all comments.

local annotations = require "tessera.annotations"
local equivalents = require "tessera.equivalents"
local glossary = require "tessera.help.glossary"
local options = require "tessera.help.options"
local reference = require "tessera.reference"

local search = {}

local function words_of(text)
  local words = {}
  for word in text:lower():gsub("[-_/]", " "):gmatch "[^%s\"'%?]+" do words[#words + 1] = word end
  return words
end

local fillers = {}
for word in ("a an and about all are can do does find for get have how i in into is it make me my of on or see show tell than that the "
  .. "there this to use what when where which who why with you your"):gmatch "%a+" do fillers[word] = true end

--- The words of a question that tell what it is about: "what is a summary?" is about "summary". Nil where no other words are
--- there, or none of these.
---@param text string
---@return string?
function search.gist(text)
  local list, all = {}, 0
  for word in text:gmatch "[^%s%?]+" do
    all = all + 1
    list[#list + 1] = not fillers[word:lower()] and word or nil
  end
  return #list > 0 and #list < all and table.concat(list, " ") or nil
end

-- The glossary ------------------------------------------------------------------------------------

-- Are all words of the term among those of the text, if need be in the plural?
local function is_within(term, words)
  local present = {}
  for _, word in ipairs(words) do present[word], present[(word:gsub("s$", ""))] = true, true end
  for _, word in ipairs(term) do
    if not present[word] then return false end
  end
  return true
end

-- How many words the longest term of the entry has that is within the text; 0 where none is.
local function closeness(entry, words)
  local most = 0
  for text in entry[1]:gmatch "[^,]+" do
    local term = words_of(text)
    if #term > most and is_within(term, words) then most = #term end
  end
  return most
end

--- What `name` stands for in the glossary: a topic, or an option as {option, topic, text}.
---@param name string "problem:attention", or "scale of ts.problem"
---@return table?
function search.entry(name)
  local option, of = name:match "^([%w_]+) of (.+)$"
  if not option then return reference.topics().by_name[name] end
  for _, candidate in ipairs(options()[option] or {}) do
    if candidate.topic.name == of then return candidate end
  end
end

-- The kinds of the values in what tessera.equivalents has.
local kind_of = {m = "matrix", X = "matrix", Y = "matrix", P = "problem", S = "summary"}

-- What is written here for a name that other libraries have, as an entry; nil of any other text.
local function equivalent(name)
  local text = equivalents[name]
  if not text then return nil end
  local note = ("What other libraries call '%s' is %s here."):format(name, text)
  local see = {search.entry((text:gsub(" of P:", " of problem:")))}
  if see[1] then return {see = see, note = note} end
  for path in text:gmatch "ts%.[%w_.]*[%w_]" do see[#see + 1] = search.entry(path) end
  for letter, rest in text:gmatch "%f[%w_]([mXYPS])([:.][%w_]+)" do see[#see + 1] = search.entry(kind_of[letter] .. rest) end
  return {see = see, note = note}
end

--- The entries of the glossary that a text asks for, those alone that match most of its words: {see = topics, note = text?}.
--- Where there are none, that of a name which other libraries have.
---@param text string
---@return table[]
function search.glossary(text)
  local words, most, found = words_of(text), 1, {}
  for _, entry in ipairs(glossary) do
    local n = closeness(entry, words)
    if n > most then most, found = n, {} end
    if n == most then
      local see = {}
      for k, name in ipairs(entry[2]) do see[k] = search.entry(name) end
      found[#found + 1] = {see = see, note = entry[3]}
    end
  end
  if #found == 0 then found[1] = equivalent(text) end
  return found
end

-- Comments ----------------------------------------------------------------------------------------

local function body_of(topic)
  local parts = {}
  for _, piece in ipairs(topic.body) do parts[#parts + 1] = piece.text end
  for _, p in ipairs(topic.params) do parts[#parts + 1] = p.name .. " " .. p.type .. " " .. p.text end
  return table.concat(parts, " "):lower()
end

-- Does a word of the text begin with this one?
local function has(text, word) return (" " .. text):find("%f[%w]" .. word:gsub("%p", "%%%0")) ~= nil end

-- How much a topic has to do with the words, each of which must occur: most where its name has them. 0: nothing.
local function weight(topic, words)
  local name, summary, body, sum = topic.name:lower(), annotations.summary(topic):lower(), body_of(topic), 0
  for _, word in ipairs(words) do
    local worth = has(name, word) and 4 or has(summary, word) and 2 or has(body, word) and 1
    if not worth then return 0 end
    sum = sum + worth
  end
  return sum
end

--- The topics that speak of all words of a text, those first whose names do.
---@param text string
---@return table[]
function search.topics(text)
  local words, list, weights = words_of(text), {}, {}
  for at, topic in ipairs(reference.topics()) do
    weights[topic] = weight(topic, words) - at * 1e-6 -- of equals, the earlier
    if weights[topic] > 0 then list[#list + 1] = topic end
  end
  table.sort(list, function(a, b) return weights[a] > weights[b] end)
  return list
end

return search
