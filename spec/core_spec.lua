-- Runs the C tests: each spec/core/NAME.c is a program that `make test` builds as build/spec/NAME.
local helper = require "spec.helper"

local build = os.getenv "TESSERA_BUILD" or "build"

-- What the program prints, and whether it exited with status 0. Tests may leave memory to the end of the process; what core
-- itself leaks, spec/host/starve.lua finds.
local function run(name, argument)
  local said, status = helper.run(("%s/spec/%s %s"):format(build, name, argument or ""), "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0")
  return said, status == 0
end

describe("core", function()
  local pipe = assert(io.popen "ls spec/core/*.c")
  for path in pipe:lines() do
    local name = path:match "([^/]+)%.c$"
    it(name .. " passes its checks", function()
      local said, ok = run(name)
      local passed, failed = said:match "(%d+) passed, (%d+) failed\n$"
      assert(ok and failed == "0" and tonumber(passed) > 0, said)
    end)
  end
  pipe:close()

  describe("check.h", function()
    it("sees every check fail that must, NaN and infinite bounds too", function()
      local said, ok = run("check", "fail")
      assert.is_false(ok)
      assert.matches("11 passed, 12 failed\n$", said)
    end)
  end)
end)
