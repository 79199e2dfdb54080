--- reference.lua -- every public name, and the comment that documents it.
--
-- A name is `ts.mask.causal` for a function, `problem:attention` for a method, `problem.scale` for a field, and
-- `law commutativity` for a law of P:verify.

local annotations = require "tessera.annotations"
local core = require "tessera.core"
local ts = require "tessera"

local reference = {}

-- Where the names are documented: a file, and what its local names are called by the user. A name that ends in a dot or
-- colon stands for what is put there; `head` is what the comment at the head of the file describes.
local sources = {
  {"init", ts = "ts."},
  {"matrix", matrix = "ts.", methods = "matrix:"},
  {"diff", diff = "ts."},
  {"files", files = "ts."},
  {"mask", new = "ts.mask", mask = "ts.mask."},
  {"ask", methods = "mask:"},
  {"score", head = "ts.score", score = "ts.score."},
  {"problem", problem = "ts.problem", methods = "problem:"},
  {"oracle", methods = "problem:"},
  {"verify", verify = "problem:verify"},
  {"trace", ["trace.of"] = "problem:trace"},
  {"cost", ["cost.of"] = "problem:cost"},
  {"summary", new = "ts.summary", summary = "ts.summary.", methods = "summary:"},
  {"bracketing", bracketing = "ts."},
  {"sample", head = "ts.sample", sample = "ts.sample."},
  {"laws", try = "ts.laws"},
  {"wide", head = "ts.laws.wide", wide = "ts.laws.wide.", methods = "wide:"},
  {"heads", new = "ts.heads", heads = "ts.heads.", methods = "layer:"},
  {"heads/cache", methods = "cache:"},
  {"rope", rope = "ts."},
  {"experiment", new = "ts.experiment", experiment = "ts.experiment", run = "ts.experiment"},
  {"plot", head = "ts.plot", plot = "ts.plot."},
  {"page", new = "ts.page", page = "ts.page"},
  {"info", info = "ts.info"},
  {"mpi", head = "mpi", mpi = "mpi."},
  {"verify/roads", law = true}, {"verify/algebra", law = true}, {"verify/changes", law = true}, {"verify/meaning", law = true},
  {"verify/ranks", law = true},
}

--- What a value of each kind is called in examples.
reference.receivers = {matrix = "m", mask = "m", problem = "P", summary = "S", layer = "layer", cache = "cache", wide = "x"}

-- The user's name for what a comment describes, or nil.
local function public_name(source, target)
  if not target then return nil end
  if source.law then return not target:find "[%.:]" and "law " .. target or nil end
  if source[target] and not source[target]:find "[%.:]$" then return source[target] end
  local owner, field = target:match "^([%w_]+)[%.:]([%w_]+)$"
  local prefix = owner and not field:find "^__" and source[owner]
  return prefix and prefix:find "[%.:]$" and prefix .. field or nil
end

local function read_file(name)
  local path = package.searchpath("tessera." .. name:gsub("/", "."), package.path)
  local file <close> = path and io.open(path)
  return file and file:read "a"
end

-- Values ------------------------------------------------------------------------------------------

-- The module that fills the methods of a kind of value, and where they then are.
local kinds = {
  matrix = {"tessera.matrix", function() return core.matrix.methods end},
  mask = {"tessera.mask", function() return core.mask.methods end},
  summary = {"tessera.summary", function() return core.summary.methods end},
  problem = {"tessera.problem", function() return core.problem.methods end},
  layer = {"tessera.heads", function() return require("tessera.heads.layer").methods end},
  cache = {"tessera.heads.cache", function() return require("tessera.heads.cache").methods end},
  wide = {"tessera.wide", function() return getmetatable(require("tessera.wide").exp(0)) end},
}

--- The table of the methods of a kind of value, or nil.
---@param kind string
---@return table?
function reference.methods(kind)
  local place = kinds[kind]
  if not place then return nil end
  require(place[1])
  return place[2]()
end

-- t[key], where asking for a name that is not there may be an error.
local function field(t, key)
  local ok, value = pcall(function() return t[key] end)
  return ok and value or nil
end

