--- Summaries: Σ = (m, ℓ, z) of every query row and head over a set of keys.
--
-- m is the largest score, ℓ = Σ base^(s - m), z = Σ base^(s - m) v. A row without keys is ⊥. `S * T`
-- merges two summaries of disjoint keys of one problem: it commutes, and ⊥ is its identity, bit for bit.
-- A summary never changes.

local core = require "tessera.core"
local exact = require "tessera.exact"
local check = require "tessera.check"

local summary = {}

--- What a summary shows of itself. The matrices are copies, in which ⊥ stands as -inf, 0 and 0.
---     local S = ts.summary{max = ts.zeros(3, 1), norm = ts.ones(3, 1), value = ts.ones(3, 2)}
---     S.n_q, S.heads, S.d_v, S.dtype --> 3  1  2  f64
---     S.value:sum()                  --> 6.0
---@class summary
---@field max matrix m, n_q × heads
---@field norm matrix ℓ, n_q × heads
---@field value matrix z, n_q × heads·d_v
---@field n_q integer query rows
---@field heads integer query heads
---@field d_v integer the width of one head's values
---@field dtype "f64"|"f32" of its numbers
---@field base number e, or 2
local methods = core.summary.methods

local kinds = {
  max = "matrix", norm = "matrix", value = "matrix", output = "matrix", lse = "matrix", base = "any",
  keys = "table", problem = "any",
}

local function need(ok, fmt, ...) return check.arg(ok, 1, "summary", fmt, ...) end

local function shape(name, m) return ("%s is %dx%d"):format(name, m.rows, m.cols) end

-- The names of the parts that were given.
local function part_names(f)
  if f.output or f.lse then
    need(f.output and f.lse, "output and lse go together")
    need(not (f.max or f.norm or f.value), "output and lse, or max, norm and value")
    return {"lse", "output"}
  end
  for _, name in ipairs{"max", "norm", "value"} do need(f[name], "field '%s' is missing", name) end
  return {"max", "value", "norm"}
end

local function check_parts(f, parts)
  local max, value, norm = f[parts[1]], f[parts[2]], f[parts[3]]
  need(value.rows == max.rows, "%s, %s: as many rows expected", shape(parts[1], max), shape(parts[2], value))
  need(max.cols > 0 and value.cols % max.cols == 0,
    "%s, %s: its columns are heads, which divide", shape(parts[1], max), shape(parts[2], value))
  if norm then
    need(norm.rows == max.rows and norm.cols == max.cols, "max is %dx%d, %s", max.rows, max.cols,
      shape("norm", norm))
  end
  for i = 2, #parts do
    need(f[parts[i]].dtype == max.dtype, "%s is %s, %s is %s", parts[1], max.dtype, parts[i], f[parts[i]].dtype)
  end
end

local function check_problem(f, max, value)
  local P = f.problem
  need(check.type_of(P) == "problem", "field 'problem': problem expected, got %s", check.type_of(P))
  need(f.keys, "with a problem, field 'keys' is needed")
  need(max.rows == P.n_q and max.cols == P.heads and value.cols == P.heads * P.d_v,
    "the problem has n_q = %d, heads = %d and d_v = %d; the summary %d, %d and %d", P.n_q, P.heads,
    P.d_v, max.rows, max.cols, value.cols // max.cols)
  need(max.dtype == P.dtype, "the problem is %s, the summary %s", P.dtype, max.dtype)
end

local function is_base_two(f)
  local of_problem = f.problem and f.problem.base == 2
  if f.base == nil then return of_problem or false end
  local two = check.is_base_two(f.base, 1, "summary")
  need(not f.problem or two == of_problem, "the problem has another base")
  return two
end

--- Builds a summary by hand, from `max` and `norm` (n_q × heads) and `value` (n_q × heads·d_v), or from
-- `output` and `lse`.
--
-- A row whose max or lse is -inf is ⊥; NaN and +inf are refused, and a norm must be above 0. With
-- `keys`, a list of {first, last}, and `problem` it merges with that problem's summaries; without, only
-- with its like. `base` is 2 or e.
--     local S = ts.summary{output = O, lse = lse, keys = {{1, 8}}, problem = P}
---@param fields table
---@return summary
local function new(_, fields)
  check.type(fields, "table", 1, "summary")
  local f = core.options(fields, 1, "summary", kinds)
  local parts = part_names(f)
  check_parts(f, parts)
  if f.problem then check_problem(f, f[parts[1]], f[parts[2]]) end
  return core.summary.new{
    max = f[parts[1]], value = f[parts[2]], norm = parts[3] and f.norm, two = is_base_two(f),
    keys = f.keys, problem = f.problem,
  }
end

--- z / ℓ, the attention output over the summary's keys (and the problem's sink).
--     (S * T):output()
-- Raises the error that names the rows without keys, unless `empty = "zero"`.
---@param options? {empty: "error"|"zero"}
---@return matrix n_q × heads·d_v
methods.output = methods.output

--- m ln(base) + ln ℓ (with the problem's sink, if it has one); -inf for ⊥.
--     print(S:lse())
---@return matrix n_q × heads
methods.lse = methods.lse

--- The state of row `i` and head `h`: m, ℓ, and z as a 1 × d_v matrix; nil for ⊥.
--     local m, l, z = S:row(3)
---@param i integer from 1
---@param h? integer from 1
---@return number? m
---@return number? norm
---@return matrix? z
methods.row = methods.row

--- The keys it covers, as a sorted list of {first, last}.
--     P:summary(1, 4):keys()   --> {{1, 4}}
---@return integer[][]
methods.keys = methods.keys

--- The rows that are ⊥, as a list of {i, h}.
--     assert(#P:bottom():bottoms() == P.n_q * P.heads)
---@return integer[][]
methods.bottoms = methods.bottoms

--- Writes the summary to a `.safetensors` file, from which `ts.summary.load` reads it: another day, or on
-- another machine, to be merged with other parts. What keeps strangers apart comes with it.
--     P:summary(1, 6):save "part-1.safetensors"
---@param path string
function methods:save(path)
  check.self(self, "summary", "save")
  require("tessera.summary_file").save(self, path)
end

--- The summary in a file that `S:save` wrote. Merging it is checked as if it had never left: overlapping
-- keys and summaries of other problems are errors. Where the problem has a score function, which no file
-- holds, `score` must name the same one.
--     local S = ts.summary.load "part-1.safetensors" * ts.summary.load "part-2.safetensors"
---@param path string
---@param options? {score: function|function[]}
---@return summary
function summary.load(path, options) return require("tessera.summary_file").load(path, options) end

local readable = {"max", "norm", "value", "n_q", "heads", "d_v", "dtype", "base"}

setmetatable(exact.all(methods, 1), {__index = function(_, name)
  local names = table.move(readable, 1, #readable, 1, {})
  for method in pairs(methods) do names[#names + 1] = method end
  return check.no_field("a summary", name, names)
end})

return check.closed(summary, "ts.summary", new)
