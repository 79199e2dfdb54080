--- P:trace: what a tiling does to one row, step by step.

local aligned = require "tessera.aligned"
local check = require "tessera.check"
local core = require "tessera.core"
local number = require "tessera.number"
local per_head = require "tessera.per_head"
local plan_of = require "tessera.plan"
local ranges = require "tessera.ranges"

local trace = {__name = "tessera.trace"}
trace.__index = trace

-- The steps ---------------------------------------------------------------------------------------

-- A summary's row: its max, norm and value, and the output that it alone would give. ⊥ has none of them.
local function state_of(S, i, h)
  local max, norm, value = S:row(i, h)
  return {max = max, norm = norm, value = value, output = max and value / norm}
end

-- What a side's norm and value are multiplied by as their maximum moves; nil for ⊥, which has neither.
local function factor(base, side, after)
  if not side.max then return nil end
  if side.max == after.max then return 1.0 end
  return (base == 2 and 2 or math.exp(1)) ^ (side.max - after.max)
end

local function tile_of(plan, i) return (i - 1) // plan.q + 1 end

-- Runs the word; stack entries are {summary, state}.
local function run(P, plan, i, h)
  local stack, steps = {}, {}
  for at, entry in ipairs(plan.word) do
    local step = {at = at}
    if entry > 0 then
      local S = P:summary(plan.blocks[entry])
      step.block, step.keys = entry, plan.blocks[entry]
      stack[#stack + 1] = {S, state_of(S, i, h)}
    else
      local right, left = table.remove(stack), table.remove(stack)
      local S = left[1] * right[1]
      local after = state_of(S, i, h)
      step.left, step.right = factor(P.base, left[2], after), factor(P.base, right[2], after)
      step.moved = step.left ~= nil and step.right ~= nil and left[2].max ~= right[2].max
      stack[#stack + 1] = {S, after}
    end
    local top = stack[#stack][2]
    step.max, step.norm, step.value, step.output = top.max, top.norm, top.value, top.output
    step.depth = #stack
    steps[at] = step
  end
  return steps, stack[1] and stack[1][1] or P:bottom()
end

--- The steps by which a tiling computes row `i` of head `h`: a list, as the engine runs its postfix word.
--
-- A step has `block` and `keys` (a list of {first, last}) where it pushes a block's summary, else it is a merge ⋆, with
-- `left` and `right`: what the two sides' norms and values are multiplied by (1 for the one that has the maximum, nil for
-- ⊥), and `moved`: whether one had to be rescaled. All have `max`, `norm`, `value` (1 × d_v) and `output` of the summary then
-- on the top of the stack (nil for ⊥), and `depth`, how many are on it. The whole has `row`, `head`, `word`, `blocks`,
-- `sink`, and the row's `output` and `lse`, in the bits that P:attention gives (with exp = "sleef").
--     local t = P:trace(5, {k = 4, order = "backward", merge = "tree"})
--     print(t)                    -- a line a step, with what is left of the word
--     print(t[3].left, t[3].max)
-- Errors: a row or head that there is not; those of P:attention.
---@param i integer from 1
---@param tiling? table as of P:attention
---@param h? integer from 1
---@return table
function trace.of(P, i, tiling, h)
  check.type(P, "problem", 0, "trace")
  local row, head = math.tointeger(i), math.tointeger(h == nil and 1 or h)
  check.type(i, "number", 1, "trace")
  check.arg(row and row >= 1 and row <= P.n_q, 1, "trace", "there is no row %s of %d", i, P.n_q)
  check.arg(head and head >= 1 and head <= P.heads, 3, "trace", "there is no head %s of %d", h, P.heads)
  i, h = row, head
  local place = {n = 2, fname = "trace"}
  local plan = plan_of(P, tiling, nil, place)
  plan = plan_of(P, tiling, tile_of(plan, i), place)
  local steps, S = run(P, plan, i, h)
  steps.row, steps.head, steps.word, steps.blocks = i, h, plan.word, plan.blocks
  steps.sink = per_head.of(P.sink, h)
  steps.output = S:output{empty = "zero"}:slice(i, i, (h - 1) * P.d_v + 1, h * P.d_v):copy()
  steps.lse = S:lse()(i, h)
  return setmetatable(steps, trace)
end

--- A picture of the trace: max, norm and rescales over the steps; as ts.plot.trace.
---@param options? table
function trace:plot(options) return require "tessera".plot.trace(self, options) end

-- Printing ----------------------------------------------------------------------------------------

-- What is shown, from most to least: numbers of a row, entries of the word, digits of a number.
local sizes = {}
for n, size in ipairs{{4, 12, 5}, {4, 6, 5}, {2, 6, 5}, {2, 3, 5}, {1, 3, 4}, {1, 0, 4}} do
  sizes[n] = {columns = size[1], entries = size[2], format = ("%%.%dg"):format(size[3])}
end

local function text(x, size) return x and number.format(size.format, x) or "" end

-- The first numbers of a row.
local function row_text(m, size)
  if not m then return "" end
  local cells = {}
  for c = 1, math.min(m.cols, size.columns) do cells[c] = text(m(1, c), size) end
  if m.cols > size.columns then cells[#cells + 1] = "…" end
  return table.concat(cells, " ")
end

-- What is left of the word from entry `at` on.
local function word_left(word, at, size)
  if size.entries == 0 then return "" end
  local parts = {}
  for n = at, math.min(#word, at + size.entries - 1) do parts[#parts + 1] = word[n] > 0 and tostring(word[n]) or "⋆" end
  if #word - at >= size.entries then parts[#parts + 1] = "…" end
  return table.concat(parts, " ")
end

local function rescale_text(step, size)
  if step.block then return "" end
  local function side(f) return f and (f == 1 and "1" or text(f, size)) or "⊥" end
  return ("%s ⋆ %s"):format(side(step.left), side(step.right))
end

local function line(self, step, size)
  local what = step.block and "Σ of block " .. step.block or "⋆"
  return {
    word_left(self.word, step.at, size), what, step.keys and ranges.text(step.keys) or "", rescale_text(step, size),
    step.max and text(step.max, size) or "⊥", text(step.norm, size), row_text(step.value, size), row_text(step.output, size),
    tostring(step.depth),
  }
end

local function table_lines(self, size)
  local rows = {{size.entries > 0 and "word" or "", "step", "keys", "rescaled by", "m", "ℓ", "z", "output", "stack"}}
  for n, step in ipairs(self) do rows[n + 1] = line(self, step, size) end
  return aligned(rows)
end

local function fit(lines, width)
  for _, one in ipairs(lines) do
    if utf8.len(one) > width then return false end
  end
  return true
end

-- The lines that show most of what fits the terminal; the least where nothing does, the most where there is none.
local function fitting_lines(self)
  local width, lines = core.width() or math.huge, nil
  for _, size in ipairs(sizes) do
    lines = table_lines(self, size)
    if fit(lines, width) then break end
  end
  return lines
end

--- A line a step: what is left of the word (its first entry is what the step does), the keys, what the sides of a merge are
--- multiplied by, and the state and output then on the top of the stack.
function trace:__tostring()
  local most = sizes[1]
  local last = ("row %d, head %d: output %s, lse %s"):format(self.row, self.head, row_text(self.output, most),
    text(self.lse, most))
  if self.sink then last = last .. (" (with the sink %s, which has no value)"):format(text(self.sink, most)) end
  return table.concat(fitting_lines(self), "\n") .. "\n" .. last
end

return trace.of
