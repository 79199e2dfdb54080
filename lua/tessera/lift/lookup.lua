-- lookup.lua -- reading a captured table at an index that depends on i and j.
--
-- The table becomes arrays of one type each, and where it holds several kinds (nil outside and in
-- holes among them) one array of booleans a kind, which says where that kind stands. Tables are read
-- by rawget and next alone; one with a metatable is read only where that is never asked.

local attempt = require "tessera.attempt"
local core = require "tessera.core"
local value = require "tessera.lift.value"

local lookup = {}

-- A table of few entries far apart becomes a chain of comparisons. One with more becomes an array, unless it
-- is large and spread thinner than THIN places an entry; of booleans, a byte each, it may be as thin as it likes.
local FEW, THIN, SMALL, LARGEST = 8, 64, 1 << 17, 1 << 24

-- What is known of the table t as a whole: first, last and count of its integer keys; whether it has
-- float keys; and, where all values behind integer keys are of one type, `only`, that type, with
-- lo, hi and nan (of booleans lo, where they are all the same).
local function surveyed(context, t)
  local known = context.surveys[t]
  if not known then
    known = core.program.survey(t)
    context.surveys[t] = known
  end
  return known
end

local arrays = {
  integer = {kind = "ints", op = "itable"},
  float = {kind = "floats", op = "ftable"},
  boolean = {kind = "bools", op = "btable"},
}

-- The kind that the value v makes in a union: a type, "rows", or the leaf of an object.
local function class(context, v)
  local kind = math.type(v) or type(v)
  if arrays[kind] then return kind end
  if kind == "table" and not debug.getmetatable(v) then return "rows" end
  return value.of(context, v)
end

-- The array of what is in t[first..last] and of type `kind`. Its bounds are those of what it holds: the 0
-- that stands outside and in holes is read only where a guard says that it does not count.
local function column(t, kind, first, last, known)
  local array = {kind = arrays[kind].kind, first = first, last = last, values = t}
  if known.only == kind then array.lo, array.hi, array.nan = known.lo, known.hi, known.nan end
  return array
end

-- The node op(k) over an array that is made once for each (table, what, class, range); `what` is
-- "values" or "places".
local function gather(context, op, k, t, what, wanted, first, last, make)
  local cache = context.columns[t] or {}
  context.columns[t] = cache
  local key = what .. context.graph:number(wanted) .. ":" .. first .. ":" .. last
  cache[key] = cache[key] or make()
  return context.graph[op](context.graph, k, nil, nil, cache[key])
end

-- Where the class `wanted` stands in t[first..last], as a node.
local function standing(context, k, t, wanted, first, last)
  return gather(context, "btable", k, t, "places", wanted, first, last, function()
    if arrays[wanted] then return {kind = "bools", first = first, last = last, values = t, holding = wanted} end
    local values = {}
    for at = first, last do
      local v = rawget(t, at)
      values[at - first + 1] = v ~= nil and class(context, v) == wanted
    end
    return {kind = "bools", first = first, values = values}
  end)
end

-- A table of tables as one flat table, entry (r, c) at (r - first) * width + c - left + 1, or nil where
-- that would be too large or too thin.
local function flattened(context, t, first, last)
  local left, right, count = math.maxinteger, math.mininteger, 0
  for r = first, last do
    local row = rawget(t, r)
    if type(row) == "table" and not debug.getmetatable(row) then
      local known = surveyed(context, row)
      if known.fractional then context.refuse("a table with fractional keys") end
      if known.count > 0 then
        left, right = math.min(left, known.first), math.max(right, known.last)
        count = count + known.count
      end
    end
  end
  if count == 0 then return {table = {}, first = first, last = last, left = 1, right = 1, width = 1} end
  local width = right - left + 1
  if width <= 0 or width > LARGEST or width * (last - first + 1) > THIN * count + SMALL then
    context.refuse("a table of tables, thinly filled")
  end
  local flat = {}
  for r = first, last do
    local row = rawget(t, r)
    if type(row) == "table" and not debug.getmetatable(row) then
      for c = left, right do flat[(r - first) * width + c - left + 1] = rawget(row, c) end
    end
  end
  return {table = flat, first = first, last = last, left = left, right = right, width = width}
end

local function rows_of(context, t, first, last)
  local cache = context.columns[t] or {}
  context.columns[t] = cache
  local key = "rows:" .. first .. ":" .. last
  cache[key] = cache[key] or flattened(context, t, first, last)
  return cache[key]
end

local function clamped(graph, k, first, last)
  if k.lo < first then k = graph:imax(k, graph:int(first)) end
  if k.hi > last then k = graph:imin(k, graph:int(last)) end
  return k
end

-- The leaf for class `wanted` of t at k.
local function leaf_of(context, wanted, k, t, first, last)
  if wanted == "rows" then
    return {rows = rows_of(context, t, first, last), index = clamped(context.graph, k, first, last)}
  end
  if not arrays[wanted] then return wanted end
  return gather(context, arrays[wanted].op, k, t, "values", wanted, first, last, function()
    return column(t, wanted, first, last, surveyed(context, t))
  end)
end

