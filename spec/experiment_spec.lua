-- ts.experiment: a grid, seeds, a file that survives, and what it all comes to.
local row = require "tessera.experiment.row"
local helper = require "spec.helper"
local ts = require "tessera"

-- Lines without the seconds, which no two runs share.
local function without_seconds(text) return (text:gsub(",[^,\n]*\n", "\n")) end

describe("ts.experiment", function()
  local path, calls
  before_each(function() path, calls = os.tmpname(), {} end)
  after_each(function() os.remove(path) end)

  local function run(changes)
    local fields = {
      grid = {n = {1, 2}, how = {"a", "b"}}, seeds = 2, file = path,
      run = function(p, seed)
        calls[#calls + 1] = ("%d%s%d"):format(p.n, p.how, seed)
        return {sum = p.n * 10 + seed, half = p.n / 2}
      end,
    }
    for name, value in pairs(changes or {}) do fields[name] = value end
    return ts.experiment(fields)
  end

  local whole = [[
how,n,seed,half,sum
a,1,1,0.5,11
a,1,2,0.5,12
a,2,1,1.0,21
a,2,2,1.0,22
b,1,1,0.5,11
b,1,2,0.5,12
b,2,1,1.0,21
b,2,2,1.0,22
]]

  it("runs every point with every seed, in order, and writes them down", function()
    local e = run()
    assert.same({"1a1", "1a2", "2a1", "2a2", "1b1", "1b2", "2b1", "2b2"}, calls)
    assert.equal(whole, without_seconds(helper.read(path)))
    assert.equal(8, #e)
    assert.equal(0, e.resumed)
    assert.same({"a", 2, 1, 1.0, 21}, {e[3].how, e[3].n, e[3].seed, e[3].half, e[3].sum})
    assert.is_true(e[3].seconds >= 0)
  end)

  it("goes on after an interruption, and loses nothing that was done", function()
    local ok, message = pcall(run, {run = function(p, seed)
      if p.n == 2 and p.how == "a" then error("interrupted!", 0) end
      return {sum = p.n * 10 + seed, half = p.n / 2}
    end})
    assert.is_false(ok)
    assert.equal("interrupted!", message)
    assert.equal("how,n,seed,half,sum\na,1,1,0.5,11\na,1,2,0.5,12\n", without_seconds(helper.read(path)))
    local e = run()
    assert.same({"2a1", "2a2", "1b1", "1b2", "2b1", "2b2"}, calls)
    assert.equal(2, e.resumed)
    assert.same({12, 0.5, "float"}, {e[2].sum, e[2].half, math.type(e[2].half)})
    assert.equal(whole, without_seconds(helper.read(path)))
    calls = {}
    assert.equal(8, run().resumed)
    assert.same({}, calls)
  end)

  it("writes each run down before the next begins", function()
    local seen = {}
    run{run = function()
      seen[#seen + 1] = select(2, helper.read(path):gsub("\n", ""))
      return 1
    end}
    assert.same({0, 2, 3, 4, 5, 6, 7, 8}, seen)
  end)

  it("throws a line away that an interruption cut", function()
    run()
    local text = helper.read(path)
    helper.write(path, text:sub(1, -4))
    calls = {}
    local e = run()
    assert.same({"2b2"}, calls)
    assert.equal(7, e.resumed)
    assert.equal(whole, without_seconds(helper.read(path)))
  end)

  it("throws it away wherever it was cut, within a text of two lines, too", function()
    local function again()
      return ts.experiment{grid = {n = {1, 2}}, file = path, run = function(p) return {half = p.n / 2, say = 'two "\n" lines, and'} end}
    end
    again()
    local text = helper.read(path)
    local expected = without_seconds(text)
    for cut = 0, #text - 1 do
      helper.write(path, text:sub(1, cut))
      local e = again()
      assert.equal(2, #e, cut)
      assert.equal(expected, without_seconds(helper.read(path)), cut)
    end
  end)

  it("leaves a file alone that holds something else", function()
    for _, text in ipairs{"notes without an end of line", "\0\1\2", '"how', "how;n", "a,b\n1,2\n"} do
      helper.write(path, text)
      local ok, message = pcall(run)
      assert.is_false(ok, text)
      assert.matches("field 'file': '" .. path, message, 1, true)
      assert.equal(text, helper.read(path))
    end
  end)

  it("refuses more runs than can be listed, before it lists any", function()
    for _, seeds in ipairs{1 << 62, 2500001} do
      assert.error_matches(function() run{seeds = seeds} end, "bad argument #1 to 'experiment' %(%d+ runs: 10000000 at most%)")
    end
  end)

  it("has methods that name a bad self", function()
    local e = run()
    for _, name in ipairs{"summary", "curves"} do
      assert.error_matches(function() e[name]() end, "calling '" .. name .. "' on bad self %(experiment expected, got nil%)")
    end
  end)

  it("names what its result has, where it is asked for something else", function()
    local e = run()
    assert.error_matches(function() e:summry() end, "an experiment's result has no field 'summry' %(did you mean 'summary'%?%)")
    assert.is_nil(e[1000])
  end)

  it("refuses what is no regular file at once: a pipe would be waited for", function()
    local pipe = helper.path ".csv"
    helper.run("mkfifo " .. pipe)
    for _, resume in ipairs{true, false} do
      assert.error_matches(function() run{file = pipe, resume = resume} end, "field 'file': cannot open '.*csv': not a regular file")
      assert.error_matches(function() run{file = "/dev/zero", resume = resume} end, "'/dev/zero': not a regular file")
    end
    assert.same({}, calls)
  end)

  it("begins anew where resume is false", function()
    run()
    calls = {}
    assert.equal(0, run{resume = false}.resumed)
    assert.equal(8, #calls)
    assert.equal(whole, without_seconds(helper.read(path)))
  end)

  it("refuses another experiment's file, and leaves it alone", function()
    helper.write(path, "x,seed,value,seconds\n1,1,2,3\n")
    assert.error_matches(function() run() end, "bad argument #1 to 'experiment' %(field 'file': .* another experiment's%)")
    assert.equal("x,seed,value,seconds\n1,1,2,3\n", helper.read(path))
    assert.error_matches(function() run{file = "/nowhere/at/all.csv"} end, "field 'file': /nowhere/at/all.csv")
  end)

  it("summarises over the seeds: mean and standard deviation", function()
    local s = run{file = false or nil}:summary()
    assert.equal(4, #s)
    -- sums 11 and 12: mean 11.5, deviation √(0.5² + 0.5²)
    assert.same({"a", 1, 2, 11.5, 11, 12}, {s[1].how, s[1].n, s[1].sum.n, s[1].sum.mean, s[1].sum.min, s[1].sum.max})
    assert.is_true(math.abs(s[1].sum.sd - math.sqrt(0.5)) < 1e-15)
    local lines = {}
    for line in tostring(s):gmatch "[^\n]+" do lines[#lines + 1] = (line:gsub(" +", " ")) end
    assert.equal("how n half sum", lines[1])
    assert.equal("b 2 1 21.50 ± 0.71", lines[5])
    assert.equal(tostring(s), tostring(run{file = nil}))
  end)

  it("prints means with the digits that the deviation leaves, numbers at the right, and – for what is none", function()
    local values = {small = {4.1017e-8, 4.3017e-8}, large = {1300, 2000}, none = {math.huge, 1}, tiny = {1, 1 + 2.0 ^ -52}}
    local e = ts.experiment{grid = {name = {"a"}}, seeds = 2, run = function(_, seed)
      return {small = values.small[seed], large = values.large[seed], none = values.none[seed], tiny = values.tiny[seed], word = "w"}
    end}
    assert.same({
      "name       large       none               small         tiny  word",
      "a     1650 ± 495  inf ± nan  4.20e-08 ± 1.4e-09  1 ± 2.2e-16     –",
    }, {tostring(e):match "^(.-)\n(.*)$"})
  end)

  it("gives curves of a measure over a parameter, one for each point of the others", function()
    local e = run{file = nil}
    local list = e:curves("n", "sum")
    assert.same({"how = a", "how = b"}, {list[1].label, list[2].label})
    assert.same({x = {1, 2}, y = {11.5, 21.5}, low = {11, 21}, high = {12, 22}, label = "how = b"}, list[2])
    assert.same({"n", "sum"}, {list.xlabel, list.ylabel})
    assert.is_nil(ts.experiment{grid = {n = {1, 2}}, run = function(p) return p.n end}:curves("n")[1].label)
    assert.error_matches(function() e:curves("m", "sum") end, "bad argument #1 to 'curves' %(a parameter of the grid expected, got m")
    assert.error_matches(function() e:curves("keys", "sum") end, "got keys; there are how, n%)")
    assert.error_matches(function() e:curves("n", "summ") end,
      "bad argument #2 to 'curves' %(a measure expected, got summ; did you mean 'sum'")
    assert.error_matches(function() ts.plot.curves(e) end, "list of series expected, got experiment; e:curves%(x, y%) gives one")
    assert.error_matches(function() e:curves("how", "sum") end, "'how' is a, no number")
  end)

  it("takes a number for one thing measured, a list of seeds, and an empty grid", function()
    local e = ts.experiment{grid = {}, seeds = {7, 9}, run = function(p, seed) return seed + (next(p) and p.seed or 0) end}
    assert.same({14, 18}, {e[1].value, e[2].value})
    assert.equal(1, #ts.experiment{grid = {x = {true}}, run = function(p) return p.x end})
  end)

  it("keeps text with commas, quotes and line ends, and floats to the last bit", function()
    local names = {'a,"b"', "two\nlines", "plain"}
    local function body(p, seed) return {text = p.name .. "!", x = seed / 3} end
    ts.experiment{grid = {name = names}, seeds = 2, file = path, run = body}
    local e = ts.experiment{grid = {name = names}, seeds = 2, file = path, run = function() error "again" end}
    assert.equal(6, e.resumed)
    assert.same({'a,"b"!', 1 / 3}, {e[1].text, e[1].x})
    assert.same({"two\nlines!", 2 / 3}, {e[4].text, e[4].x})
  end)

  it("keeps text that looks like something else, in grids and results", function()
    local body = function(p) return {kind = type(p.x), text = tostring(p.x), empty = ""} end
    local grid = {x = {1, "1", 1.0, "1.0", true, "true", "nan", "-inf"}, ["2"] = {"a"}}
    local first = ts.experiment{grid = grid, file = path, run = body}
    local e = ts.experiment{grid = grid, file = path, run = function() error "again" end}
    assert.equal(8, e.resumed)
    for n = 1, 8 do
      for _, name in ipairs{"x", "kind", "text", "empty", "2"} do
        assert.equal(first[n][name], e[n][name])
        assert.equal(type(first[n][name]), type(e[n][name]))
      end
    end
  end)

  it("names what it cannot take", function()
    local function f() return 1 end
    local function failing(p, seed) return p.n < 3 and seed or p.n.x.y end
    local _, message = pcall(function() return (ts.experiment{run = failing, grid = {n = {1, 2, 3}, how = {"a"}}, seeds = {7}}) end)
    assert.matches("^spec/experiment_spec.lua:%d+: attempt to index .*, in the run of how = a, n = 3, seed 7$", message)
    assert.error_matches(function() ts.experiment{run = function() end, grid = {n = {1}}} end,
      "run returned nothing to write down, in the run of n = 1, seed 1$")
    local thrown = {}
    assert.are.equal(thrown, select(2, pcall(ts.experiment, {run = function() error(thrown) end, grid = {n = {1}}})))
    assert.error_matches(function() ts.experiment{grid = {}} end, "field 'run' is missing")
    assert.error_matches(function() ts.experiment{run = f} end, "field 'grid' is missing")
    assert.error_matches(function() ts.experiment{run = f, grid = {}, sedes = 3} end, "invalid field 'sedes'")
    assert.error_matches(function() ts.experiment{run = f, grid = {seed = {1}}} end, "the name 'seed' is taken")
    assert.error_matches(function() ts.experiment{run = f, grid = {n = {}}} end, "'n' needs a list of values")
    assert.error_matches(function() ts.experiment{run = f, grid = {n = {f}}} end, "value 1 of 'n' is a function")
    assert.error_matches(function() ts.experiment{run = f, grid = {}, seeds = 0} end, "0 is less than 1")
    assert.error_matches(function() ts.experiment{run = function() end, grid = {}} end, "run returned nothing to write down")
    for _, taken in ipairs{"n", "seed", "seconds"} do
      assert.error_matches(function() ts.experiment{run = function() return {[taken] = 1} end, grid = {n = {1}}} end,
        "run returned '" .. taken .. "', a name that is taken")
    end
    assert.error_matches(function() ts.experiment{run = function() return {x = {}} end, grid = {}} end, "x = a table")
    assert.error_matches(function()
      ts.experiment{run = function(_, seed) return {[seed == 1 and "a" or "b"] = 1} end, grid = {}, seeds = 2}
    end, "run returned b, and before that a")
  end)
end)

describe("a row of a CSV", function()
  it("reads back what was written", function()
    local values = {1, -3, 0.1, 1e300, 2.0, math.huge, -math.huge, true, false, "x", "a,b", 'q"q', "", math.maxinteger,
      "7", "7.5", "true", "nan", "-Inf", '"', '""', "\n"}
    local fields = {}
    for n, x in ipairs(values) do fields[n] = row.text(x) end
    local lines = row.parse(row.line(fields) .. "\n")
    assert.equal(1, #lines)
    for n, x in ipairs(values) do
      assert.equal(x, row.value(lines[1][n]))
      assert.equal(math.type(x), math.type(row.value(lines[1][n]))) -- 1 == 1.0
    end
    assert.is_true(row.value(row.text(0 / 0)) ~= row.value(row.text(0 / 0)))
  end)
end)
