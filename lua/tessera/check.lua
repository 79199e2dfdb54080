-- check.lua -- argument errors in Lua's usual form, blamed on the user's line.

local core = require "tessera.core"
local exact = require "tessera.exact"
local sentence = require "tessera.sentence"

local FEW <const> = 8 -- names that an error can list

local check = {}

-- The message; of what a number or a string is not, the type alone: a __tostring of the user's may raise. Whatever its
-- sign, NaN is "nan".
local function message(fmt, ...)
  local values = table.pack(...)
  for n = 1, values.n do
    local x = values[n]
    if x ~= x then values[n] = "nan"
    elseif x ~= nil and type(x) ~= "boolean" and type(x) ~= "number" and type(x) ~= "string" then values[n] = check.type_of(x) end
  end
  return sentence(fmt, table.unpack(values, 1, values.n))
end

--- Raises `bad argument #n to 'fname' (message)` unless `ok`. The position is that of the first
--- caller outside Tessera's own files.
---@param ok any
---@param n integer which argument, from 1
---@param fname string the public function
---@param fmt string as of tessera.sentence
function check.arg(ok, n, fname, fmt, ...)
  if not ok then core.fail_arg(n, fname, message(fmt, ...)) end
  return ok
end

--- Raises a plain error at the user's line unless `ok`.
---@param ok any
---@param fmt string as of tessera.sentence
function check.that(ok, fmt, ...)
  if not ok then core.fail(message(fmt, ...)) end
  return ok
end

--- What x is: Lua's type, or "matrix", "mask", "layer" and so on for what is Tessera's own.
---@param x any
---@return string
function check.type_of(x) return core.kind(x) end

--- Raises `bad argument #n to 'fname' (matrix expected, got nil)` unless x is of that type; returns x.
---@param x any
---@param expected string as type_of has it
---@param n integer
---@param fname string
function check.type(x, expected, n, fname)
  local got = check.type_of(x)
  return check.arg(got == expected and x, n, fname, "%s expected, got %s", expected, got)
end

--- Raises `calling 'fname' on bad self (mask expected, got nil)` unless x is of that type: for methods written in Lua, which
--- `m.fname(...)` calls with anything.
---@param x any
---@param expected string as type_of has it
---@param fname string
function check.self(x, expected, fname)
  local got = check.type_of(x)
  if got ~= expected then core.fail(("calling '%s' on bad self (%s expected, got %s)"):format(fname, expected, got)) end
  return x
end

--- x as an integer, where it is a number that is one from `low` on (2.0 is 2); else nil.
---@param x any
---@param low integer
---@return integer?
function check.whole(x, low)
  local n = math.type(x) and math.tointeger(x)
  return n and n >= low and n or nil
end

--- Argument n of `fname` as an integer from `low` to `high` (or up, without it); 2.0 and "2" are 2, as Lua has it.
---@param x any
---@param n integer
---@param fname string
---@param what string the argument's name
---@param low integer
---@param high? integer
---@return integer
function check.count(x, n, fname, what, low, high)
  local whole = math.tointeger(x)
  return check.arg(whole and whole >= low and whole <= (high or whole) and whole, n, fname,
    "%s: a whole number from %d %s expected, got %s", what, low, high and "to " .. high or "up", x)
end

--- Is the field `base` 2, rather than e? An error that blames argument n of `fname` where it is neither.
---@param base any nil is e
---@param n integer
---@param fname string
---@return boolean
function check.is_base_two(base, n, fname)
  local is_e = base == nil or base == "e" or base == math.exp(1)
  check.arg(is_e or base == 2, n, fname, "field 'base': 2 or e expected, got %s", base)
  return not is_e
end

-- The number of edits from a to b: a letter more, less or another, or two neighbours swapped.
local function distance(a, b)
  local older, old
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    older, old, row = old, row, {[0] = i}
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(old[j - 1] + (same and 0 or 1), old[j] + 1, row[j - 1] + 1)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], older[j - 2] + 1)
      end
    end
  end
  return row[#b]
end

--- The name in the list `names` that is nearest to `name`, or nil where none is near. Of one letter, all others would be.
---@param name string
---@param names string[]
---@return string?
function check.near(name, names)
  local best, least = nil, #name == 1 and 1 or math.max(1, (#name + 1) // 3) + 1
  for _, candidate in ipairs(names) do
    local d = distance(name:lower(), candidate:lower())
    if d < least or d == least and best and candidate < best then best, least = candidate, d end
  end
  return best
end

-- What is written here for a name that other libraries have, or nil: read when an error first asks.
local function equivalent(name) return require("tessera.equivalents")[name] end

-- The option among `names` that another library calls `name`.
local function option_called(name, names)
  local option = (equivalent(name) or ""):match "^([%w_]+) of "
  for _, candidate in ipairs(option and names or {}) do
    if candidate == option then return option end
  end
end

-- What stands behind the error of a field that an option table must not have.
core.advise(function(name, names)
  local near = option_called(name, names) or not equivalent(name) and check.near(name, names)
  if near then return (": did you mean '%s'?"):format(near) end
  if #names == 1 then return (": the only field is '%s'"):format(names[1]) end
  table.sort(names)
  return ": the fields are " .. table.concat(names, ", ") .. check.elsewhere(name)
end)

-- The names that end in `name`, as one writes them: `m:softmax` and `P:softmax`. None until check.set_places.
local function places() return {} end

--- Sets what finds them: whoever knows all names stands above this file.
---@param find fun(name: string): string[]
function check.set_places(find) places = find end

--- What to say of `name`, which is not where it was looked for, but elsewhere, or has another name here: "; there is m:softmax
--- and P:softmax", or nothing.
---@param name any
---@return string
function check.elsewhere(name)
  local list = type(name) == "string" and places(name) or {}
  local here = equivalent(name)
  if here then table.insert(list, 1, here) end
  return #list > 0 and "; there is " .. table.concat(list, " and ", 1, math.min(#list, 3)) or ""
end

--- What to say of a field that `what` (as in "a problem") does not have, naming the near one, or where else it is, or
--- the few that there are.
---@param what string
---@param name any
---@param names string[]
---@return string
function check.unknown_field(what, name, names)
  local near = type(name) == "string" and not equivalent(name) and check.near(name, names)
  local advice = near and (" (did you mean '%s'?)"):format(near) or check.elsewhere(name)
  if advice == "" and #names <= FEW then advice = "; it has " .. table.concat(names, ", ") end
  return message("%s has no field '%s'%s", what, name, advice)
end

--- Raises that as an error at the user's line.
---@param what string
---@param name any
---@param names string[]
function check.no_field(what, name, names)
  core.fail(check.unknown_field(what, name, names))
end

--- The names of a table, by the alphabet.
---@param t table
---@return string[]
function check.names(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- The table t, in which a name that is not there is an error that names the near one, and so is an argument more than its
--- functions take.
---@param t table
---@param what string what errors call it, as "ts.mask"
---@param call? function what a call of the table does; without it, an error that tells what is there
---@return table t
function check.closed(t, what, call)
  local function refuse() core.fail(("%s is no function; it has %s"):format(what, table.concat(check.names(t), ", "))) end
  call = call and exact.of(call, what:match "[%w_]+$", 1)
  local function missing(_, name) check.no_field(what, name, check.names(t)) end
  return setmetatable(exact.all(t, 0), {__call = call or refuse, __index = missing})
end

return check
