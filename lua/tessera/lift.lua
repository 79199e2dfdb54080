-- lift.lua -- turns a Lua function of (i, j), (i, j, h) or (s, i, j, h) into a program of the core.
--
-- A function is lifted only where that was shown to change nothing: every operation it can reach is
-- known exactly, what it reads is known now, and what it could raise is looked for now, over all
-- cells. Otherwise it is "called", and the reason names the line and what stopped the lifting.

local attempt = require "tessera.attempt"
local check = require "tessera.check"
local core = require "tessera.core"
local emit = require "tessera.lift.emit"
local execute = require "tessera.lift.execute"
local graph = require "tessera.lift.graph"
local library = require "tessera.lift.library"
local operator = require "tessera.lift.operator"
local ours = require "tessera.lift.ours"
local sentence = require "tessera.sentence"
local value = require "tessera.lift.value"

library.know(core.matrix)

local lift = {}

-- Among how many cells one is looked for at which the function raises; with more it is called. Tiles in
-- which it cannot are passed over whole, so that few of them are evaluated as a rule.
local SEARCHED = 1 << 34

-- How many cells a mask can have.
local CELLS = 1 << 62

-- How many cells a predicate may be called for.
local CALLED = 1 << 32

-- What a lifted function reads, and what is known of it. path and line are those of the instruction
-- under way; risks are nodes: where one holds, the function raises.
local context = {}
context.__index = context

local function new_context(n_q, n_k, heads, score)
  local self = setmetatable({
    objects = {}, surveys = {}, columns = {}, functions = {}, risks = {}, steps = 0, depth = 0,
    is_ours = ours.known, apply = ours.apply,
  }, context)
  function self.refuse(reason)
    error({refused = self.line and ("line %d: %s"):format(self.line, reason) or reason}, 0)
  end
  self.graph = graph.new(n_q, n_k, heads, score, self.refuse)
  return self
end

