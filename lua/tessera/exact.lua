--- exact.lua -- functions of Lua that refuse an argument more than they take, as those of the core do.
--
-- Lua drops such an argument, and then the call means something else than whoever wrote it thinks.

local core = require "tessera.core"

local exact = {}

--- What a number behind a size is mostly meant for.
exact.two_sides = "; a size of two sides is one list, {n_q, n_k}"

local inner = setmetatable({}, {__mode = "k"}) -- a function that refuses -> the one behind it

--- f, which refuses an argument more than it takes, unless that is nil or the second result of a call that stands last (a matrix
--- behind one, as P:attention() gives); f itself where it takes any number of arguments, or is C's.
---@param f function
---@param fname string what errors call it
---@param own integer how many arguments errors do not count: 1 for a method
---@return function
function exact.of(f, fname, own)
  local known = debug.getinfo(f, "u")
  if known.isvararg then return f end -- as functions of C are
  local most, hint = known.nparams, debug.getlocal(f, 1) == "size" and exact.two_sides or nil
  local function judged(...)
    if select("#", ...) > most then core.no_more(fname, hint, own, most, ...) end
    return f(...)
  end
  inner[judged] = f
  return judged
end

--- Makes all functions of a table such ones; the table.
---@param t table
---@param own integer as of exact.of
---@return table
function exact.all(t, own)
  for name, f in next, t do
    if type(f) == "function" and not name:find "^__" then t[name] = exact.of(f, name, own) end
  end
  return t
end

--- The function behind one that exact.of gave; any other itself.
---@param f function
---@return function
function exact.inner(f) return inner[f] or f end

--- Is f a function of the library itself, one that exact.of gave?
---@param f function
---@return boolean
function exact.is_ours(f) return inner[f] ~= nil end

return exact
