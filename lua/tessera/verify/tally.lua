-- tally.lua -- what became of one law: cases tried, the worst of them, and whether it holds.

local core = require "tessera.core"

local tally = {}
tally.__index = tally

--- A law's tally. `place(i, j, cols, rows, head)` says what row i and column j of a comparison are.
function tally.new(name, place)
  return setmetatable({
    law = name, cases = 0, ulps = 0.0, ratio = 0.0, ok = true, exact = false, mixed = false, bits = true,
    open = 0, where = "", place = place,
  }, tally)
end

--- From now on rows are compared that are `rows` of the problem, of `head` alone; all of both without.
function tally:of(rows, head) self.rows, self.head = rows, head end

-- The worst case so far is the one to tell; a case that fails goes before all that do not.
local function note(self, ratio, where)
  if ratio > self.ratio or self.where == "" and ratio > 0 then
    self.ratio, self.where = ratio, where
  end
  if ratio > 1 or ratio ~= ratio then self.ok = false end
end

--- A against B, cell by cell: within `bound` (a matrix), or in bits where `exact` (a column a head)
--- says 1. Without a bound, in bits.
function tally:near(A, B, bound, exact, label)
  local ratio, i, j, ulps, open = core.problem.judge(A, B, bound, exact)
  self.cases = self.cases + 1
  self.ulps = math.max(self.ulps, ulps)
  self.open = self.open + open
  if bound then self.bits = false end
  if bound and A.rows * A.cols > 0 then
    self.mixed = self.mixed or not (exact and exact:min() == 1)
    self.exact = not self.mixed
  end
  if i then note(self, ratio, ("%s, %s"):format(label, self.place(i, j, A.cols, self.rows, self.head))) end
end

--- A against B in bits.
function tally:same(A, B, label) return self:near(A, B, nil, nil, label) end

--- Whether something holds.
function tally:holds(ok, label)
  self.cases = self.cases + 1
  if not ok then note(self, math.huge, label) end
end

--- A against B, each of which a road rounds in its own way, exact row or not: an lse, for example.
function tally:rounded(A, B, bound, label)
  local exact, mixed = self.exact, self.mixed
  self:near(A, B, bound, nil, label)
  self.exact, self.mixed = exact, mixed
end

--- Two answers {O, lse} against each other. `bound`: {output=, lse=, exact=}.
function tally:answers(a, b, bound, label)
  self:near(a[1], b[1], bound.output, bound.exact, label .. ": output")
  self:rounded(a[2], b[2], bound.lse, label .. ": lse")
end

--- Two summaries: m, lse and output.
function tally:summaries(S, T, bound, label)
  self:near(S.max, T.max, bound.max, bound.exact, label .. ": m")
  self:answers({S:output{empty = "zero"}, S:lse()}, {T:output{empty = "zero"}, T:lse()}, bound, label)
end

return tally
