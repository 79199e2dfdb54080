-- A little of each fuzzer with each run of the specs; `make check` and `make soak` run them for longer.
local helper = require "spec.helper"

local function fuzz(arguments)
  local said, status = helper.run("spec/fuzz/run " .. arguments)
  return status == 0 or said
end

describe("L07, L02, L06: bad calls of everything public", function()
  it("end in an error in words, or an answer", function() assert.is_true(fuzz "calls 3000") end)
end)