--- The example texts of a topic.
---@param topic table
---@return string[]
function reference.examples(topic)
  local list = {}
  for _, piece in ipairs(topic.body) do
    if piece.kind == "code" then list[#list + 1] = piece.text end
  end
  return list
end

-- t.a.b for the path "a.b", or nil.
local function at_path(t, path)
  for key in path:gmatch "[^%.]+" do t = t ~= nil and field(t, key) or nil end
  return t
end

-- tessera.mpi is built apart, and joins other processes when it is loaded: whoever has not done so reads its comments alone.
local function of_mpi() return package.loaded["tessera.mpi"] end

--- The value that a name stands for, or nil where there is none.
---@param name string
---@return any
function reference.value(name)
  local kind, method = name:match "^(%l+):([%w_]+)$"
  if kind then
    local methods = reference.methods(kind)
    return methods and field(methods, method)
  end
  if name == "mpi" then return of_mpi() end
  local module, path = name:match "^(%l+)%.(.+)$"
  return path and at_path(({ts = ts, mpi = of_mpi()})[module], path)
end

-- Topics ------------------------------------------------------------------------------------------

-- Laws, fields of values and the names of tessera.mpi are none that Lua could look up here.
local function is_public(name)
  return name == "mpi" or name:find "^law " or name:find "^%l+%.[%w_]+$" and not name:find "^ts%." or reference.value(name) ~= nil
end

-- A block of annotations as a topic: with its name and its file.
local function add(topics, name, block, file)
  if topics.by_name[name] or not is_public(name) then return end
  block.name, block.file = name, file
  topics[#topics + 1] = block
  topics.by_name[name] = block
end

-- A topic that is one field of a class, or one law, with examples of its own.
local function small(block, text, type_text, examples)
  local body = {{kind = "text", text = text}}
  for _, example in ipairs(examples) do body[#body + 1] = {kind = "code", text = example} end
  return {line = block.line, body = body, params = {}, see = {}, field = type_text ~= nil,
    returns = type_text and {{type = type_text, text = ""}} or {}}
end

local function add_fields(topics, block, file)
  for _, f in ipairs(block.fields) do
    add(topics, block.class .. "." .. f.name, small(block, f.text, f.type, reference.examples(block)), file)
  end
end

local function add_law(topics, name, block, file)
  local example = ('print(P:verify{laws = "%s"})'):format(name:match "^law (.*)$")
  add(topics, name, small(block, block.body[1].text, nil, {example}), file)
end

-- Methods that are functions of `ts`, too, such as exp, have their comment there.
local function add_twins(topics)
  local by_value = {}
  for _, topic in ipairs(topics) do
    if topic.name:find "^ts%.[%w_]+$" then by_value[reference.value(topic.name)] = topic end
  end
  for name, method in next, core.matrix.methods do
    topics.by_name["matrix:" .. name] = topics.by_name["matrix:" .. name] or by_value[method]
  end
end

local function collect()
  local topics = {by_name = {}, classes = {}, files = {}}
  for _, source in ipairs(sources) do
    local text = read_file(source[1])
    for at, block in ipairs(text and annotations.read(text) or {}) do
      if at == 1 and not block.target then
        topics.files[source[1]] = block
        if source.head then add(topics, source.head, block, source[1]) end
      end
      if block.class then
        topics.classes[block.class] = block
        add_fields(topics, block, source[1])
      end
      local name = public_name(source, block.target)
      if name and source.law then add_law(topics, name, block, source[1])
      elseif name and not block.class then add(topics, name, block, source[1]) end
    end
  end
  add_twins(topics)
  return topics
end

local known, collecting

--- All topics, in the order of the files: blocks of annotations with `name` and `file`. Also `by_name`; `classes`, the
--- blocks that describe a class; and `files`, the comment at the head of each file.
---@return table
function reference.topics()
  collecting = not known
  known, collecting = known or collect(), false
  return known
end

--- The topic that describes a function, or a library of functions; nil where none does.
---@param value any
---@return table?
function reference.topic_of(value)
  for _, topic in ipairs(value ~= nil and reference.topics() or {}) do
    if not topic.field and reference.value(topic.name) == value then return topic end
  end
end

--- The name of a topic as one writes it: `P:attention`, `ts.mask.causal`, `P.scale`.
---@param name string
---@return string
function reference.written(name)
  local kind, rest = name:match "^(%l+)([%.:].*)$"
  return kind and reference.receivers[kind] and reference.receivers[kind] .. rest or name
end

--- The names that end in `name`, as one writes them: `m:softmax` and `P:softmax`. None while they are being collected, which
--- asks for names that may not be there.
---@param name string
---@return string[]
function reference.places(name)
  local list = {}
  for _, topic in ipairs(collecting and {} or reference.topics()) do
    local kind, last = topic.name:match "^(%l+)[%.:].-([%w_]+)$"
    if last == name and (kind == "ts" or reference.receivers[kind]) then list[#list + 1] = reference.written(topic.name) end
  end
  return list
end

--- How it is called: `ts.mask.causal(size [, options])`, or as overloads say.
---@param topic table
---@return string
function reference.signature(topic)
  local name = reference.written(topic.name)
  if topic.field or topic.name:find "^law " then return name end
  local is_function = topic.name:find ":" or topic.name:find "^mpi%." or type(reference.value(topic.name)) == "function"
  if #topic.params == 0 and not is_function then return name end
  local text = ""
  for _, p in ipairs(topic.params) do
    local separator = text == "" and "" or ", "
    text = text .. (p.optional and (" [%s%s]"):format(separator, p.name):gsub("^ %[(%w)", "[%1") or separator .. p.name)
  end
  return ("%s(%s)"):format(name, text)
end

return reference