--- Notes that the function raises on the present path where `cond` holds. Returns nothing.
function context:raises(cond)
  local risk = self.graph:band(self.path.all, cond)
  if risk ~= self.graph.no then self.risks[#self.risks + 1] = risk end
end

-- Metatables of these would give a meaning to what is an error otherwise.
local function plain_types()
  return not (debug.getmetatable(nil) or debug.getmetatable(true) or debug.getmetatable(0)
    or debug.getmetatable(print))
end

-- The context, and f's first result as a value (nil: f always raises); or nil and the reason why f is not lifted.
local function executed(f, arguments, n_q, n_k, heads, score)
  if not plain_types() then return nil, "nil, booleans, numbers or functions have a metatable" end
  local self = new_context(n_q, n_k, heads, score)
  local list = {n = #arguments}
  for k, name in ipairs(arguments) do list[k] = self.graph[name] end
  self.path = {literal = self.graph.yes, depth = 0, all = self.graph.yes}
  local ok, result = attempt(execute.call, self, f, list)
  if not ok then
    if type(result) == "table" and result.refused then return nil, result.refused end
    return nil, "the lifter failed: " .. tostring(result)
  end
  return self, result
end

-- The boolean node of a predicate's result; anything but a boolean or nil raises.
local function kept(self, result)
  return value.map(self, result, function(guard, leaf)
    if leaf.type == "bool" then return leaf end
    if not value.is_nil(leaf) then self:raises(guard) end
    return self.graph.no
  end)
end

-- Risks -----------------------------------------------------------------------------------------

-- The first cell (head by head, row by row) in which `risk` holds, as {i, j, h}; nil where there is
-- none; or false where that would take too long to find out. An axis that the risk does not depend
-- on is looked at in its first place only.
local function witness(self, risk, n_q, n_k, heads)
  local function axis(uses, n) return risk.uses & uses ~= 0 and n or math.min(n, 1) end
  local rows, cols = axis(graph.USES_I, n_q), axis(graph.USES_J, n_k)
  local planes = axis(graph.USES_H, heads)
  local searched = rows
  if rows > 1 and cols > 1 then searched = math.min(rows, math.max(SEARCHED // cols // planes, 1)) end
  if 1.0 * searched * cols * planes > CELLS then return false end
  local raising = core.mask.new(searched, cols, planes, emit(self.graph, risk))
  local nothing = core.mask.new(searched, cols, planes, core.program.new({{"bconst", false}}))
  local i, j, h = raising:differs(nothing)
  if searched < rows and (not i or h > 1) then return false end -- none in the first rows of head 1
  return i and {i, j, h}
end

local function before(a, b)
  for _, k in ipairs {3, 1, 2} do
    if a[k] ~= b[k] then return a[k] < b[k] end
  end
  return false
end

-- The first cell at which the function raises; nil for none, false for not known.
local function first_witness(self, n_q, n_k, heads)
  local first, seen
  for _, risk in ipairs(self.risks) do
    if not seen or not seen[risk] then
      seen = seen or {}
      seen[risk] = true
      local cell = witness(self, risk, n_q, n_k, heads)
      if cell == false then return false end
      if cell and (not first or before(cell, first)) then first = cell end
    end
  end
  return first
end

-- Checking --------------------------------------------------------------------------------------

-- Places along an axis of n where tiles begin and end, and a few at random (of a fixed seed).
local function places(n, draw)
  local list = {1, n, n // 2 + 1, math.min(n, 64), math.min(n, 65), math.min(n, 257)}
  for k = 7, 12 do list[k] = draw() % n + 1 end
  return list
end

-- Compares the mask with the predicate in a sample of cells. This is no proof, but a fault of the
-- lifter should not have to be found by its user.
local function compare(m, predicate)
  if m.rows == 0 or m.cols == 0 then return end
  local state = 42
  local function draw() -- a linear congruential generator (Knuth's MMIX)
    state = state * 6364136223846793005 + 1442695040888963407
    return state >> 33
  end
  local rows, cols = places(m.rows, draw), places(m.cols, draw)
  for k = 1, 36 do
    local i, j, h = rows[draw() % #rows + 1], cols[draw() % #cols + 1], nil
    if m.heads then h = k % 2 == 0 and m.heads or draw() % m.heads + 1 end
    if m(i, j, h) ~= core.mask.ask(predicate, i, j, h) then
      core.fail(("the lifted mask differs from its predicate in cell (%d, %d%s); please report this")
        :format(i, j, h and ", " .. h or ""))
    end
  end
end

-- The door --------------------------------------------------------------------------------------

-- The program of a predicate, or nil and why there is none. What it raises is raised here.
local function program_of(predicate, n_q, n_k, heads)
  local arguments = heads and {"i", "j", "h"} or {"i", "j"}
  local self, result = executed(predicate, arguments, n_q, n_k, heads or 1, false)
  if not self then return nil, result end
  self.path = {all = self.graph.yes}
  local keeps = kept(self, result or self.graph.no)
  local cell = first_witness(self, n_q, n_k, heads or 1)
  if cell == false then return nil, "whether it raises would take too long to find out" end
  if cell then
    core.mask.ask(predicate, cell[1], cell[2], heads and cell[3])
    return nil, "the lifter failed: it expected an error"
  end
  return emit(self.graph, keeps)
end

--- The mask of a predicate: lifted if that can be, else called. Arguments are checked already.
---@param n_q integer
---@param n_k integer
---@param heads? integer
---@param predicate function
function lift.mask(n_q, n_k, heads, predicate)
  local program, why = program_of(predicate, n_q, n_k, heads)
  if not program then
    check.that(n_q * 1.0 * n_k * (heads or 1) <= CALLED,
      "a predicate that is not lifted would have to be called for more than 2^32 cells: %d x %d%s (%s)", n_q, n_k,
      heads and sentence(" x %d head(s)", heads) or "", why)
    return core.mask.called(n_q, n_k, heads, predicate, why)
  end
  local m = core.mask.new(n_q, n_k, heads, program)
  compare(m, predicate)
  return m
end

-- Scores ----------------------------------------------------------------------------------------

-- The float node of a score function's result; anything but a number raises.
local function scored(self, result)
  return value.map(self, result, function(guard, leaf)
    if value.is_number(leaf) then return operator.float(self, leaf) end
    self:raises(guard)
    return self.graph:float(0.0)
  end)
end

-- What the result is where it is never a number: "string", "nil" and so on.
local function no_number(self, result)
  local cases = value.cases(self, result)
  for _, case in ipairs(cases) do
    if value.is_number(case.leaf) then return nil end
  end
  return value.name(cases[1].leaf)
end

-- Whether no cell raises, whatever s is.
local function is_safe(self, n_q, n_k, heads)
  for _, risk in ipairs(self.risks) do
    if risk.uses & graph.USES_S ~= 0 or witness(self, risk, n_q, n_k, heads) ~= nil then return false end
  end
  return true
end

-- Compares the program with the function for a few scores, in doubles and with libm's functions.
local function compare_scores(program, f, n_q, n_k, heads)
  for k, s in ipairs {0.0, -1.5, 3.25, 1e-3, -40.0, 700.0} do
    local i, j, h = k * 7 % n_q + 1, k * 11 % n_k + 1, k % heads + 1
    local want, got = f(s, i, j, h) + 0.0, core.program.run(program, i, i, j, j, h, s)[1][1]
    if want ~= got and (want == want or got == got) then
      core.fail(("the lifted score differs from its function for s = %g in cell (%d, %d, %d); please report this")
        :format(s, i, j, h))
    end
  end
end

-- Sizes that stand for any: the most that a mask can have.
local ANY, ANY_HEADS = (1 << 40) - 1, 1 << 24

--- The program of a score function (s, i, j, h), or nil and why there is none. What it could raise
--- is not looked for by calling it, as it is asked for allowed cells only: then there is none. `wrong`: what it gives,
--- where it is known that it never gives a number.
---@param f function
---@param n_q? integer
---@param n_k? integer
---@param heads? integer
---@return userdata? program, string? why, string? wrong
function lift.score(f, n_q, n_k, heads)
  n_q, n_k, heads = n_q or ANY, n_k or ANY, heads or ANY_HEADS
  local self, result = executed(f, {"s", "i", "j", "h"}, n_q, n_k, heads, true)
  if not self then return nil, result end
  if not result then return nil, "it raises an error" end
  local wrong = no_number(self, result)
  if wrong then return nil, "it gives no number", wrong end
  self.path = {all = self.graph.yes}
  local node = scored(self, result)
  if not is_safe(self, n_q, n_k, heads) then return nil, "it may raise an error" end
  local program = emit(self.graph, node)
  if n_q > 0 and n_k > 0 then compare_scores(program, f, n_q, n_k, heads) end
  return program
end

return lift