-- The classes that occur in t[first..last], in the order of their first keys, and whether nil is
-- among them.
local function classes(context, t, first, last, known)
  if arrays[known.only] then
    if known.is_dense then return {known.only}, false end
    local part = known
    if first > known.first or last < known.last then part = core.program.survey(t, first, last) end
    return part.count > 0 and {known.only} or {}, part.count <= last - first
  end
  local list, seen, holes = {}, {}, false
  for at = first, last do
    local v = rawget(t, at)
    if v == nil then
      holes = true
    else
      local wanted = class(context, v)
      if not seen[wanted] then
        seen[wanted] = true
        list[#list + 1] = wanted
        if #list > 16 then context.refuse("a table with values of too many kinds") end
      end
    end
  end
  return list, holes
end

local function chained(context, t, k)
  local graph, result = context.graph, value.of(context, nil)
  for at, v in next, t do
    if math.type(at) == "integer" and at >= k.lo and at <= k.hi then
      result = value.join(context, graph:ieq(k, graph:int(at)), value.of(context, v), result)
    end
  end
  return result
end

-- t[k] for an integer node k.
local function at_integer(context, t, k)
  local graph, known = context.graph, surveyed(context, t)
  local first, last = math.max(k.lo, known.first), math.min(k.hi, known.last)
  if first > last then return value.of(context, nil) end
  local span = last - first + 1
  local widest = known.only == "boolean" and LARGEST or math.min(LARGEST, THIN * known.count + SMALL)
  if span <= 0 or span > widest
    or known.count <= FEW and span > 4 * known.count then
    if known.count > FEW then context.refuse("a table that is thinly filled") end
    return chained(context, t, k)
  end
  if last == math.maxinteger then context.refuse("a table with the largest key there is") end
  local list, holes = classes(context, t, first, last, known)
  local inside = graph:band(graph:ile(graph:int(first), k), graph:ile(k, graph:int(last)))
  local cases, somewhere = {}, graph.no
  for _, wanted in ipairs(list) do
    local guard = inside
    if #list > 1 or holes then guard = standing(context, k, t, wanted, first, last) end
    cases[#cases + 1] = {guard = guard, leaf = leaf_of(context, wanted, k, t, first, last)}
    somewhere = graph:bor(somewhere, guard)
  end
  if holes or inside ~= graph.yes then
    cases[#cases + 1] = {guard = graph:bnot(somewhere), leaf = value.of(context, nil)}
  end
  return #cases == 1 and cases[1].leaf or {cases = cases}
end

-- A public name of Tessera's own table, which loads each when it is first asked for; nil where it is none.
local function of_tessera(t, key)
  if t ~= package.loaded.tessera or type(key) ~= "string" then return nil end
  local known, v = attempt(function() return t[key] end)
  return known and v or nil
end

-- t[key] for a key known now. A metatable is asked only for what is absent, and only if its
-- __index is a table.
local function at_constant(context, t, key)
  for _ = 1, 16 do
    local v = rawget(t, key)
    if v == nil then v = of_tessera(t, key) end
    if v ~= nil then return value.of(context, v) end
    local meta = debug.getmetatable(t)
    local next_table = meta and rawget(meta, "__index")
    if next_table == nil then return value.of(context, nil) end
    if type(next_table) ~= "table" then break end
    t = next_table
  end
  local name = type(key) == "string" and ("'%s' in "):format(key) or ""
  context.refuse(name .. "a table with a metatable")
end

-- t[k] for any leaf k.
local function at_leaf(context, t, k)
  local graph = context.graph
  if value.is_nil(k) then return at_constant(context, t, nil) end
  if k.constant then return at_constant(context, t, k.value) end
  if k.is_object then return at_constant(context, t, k.object) end
  if not k.type then context.refuse("a table as a key") end
  if k.type == "bool" then
    return value.join(context, k, at_constant(context, t, true), at_constant(context, t, false))
  end
  if debug.getmetatable(t) then context.refuse("a table with a metatable") end
  if k.type == "int" then return at_integer(context, t, k) end
  if surveyed(context, t).fractional then context.refuse("a table with fractional keys") end
  return value.join(context, graph:fits(k), at_integer(context, t, graph:ifrom(k)),
    value.of(context, nil))
end

-- The entry k of a row of a table of tables.
local function in_row(context, row, k)
  local graph, rows = context.graph, row.rows
  local absent = value.of(context, nil)
  if not value.is_number(k) then context.refuse("a table of tables at no number") end
  local fits, c = graph.yes, k
  if k.type == "float" then fits, c = graph:fits(k), graph:ifrom(k) end
  local inside = graph:band(fits,
    graph:band(graph:ile(graph:int(rows.left), c), graph:ile(c, graph:int(rows.right))))
  c = clamped(graph, c, rows.left, rows.right)
  local place = graph:iadd(graph:imul(graph:isub(row.index, graph:int(rows.first)),
    graph:int(rows.width)), graph:isub(c, graph:int(rows.left - 1)))
  local entry = place.constant and at_constant(context, rows.table, place.value)
    or at_integer(context, rows.table, place)
  return value.join(context, inside, entry, absent)
end

-- Fields of our own matrices and masks that never change.
local fields = {rows = true, cols = true, heads = true, dtype = true}

--- x[key].
function lookup.index(context, x, key)
  return value.map2(context, x, key, function(guard, a, k)
    if a.type or value.is_nil(a) then return context:raises(guard) end
    if a.rows then return in_row(context, a, k) end
    if type(a.object) == "table" then return at_leaf(context, a.object, k) end
    if type(a.object) == "userdata" and context.is_ours(a.object) and fields[k.object] then
      return value.of(context, a.object[k.object])
    end
    context.refuse(("an index of a %s"):format(value.name(a)))
  end)
end

return lookup
