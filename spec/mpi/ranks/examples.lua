-- On every rank: the examples of tessera.mpi's names, each typed at a prompt.
local mpi = require "tessera.mpi"
local reference = require "tessera.reference"
local setting = require "spec.setting"
local transcript = require "spec.transcript"

local count = 0
for _, topic in ipairs(reference.topics()) do
  for _, code in ipairs(topic.file == "mpi" and reference.examples(topic) or {}) do
    local variables = setting(12)
    variables.mpi, variables.parts = mpi, {}
    for r = 1, mpi.size do variables.parts[r] = variables.P:summary(r, r) end
    variables.S = variables.parts[mpi.rank + 1] -- of keys that no other rank has
    transcript.new(variables):type(code)
    count = count + 1
  end
  assert(topic.file ~= "mpi" or #reference.examples(topic) > 0, topic.name)
end
-- Walks what is there, not what is said to be there.
for name in pairs(mpi) do assert(reference.topics().by_name["mpi." .. name], name .. " is not documented") end
mpi.print(mpi.rank == 0 and ("%d examples"):format(count) or "")
