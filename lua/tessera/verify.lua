--- P:verify: every law of attention and of summaries, tried on a problem.
--
-- A law is a sentence that must hold for any problem: "merging commutes", "what stands in a masked key
-- reaches no result". Each is tried on some cases and judged in bits, or against a derived bound
-- (core/bound.md), never against a guessed tolerance.

local aligned = require "tessera.aligned"
local check = require "tessera.check"
local context = require "tessera.verify.context"
local core = require "tessera.core"
local number = require "tessera.number"
local plan_of = require "tessera.plan"
local progress = require "tessera.progress"
local sentence = require "tessera.sentence"
local tally = require "tessera.verify.tally"

-- In the order in which they are tried: {name, function(context, tally)}; `needs`: a module without which it is not.
local laws = {}
for _, file in ipairs{"roads", "algebra", "changes", "meaning", "ranks"} do
  for _, law in ipairs(require("tessera.verify." .. file)) do laws[#laws + 1] = law end
end

local result = {__name = "tessera.verify"}

-- Options -----------------------------------------------------------------------------------------

local function names()
  local list = {}
  for n, law in ipairs(laws) do list[n] = law[1] end
  return list
end

-- The laws asked for: a name, or a list of names; all that can be tried without.
local function chosen(asked)
  check.arg(type(asked) ~= "table" or #asked > 0, 1, "verify", "field 'laws': no law is named")
  local list = {}
  for _, law in ipairs(asked == nil and laws or {}) do
    if not law.needs or package.loaded[law.needs] then list[#list + 1] = law end
  end
  for _, name in ipairs(type(asked) == "table" and asked or {asked}) do
    local found
    for _, law in ipairs(laws) do if law[1] == name then found = law end end
    local near = not found and type(name) == "string" and check.near(name, names())
    check.arg(found, 1, "verify", "field 'laws': there is no law '%s'%s", name,
      near and (" (did you mean '%s'?)"):format(near) or "; there are " .. table.concat(names(), ", "))
    list[#list + 1] = found
  end
  return list
end

local function check_tilings(P, tilings)
  for n in pairs(tilings) do
    check.arg(math.type(n) == "integer", 1, "verify", "field 'tilings': a list of tilings expected, as in {{q = 16, k = 32}}")
  end
  for n, tiling in ipairs(tilings) do plan_of(P, tiling, nil, {n = 1, fname = "verify", what = ("tiling %d: "):format(n)}) end
  return tilings
end

-- Tilings that differ in everything a tiling has: sizes, ragged last blocks, order and bracketing.
local function standard_tilings(P)
  local n_k, n_q = math.max(1, P.n_k), math.max(1, P.n_q)
  local function blocks(n) return math.max(1, n_k // n) end
  return {
    {},
    {q = math.max(1, n_q // 3), k = blocks(5), order = "backward", merge = "tree"},
    {q = n_q, k = blocks(11), order = "shuffle", merge = "random", seed = 7},
    {q = math.max(1, n_q // 2), k = blocks(4), order = "diagonal", merge = "right"},
    {k = blocks(7), split = math.min(3, n_k), exp = "poly"},
    {q = n_q, k = n_k}, -- one block, of many chunks where there are many keys
  }
end

-- The method --------------------------------------------------------------------------------------

-- Which row, head and column a place of a comparison of `cols` columns is, of `rows` and `head` alone or of all.
local function placer(c)
  local heads = c.P.heads
  return function(i, j, cols, rows, head)
    i = rows and rows[i] or i
    local row = c.rows and c.rows[i] or i
    local width = head and cols or cols // heads
    if heads == 1 or not head and width * heads ~= cols then return ("row %d, column %d"):format(row, j) end
    return ("row %d, head %d, column %d"):format(row, head or (j - 1) // width + 1, (j - 1) % width + 1)
  end
end

local function run(c, list)
  local all, bar = setmetatable({ok = true, seed = c.seed, rows = c.rows and #c.rows or c.P.n_q}, result), progress()
  for n, law in ipairs(list) do
    local t = tally.new(law[1], placer(c))
    law[2](c, t)
    all[n], all[law[1]] = t, t
    all.ok = all.ok and t.ok
    bar(n / #list)
  end
  return all
end

--- Tries every law on the problem: a list of what became of each, also by name, that prints as a table.
--
-- Between the roads:
-- * `definition`: tiles give what full softmax gives, and so do sampled rows in plain Lua with your own functions;
-- * `fold`: the engine is the fold of P:summary over its blocks, in bits; `threads`: no bit depends on their number;
-- * `skipping`: leaving out empty tiles changes no bit; `oracle`: both roads lie within their bounds of MPFR.
--
-- Of ⋆:
-- * `homomorphism`: Σ(S) ⋆ Σ(T) = Σ(S ∪ T); `identity` and `commutativity`, in bits; `associativity`: any order and
--   bracketing of five blocks; `split`: cut anywhere and merged, the whole is the whole;
-- * `doubling`: S ⋆ S doubles ℓ and z; `sink`: it is the summary (sink, 1, 0).
--
-- Of changed problems:
-- * `gauge`: a number added to all scores moves m and lse alone; `power of two`: V · 2^k and Q · 2^k, in bits;
-- * `permutation`, `repetition`, `deletion` of keys; `restriction`: allowed cells in two parts;
-- * `non-interference`: what stands in a key reaches only the rows that may use it.
--
-- Of what the numbers mean:
-- * `cover`: with zero scores in base 2, ℓ counts keys and z adds values, exactly; `convexity`: outputs lie in the hull
--   of the values; `weights`: they sum to 1, and weights · V is the output; `independence` of heads and queries.
--
-- Of many processes:
-- * `ranks`: over 1 to all ranks, `mpi.attention` gives the same by every scheme, and `mpi.fold` what `ts.fold` gives, in bits.
--   Tried where `tessera.mpi` is loaded; then all ranks must call P:verify alike.
--
-- Each entry has `law`, `cases` (tried), `ulps` (the worst distance), `ratio` (the worst error ÷ bound; inf
-- where bits had to be equal), `where`, `ok`, and `exact` (every row was compared in bits, because it is
-- exact). The whole has `ok`, `seed`, and `rows`: how many rows were judged, all of them unless the problem is
-- large; then those are drawn from the seed, and laws that change the problem try them alone.
--     local v = P:verify()
--     print(v)
--     assert(v.ok and v.associativity.cases > 0)
--     print(P:verify{laws = {"definition", "threads"}, tilings = {{q = 16, k = 32, merge = "tree"}}, rounds = 10})
-- Errors: an option or law that nobody knows; whatever the problem itself raises (a score that is NaN).
---@param options? {laws: string|string[], tilings: table[], rounds: integer, seed: integer}
---@return table
local function verify(P, options)
  check.type(P, "problem", 0, "verify")
  local o = core.options(options, 1, "verify", {laws = "any", tilings = "table", rounds = "positive", seed = "integer"})
  local list = chosen(o.laws)
  local c = context.new(P, o)
  c.tilings = o.tilings and check_tilings(P, o.tilings) or standard_tilings(P)
  return run(c, list)
end

-- Printing ----------------------------------------------------------------------------------------

local function ratio_text(t)
  if t.cases == 0 then return "not tried" end
  if not t.ok and t.ratio == math.huge then return "BITS DIFFER" end
  if t.bits then return "bits" end
  if t.exact then return "exact" end
  return number.format("%.3f", t.ratio)
end

-- Ulps are counted; where there are millions of them, their number says no more than its size.
local function ulps_text(ulps) return number.format(ulps < 1e6 and "%.0f" or "%.1e", ulps) end

local function columns(t)
  return {
    t.law, tostring(t.cases), t.ok and "ok" or "FAILS", t.bits and t.ok and "" or ulps_text(t.ulps), ratio_text(t),
    t.open > 0 and tostring(t.open) or "", (not t.ok or not t.bits) and t.where or "",
  }
end

--- One law's line of the table.
function tally.__tostring(t) return aligned{columns(t)}[1] end

--- law, cases, verdict, ulps, error ÷ bound, how many cells have no bound (where some have none), where the worst was.
function result:__tostring()
  local rows, open, judged = {{"law", "cases", "", "ulps", "÷ bound", "", "worst at"}}, false, false
  for n, t in ipairs(self) do
    rows[n + 1] = columns(t)
    open, judged = open or t.open > 0, judged or not t.bits
  end
  if open then rows[1][6] = "no bound" end
  local lines = aligned(rows, {[2] = true, [4] = true, [5] = true, [6] = true})
  if judged then lines[#lines + 1] = "÷ bound: the worst error by the largest that rounding can make, derived from the problem" end
  lines[#lines + 1] = sentence("%s; %d row(s) judged, seed %d", self.ok and "every law holds" or "NOT EVERY LAW HOLDS",
    self.rows, self.seed)
  return table.concat(lines, "\n")
end

return verify
