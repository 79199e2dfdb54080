-- luacheck: ignore 122 (io.stderr is replaced for a while)
local core = require "tessera.core"
local progress = require "tessera.progress"

-- What is written to a terminal by work that is told of at these times, of a part done each.
local function shown(steps, is_terminal)
  local clock, isatty, stderr, written, now = core.clock, core.isatty, io.stderr, {}, 0
  finally(function() core.clock, core.isatty, io.stderr = clock, isatty, stderr end)
  core.clock, core.isatty = function() return now end, function() return is_terminal end
  io.stderr = {write = function(_, text) written[#written + 1] = text end}
  local tell = progress()
  for _, step in ipairs(steps) do
    now = step[1]
    tell(step[2])
  end
  return written
end

describe("a bar of progress", function()
  it("shows nothing in the first second", function()
    assert.same({}, shown({{0, 0}, {0.5, 0.3}, {0.99, 0.9}, {0.995, 1}}, true))
  end)

  it("shows the part done ten times a second at most, and goes away", function()
    assert.same({
      "\r[###############...............]  50 % \27[K",
      "\r[######################........]  75 % \27[K",
      "\r\27[K",
    }, shown({{0.9, 0.2}, {1.1, 0.5}, {1.15, 0.6}, {1.3, 0.75}, {1.4, 1}}, true))
  end)

  it("shows nothing where there is no terminal", function()
    assert.same({}, shown({{2, 0.5}, {3, 1}}, false))
  end)
end)
