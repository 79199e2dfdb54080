-- On every rank: the manual's chapter of many processes, typed at a prompt.
package.path = package.path .. ";scripts/?.lua"
local markdown = require "markdown"
local transcript = require "spec.transcript"

local file <close> = assert(io.open "manual/6-ranks.md")
local prompt = transcript.new()
for _, fence in ipairs(markdown.fences(file:read "a")) do
  if fence.language == "lua" then prompt:type(fence.text) end
end
assert(prompt.kept > 15)
