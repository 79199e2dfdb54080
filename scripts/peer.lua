-- peer.lua -- another implementation of attention, in a process of its own that answers a line with a line.
--
-- Requests and answers are words between tabs; an answer is "ok" and its words, or "error" and what was wrong. The
-- child says "ok" and its version first; then it knows
--     load NAME Q K V HEADS KV_HEADS MASK OUT   reads three .npy files, writes its attention to a fourth
--     time NAME TIMES                           seconds a call
-- Large files go through a directory that the child's shell removes when the child ends, also by Ctrl-C.
local ts = require "tessera"

local peer = {}
peer.__index = peer

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local command = [[
here=%s
trap 'rm -rf "$here"' EXIT
trap : INT
%s 2>"$here/errors" >"$here/answers" || tail -n 3 "$here/errors" >&2]]

local function make_directory()
  local pipe <close> = assert(io.popen "mktemp -d")
  return assert(pipe:read "l", "no temporary directory")
end

-- The words of the next answer; nil and what was wrong where it is an error, or where the child has ended.
local function answer(self)
  local line = self.answers:read "l"
  if not line then
    self.ended = true
    return nil, "it ended without an answer"
  end
  local words = {}
  for word in (line .. "\t"):gmatch "(.-)\t" do words[#words + 1] = word end
  local status = table.remove(words, 1)
  if status == "ok" then return words end
  return nil, status == "error" and words[1] or "not an answer: " .. line
end

local function ask(self, ...)
  self.requests:write(table.concat({...}, "\t"), "\n")
  self.requests:flush()
  return answer(self)
end

--- Starts a child: the words of its command, each as it is. Returns it, or nil and what was wrong. child.ended is true
-- once it has ended by itself.
function peer.start(words)
  local quoted = {}
  for n, word in ipairs(words) do quoted[n] = quote(word) end
  local directory = make_directory()
  local place = quote(directory)
  assert(os.execute("mkfifo " .. place .. "/answers"))
  local self = setmetatable({directory = directory}, peer)
  self.requests = assert(io.popen(command:format(place, table.concat(quoted, " ")), "w"))
  self.answers = assert(io.open(directory .. "/answers"))
  local greeting, wrong = answer(self)
  if not greeting then
    self:close()
    return nil, wrong
  end
  self.version = greeting[1]
  return self
end

--- Hands a problem over, under a name and with the word for its mask. Returns the child's output, or nil and why not.
function peer:load(name, P, mask)
  local request, seen = {"load", name}, {}
  for _, field in ipairs{"Q", "K", "V"} do
    local file = seen[P[field]] or ("%s/%s.npy"):format(self.directory, field)
    if not seen[P[field]] then P[field]:save(file) end
    seen[P[field]] = file
    request[#request + 1] = file
  end
  local out = self.directory .. "/O.npy"
  for _, word in ipairs{P.heads, P.kv_heads, mask, out} do request[#request + 1] = word end
  local words, wrong = ask(self, table.unpack(request))
  for _, file in pairs(seen) do os.remove(file) end
  if not words then return nil, wrong end
  local O = ts.load(out)
  os.remove(out)
  return O
end

--- Seconds a call of a problem that was loaded: the mean of `times` in a row. Nil and what was wrong, if it failed.
function peer:time(name, times)
  local words, wrong = ask(self, "time", name, times)
  if not words then return nil, wrong end
  return tonumber(words[1])
end

--- Ends the child.
function peer:close()
  self.requests:close()
  self.answers:close()
end

return peer
