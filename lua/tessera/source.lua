--- source.lua -- bytes that come from a file, read in order and never more than there are.

local core = require "tessera.core"
local sentence = require "tessera.sentence"

local source = {}
source.__index = source
source.__close = function(self) if self.file then self.file:close() end end

-- What `refuse` raises, so that a reader's "this file is bad" is told from every other error.
local refusal = {__name = "tessera.refusal", __tostring = function(self) return self.message end}

--- Raises that the file is not what it should be.
function source.refuse(format, ...)
  error(setmetatable({message = sentence(format, ...)}, refusal), 0)
end

--- The message, where `err` was raised by `refuse`; else nil.
function source.refused(err) return getmetatable(err) == refusal and err.message or nil end

--- A source of `size` bytes. fetch(count) gives the next `count` of them; fewer mean that reading failed.
function source.new(size, fetch)
  return setmetatable({size = size, offset = 0, fetch = fetch}, source)
end

--- A source of `size` bytes that come in pieces of any length: pull() gives the next one, nil at the end.
function source.of_pieces(size, pull)
  local held, at = "", 1
  return source.new(size, function(count)
    local pieces, have = {held:sub(at)}, #held - at + 1
    while have < count do
      local piece = pull()
      if not piece then return "" end
      pieces[#pieces + 1], have = piece, have + #piece
    end
    held, at = table.concat(pieces), count + 1
    return held:sub(1, count)
  end)
end

--- The file at `path`, to be closed (`local from <close> = source.open(path)`). Refuses what is no regular file.
function source.open(path)
  local file, why = core.open_file(path)
  if not file then source.refuse("%s", why) end
  local size = file:seek "end"
  file:seek("set", 0)
  local self = source.new(size, function(count) return file:read(count) end)
  self.file = file
  return self
end

--- Moves to `offset`, from 0; of a whole file only.
function source:seek(offset)
  self.file:seek("set", offset)
  self.offset = offset
end

--- How many bytes are left.
function source:left() return self.size - self.offset end

--- The next `count` bytes, all of them; `what` names them where there are fewer.
function source:read(count, what)
  if count > self:left() then
    source.refuse("truncated: %s takes %d byte(s), and %d are left", what, count, self:left())
  end
  local bytes = count == 0 and "" or self.fetch(count)
  if not bytes or #bytes ~= count then source.refuse("cannot read %s", what) end
  self.offset = self.offset + count
  return bytes
end

--- The next line of a whole file, without its end (LF or CRLF); nil where there is none.
function source:line()
  local line = self.file:read("L")
  if not line then return nil end
  self.offset = self.offset + #line
  return (line:gsub("\r?\n$", ""))
end

return source
