local helper = require "spec.helper"
local number = require "tessera.number"

local nan, inf = 0 / 0, math.huge

describe("number", function()
  it("formats without a sign on NaN", function()
    assert.same({"nan", "nan", "inf", "-inf"},
      {number.format("%.3f", nan), number.format("%.3f", -nan), number.format("%g", inf), number.format("%g", -inf)})
  end)

  it("finds the shortest text that reads back as the same double", function()
    assert.same({"0.1", "0.30000000000000004", "3.141592653589793", "1e+300"},
      {number.shortest(0.1), number.shortest(0.1 + 0.2), number.shortest(math.pi), number.shortest(1e300)})
  end)

  it("parses decimals, nan and inf, and nothing else", function()
    for text, x in pairs{["1"] = 1, ["-1.5e3"] = -1500, [".5"] = 0.5, ["5."] = 5, ["+2E-1"] = 0.2, ["-Inf"] = -inf, ["infinity"] = inf} do
      assert.equal(x, number.parse(text), text)
      assert.equal("float", math.type(number.parse(text)))
    end
    assert.equal(-inf, 1 / number.parse "-0")
    assert.is_true(number.parse "NaN" ~= number.parse "NaN")
    for _, text in ipairs{"", "-", "0x10", "1,5", "1 2", " 1", "1e", "1e5.5", "--1", "1..2", "nano", "1_000", "1f"} do
      assert.is_nil(number.parse(text), text)
    end
  end)

  -- Runs a script in a Lua whose locale has a comma for the point: one that is installed, or one made for the
  -- occasion; nil where neither can be.
  local function in_german(script)
    local folder = os.tmpname()
    os.remove(folder)
    local command = ([[mkdir '%s' && { localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' 2>/dev/null
      LOCPATH='%s' lua5.4 -e '%s'; rm -r '%s'; }]]):format(folder, folder, folder, script, folder)
    local pipe <close> = io.popen(command)
    return pipe:read("a")
  end

  it("writes and reads points where the locale has commas (case X10)", function()
    local path = helper.path ".csv"
    local output = in_german(([[
      if not os.setlocale("de_DE.UTF-8") then return print "no locale" end
      assert(string.format("%%.1f", 0.5) == "0,5")
      package.path, package.cpath = "lua/?.lua;lua/?/init.lua;" .. package.path, "%s/?.so;" .. package.cpath
      local ts = require "tessera"
      local m = ts.matrix{{0.5, 1234567.25}}
      print(m)
      print(ts.diff(m, ts.matrix{{0.5, 1234567.5}}))
      m:save "%s"
      print(io.open("%s"):read "a")
      print(ts.load "%s" == m)
    ]]):format(os.getenv "TESSERA_BUILD" or "build", path, path, path))
    if output == "no locale\n" then return pending("there is no German locale here") end
    assert.equal(table.concat({
      "matrix 1x2 f64", "  5.00000000e-01  1.23456725e+06",
      "worst at (1, 2): 1234567.25 against 1234567.5, 1073741824 ulps apart (absolute 0.25, relative 2.03e-07)",
      "0.5,1234567.25\n", "true\n",
    }, "\n"), output)
  end)
end)
