-- Runs each piece of work again and again, with its n-th request for memory failing (and all behind it), for n = 1, 2, ...
-- until it gets all it asks for. Each time there must be an error, and no byte more in use than before.
local used = require "spec.host.used"
local ts = require "tessera"

-- Whether f succeeds although its n-th request fails. Nothing of the call is alive when this returns.
local function attempt(name, f, n)
  host.limit(n)
  local ok, message = pcall(f)
  host.limit()
  assert(ok or tostring(message):find("memory", 1, true), name .. ": " .. tostring(message))
  return ok
end

-- Lets f fail at each of its requests until it succeeds; check(n) is called behind each.
local function each_failure(name, f, check)
  local n, ok = 0
  repeat
    n = n + 1
    ok = attempt(name, f, n)
    check(n)
    assert(n < 20000, name .. ": never gets enough")
  until ok
  assert(n > 1, name .. " asks for no memory: this tests nothing")
end

-- Once to load what is loaded lazily; then, failing again and again at the same place must not hold more each time (a table
-- of Lua's own may grow once).
local function starve(name, f)
  each_failure(name, f, function() end)
  each_failure(name, f, function(n)
    attempt(name, f, n) -- from the same depth of calls, which Lua's own structures depend on
    local before, leaked = used(), nil
    for _ = 1, 3 do
      attempt(name, f, n)
      local now = used()
      leaked, before = now - before, now
      if leaked <= 0 then return end
    end
    error(("%s: %d bytes leak where request %d fails"):format(name, leaked, n))
  end)
end

local X = ts.randn(20, 8, {seed = 1})
local mask = ts.mask.causal(20)
local P = ts.problem{Q = X, K = X, V = X, heads = 2, mask = mask}
local called = P:with{score = function(s, i) return s + (tonumber(i) or 0) end}
local O, lse = P:softmax()
local S, T = P:summary(1, 7), P:summary(8, 20)

local works = {
  {"zeros", function() return ts.zeros(30, 30) end},
  {"randn", function() return ts.randn(30, 30, {seed = 2}) end},
  {"matrix of a table", function() return ts.matrix{{1, 2}, {3, 4}} end},
  {"matrix of a function", function() return ts.matrix(5, 5, function(i, j) return i + j end) end},
  {"views", function() return X:t():slice(1, 4, 2, 8):row(2):copy() end},
  {"arithmetic", function() return (X + X) * X:t() - 1 end},
  {"tostring", function() return tostring(X) end},
  {"table", function() return X:table() end},
  {"mask of a predicate", function() return ts.mask(9, 9, function(i, j) return (i * j) % 3 == 0 end) end},
  {"mask of a called predicate", function()
    return ts.mask(9, 9, function(i, j) return tostring(i + j):find "1" ~= nil end)
  end},
  {"mask algebra", function() return (mask & ~ts.mask.window(20, 3, 0)):count() end},
  {"problem", function() return ts.problem{Q = X, K = X, V = X, mask = mask} end},
  {"softmax", function() return P:softmax() end},
  {"attention", function() return P:attention{q = 3, k = 4, merge = "tree", threads = 2} end},
  {"tilings in tables", function()
    return P:attention{q = 9, k = {{{1, 4}, {9, 20}}, {{5, 6}}, {{7, 8}}}, order = function() return {2, 3, 1} end, merge = {1, {2, 3}}}
  end},
  {"tilings by chance", function() return P:attention{k = 3, order = "shuffle", merge = "random"} end},
  {"called scores", function() return called:attention{k = 7} end},
  {"summary", function() return P:summary(3, 9) end},
  {"summary of ranges", function() return P:summary{{3, 5}, {8, 9}, {1, 1}} end},
  {"summary by hand", function() return ts.summary{output = O, lse = lse, keys = {{1, 20}}, problem = P} end},
  {"merge", function() return S * T end},
  {"output", function() return (S * T):output() end},
  {"oracle", function() return P:oracle{bits = 128} end},
  {"bound", function() return P:bound{k = 4} end},
  {"trace", function() return tostring(P:trace(3, {k = 4})) end},
  {"heads", function() return ts.heads{heads = 2, d_q = 8, seed = 1}(X) end},
  {"a called score", function() return P:with{score = function(s) return tonumber(s) end}:attention() end},
  {"fold", function() return ts.fold({S, T}, "tree") end},
}
for _, work in ipairs(works) do starve(table.unpack(work)) end
