--- cache.lua -- what a layer has seen, kept from step to step of decoding.
--
-- A cache is a list of segments. Only the last one grows; a fork freezes it, and gives both caches a new one
-- behind it. What several caches share is thus one segment, whose summary is computed once for all of them
-- and merged with those of their own keys.

local check = require "tessera.check"
local core = require "tessera.core"
local exact = require "tessera.exact"
local call = require "tessera.heads.call"
local layers = require "tessera.heads.layer"
local make = require "tessera.problem.make"
local sentence = require "tessera.sentence"
local summary = require "tessera.summary"

--- What a cache tells of itself.
---     local cache = ts.heads{heads = 2, d_q = 4}:cache()
---     cache.length --> 0
---@class cache
---@field length integer how many keys it holds; `#cache` is the same
local methods = {}
local cache = {methods = methods}

local states = setmetatable({}, {__mode = "k"}) -- layer and segments of every cache

-- Segments ---------------------------------------------------------------------------------------

-- Keys first .. first + rows - 1. K and V have room for more; they are made when the first keys come.
local function new_segment(first) return {first = first, rows = 0} end

-- A matrix with room for `rows` rows that begins with the first `kept` rows of `old`.
local function grown(old, kept, rows, like)
  local m = core.matrix.zeros(rows, like.cols, {dtype = like.dtype})
  if kept > 0 then m:slice(1, kept):assign(old:slice(1, kept)) end
  return m
end

-- Appends rows, doubling the storage where they do not fit.
local function append(segment, K, V)
  local rows = segment.rows + K.rows
  if not segment.K or rows > segment.K.rows then
    local room = math.max(rows, 2 * segment.rows)
    segment.K, segment.V = grown(segment.K, segment.rows, room, K), grown(segment.V, segment.rows, room, V)
  end
  segment.K:slice(segment.rows + 1, rows):assign(K)
  segment.V:slice(segment.rows + 1, rows):assign(V)
  segment.rows = rows
end

