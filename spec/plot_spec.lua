-- Pictures: what stands in them, on the terminal and in files, and that no text in one is ever run.
local helper = require "spec.helper"
local ts = require "tessera"
local colour = require "tessera.plot.colour"

local nan, inf = 0 / 0, math.huge

-- A folder of its own for each test, empty but for what the test makes.
local folder

local function shell(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function listing() return (helper.run("ls -A " .. shell(folder))) end

local function read(name)
  local file <close> = assert(io.open(folder .. "/" .. name, "rb"))
  return file:read "a"
end

-- The size that a PNG has.
local function size_of(name)
  local width, height = (">I4I4"):unpack(read(name), 17)
  return {width, height}
end

-- What a call prints.
local function printed(f, ...)
  local path = os.tmpname()
  local old, file = io.output(), assert(io.open(path, "w"))
  io.output(file)
  local ok, err = pcall(f, ...)
  file:close()
  io.output(old)
  local back = assert(io.open(path))
  local text = back:read "a"
  back:close()
  os.remove(path)
  assert(ok, err)
  return text
end

-- Words that a shell or gnuplot would run, or trip over.
local hostile = {
  "'; touch pwned; '", "`touch pwned`", "|touch pwned", "<touch pwned", "a_{b}@c", "EOD", "e", '"$(touch pwned)"', "\\", "%s %d", "it's",
  "'", "''", "first\nsecond", "@pwned", "#", "tab\there", "system('touch pwned')",
}

local X = ts.randn(12, 4, {seed = 1})
local P = ts.problem{Q = X, K = X, V = X, mask = ts.mask.causal(12)}

-- A right call of each kind.
local calls = {
  matrix = function(o) return ts.plot.matrix(X, o) end,
  mask = function(o) return ts.plot.mask(P.mask, o) end,
  tiles = function(o) return ts.plot.tiles(P.mask:tiles(4, 3), o) end,
  trace = function(o) return ts.plot.trace(P:trace(7, {k = 2, merge = "tree"}), o) end,
  curves = function(o) return ts.plot.curves({{y = {1, 2, 3}, label = o.title}, {y = {2, nan, 1}}}, {title = o.title, file = o.file}) end,
  histogram = function(o) return ts.plot.histogram(X, o) end,
}

before_each(function() folder = helper.folder() end)

after_each(function() os.execute("rm -rf " .. shell(folder)) end)

describe("a picture in a file", function()
  for name, call in pairs(calls) do
    it("is a PNG, an SVG or a PDF, by the file's ending: " .. name, function()
      assert.equal(folder .. "/a.png", call{file = folder .. "/a.png"})
      call{file = folder .. "/a.SVG"}
      call{file = folder .. "/a.pdf"}
      assert.equal("\137PNG\r\n\26\n", read "a.png":sub(1, 8))
      assert.same({800, 600}, size_of "a.png")
      assert.matches("^<%?xml.*<svg.*</svg>%s*$", read "a.SVG")
      assert.equal("%PDF-", read "a.pdf":sub(1, 5))
      assert.equal("a.SVG\na.pdf\na.png\n", helper.run("LC_ALL=C ls -A " .. folder))
    end)
  end

  it("has the size that is asked for", function()
    ts.plot.matrix(X, {file = folder .. "/a.png", size = {300, 200}})
    assert.same({300, 200}, size_of "a.png")
  end)

  it("bears title, axes, the classes of its cells and the numbers of its scale", function()
    local S = P:scores(1)
    S:set(3, 1, nan)
    ts.plot.matrix(S, {file = folder .. "/a.svg", title = "scores", xlabel = "key", ylabel = "query", zlabel = "score"})
    local svg = read "a.svg"
    for _, text in ipairs{"scores", "key", "query", "score", "−∞", "NaN"} do
      assert.is_truthy(svg:find("<text>" .. text, 1, true), text)
    end
    assert.is_falsy(svg:find "masked")
  end)

  it("says what a cell stands for where it is more than one", function()
    ts.plot.mask(ts.mask.causal(1024), {file = folder .. "/a.svg"})
    assert.matches("a cell is 2 × 2: the part kept", read "a.svg")
  end)

  it("is not made where there is nowhere to put it, and says so", function()
    assert.error_matches(function() ts.plot.matrix(X, {file = folder .. "/none/a.png"}) end, "cannot save '.*/none/a.png'")
  end)

  it("can be drawn of nothing, of one cell, of one number, of huge ones", function()
    local file = folder .. "/a.svg"
    for _, m in ipairs{ts.zeros(0, 0), ts.zeros(0, 3), ts.zeros(3, 0), ts.ones(1, 1), ts.zeros(2, 90), ts.matrix(3, 3, nan),
      ts.matrix(2, 2, -inf), ts.matrix{{-1.7e308, 1.7e308}}, ts.matrix{{5e-324, 0}}, ts.zeros(1, 3, {dtype = "f32"})} do
      assert.equal(file, ts.plot.matrix(m, {file = file}))
      ts.plot.histogram(m, {file = file})
      if m.rows > 0 and m.cols > 0 then ts.plot.curves(m:row(1), {file = file}) end
    end
    for _, s in ipairs{{}, {{y = {}}}, {1}, {nan}, {1e308, -1e308}, {{x = {1, 1}, y = {2, 2}}}} do
      for _, log in ipairs{false, "x", "y", "xy"} do ts.plot.curves(s, {log = log or nil, file = file}) end
    end
    ts.plot.mask(ts.mask.full{0, 4}, {file = file})
    ts.plot.mask(ts.mask.none(5), {file = file})
    ts.plot.tiles(ts.mask.full{0, 4}:tiles(2, 2), {file = file})
    local none = ts.problem{Q = X, K = ts.zeros(0, 4), V = ts.zeros(0, 4), empty = "zero"}
    ts.plot.tiles(none, {file = file})
    ts.plot.trace(none:trace(1), {file = file})
  end)
end)

describe("a histogram with a logarithmic axis", function()
  it("counts numbers however far apart, and one number alone", function()
    local histogram = require "tessera.plot.histogram"
    for _, list in ipairs{{1e-300, 1, 1e300}, {2.0 ^ -1074, 1.7e308}, {2.0 ^ -1074}, {1.7e308}, {1, 1000}} do
      local counted, total = histogram(list, {bins = 3, log = "xy"}), 0
      for bin, count in ipairs(counted.counts) do
        total = total + count
        assert.is_true(counted.edge(bin - 1) <= counted.edge(bin))
      end
      assert.are.equal(#list, total)
    end
  end)
end)

describe("text in a picture", function()
  local function holds(svg, text)
    svg = svg:gsub("&#39;", "'"):gsub("&apos;", "'"):gsub("&quot;", '"'):gsub("&gt;", ">"):gsub("&lt;", "<"):gsub("&amp;", "&")
    return svg:find("<text>" .. text .. "</text>", 1, true) ~= nil
  end

  it("is drawn as it is written, and never run: titles and axes", function()
    for name, call in pairs(calls) do
      local title = name == "trace" and hostile[1] or table.concat(hostile, "\n") -- no room for more above three charts
      call{file = folder .. "/a.svg", title = title}
      local svg = read "a.svg"
      for line in (title .. "\n"):gmatch "(.-)\n" do
        assert.is_true(holds(svg, (line:gsub("\t", "\\t"))), name .. ": " .. line)
      end
    end
    for n, text in ipairs(hostile) do -- each where it begins the command
      if n % 3 == 1 then
        ts.plot.histogram({1}, {file = folder .. "/a.svg", xlabel = text, ylabel = hostile[n + 1], title = hostile[n + 2]})
      end
    end
    assert.equal("a.svg\n", listing())
    assert.is_nil(io.open "pwned")
  end)

  it("and labels of rows and columns, a newline among them shown as \\n", function()
    ts.plot.matrix(ts.eye(#hostile), {file = folder .. "/a.svg", labels = hostile, zlabel = hostile[2]})
    local svg = read "a.svg"
    for _, text in ipairs(hostile) do assert.is_true(holds(svg, (text:gsub("\n", "\\n"):gsub("\t", "\\t"))), text) end
    assert.equal("a.svg\n", listing())
    assert.is_nil(io.open "pwned")
  end)

  it("and names of files", function()
    for _, text in ipairs(hostile) do
      local path = folder .. "/" .. text .. ".svg"
      ts.plot.mask(P.mask, {file = path})
      local file <close> = assert(io.open(path, "rb"))
      assert.equal("<?xml", file:read(5))
    end
    assert.is_nil(io.open "pwned")
    assert.is_nil(io.open(folder .. "/pwned"))
  end)

  it("that is no UTF-8, or controls the terminal, does no harm", function()
    ts.plot.matrix(ts.eye(2), {file = folder .. "/a.svg", title = "a\xFFb\27[2Jc\0d", labels = {"\xC0\x80", "日本"}})
    assert.is_true(holds(read "a.svg", "a\u{FFFD}b\\27[2Jc\\0d"))
    assert.is_truthy(utf8.len(read "a.svg"))
    local text = printed(ts.plot.matrix, ts.eye(2), {title = "a\27[2J\xFFb", labels = {"\7", "x"}})
    assert.is_falsy(text:find "[\7\27\xFF]")
  end)
end)

describe("a masked cell", function()
  local function apart(a, b) return math.abs(a[1] - b[1]) + math.abs(a[2] - b[2]) + math.abs(a[3] - b[3]) end

  it("has a colour that no number has, and so have −∞, +∞ and NaN", function()
    for _, key in ipairs{"masked", "low", "high", "nan"} do
      for n = 0, 1000 do
        assert.is_true(apart(colour.classes[key].rgb, colour.at(colour.viridis, n / 1000)) > 90, key)
      end
    end
  end)

  it("never looks like a zero", function()
    local W = P:weights(1)
    assert.equal(0, W(1, 2)) -- what the weights say of a masked cell
    local g = require "tessera.plot.matrix"(W, {mask = P.mask}, {50, 50})
    for i = 1, 12 do
      for j = 1, 12 do assert.equal(j > i, g.cells[i][j] == "masked") end
    end
    assert.equal([[
matrix 2 × 3, f64
  1 2 3
1   ██░░
2 ··--██
0   ░ ▒ █ 1   · masked   - −∞
]], printed(ts.plot.matrix, ts.matrix{{0, 1, 0.25}, {0, -inf, 1}}, {mask = ts.mask.parse "xxx\n.xx"}):gsub("▓ ", ""))
  end)

  it("says nothing of its number where several cells are drawn as one", function()
    local m = ts.matrix{{1, 1e9, 2, 0 / 0}, {0, -1, 0 / 0, 0}, {0, 0, 3, 3}, {0, 4, 3, 3}}
    local mask = ts.mask.parse "x.x.\nxx..\n..xx\n..xx"
    local g = require "tessera.plot.matrix"(m, {mask = mask}, {2, 2})
    assert.same({1, 3}, g.scale)
    assert.same({{0, 0.5}, {"masked", 1}}, g.cells)
    m:set(1, 3, 0 / 0)
    assert.equal("nan", require "tessera.plot.matrix"(m, {mask = mask}, {2, 2}).cells[1][2])
  end)
end)

describe("a picture on the terminal", function()
  it("shows the extremes of a matrix, and what is no number", function()
    assert.equal([[
matrix 2 × 2, f64
  1 2
1   ??
2 ++██
-3   ░ ▒ ▓ █ 5   + +∞   ? NaN
]], printed(ts.plot.matrix, ts.matrix{{-3, nan}, {inf, 5}}))
  end)

  it("shows tokens beside their rows", function()
    local text = printed(ts.plot.matrix, ts.eye(2), {labels = {"a", "longer"}, title = "t"})
    assert.equal("t\n       1 2\n     a ██  \nlonger   ██\n0   ░ ▒ ▓ █ 1\n", text)
  end)

  it("shows a mask, and of a large one the part kept", function()
    assert.equal("mask 2 × 2\n  1 2\n1 ██··\n2 ████\n█ kept   · masked\n", printed(ts.plot.mask, ts.mask.causal(2)))
    local text = printed(ts.plot.mask, ts.mask.window(96, 0, 0), {width = 58})
    assert.equal("▒", text:match "\n *1 (\xE2..)")
    assert.matches("a cell is 2 × 2: the part kept", text)
  end)

  it("shows tiles and the order of visits, empty ones passed over", function()
    local Q = ts.zeros(4, 1)
    local p = ts.problem{Q = Q, K = Q, V = Q, mask = ts.mask.causal(4)}
    assert.equal([[
tiles, numbered as each tile of queries visits them
  1   2
1 1▒▒▒····
2 2███1▒▒▒
█ full   ▒ partial   · empty
]], printed(ts.plot.tiles, p, {tiling = {q = 2, k = 2, order = "backward"}}))
  end)

  it("marks an axis at round numbers, as many as may be", function()
    local axis = require "tessera.plot.axis"
    local function ticks(...)
      local list = axis.ticks(...)
      for n, x in ipairs(list) do list[n] = ("%.4g"):format(x) end
      return table.concat(list, " ")
    end
    assert.equal("0.2 0.4 0.6 0.8", ticks(0.15, 0.85, 4))
    assert.equal("0 20 40 60 80 100", ticks(0, 100, 8))
    assert.equal("-1 0 1", ticks(-1.2, 1.9, 4))
    assert.equal("5 5", ticks(5, 5, 4))
  end)
  it("turns the names of a trace's steps only where they would run into each other", function()
    for n_k, turned in pairs{[12] = false, [64] = true} do
      local steps = ts.problem{Q = ts.ones(1, 2), K = ts.ones(n_k, 2), V = ts.ones(n_k, 1)}:trace(1, {k = 2})
      local found = false
      for _, part in ipairs(require "tessera.plot.trace"(steps, {}):script(800, 600)) do
        found = found or type(part) == "string" and part:find("rotate by 90", 1, true) ~= nil
      end
      assert.equal(turned, found)
    end
  end)
  it("shows a trace as P:trace has it", function()
    local t = P:trace(3, {k = 2, merge = "online"})
    local text = printed(ts.plot.trace, t)
    assert.matches("\nΣ1 ", text)
    assert.matches("\n⋆ .*" .. ("%.4g"):format(t[#t].max):gsub("%p", "%%%0"), text)
    assert.matches("⊥", text)
  end)

  it("counts in a histogram", function()
    local text = printed(ts.plot.histogram, {1, 1, 1, 3, nan})
    assert.matches("4 numbers\n", text)
    local counts = {}
    for line in text:gmatch "[^\n]+" do counts[#counts + 1] = line:match "│.* (%d+)$" end
    assert.same({"3", "0", "1"}, counts)
    assert.matches("1 more not finite\n", text)
  end)

  it("puts every number of a histogram into one bin", function()
    local x = ts.randn(40, 25, {seed = 2}):exp()
    for _, o in ipairs{{}, {bins = 1}, {bins = 7}, {log = "x"}, {log = "xy", bins = 50}} do
      local h, sum = require "tessera.plot.histogram"(x, o), 0
      for n, count in ipairs(h.counts) do
        local inside = 0
        for i = 1, 40 do
          for j = 1, 25 do
            local v = x(i, j)
            if v > h.edge(n - 1) * (1 + 1e-12) and v < h.edge(n) * (1 - 1e-12) then inside = inside + 1 end
          end
        end
        assert.is_true(count >= inside and count <= inside + 2)
        sum = sum + count
      end
      assert.equal(1000, sum)
    end
  end)

  it("shows curves, and a mark where a number has no place", function()
    local text = printed(ts.plot.curves, {{y = {1, 10, 0}, label = "a"}, {y = {5}, label = "b"}}, {log = "y", width = 40})
    assert.equal(3, select(2, text:gsub("●", "")))
    assert.equal(2, select(2, text:gsub("▲", "")))
    assert.matches("%? not above 0, or not finite", text)
  end)

  it("of a trace leaves room below for its legend, however low it is", function()
    local picture = require "tessera.plot.trace"(P:trace(3, {k = 2}), {})
    for _, height in ipairs{380, 600, 1200} do
      local bottoms = {}
      for _, part in ipairs(picture:script(480, height)) do
        bottoms[#bottoms + 1] = type(part) == "string" and tonumber(part:match "bmargin at screen (%S+)") or nil
      end
      assert.equal(3, #bottoms)
      assert.is_true(bottoms[3] * height > 90 and bottoms[1] > bottoms[2] and bottoms[2] > bottoms[3])
    end
  end)

  it("calls the axes of curves as the options say, else as the list does", function()
    local list = {{y = {1, 2}}, xlabel = "window", ylabel = "error"}
    local text = printed(ts.plot.curves, list, {width = 40, ylabel = "ulps"})
    assert.matches("\nulps\n", text)
    assert.matches("\n +window\n", text)
    assert.matches("\nerror\n", printed(ts.plot.curves, list, {width = 40}))
  end)

  it("has round numbers at the axes of curves", function()
    local text = printed(ts.plot.curves, {{y = {1, 4, 9}}}, {width = 60})
    for _, number in ipairs{2, 4, 6, 8} do assert.matches("\n +" .. number .. " ┤", text) end
    assert.matches("\n +1 +1%.5 +2 +2%.5 +3\n +x", text)
    assert.matches("\n +64 +128 +1024\n", printed(ts.plot.curves, {{x = {64, 128, 1024}, y = {1, 2, 3}}}, {log = "x", width = 60}))
  end)

  it("says in colours what it says without them, so that a copy of it is a picture, too", function()
    local g = require "tessera.plot.mask"(ts.mask.causal(6), {}, {6, 6})
    assert.equal(g:text{width = 80}, (g:text{coloured = true, width = 80}:gsub("\27%[[%d;]*m", "")))
  end)

  it("is coloured where the style says so, and masked cells still are dots", function()
    local g = require "tessera.plot.matrix"(ts.matrix{{0, -inf}}, {}, {10, 10})
    local text = g:text{coloured = true, deep = true, width = 80}
    assert.is_truthy(text:find("\27[38;2;33;144;141;48;2;33;144;141m▒▒\27[0m", 1, true))
    assert.is_truthy(text:find("\27[30;48;2;168;168;168m--\27[0m", 1, true))
    assert.is_truthy(g:text{coloured = true, width = 80}:find("48;5;", 1, true))
    assert.is_falsy(printed(ts.plot.matrix, X):find "\27")
  end)

  it("is of pixels where sixel is asked for", function()
    assert.matches("^\27P.*\27\\\n$", printed(ts.plot.matrix, X, {terminal = "sixel"}))
  end)

  it("stays within its width", function()
    for _, width in ipairs{40, 80, 133} do
      for name, call in pairs(calls) do
        for line in printed(call, {width = width, title = "t"}):gmatch "[^\n]+" do
          if name ~= "curves" and (name ~= "trace" or width > 60) then assert.is_true(utf8.len(line) <= width, name .. ": " .. line) end
        end
      end
      local text = printed(ts.plot.matrix, ts.zeros(300, 700), {width = width, title = "t"})
      for line in text:gmatch "[^\n]+" do assert.is_true(utf8.len(line) <= width, line) end
    end
  end)
end)

describe("a large matrix", function()
  it("shows the largest of several cells, and no NaN is lost", function()
    local m = ts.zeros(1000, 1000)
    m:set(7, 900, 5)
    m:set(500, 1, nan)
    local g = require "tessera.plot.matrix"(m, {}, {100, 100})
    assert.same({10, 100, 100}, {g.per, g.rows, g.cols})
    assert.equal(1, g.cells[1][90])
    assert.equal("nan", g.cells[50][1])
    assert.equal(0, g.cells[50][2])
  end)
end)

describe("without gnuplot", function()
  it("there is a message and the picture on the terminal", function()
    local said, status = helper.run([[PATH=$(dirname $(readlink -f $(command -v lua5.4))):/nowhere
      mkdir ]] .. folder .. [[/bin; for c in lua5.4 sh cat; do ln -s $(command -v $c) ]] .. folder .. [[/bin; done
      PATH=]] .. folder .. [[/bin lua5.4 -e 'require "tessera".plot.mask(require "tessera".mask.causal(2), {file = "]]
      .. folder .. [[/a.png"})']])
    assert.equal(0, status, said)
    assert.matches("gnuplot is not installed, so nothing is written to '.*/a.png'", said)
    assert.matches("1 ██··\n2 ████\n", said)
    assert.is_nil(io.open(folder .. "/a.png"))
  end)
end)

describe("a wrong call", function()
  it("is an error that names what is wrong", function()
    for message, f in pairs{
      ["bad argument #1 to 'matrix' %(matrix expected, got table%)"] = function() ts.plot.matrix{} end,
      ["bad argument #2 to 'matrix' %(invalid field 'titel'"] = function() ts.plot.matrix(X, {titel = "x"}) end,
      ["the ending of 'a.jpg' is none of .png, .svg, .pdf"] = function() ts.plot.matrix(X, {file = "a.jpg"}) end,
      ["3 names for 12 rows and 4 columns"] = function() ts.plot.matrix(X, {labels = {"a", "b", "c"}}) end,
      ["'labels': 1 name for the columns, 4 expected"] = function() ts.plot.matrix(X, {labels = {cols = {"a"}}}) end,
      ["field 'size'"] = function() ts.plot.matrix(X, {file = "a.png", size = {1, 1}}) end,
      ["field 'mask' is 12x12, the matrix 12x4"] = function() ts.plot.matrix(X, {mask = P.mask}) end,
      ["bad argument #1 to 'mask'"] = function() ts.plot.mask(X) end,
      ["there is no head 2"] = function() ts.plot.mask(P.mask, {h = 2}) end,
      ["bad argument #1 to 'tiles'"] = function() ts.plot.tiles(X) end,
      ["what P:trace gives expected"] = function() ts.plot.trace{} end,
      ["series 1: 1 number in x, 2 in y"] = function() ts.plot.curves{x = {1}, y = {1, 2}} end,
      ["series 2: invalid field 'lable'"] = function() ts.plot.curves{{y = {1}}, {y = {1}, lable = "x"}} end,
      ["invalid field 'lable'"] = function() ts.plot.curves{{y = {1}}, lable = "x"} end,
      ["xlabel: string expected, got number"] = function() ts.plot.curves{{y = {1}}, xlabel = 1} end,
      ["number expected at 2, got string"] = function() ts.plot.histogram{1, "x"} end,
    } do
      assert.error_matches(f, message)
    end
  end)
end)
