--- session.lua -- what a typed line means: Lua that remembers its locals, prints expressions, and explains its errors.

local check = require "tessera.check"
local core = require "tessera.core"
local equivalents = require "tessera.equivalents"
local foreign = require "tessera.repl.foreign"
local globals_of = require "tessera.repl.locals"
local ts = require "tessera"

local session = {}
session.__index = session

--- A session: its variables are copies of Lua's globals, so that no line can break a library by naming a variable `type`.
---@return table
function session.new()
  local env = {}
  for name, value in pairs(_G) do env[name] = value end
  env._G, env.ts, env.arg = env, ts, nil
  local self = setmetatable({env = env, given = {}, lines = {}, chunks = 0}, session)
  for name in pairs(env) do self.given[name] = true end
  return self
end

-- Reading -----------------------------------------------------------------------------------------

local function is_unfinished(message) return message:find "<eof>$" ~= nil or message:find "<eof>'$" ~= nil end

-- The text as a function, and whether it is an expression, whose values the function returns. nil and the message where it
-- is no chunk, and whether more text could make it one.
local function compile(self, text)
  local name = ("=line %d"):format(self.chunks + 1)
  local expression, wants_more = load("return " .. text, name, "t", self.env)
  if expression then return expression, text:find "%S" ~= nil end
  local chunk, message = load(globals_of(text), name, "t", self.env)
  if chunk then return chunk, false end
  if is_unfinished(wants_more) then return nil, wants_more, true end
  return nil, message, is_unfinished(message)
end

--- Is the text so far the beginning of a chunk, that further lines must end?
---@param text string
---@return boolean
function session:is_unfinished(text)
  local chunk, _, unfinished = compile(self, text)
  return not chunk and unfinished == true
end

-- Explaining --------------------------------------------------------------------------------------

local function ts_names()
  local names = {}
  for _, topic in ipairs(require("tessera.reference").topics()) do names[#names + 1] = topic.name:match "^ts%.([%w_]+)$" end
  return names
end

-- The field that was called as if it were a method: what is in it cannot be called, or is a matrix, which wants a row.
local function called_field(message)
  local kind, name = message:match "^attempt to call a (%l+) value %(method '([%w_]+)'%)"
  return kind ~= "nil" and name or message:match "^calling '([%w_]+)' on bad self %(row:"
end

-- A variable that is nil, named in an error: perhaps another was meant, or one of `ts`, or what stands in another place. A
-- method without self: a dot.
local function with_advice(self, message)
  local field = called_field(message)
  if field then return ("%s; '%s' is a field, read with a dot and no parentheses"):format(message, field) end
  local method, kind = message:match "^calling '([%w_]+)' on bad self %((%l+)"
  local receiver = method and require("tessera.reference").receivers[kind]
  if receiver then return ("%s; a method is called with a colon, as in %s:%s()"):format(message, receiver, method) end
  local name = message:match "%(global '([%w_]+)'%)"
  if not name or self.env[name] ~= nil then return message end
  local own = #name >= 3 and check.near(name, self:variables())
  if own then return ("%s; did you mean '%s'?"):format(message, own) end
  if equivalents[name] then return message .. check.elsewhere(name) end
  if #name < 3 then return message end
  local names, written = {}, {}
  for known in pairs(self.env) do names[#names + 1], written[known] = known, known end
  for _, known in ipairs(ts_names()) do names[#names + 1], written[known] = known, written[known] or "ts." .. known end
  local near = written[name] or written[check.near(name, names)]
  return message .. (near and ("; did you mean '%s'?"):format(near) or check.elsewhere(name))
end

local function line_of(text, number)
  local n = 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    n = n + 1
    if n == number then return line end
  end
end

-- The message without the chunk's name, and under it the line that it is about.
local function explained(self, text, err)
  if type(err) ~= "string" then
    local meta = debug.getmetatable(err)
    if meta and rawget(meta, "__tostring") then
      local ok, said = pcall(core.guarded, tostring, err) -- the user's own __tostring may fail, or never end
      if ok then return said end
    end
    return type(err) == "number" and tostring(err) or ("(error object is a %s value)"):format(type(err))
  end
  local number, rest = err:match "^line %d+:(%d+): (.*)$"
  local message = with_advice(self, rest or err) .. foreign(rest or err, text)
  local line = number and text:find "\n" and line_of(text, tonumber(number))
  return line and ("%s\n  %s: %s"):format(message, number, line:match "^%s*(.-)%s*$") or message
end

-- Running -----------------------------------------------------------------------------------------

-- An expression as an argument: as it was typed, unless a comment stands behind it.
local function as_argument(text)
  local bare = text:gsub(";?%s*$", "")
  return load("_(" .. bare .. ")") and bare or "(function() return " .. text .. "\nend)()"
end

-- The chunk as a script would have it: what the prompt printed by itself is printed there, too. And, of an expression with
-- values, how the script would keep the first of them as _.
local function as_script(text, is_expression, values)
  if not is_expression then return text end
  local bare = as_argument(text)
  local kept = "_ = " .. bare
  if values.n == 0 then return bare end
  if values.quiet then return load(bare) and bare or kept, kept end
  return "print(" .. bare .. ")", "_ = (function(...) print(...) return ... end)(" .. bare .. ")"
end

-- Remembers a chunk that ran. Where it names _, the expression that gave _ its value keeps it in the script, too.
local function remember(self, text, is_expression, values)
  local lines = self.lines
  if self.kept and (" " .. text .. " "):find "[^%w_.:]_[^%w_]" then lines[self.kept.line], self.kept = self.kept.text, nil end
  local script, kept = as_script(text, is_expression, values)
  lines[#lines + 1] = script
  if kept then self.kept = {line = #lines, text = kept} end
end

-- Without the `return` of habit: values are shown without it.
local function bare(text) return (text:gsub("^%s*return%f[^%w_]%s*", "")) end

--- The text as a function that runs it; nil where it is no Lua.
---@param text string
---@return function?
function session:compiled(text)
  return (compile(self, bare(text)))
end

--- What to say of an error that running the text raised.
---@param text string
---@param err any
---@return string
function session:explained(text, err) return explained(self, text, err) end

--- Runs a chunk, which Ctrl-C stops: its values as a packed table, or nil and what to say of the error. `_` becomes the
--- first value. Values are to be shown unless the text ends in a semicolon.
---@param text string
---@return table? values with n, and `quiet`
---@return string? message
function session:run(text)
  text = bare(text)
  local chunk, is_expression = compile(self, text)
  if not chunk then return nil, explained(self, text, is_expression) end
  self.chunks = self.chunks + 1
  local results = table.pack(pcall(core.guarded, chunk))
  if not results[1] then return nil, explained(self, text, results[2]) end
  local values = table.pack(table.unpack(results, 2, results.n))
  values.quiet = text:find ";%s*$" ~= nil
  if values.n > 0 then self.env._ = values[1] end
  remember(self, text, is_expression, values)
  return values
end

--- The variables that lines have made, by the alphabet.
---@return string[]
function session:variables()
  local names = {}
  for name in pairs(self.env) do
    if not self.given[name] and name ~= "_" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

return session
