-- What all scripts that people run have in common.
local helper = require "spec.helper"

describe("--help of", function()
  for _, name in ipairs{"bench", "bounds", "deb", "docs", "mutate", "scale", "setup", "tessera"} do
    it(("scripts/%s tells what it is for, does nothing else, and ends with 0"):format(name), function()
      for _, option in ipairs{"--help", "-h"} do
        local said, status = helper.run(("scripts/%s %s"):format(name, option))
        assert.equal(0, status, said)
        local _, lines = said:gsub("[^\n]+\n", "")
        assert(lines >= 2 and lines <= 12, said)
        for line in said:gmatch "[^\n]+" do assert(not line:find "^#" and not line:find "^%-%- ", line) end
      end
    end)
  end

  it("the bench is reached through make", function()
    assert.matches("^bench %[%-%-json%]", (helper.run "unset MAKEFLAGS MFLAGS MAKELEVEL; make -s bench ARGS=--help"))
  end)
end)