local function last_of(state) return state.segments[#state.segments] end

local function length(state)
  local last = last_of(state)
  return last.first - 1 + last.rows
end

-- The cache --------------------------------------------------------------------------------------

local metatable = {__name = "tessera.cache", __metatable = false}

local function new(layer, segments)
  local self = setmetatable({}, metatable)
  states[self] = {layer = layer, segments = segments}
  return self
end

function metatable.__index(self, name)
  if name == "length" then return length(states[self]) end
  return methods[name] or check.no_field("a cache", name, {"length", "fork"})
end

function metatable.__newindex(_, name) check.that(false, "a cache has no field '%s' to set", name) end

function metatable.__len(self) return length(states[self]) end

function metatable.__tostring(self)
  local state = states[self]
  return sentence("cache of %d key(s) in %d segment(s)", length(state), #state.segments)
end

--- A second cache with the same keys so far. Both go on by themselves; the keys they share are stored once.
---     local branch = cache:fork()
---@return cache
function methods:fork()
  local state = check.that(self ~= nil and states[self], "cache expected, got %s", check.type_of(self))
  if last_of(state).rows > 0 then
    table.insert(state.segments, new_segment(length(state) + 1)) -- the old last one never grows again
  end
  local segments = table.move(state.segments, 1, #state.segments - 1, 1, {})
  segments[#segments + 1] = new_segment(length(state) + 1)
  return new(state.layer, segments)
end

exact.all(methods, 1)

--- An empty cache of a layer.
function cache.cache(layer)
  layers.state(layer)
  return new(layer, {new_segment(1)})
end

-- Steps ------------------------------------------------------------------------------------------

local step_fields = {
  mask = "any", score = "any", scale = "any", sink = "any", base = "any", tiling = "table", empty = {"error", "zero"},
  nonfinite = {"error", "propagate"},
}

-- Functions of (s, i, j, h) and (i, j [, h]) that count queries as the whole sequence does: row i of a step is
-- query i + before. Lists of them, one a head, likewise.
local function shifted_score(score, before)
  if type(score) == "function" then return function(s, i, j, h) return score(s, i + before, j, h) end end
  local list = {}
  for h, f in ipairs(score) do list[h] = shifted_score(f, before) end
  return list
end

local function shifted_predicate(f, before)
  if debug.getinfo(f, "u").nparams < 3 then return function(i, j) return f(i + before, j) end end
  return function(i, j, h) return f(i + before, j, h) end
end

-- What was given as the mask of a step, as ts.problem takes it: predicates are shifted, and a mask, which is
-- of n rows and of columns for all keys, is asked by a predicate.
local function step_mask(given, n, before)
  if type(given) == "function" then return shifted_predicate(given, before) end
  if check.type_of(given) == "mask" then
    check.arg(given.rows == n and given.cols == before + n, 3, "step", "mask is %dx%d, %dx%d expected", given.rows,
      given.cols, n, before + n)
    if given.heads then return function(i, j, h) return given(i, j, h) end end
    return function(i, j) return given(i, j) end
  end
  check.arg(check.type_of(given) == "table", 3, "step", "field 'mask': mask, function or list expected, got %s", check.type_of(given))
  local list = {}
  for h, one in ipairs(given) do list[h] = step_mask(one, n, before) end
  return list
end

-- One cache's part in a step: its new queries, and how many keys there were before.
local function new_part(state, Q, before, options)
  local part = {state = state, Q = Q, before = before, fields = {}}
  local sizes = layers.state(state.layer).sizes
  for name, value in pairs(options) do part.fields[name] = value end
  part.fields.heads, part.fields.kv_heads, part.fields.tiling = sizes.heads, sizes.kv_heads, nil
  for _, name in ipairs{"scale", "sink", "mask", "score"} do
    part.fields[name] = call.spread(name, options[name], sizes.heads)
  end
  if part.fields.score then part.fields.score = shifted_score(part.fields.score, before) end
  if part.fields.mask then
    part.fields.mask = step_mask(part.fields.mask, Q.rows, before)
  elseif Q.rows > 1 then
    part.causal = function(i, j) return j <= i + before end -- for the step's own keys; all earlier ones are seen
  end
  return part
end

local function segment_problem(part, segment, Q)
  local f = {Q = Q or part.Q, K = segment.K:slice(1, segment.rows), V = segment.V:slice(1, segment.rows),
    first_key = segment.first}
  for name, value in pairs(part.fields) do f[name] = value end
  if segment == last_of(part.state) then f.mask = f.mask or part.causal end
  return make(f, 3, "step")
end

-- Summaries of the segments that several caches of the step share, computed once, for the queries of all of
-- them: part.shared[segment] = rows of it. Only where nothing depends on which query is asking.
local function share(parts, options)
  if options.mask or options.score then return end
  local users = {}
  for _, part in ipairs(parts) do
    for _, segment in ipairs(part.state.segments) do
      users[segment] = users[segment] or {}
      table.insert(users[segment], part)
    end
  end
  for segment, list in pairs(users) do
    if #list > 1 then
      local queries, at = {}, 0
      for i, part in ipairs(list) do queries[i] = part.Q end
      local S = segment_problem(list[1], segment, core.matrix.vcat(table.unpack(queries))):summary()
      for _, part in ipairs(list) do
        part.shared[segment] = {max = S.max:slice(at + 1, at + part.Q.rows), norm = S.norm:slice(at + 1, at + part.Q.rows),
          value = S.value:slice(at + 1, at + part.Q.rows), keys = S:keys()}
        at = at + part.Q.rows
      end
    end
  end
end

-- The attention of one part: of one segment by the fused road; of several by merging their summaries.
local function attend(part, options)
  local segments = part.state.segments
  local own = segment_problem(part, segments[#segments])
  if #segments == 1 then return call.attention(own, options.tiling, 3, "step") end
  local S = own:summary()
  for i = #segments - 1, 1, -1 do
    local shared = part.shared[segments[i]]
    if shared then
      shared.problem = own
      S = summary(shared) * S
    else
      S = segment_problem(part, segments[i]):summary() * S
    end
  end
  return S:output()
end

-- What takes away again all that is appended to the caches from now on.
local function undoing(caches)
  local lasts = {}
  for i, c in ipairs(caches) do
    local segment = last_of(states[c])
    lasts[i] = {segment = segment, rows = segment.rows}
  end
  return function()
    for _, last in ipairs(lasts) do last.segment.rows = last.rows end
  end
end

-- The parts of a step, their keys appended to the caches.
local function appended(layer, inputs, caches, options)
  local parts = {}
  local Q, K, V = call.project(layer, core.matrix.vcat(table.unpack(inputs)), "step")
  local at = 0
  for i, x in ipairs(inputs) do
    local state = states[caches[i]]
    local before, first, last = length(state), at + 1, at + x.rows
    local queries, keys = call.turn(layer, Q:slice(first, last), K:slice(first, last), before)
    parts[i] = new_part(state, queries, before, options)
    parts[i].shared = {}
    append(last_of(state), keys, V:slice(first, last))
    at = last
  end
  return parts
end

local function check_caches(layer, inputs, caches)
  check.arg(#inputs > 0 and #inputs == #caches, 2, "step", "%d cache(s) for %d input(s)", #caches, #inputs)
  local seen = {}
  for i = 1, #inputs do -- a list with holes has them looked at, too
    local c = caches[i]
    check.type(inputs[i], "matrix", 1, "step")
    check.arg(states[c], 2, "step", "cache expected, got %s", check.type_of(c))
    check.arg(states[c].layer == layer, 2, "step", "the cache is another layer's")
    check.arg(not seen[c], 2, "step", "the same cache stands twice")
    seen[c] = true
  end
end

--- layer:step(x, caches, options), of one cache or of a list.
function cache.step(self, x, caches, options)
  layers.state(self)
  local single = check.type_of(x) == "matrix"
  check.arg(single or check.type_of(x) == "table", 1, "step", "matrix or list expected, got %s", check.type_of(x))
  check.arg(type(caches) == "table", 2, "step", "cache or list expected, got %s", check.type_of(caches))
  local inputs = single and {x} or x
  caches = states[caches] and {caches} or caches
  check_caches(self, inputs, caches)
  options = core.options(options, 3, "step", step_fields)
  local undo = undoing(caches)
  local ok, results = pcall(function()
    local parts = appended(self, inputs, caches, options)
    share(parts, options)
    local list = {}
    for i, part in ipairs(parts) do list[i] = call.finish(self, attend(part, options)) end
    return list
  end)
  if not ok then
    undo()
    error(results, 0)
  end
  return single and results[1] or results
end

return cache
