-- value.lua -- what a register can hold while a function is lifted.
--
-- A leaf is a node of the graph (a number or boolean), an object {object = v} (nil, a string, a table,
-- a function, ... known now, one for each v), a row {rows = flat table, index = node} of a captured
-- table of tables, or what execute.lua keeps in registers: a {closure}, or a {loop} under way. A value
-- is a leaf, or {cases = {{guard, leaf}, ...}}: of several kinds, with guards of which exactly one
-- holds; there is never more than one case of a kind.

local value = {}

-- How many kinds one value may have.
local LIMIT = 16

local ABSENT = {} -- stands for nil as a key

--- The leaf for the Lua value v.
function value.of(context, v)
  local graph = context.graph
  if math.type(v) == "integer" then return graph:int(v) end
  if math.type(v) == "float" then return graph:float(v) end
  if type(v) == "boolean" then return graph:bool(v) end
  local key = v == nil and ABSENT or v
  local leaf = context.objects[key]
  if not leaf then
    leaf = {object = v, is_object = true}
    context.objects[key] = leaf
  end
  return leaf
end

function value.is_nil(leaf) return leaf.is_object and leaf.object == nil end

function value.is_number(leaf) return leaf.type == "int" or leaf.type == "float" end

--- What a person would call it.
function value.name(leaf)
  if leaf.type then return leaf.type == "bool" and "boolean" or "number" end
  if leaf.rows then return "table" end
  if leaf.is_object then return type(leaf.object) end
  return "function"
end

local function kind(leaf) return leaf.type or leaf.rows or leaf end

--- The cases of x: one, always, where it is a leaf.
function value.cases(context, x)
  return x.cases or {{guard = context.graph.yes, leaf = x}}
end

-- Of one kind: a where cond holds, else b.
local function select(graph, cond, a, b)
  if a.type then return graph:select(cond, a, b) end
  if a.rows then return {rows = a.rows, index = graph:select(cond, a.index, b.index)} end
  return a
end

local function find(cases, wanted)
  for _, case in ipairs(cases) do
    if kind(case.leaf) == wanted then return case end
  end
end

--- x where cond holds, else y. Either may be nil: then the other.
function value.join(context, cond, x, y)
  local graph = context.graph
  if x == y or not y then return x end
  if not x then return y end
  if cond.constant then return cond.value and x or y end
  local xs, ys, joined = value.cases(context, x), value.cases(context, y), {}
  local function add(guard, leaf)
    if guard ~= graph.no then joined[#joined + 1] = {guard = guard, leaf = leaf} end
  end
  for _, case in ipairs(xs) do
    local other = find(ys, kind(case.leaf))
    if other then
      add(graph:select(cond, case.guard, other.guard), select(graph, cond, case.leaf, other.leaf))
    else
      add(graph:band(cond, case.guard), case.leaf)
    end
  end
  for _, case in ipairs(ys) do
    if not find(xs, kind(case.leaf)) then add(graph:band(graph:bnot(cond), case.guard), case.leaf) end
  end
  if #joined > LIMIT then context.refuse("a value of too many kinds") end
  return #joined == 1 and joined[1].leaf or {cases = joined}
end

--- f(guard, leaf) for each case of x, joined again; f may return nothing where it raises.
function value.map(context, x, f)
  if not x.cases then return f(context.graph.yes, x) end
  local result
  for k = #x.cases, 1, -1 do
    local case = x.cases[k]
    local y = f(case.guard, case.leaf)
    result = value.join(context, case.guard, y, result)
  end
  return result
end

--- The same for two values: f(guard, a, b).
function value.map2(context, x, y, f)
  return value.map(context, x, function(guard, a)
    return value.map(context, y, function(other, b)
      local both = context.graph:band(guard, other)
      if both ~= context.graph.no then return f(both, a, b) end
    end)
  end)
end

--- Where x counts as true in a condition, as a node.
function value.truth(context, x)
  local graph = context.graph
  local function of(leaf)
    if leaf.type == "bool" then return leaf end
    return graph:bool(not value.is_nil(leaf))
  end
  if not x.cases then return of(x) end
  local result = graph.no
  for _, case in ipairs(x.cases) do
    result = graph:bor(result, graph:band(case.guard, of(case.leaf)))
  end
  return result
end

return value
