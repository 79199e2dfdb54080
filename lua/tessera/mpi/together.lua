-- together.lua -- errors that all ranks raise, where one meets them: nobody is left waiting for a message.

local ranks = require "tessera.mpi.core"

local together = {}
together.__index = together

--- Work that may fail on some rank. After the first failure it does nothing more, but goes on exchanging messages.
function together.new() return setmetatable({failed = false}, together) end

--- f(), unless something has failed already; nil where it fails.
function together:try(f)
  if self.failed then return nil end
  local results = table.pack(pcall(f))
  if results[1] then return table.unpack(results, 2, results.n) end
  self.failed, self.error = true, results[2]
end

--- Raises on every rank what the first of them to fail raised.
function together:agree()
  local texts = ranks.texts(self.failed and "!" .. tostring(self.error) or "")
  for r, text in ipairs(texts) do
    if text ~= "" then error(r == ranks.rank + 1 and self.error or text:sub(2), 0) end
  end
end

--- f(), or on every rank the error of the first rank on which it failed.
function together.call(f)
  local self = together.new()
  local results = table.pack(self:try(f))
  self:agree()
  return table.unpack(results, 1, results.n)
end

return together
