--- What specs share: assertions on matrices, which print the worst cell and cannot pass on NaN; fresh processes.
--
-- A matrix is anything with m.rows, m.cols, m.dtype and m(i, j); a table of rows or a number stands for one, too.
local luassert = require "luassert"
local say = require "say"

local helper = {}

-- A reader (rows, cols, dtype, at(i, j)) of a matrix, a table of rows, or a number.
local function reader(x)
  if type(x) == "number" then
    return {rows = 1, cols = 1, at = function() return x end}
  elseif type(x) == "table" and (#x > 0 or getmetatable(x) == nil) then
    return {rows = #x, cols = x[1] and #x[1] or 0, at = function(i, j) return x[i][j] end}
  end
  return {rows = x.rows, cols = x.cols, dtype = x.dtype, at = function(i, j) return x(i, j) end}
end

-- The bits of x as an integer that grows with the number; -0 and 0 are both 0.
local function rank(x, format)
  local bits = string.unpack(format == "f" and "i4" or "i8", string.pack(format, x))
  if bits >= 0 then return bits end
  return (format == "f" and -0x80000000 or math.mininteger) - bits
end

--- How many steps from one number of `dtype` ("f64") to the next lie between a and b; infinite for NaN.
function helper.ulps(a, b, dtype)
  if a ~= a or b ~= b then return math.huge end
  local format = dtype == "f32" and "f" or "d"
  local x, y = rank(a, format), rank(b, format)
  if x < y then x, y = y, x end
  local steps = x - y -- wraps where the signs differ and both are large; the bits are right as an unsigned number
  return steps >= 0 and steps or steps + 2.0 ^ 64
end

-- How far a and b are apart: 0 for equal ones (infinities too), infinite where either is NaN.
local function distance(a, b)
  if a == b then return 0 end
  local apart = math.abs(a - b)
  return apart == apart and apart or math.huge
end

local function same_bits(a, b)
  return (a ~= a and b ~= b) or string.pack("d", a) == string.pack("d", b)
end

-- Compares cell by cell. excess(a, b, i, j) is how bad a cell is; the worst one above 0 makes the message.
local function compare(expected, actual, excess, describe, note)
  local e, a = reader(expected), reader(actual)
  note = note and " (" .. tostring(note) .. ")" or ""
  if e.rows ~= a.rows or e.cols ~= a.cols then
    return false, ("expected a %dx%d matrix, got %dx%d%s"):format(e.rows, e.cols, a.rows, a.cols, note)
  end
  local dtype = (e.dtype == "f32" or a.dtype == "f32") and "f32" or "f64"
  local worst, cell, count = 0, nil, 0
  for i = 1, e.rows do
    for j = 1, e.cols do
      local x, y = e.at(i, j), a.at(i, j)
      local bad = excess(x, y, i, j)
      if bad > 0 then
        count = count + 1
        if bad > worst then worst, cell = bad, {i = i, j = j, x = x, y = y} end
      end
    end
  end
  if not cell then return true end
  return false, ("%d of %d cells differ%s; the worst is (%d, %d):\n  expected %.17g\n  got      %.17g\n  %g apart, %g ulps of %s%s")
    :format(count, e.rows * e.cols, note, cell.i, cell.j, cell.x, cell.y, distance(cell.x, cell.y),
      helper.ulps(cell.x, cell.y, dtype), dtype, describe and describe(cell.i, cell.j) or "")
end

-- A matrix, table, number or function of (i, j) as a function of (i, j).
local function bound_reader(bound)
  if type(bound) == "function" then return bound end
  if type(bound) == "number" then return function() return bound end end
  return reader(bound).at
end

local build = os.getenv "TESSERA_BUILD" or "build"

--- Whether the module was built for a sanitizer or to count lines: then it is slow, and has less memory.
helper.instrumented = build:find "asan$" ~= nil or build:find "coverage$" ~= nil

--- Whether it is the build that people install; what is the same for every build is tested with this one alone.
helper.usual = build == "build"

--- How many times as long things may take as on an idle machine of one's own: TESSERA_SLOW, else 1.
helper.slow = tonumber(os.getenv "TESSERA_SLOW") or helper.instrumented and 10 or 1

--- Prints a figure of a study by chance where TESSERA_FUZZ asks for one of some size; elsewhere specs are silent.
function helper.tell(fmt, ...)
  if os.getenv "TESSERA_FUZZ" then print("\n" .. fmt:format(...)) end
end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- Runs a shell command with the module's paths set, and `environment` ("NAME=value ..."): what it printed, on either
--- stream, and its exit status (128 + n where signal n ended it). How many threads there are is up to the spec.
function helper.run(command, environment)
  local pipe = assert(io.popen(("unset OMP_DYNAMIC OMP_THREAD_LIMIT; export LUA_PATH_5_4='lua/?.lua;lua/?/init.lua;;' "
    .. "LUA_CPATH_5_4='%s/?.so;;' %s; { %s; } 2>&1"):format(build, environment or "", command)))
  local said = pipe:read "a"
  local _, how, status = pipe:close()
  return said, how == "signal" and 128 + status or status
end

local folder -- of helper.path; it goes when the process ends

--- A path with that ending which no file has.
function helper.path(ending)
  if not folder then
    folder = setmetatable({path = helper.run("mktemp -d"):match "[^\n]+", files = 0},
      {__gc = function(it) os.execute("rm -rf " .. it.path) end})
  end
  folder.files = folder.files + 1
  return ("%s/%d%s"):format(folder.path, folder.files, ending)
end

--- A new folder, empty; it goes when the process ends.
function helper.folder()
  local path = helper.path ""
  assert(os.execute("mkdir " .. quote(path)))
  return path
end

--- From now on what is printed goes nowhere, until the function that this returns is called.
function helper.silence()
  local output = io.output()
  io.output "/dev/null"
  return function()
    io.output():close()
    io.output(output)
  end
end

--- All that a file holds.
function helper.read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

--- A file with these bytes: at that path, which it returns.
function helper.write(path, bytes)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(bytes))
  return path
end

--- A matrix in all layouts that a user can make: itself, a view of a view, and a transpose.
function helper.layouts(m)
  local wide = require "tessera".zeros(m.rows + 3, m.cols + 2, {dtype = m.dtype})
  local inner = wide:slice(3, m.rows + 2, 2, m.cols + 1)
  inner:assign(m)
  return {m, inner, m:t():copy():t()}
end

--- Runs Lua code in a fresh lua5.4, as helper.run does a command.
function helper.lua(code, environment)
  return helper.run("lua5.4 -e " .. quote(code), environment)
end

--- Runs a script in spec/host/host.c, the host whose memory can fail.
function helper.host(script, environment)
  return helper.run(build .. "/host " .. script, environment)
end

local checks = {}

--- assert.matrix_equal(expected, actual [, note]): the same shape and the same numbers; -0 equals 0, NaN nothing.
function checks.matrix_equal(expected, actual, note)
  return compare(expected, actual, function(x, y)
    return x == y and 0 or math.max(distance(x, y), 5e-324)
  end, nil, note)
end

--- assert.matrix_identical(expected, actual [, note]): the same shape, dtype and bits; NaN is NaN, -0 is not 0.
function checks.matrix_identical(expected, actual, note)
  local e, a = reader(expected), reader(actual)
  if e.dtype and a.dtype and e.dtype ~= a.dtype then
    return false, ("expected a matrix of %s, got one of %s"):format(e.dtype, a.dtype)
  end
  return compare(expected, actual, function(x, y)
    return same_bits(x, y) and 0 or math.max(distance(x, y), 5e-324)
  end, nil, note)
end

--- assert.within_bound(expected, actual, bound [, note]): each cell within its bound (a number, matrix, table of rows or
--- function of (i, j)). NaN is within no bound, infinities only equal themselves, and a bound that is NaN, negative or
--- infinite fails: it would let everything pass.
function checks.within_bound(expected, actual, bound, note)
  local limit = bound_reader(bound)
  return compare(expected, actual, function(x, y, i, j)
    local b, apart = limit(i, j), distance(x, y)
    if not (b >= 0 and b < math.huge) then return math.huge end
    if apart <= b then return 0 end
    return b > 0 and apart / b or math.huge
  end, function(i, j)
    local b = limit(i, j)
    return ("\n  bound %g"):format(b)
  end, note)
end

say:set("assertion.house", "")
for name, check in pairs(checks) do
  helper[name] = check -- returns true, or false and the message
  luassert:register("assertion", name, function(state, arguments)
    local ok, message = check(table.unpack(arguments, 1, arguments.n))
    rawset(state, "failure_message", message)
    return ok
  end, "assertion.house", "assertion.house")
end

return helper
