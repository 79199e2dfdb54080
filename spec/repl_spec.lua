-- The prompt: what lines mean, completion, commands, and a whole sitting on a pseudo-terminal.
local complete = require "tessera.complete"
local helper = require "spec.helper"
local locals = require "tessera.repl.locals"
local sessions = require "tessera.repl.session"
local show = require "tessera.repl.show"
local ts = require "tessera"

local build = os.getenv "TESSERA_BUILD" or "build"

describe("a session", function()
  -- What each line shows, as one text; an error is shown behind "! ".
  local function shown(...)
    local session, texts = sessions.new(), {}
    for _, text in ipairs{...} do
      local values, message = session:run(text)
      for n = 1, values and not values.quiet and values.n or 0 do texts[#texts + 1] = show(values[n]) end
      if not values then texts[#texts + 1] = "! " .. message end
    end
    return table.concat(texts, "\n")
  end

  it("shows expressions, is quiet behind a semicolon, and keeps the last value as _", function()
    assert.equal("3\n6\n7", shown("1 + 2", "_ * 2", "3 + 4;", "_"))
  end)
  it("keeps top-level locals, which functions see change", function()
    assert.equal("42\n1\n1", shown("local x <const>, y = 40, 2", "x + y",
      "local n = 0; local function add() n = n + 1 return n end", "add()", "n"))
  end)
  it("has variables of its own: no name breaks a library", function()
    assert.equal("3\nmatrix 1x1 f64\n  0", shown("local type, math, table = 1, 2, 3", "table", "ts.zeros(1, 1)"))
    assert.equal("table", type(math))
  end)
  it("lets predicates be lifted that speak of earlier variables", function()
    assert.equal("lifted\n5", shown("local w = 2", "m = ts.mask(3, 3, function(i, j) return j <= i and i - j < w end)",
      "m.kind", "m:count()"))
  end)
  it("names the near variable or field", function()
    assert.matches("^! .*did you mean 'width'%?$", shown("width = 3", "widht.x"))
    assert.matches("^! .*did you mean 'ts%.problem'%?$", shown "problm{}")
    assert.equal("! attempt to call a nil value (global 'causal'); there is ts.mask.causal", shown "causal(4)")
    assert.equal("! ts.mask has no field 'causel' (did you mean 'causal'?)", shown "ts.mask.causel(3)")
    assert.matches("^! calling 'sum' on bad self .*; a method is called with a colon, as in m:sum%(%)$", shown "ts.eye(2).sum()")
    assert.equal("! a matrix has no field 'row_s' (did you mean 'rows'?)", shown "ts.zeros(1, 1).row_s")
  end)
  it("shows the message, and of several lines the one that it is about", function()
    assert.equal("! attempt to perform arithmetic on a nil value (global 'b')\n  2: local a = 1 + b", shown "do\n  local a = 1 + b\nend")
    assert.matches("^! bad argument #1 to 'zeros' %(.*%)$", shown "ts.zeros('a', 1)")
    assert.equal("! unexpected symbol near ')'", shown "f(1, )")
    assert.equal("! (error object is a table value)", shown "error{}")
    assert.equal("! mine", shown "error(setmetatable({}, {__tostring = function() return 'mine' end}))")
    assert.equal("! 2.5", shown "error(2.5)")
    for _, body in ipairs{"error 'no'", "return {}", "return nil"} do
      assert.equal("! (error object is a table value)\n2",
        shown(("error(setmetatable({}, {__tostring = function() %s end}))"):format(body), "1 + 1"))
    end
  end)
  it("says of a field that is called like a method that it is one", function()
    local advice = "; '%s' is a field, read with a dot and no parentheses$"
    assert.matches("^! attempt to call a number value %(method 'rows'%)" .. advice:format "rows", shown "ts.eye(2):rows()")
    local P = "P = ts.problem{Q = ts.eye(2), K = ts.eye(2), V = ts.eye(2)}"
    assert.matches("^! calling 'max' on bad self .*" .. advice:format "max", shown(P, "P:summary():max()"))
    assert.equal("! attempt to call a nil value (method 'x')", shown "({}):x()")
  end)
  it("shows all names of a library", function()
    local _, lines = shown("ts.mask"):gsub(" = function", "")
    local count = 0
    for _ in next, ts.mask do count = count + 1 end
    assert.equal(count, lines)
  end)
  it("knows what other languages write", function()
    for line, advice in pairs{
      ["m = function(i, j) return i != j end"] = "'not equal' is ~=", ["x = a && b"] = "'and' is a word, as in x and y",
      ["x = a || b"] = "'or' is a word, as in x or y", ["x = !a"] = "'not' is a word, as in not x", ["x += 1"] = "there is x = x + y",
      ["x = 2 ** 3"] = "a power is x ^ y", ["if x = 1 then y = 2 end"] = "x == y compares",
      ["x = [1, 2]"] = "a list stands in braces, as in {1, 2}", ["x = 1 # why"] = "a comment begins with --",
      ["ts.mask(4, 4, function(i, j) j <= i end)"] = "a function gives a value by return",
    } do
      assert.equal(advice, shown(line):match "^! .* near '.-'; (.*)$")
    end
    assert.equal("! unexpected symbol near ')'", shown "x = )")
    assert.equal("! syntax error near '<='", shown "f = function(i) return i end i <= 2")
  end)
  it("shows how a function of ours is called, where its parentheses were forgotten", function()
    assert.equal("function m:shape()\nfunction P:softmax([options])\nfunction ts.tanh(x)\nfunction\n{function}",
      shown("X = ts.zeros(2, 2);", "X.shape", "ts.problem{Q = X, K = X, V = X}.softmax", "ts.tanh", "print", "{ts.tanh}"))
  end)
  it("knows when a chunk goes on", function()
    local session = sessions.new()
    for _, text in ipairs{"for i = 1, 2 do", "ts.matrix{", "x = [[", "1 +", "local", "local function f()", "f(", "x =", "--[["} do
      assert(session:is_unfinished(text), text)
    end
    for _, text in ipairs{"", "x", "x = 1", "f()", ")", "x = = 1", "end", "-- note", "?x"} do
      assert(not session:is_unfinished(text), text)
    end
  end)
  it("shows tables with what is in them, in an order that does not change", function()
    assert.equal('{1, "a", {x = true}, b = matrix 1x1 f64, c = function}', shown "{1, 'a', {x = true}, c = print, b = ts.ones(1, 1)}")
    assert.equal("{me = {…}}", shown("t = {}", "t.me = t", "t"))
    assert.equal("{{1}, {1}}", shown "t = {1} return {t, t}")
    assert.equal("{}\nnil\nfalse", shown("{}, nil, false"))
    assert.matches("20, … 30 in all}$", shown "t = {} for i = 1, 30 do t[i] = i end return t")
  end)
  it("shows what is there, and survives what metatables make of it", function()
    assert.equal("{1, x = 2}", shown "setmetatable({1, x = 2}, {__len = error, __index = error, __pairs = error})")
    assert.equal("table\n{table}\n2", shown("t = setmetatable({}, {__tostring = function() error 'no' end}) return t", "{t}", "1 + 1"))
    assert.equal("table\n2", shown("t = {} for _ = 1, 2e5 do t = {t} end return t", "1 + 1"))
  end)
  it("saves lines that run as a script", function()
    local session = sessions.new()
    for _, text in ipairs{"local x = 2", "x * 21", "x + 1;", "assert(x);", "for i = 1, 2 do\nx = x + i end", "x"} do session:run(text) end
    local said, status = helper.lua('local ts = require "tessera"\n' .. table.concat(session.lines, "\n"))
    assert.equal("42\n5\n", said)
    assert.equal(0, status)
  end)
end)

describe("locals", function()
  for given, wanted in pairs{
    ["local x = 1"] = "x = 1", ["local a, b"] = "a, b = nil", ["local a <const>, b = 1, 2"] = "a, b = 1, 2",
    ["local function f() local y = 2 end local z = 'local q'"] = "function f() local y = 2 end z = 'local q'",
    ["local f <close> = g()"] = "local f <close> = g()",
    ["for i = 1, 2 do local x = i end local k = 1"] = "for i = 1, 2 do local x = i end k = 1",
    ["if a then local x elseif b then local y else local z end local w"] =
      "if a then local x elseif b then local y else local z end w = nil",
    ["local s = [[ local x ]]"] = "s = [[ local x ]]", ["-- local x\nlocal y = 1"] = "-- local x\ny = 1",
    ["repeat local x = 1 until x"] = "repeat local x = 1 until x", ["local a,\nb = 1, 2"] = "a, b\n = 1, 2",
    ["local x = 1 -- it's\nlocal y = '\\'' local z = 1"] = "x = 1 -- it's\ny = '\\'' z = 1",
  } do
    it("turns " .. given:gsub("\n", "⏎"), function()
      assert.equal(wanted, locals(given))
    end)
  end
end)

describe("a table at the prompt", function()
  it("stands in one line, or has a line for each name where that is too narrow", function()
    assert.equal('{1, {a = true}, b = "x"}', show{1, {a = true}, b = "x"})
    assert.equal(("{\n  %s = 1,\n  %s = {a = 2}\n}"):format(("p"):rep(50), ("q"):rep(50)),
      show{[("p"):rep(50)] = 1, [("q"):rep(50)] = {a = 2}})
    assert.is_nil(show{("x"):rep(50), ("y"):rep(50)}:find "\n") -- a list
  end)
end)

describe("completion", function()
  local env = {ts = ts, matrix_a = ts.zeros(1, 1), m = ts.mask.causal(2), t = {alpha = 1, beta = print}, string = string,
    P = ts.problem{Q = ts.zeros(1, 1), K = ts.zeros(1, 1), V = ts.zeros(1, 1)}}
  -- The word as readline cuts it.
  local function of(line)
    local from = line:match(".*[ \t\n\"\\'`@$><=;|&{(]()") or 1
    return complete.matches(env, line, from, #line)
  end
  it("finds names, fields and methods", function()
    assert.same({"matrix_a"}, of "matr")
    assert.same({"ts.mask.causal"}, of "ts.mask.cau")
    assert.same({"ts.randn"}, of "x = ts.randn")
    assert.same({"P:softmax"}, of "P:softm")
    assert.same({"P.first_key"}, of "print(P.fir")
    assert.same({"m:row_count"}, of "m:row")
    assert.same({"t.alpha", "t.beta"}, of "t.")
    assert.same({"t:beta"}, of "t:")
    assert.same({"function"}, of "func")
  end)
  it("finds the options of a function in a table that it takes", function()
    assert.same({"order"}, of "P:attention{q = 4, ord")
    assert.same({"order"}, of "P:trace(3, {ord")
    assert.same({"merge"}, of "O = P:bound{mer")
    assert.same({"reshape"}, of "ts.load('x.npy', {res")
    assert.same({"seeds"}, of "ts.experiment{grid = {n = {1, 2}}, see")
    assert.same({"kv_heads"}, of "P:with{heads = f(2), kv")
    assert.same({"title"}, of "ts.plot.matrix(matrix_a, {tit")
    assert.same({"labels"}, of "ts.plot.mask(m, {file = 'm.svg', lab")
    assert.same({}, of "ts.plot.trace(t, {lab")
    assert.same({"matrix_a"}, of "P:attention{q = matr") -- a value
  end)
  it("goes on behind what is no part of the name", function()
    assert.same({"1+ts.eye"}, of "1+ts.ey")
    assert.same({"f,ts.mask.causal"}, of "g(f,ts.mask.caus")
  end)
  it("calls nothing: what a call returns is known from its comment, or not at all", function()
    assert.same({"):logsumexp"}, of "P:softmax():logs")
    assert.same({"4):row_count"}, of "ts.mask.causal(4):row")
    assert.same({}, of "t.beta():s")
    assert.same({}, of "nothing.here")
  end)
  it("finds files in strings, and folders", function()
    assert.same({"README.md"}, of 'ts.load "READ')
    assert.same({"examples/data/tokens.json"}, of "f('examples/data/tok")
    assert.same({}, of 'ts.load "no/such/fol')
    local inside = of 'ts.load "examples/da'
    assert.is_true(#inside > 3 and inside[1]:find "^examples/data/" ~= nil)
    assert.same({"README.md"}, of ":load READ")
  end)
  it("goes on inside a name with spaces", function()
    local folder = helper.folder()
    helper.write(folder .. "/x yz.npy", "")
    assert.same({"yz.npy"}, of('ts.load "' .. folder .. "/x y"))
  end)
  it("finds commands", function()
    assert.same({":time"}, of ":ti")
  end)
end)

describe("tessera, the command,", function()
  it("runs what is piped in, code and scripts as lua does, with their status", function()
    local said, status = helper.run "echo 'print(ts.eye(2):sum())' | scripts/tessera"
    assert.equal("2.0\n", said)
    assert.equal(0, status)
    said, status = helper.run "echo 'error \"no\"' | scripts/tessera"
    assert.matches("no", said)
    assert.equal(1, status)
    said, status = helper.run "scripts/tessera --help"
    assert(status == 0 and said:find("tessera FILE", 1, true) and not said:find("root=", 1, true), said)
    assert.equal("Tessera " .. ts.version .. "\n", (helper.run "scripts/tessera --version"))
    said, status = helper.run "scripts/tessera -e 'print(ts.version) os.exit(7)'"
    assert.equal(ts.version .. "\n", said)
    assert.equal(7, status)
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    file:write 'print(require "tessera" == ts, ...)'
    file:flush()
    assert.equal("true\ta\tb c\n", (helper.run("scripts/tessera " .. path .. " a 'b c'")))
    os.remove(path)
  end)
end)

describe("a command of the prompt", function()
  -- What is written when these lines are piped into a prompt; without the greeting and the prompts.
  local function piped(...)
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write(table.concat({...}, "\n"), "\n")
    file:close()
    local said = helper.run("scripts/tessera -i < " .. path)
    os.remove(path)
    return (said:gsub("^[^\n]*\n", ""):gsub("%f[^\0\n]>>? ", ""):gsub("\n> ", "\n"):gsub("^> ", ""))
  end
  local file
  before_each(function() file = os.tmpname() end)
  after_each(function() os.remove(file) end)

  it("saves the lines so far, and loads them again", function()
    assert.matches("3 lines in", piped("local x = 4", "x * 2", "function f() return x end", ":save " .. file))
    assert.equal('local ts = require "tessera"\nlocal x = 4\nprint(x * 2)\nfunction f() return x end\n', assert(io.open(file)):read "a")
    assert.matches("^8\n4\n", piped(":load " .. file, "f()"))
    assert.matches("No such file", piped ":load no/such/file")
    assert.matches("a file name is missing", piped ":load")
    assert.matches("spec: Is a directory", piped(":load spec", "1 + 1"))
  end)
  it("saves a script that runs and prints the same, whatever was typed", function()
    local typed = {"return 3", "3, 4", "_ + 1", "5; -- quiet in vain", "_ * 2 -- a note", "_;", "_", "ts.clock();", ":plot ts.eye(2)", "7;",
      ":plot ts.mask.causal(2)", "x = 'no _ here'", "x"}
    local said = piped(table.unpack(typed))
    typed[#typed + 1] = ":save " .. file
    piped(table.unpack(typed))
    assert.equal("3\n3\t4\n4\n5\n10\n10\n", said:match "^.-\n10\n10\n")
    assert.equal((said:gsub("%s*$", "\n")), (helper.run("scripts/tessera " .. file)))
  end)
  it("leaves the old script whole where the lines cannot be saved", function()
    helper.write(file, "print 'old'\n")
    local said = helper.run(("trap '' XFSZ; ulimit -f 0; printf 'x = 1\\n:save %s\\n' | scripts/tessera -i"):format(file))
    assert.matches("cannot save '" .. file .. "': File too large", said)
    assert.equal("print 'old'\n", helper.read(file))
    helper.run("mkfifo " .. file .. ".pipe")
    finally(function() os.remove(file .. ".pipe") end)
    assert.matches("pipe': not a regular file", piped("x = 1", ":save " .. file .. ".pipe"))
    assert.matches("^p", (helper.run("ls -l " .. file .. ".pipe")))
  end)
  it("draws what it is given, and says what of a problem", function()
    local P = "P = ts.problem{Q = ts.ones(4, 2), K = ts.ones(5, 2), V = ts.ones(5, 1), heads = %d};"
    assert.matches("^the weights; .-weights\n", piped(P:format(1), ":plot P"))
    assert.matches("^the weights of head 1 of 2; .-weights of head 1 of 2\n", piped((P:gsub("5, 1", "5, 2")):format(2), ":plot P"))
    assert.matches("^the tiles of the default tiling.-tiles", piped(P:gsub("5, ", "300000, "):format(1), ":plot P"))
    assert.matches("masked", piped(P:format(1), "P = P:with{mask = function(i, j) return j <= i end};", ":plot P"))
    assert.matches("2 partial", piped(":plot ts.mask.causal(4):tiles(2, 2)"))
    assert.matches("^[^!]*no picture for a number: a matrix, a mask, tiles, a trace or a problem has one", piped ":plot 5")
  end)
  it("lists variables with shapes and bytes", function()
    local said = piped(":who", "A = ts.zeros(512, 64, {dtype = 'f32'})", "m = ts.mask.causal(3)", "n = {1, 2}", ":who")
    assert.matches("^no variables so far\n", said)
    assert.matches("A  matrix  512x64 f32  128%.0 KiB\n", said)
    assert.matches("m  mask    3x3, lifted\n", said)
    assert.matches("n  table   {1, 2}\n", said)
  end)
  it("says what a misspelt one might be, and which there are", function()
    local said = piped ":tiem x"
    assert.matches("there is no command :tiem, did you mean :time%?", said)
    assert.matches(":save FILE", said)
  end)
  it("times what it is given once, or as often more as it is told", function()
    assert.matches("^2\n%d[%d.]* %S+, one run\n+$", piped ":time 1 + 1")
    assert.matches("^2\nbest %d[%d.]* %S+, median %d[%d.]* %S+, spread %d+ %%, 7 runs\n+$", piped ":time 7 1 + 1")
    assert.matches("^2\n[^\n]*, one run\n+$", piped ":time 0 1 + 1")
    assert.matches("^3\n[^\n]*, one run\n", piped ":time 4 - 1")
    assert.matches("^[^\n]*, one run\n1\n", piped("x = 0", ":time x = x + 1", "x"))
    assert.matches("^best [^\n]*, 4 runs\n5\n", piped("x = 0", ":time 4 x = x + 1", "x"))
    assert.matches("^attempt to call a nil value %(global 'nothing'%)\n+$", piped ":time nothing()")
    assert.matches("^2\n+attempt to perform arithmetic on a nil value\n+$", piped("t = {1}", ":time 3 table.remove(t) + 1"))
  end)
  it("says what is missing behind a command", function()
    for line, wanted in pairs{
      [":time"] = "an expression is missing: :time EXPRESSION", [":plot  "] = "an expression is missing: :plot EXPRESSION",
      [":load"] = "a file name is missing: :load FILE", [":save"] = "a file name is missing: :save FILE",
    } do
      assert.equal(wanted, piped(line):match "^[^\n]*")
    end
    assert.equal("unexpected symbol near <eof>", piped(":time 1 +"):match "^[^\n]*")
  end)
  it("writes no colours into a pipe", function()
    assert.is_nil(piped("?ts.eye", "nothing.here"):find "\27")
  end)
  it("leaves what stands behind :quit alone", function()
    assert.equal("1\n", piped("1", ":quit", "2"))
  end)
end)

-- A sitting at the terminal, of lines such as these. Returns what stood there, the status, and the history that was kept.
--   > 1 + 2      at the prompt, types this and the return key (after >>, within a chunk; after !, at once and nothing else)
--   | 3          waits for the answer
local function sitting(conversation, environment)
  local path, history = os.tmpname(), os.tmpname()
  local file = assert(io.open(path, "w"))
  for line in conversation:gmatch "[^\n]+" do
    local sign, text = line:match "^%s*(%S+) ?(.*)$"
    if sign == "|" then file:write("want ", text, "\n")
    elseif sign == "!" then file:write("send ", text, "\n")
    else file:write("want ", sign, " \nsend ", text, "\\r\n") end
  end
  file:close()
  local said, status = helper.run(("%s/pty scripts/tessera < %s"):format(build, path),
    "TERM=xterm INPUTRC=/dev/null OMP_NUM_THREADS=2 TESSERA_HISTORY=" .. history .. " " .. (environment or ""))
  local kept = assert(io.open(history)):read "a"
  os.remove(path)
  os.remove(history)
  return said, status, kept
end

-- Sanitizers' libraries cannot stand before a shell's.
local on_terminal = helper.instrumented and pending or it

for name, environment in pairs{["with lua-readline"] = "", ["without lua-readline"] = "TESSERA_READLINE=no"} do
  describe("the prompt " .. name, function()
    on_terminal("reads, shows, explains and goes on", function()
      local said, status = sitting([[
        > local x = 41
        > x + 1
        | 42
        > for i = 1, 2 do
        >> print(i * 7) end
        | 14
        > ?ts.eye
        | identity matrix
        | See also
        > ts.eys(2)
        | did you mean 'eye'?
        > :who
        | number  41
        > :time x
        | 41
        | one run
        > os.exit(3)]], environment)
      assert(status == 3, said)
    end)

    on_terminal("stops long calls by Ctrl-C, of Lua and of the core, and drops lines half typed", function()
      local said, status = sitting([[
        > print(7 * 11) while true do end
        | 77
        ! \x03
        | interrupted!
        > n = 20000 P = ts.problem{Q = ts.rand(n, 64), K = ts.rand(n, 64), V = ts.rand(n, 64)}
        > print(7 * 13) while true do P:softmax() end
        | 91
        ! \x03
        | interrupted!
        | >
        ! this is no lua\x03
        > for i = 1, 2 do
        | >>
        ! \x03
        | >
        ! \x03
        | >
        ! \x03
        > 6 * 7
        | 42
        | >
        ! \x04]], environment)
      assert(status == 0, said)
    end)

    on_terminal("stops plain Lua in coroutines by Ctrl-C, and by a second one what catches the first", function()
      local said, status = sitting([[
        > coroutine.wrap(function() coroutine.wrap(function() print(7 * 11) while true do end end)() end)()
        | 77
        ! \x03
        | interrupted!
        > t = coroutine.create(function() while true do coroutine.yield(7 * 13) end end)
        > print(coroutine.resume(t)) print(coroutine.resume(t)) print(coroutine.close(t), coroutine.resume(t))
        | true	91
        | true	91
        | true	false	cannot resume dead coroutine
        > while true do pcall(function() print(7 * 17) while true do end end) end
        | 119
        ! \x03
        | 119
        ! \x03
        | interrupted!
        > coroutine.wrap(function() while true do pcall(function() print(7 * 19) while true do end end) end end)()
        | 133
        ! \x03
        | 133
        ! \x03
        | interrupted!
        > 6 * 7
        | 42
        > os.exit(3)]], environment)
      assert(status == 3, said)
    end)

    on_terminal("stops by Ctrl-C what runs while a coroutine is closed", function()
      local said, status = sitting([[
        > looping = setmetatable({}, {__close = function() print(7 * 23) while true do end end})
        > t = coroutine.create(function() local _ <close> = looping coroutine.yield() end)
        > print(coroutine.resume(t)) print(coroutine.close(t))
        | true
        | 161
        ! \x03
        | interrupted!
        > print(coroutine.status(t), coroutine.close(t))
        | dead	true
        > coroutine.wrap(function() local _ <close> = looping error(7 * 29) end)()
        | 161
        ! \x03
        | interrupted!
        > 6 * 7
        | 42
        > os.exit(3)]], environment)
      assert(status == 3, said)
    end)

    on_terminal("takes Ctrl-C in what a metatable does to a value shown", function()
      local said, status = sitting([[
        > setmetatable({}, {__tostring = function() print("be" .. "gun") while true do end end})
        | begun
        ! \x03
        | table
        > os.exit(3)]], environment)
      assert(status == 3, said)
    end)

    on_terminal("leaves by :quit and by Ctrl-D, with status 0", function()
      for _, way in ipairs{"> :quit", "| >\n! \\x04"} do
        local said, status = sitting(way, environment)
        assert(status == 0, said)
      end
    end)
  end)
end

describe("the prompt with lua-readline", function()
  on_terminal("leaves no file open behind Ctrl-C", function()
    if not io.open "/proc/self/fd/0" then return pending "no /proc here" end
    local typed = "> x = io.popen('ls -l /proc/$PPID/fd | grep -c tty'):read 'l' print('tty ' .. x)\n"
    local interrupted = ("| >\n! no\\x03\n"):rep(20)
    local said, status = sitting(typed .. "| tty 0\n" .. interrupted .. typed .. "| tty 0\n> os.exit()")
    assert(status == 0, said)
  end)
  on_terminal("takes Ctrl-C in what a metatable does while a name is completed", function()
    local said, status = sitting [[
      > n = 0
      > u = setmetatable({}, {__index = function() n = n + 1; while n == 1 do if m ~= 1 then m = 1; print("be" .. "gun") end end end})
      | >
      ! u.a.\t
      | begun
      ! \x03
      ! b\r
      | attempt to index a nil value
      > os.exit(3)]]
    assert(status == 3, said)
  end)
  on_terminal("completes by the tab key, recalls lines, and keeps them for the next time", function()
    local said, status, kept = sitting [[
      > ts.mask.cau\t(4):cou\t()
      | 10
      > \e[A
      | 10
      > ts.load "READ\t
      | ending of 'README.md'
      > 5 + 6;
      > os.exit()]]
    assert(status == 0, said)
    assert.equal('ts.mask.causal(4):count()\nts.load "README.md"\n5 + 6;\nos.exit()\n', kept)
  end)
end)
