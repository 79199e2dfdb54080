-- A little of each fuzzer with each run of the specs; `make check` and `make soak` run them for longer.
local helper = require "spec.helper"

local function fuzz(arguments)
  local said, status = helper.run("spec/fuzz/run " .. arguments)
  return status == 0 or said
end

describe("L07, L02, L06: bad calls of everything public", function()
  it("end in an error in words, or an answer", function() assert.is_true(fuzz "calls 3000") end)
end)

describe("L02: memory that fails", function()
  it("is an error of every call, keeps nothing, and leaves everything usable", function() assert.is_true(fuzz "starve 40") end)
end)

describe("F06, F07: mutated files", function()
  it("are errors in words, or the right matrix, at once and within their size", function() assert.is_true(fuzz "files 3000") end)
end)

describe("Ctrl-C at random moments", function()
  it("stops every kind of long call, in coroutines too, and leaves everything usable", function() assert.is_true(fuzz "signals 20") end)
end)
