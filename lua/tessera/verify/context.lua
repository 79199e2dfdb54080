-- context.lua -- what the laws of P:verify share: the problem, a few of its rows where it is large, and
-- problems made from it.

local ts = require "tessera"

local context = {}
context.__index = context

-- Problems ----------------------------------------------------------------------------------------

-- f of what all heads share, or of each entry of a list with one a head.
local function map(x, f)
  if type(x) ~= "table" then return f(x) end
  local list = {}
  for n = 1, #x do list[n] = f(x[n]) end
  return list
end
context.map = map

local function identity(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end
context.identity = identity

-- The mask of a problem whose row i is row I[i] and whose key j is key J[j] (0: allowed to nobody).
local function remask(m, I, J)
  if not m then return ts.mask(#I, #J, function(_, j) return J[j] > 0 end) end
  if m.heads then
    return ts.mask(#I, #J, function(i, j, h) return J[j] > 0 and m(I[i], J[j], h) end, {heads = m.heads})
  end
  return ts.mask(#I, #J, function(i, j) return J[j] > 0 and m(I[i], J[j]) end)
end

local function rescore(f, I, J)
  return function(s, i, j, h) return f(s, I[i], J[j], h) end
end

-- The numbers of a problem's keys, and of the columns before them, as they are.
local function own_keys(P) return identity(P.first_key + P.n_k - 1) end

local function is_whole(list)
  for n = 1, #list do if list[n] ~= n then return false end end
  return true
end

--- P with other rows and keys: row i is P's row I[i], key j (by number) P's key J[j]; `changes` holds the
--- matrices that go with them.
function context.arranged(P, I, J, changes)
  I, J = I or identity(P.n_q), J or own_keys(P)
  local same = is_whole(I) and #I == P.n_q and is_whole(J) and #J == P.first_key + P.n_k - 1
  local new = {}
  for name, value in pairs(changes) do new[name] = value end
  if not same then
    local hidden = false
    for j = P.first_key, #J do hidden = hidden or J[j] == 0 end
    local mask = P.mask
    new.mask = (mask or hidden) and map(mask or false, function(m) return remask(m, I, J) end) or false
    new.score = P.score and map(P.score, function(f) return rescore(f, I, J) end) or false
  end
  return P:with(new)
end

--- P with `rows` alone.
function context.with_rows(P, rows)
  return context.arranged(P, rows, nil, {Q = P.Q:take(rows)})
end

--- P with g added to every score.
function context.shifted(P, g)
  local function add(f)
    if f then return function(s, i, j, h) return f(s, i, j, h) + g end end
    return function(s) return s + g end
  end
  return P:with{score = map(P.score or false, add)}
end

-- Answers and bounds ------------------------------------------------------------------------------

--- {O, lse} by full softmax, by tiles, and of a summary.
function context.softmax(P) return {P:softmax{empty = "zero"}} end

function context.attention(P, tiling, changes)
  local t = {}
  for name, value in pairs(tiling or {}) do t[name] = value end
  for name, value in pairs(changes or {}) do t[name] = value end
  t.empty = "zero"
  return {P:attention(t)}
end

--- The bounds of P's rows under a tiling (false: full softmax); `partial` where its blocks do not hold
--- every key.
function context.bound(P, tiling, rows, partial)
  return P:bound(tiling, rows, partial)
end

--- What two answers may be apart.
function context.either(a, b)
  return {output = a.output + b.output, lse = a.lse + b.lse, max = a.max + b.max, exact = a.exact:mul(b.exact)}
end

--- A summary of the same numbers that belongs to no problem, and so to no keys; nil where a row is NaN, which
--- no summary made by hand may be.
function context.free(S)
  if S.max.rows * S.max.cols > 0 and S.max:max() ~= S.max:max() then return nil end
  return ts.summary{max = S.max, norm = S.norm, value = S.value, base = S.base == 2 and 2 or "e"}
end

-- Chance ------------------------------------------------------------------------------------------

--- A seed that no other call of this verify gets.
function context:next_seed()
  self.seeds = self.seeds + 1
  return self.seed * 100003 + self.seeds
end

--- A whole number from 1 to n.
function context:draw(n)
  return math.floor(ts.rand(1, 1, {seed = self:next_seed()})(1, 1) * n) + 1
end

--- Rows or heads by chance: `count` different numbers of 1 .. n, sorted.
function context:some(n, count)
  if n <= count then return identity(n) end
  local seen, list = {}, {}
  while #list < count do
    local x = self:draw(n)
    if not seen[x] then seen[x], list[#list + 1] = true, x end
  end
  table.sort(list)
  return list
end

-- Edges of n contiguous blocks of all keys.
local function ranges(self, P, n)
  local ends = self:some(P.n_k - 1, n - 1)
  ends[#ends + 1] = P.n_k
  local sets, first = {}, 1
  for _, last in ipairs(ends) do
    sets[#sets + 1] = {{first + P.first_key - 1, last + P.first_key - 1}}
    first = last + 1
  end
  return sets
end

--- P's keys in n sets (fewer where it has fewer): interleaved where that stays small, else ranges.
function context:key_sets(P, n)
  n = math.min(n, P.n_k)
  if n == 0 then return {} end
  if P.n_k > 100 or self:draw(2) == 1 then return ranges(self, P, n) end
  local sets = ts.sample.partition(P.n_k, n, {seed = self:next_seed()})
  for _, set in ipairs(sets) do
    for _, range in ipairs(set) do
      range[1], range[2] = range[1] + P.first_key - 1, range[2] + P.first_key - 1
    end
  end
  return sets
end

--- The union of key sets, sorted.
function context.union(...)
  local all = {}
  for _, set in ipairs{...} do table.move(set, 1, #set, #all + 1, all) end
  table.sort(all, function(a, b) return a[1] < b[1] end)
  return all
end

-- Making one --------------------------------------------------------------------------------------

local budget = 1 << 23 -- multiplications in the bounds of all judged rows

--- The context of P:verify. Where the problem is large, `rows` lists the rows that are judged, drawn from
--- the seed, and `small` is the problem of those rows alone; else `small` is P.
function context.new(P, options)
  local self = setmetatable({P = P, seed = options.seed or 1, seeds = 0, rounds = options.rounds or 3}, context)
  local a_row = math.max(1, P.n_k * P.heads * (P.d + P.d_v + 8))
  local count = math.max(4, budget // a_row)
  self.rows = P.n_q > count and self:some(P.n_q, count) or nil
  self.small = self.rows and context.with_rows(P, self.rows) or P
  return self
end

--- The judged rows of a matrix of P's rows.
function context:pick(M) return self.rows and M:take(self.rows) or M end
function context:picked(answer) return {self:pick(answer[1]), self:pick(answer[2])} end

return context
