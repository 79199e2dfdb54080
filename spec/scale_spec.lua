-- scripts/scale: what large masks cost.
local helper = require "spec.helper"

describe("scripts/scale", function()
  it("prints the time and the peak memory of a window, which is that of input and output", function()
    local said, status = helper.run "scripts/scale --quick"
    assert.equal(0, status, said)
    local query, megabytes, both = said:match "\n65536 +(%d+) +([%d.-]+) +([%d.]+)   %a+\n"
    assert.is_truthy(query, said)
    assert.equal(32.0, tonumber(both)) -- 2 * 65536 * 64 numbers of four bytes
    if not helper.instrumented then assert(tonumber(megabytes) < 48, megabytes .. " MB") end
  end)

  it("tells how it is used", function()
    local said, status = helper.run "scripts/scale --slow"
    assert.equal(2, status)
    assert.equal("usage: scale [--quick]\n", said)
  end)
end)
