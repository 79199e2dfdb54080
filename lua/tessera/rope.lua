--- rope.lua -- rotary positions (Su et al. 2021): pairs of columns turned by angles that grow with the row.

local check = require "tessera.check"
local core = require "tessera.core"

local rope = {}

--- The fields that a rotation may have, as `core.options` reads them.
rope.fields = {base = "number", layout = {"half", "interleaved"}, dims = "count", offset = "integer", heads = "positive"}

--- Completes and checks the options of a rotation for heads of `width` columns; errors are those of
--- argument n of fname.
function rope.settings(options, width, n, fname)
  local dims, base = options.dims or width // 2 * 2, options.base or 10000
  check.arg(dims <= width and dims % 2 == 0, n, fname,
    "field 'dims': %d is no even number up to the %d columns of a head", dims, width)
  check.arg(base > 0 and base < math.huge, n, fname, "field 'base': a positive number expected")
  return {base = base, dims = dims, layout = options.layout or "half", offset = options.offset or 0}
end

-- The columns of all heads that hold the first and the second numbers of the pairs, and those that stay.
local function columns(settings, heads, width)
  local half, first, second, rest = settings.dims // 2, {}, {}, {}
  for head = 0, heads - 1 do
    for pair = 1, half do
      local at = settings.layout == "half" and pair or 2 * pair - 1
      first[#first + 1] = head * width + at
      second[#second + 1] = head * width + at + (settings.layout == "half" and half or 1)
    end
    for at = settings.dims + 1, width do rest[#rest + 1] = head * width + at end
  end
  return first, second, rest
end

-- Where each column of the original stands after `first`, `second` and `rest` were put side by side.
local function inverse(lists)
  local back, at = {}, 0
  for _, list in ipairs(lists) do
    for _, column in ipairs(list) do
      at = at + 1
      back[column] = at
    end
  end
  return back
end

-- The angles of one head, rows x dims / 2, repeated for all heads.
local function angles(settings, rows, heads, dtype)
  local half = settings.dims // 2
  local frequencies = {}
  for pair = 1, half do frequencies[pair] = settings.base ^ (-2 * (pair - 1) / settings.dims) end
  local one = core.matrix.matrix(rows, half, function(i, pair)
    return (settings.offset + i - 1) * frequencies[pair]
  end)
  local function spread(m)
    local copies = {}
    for head = 1, heads do copies[head] = m:to(dtype) end
    return core.matrix.hcat(table.unpack(copies))
  end
  return spread(one:cos()), spread(one:sin())
end

--- Turns X (n x heads * width) by settings that `rope.settings` has completed.
function rope.turn(X, settings, heads)
  if settings.dims == 0 or X.rows == 0 then return X end
  local first, second, rest = columns(settings, heads, X.cols // heads)
  local a, b, r = X:take(first, "cols"), X:take(second, "cols"), X:take(rest, "cols")
  local c, s = angles(settings, X.rows, heads, X.dtype)
  local turned = core.matrix.hcat(a:mul(c) - b:mul(s), b:mul(c) + a:mul(s), r)
  return turned:take(inverse{first, second, rest}, "cols")
end

--- X with its rows turned by their positions: in row r, each pair (a, b) of columns becomes
--- (a cos t - b sin t, b cos t + a sin t), t = (offset + r - 1) · base^(-2 (p - 1) / dims) for pair p. Scores of two
--- matrices so turned depend on the difference of positions alone. Row 1 with offset 0 stays as it is.
--- * `heads`: heads side by side in X, each turned alike; 1 unless given.
--- * `dims`: how many of a head's columns are turned, the first ones; all unless given.
--- * `layout`: "half" pairs column p with p + dims / 2 (GPT-NeoX, Llama as Hugging Face keeps it), "interleaved"
---   2p - 1 with 2p (the paper's).
---
---     local Q = ts.rope(X * W, {heads = 8, base = 10000})
---@param X matrix n x heads * width
---@param options? {base: number?, layout: string?, dims: integer?, offset: integer?, heads: integer?}
---@return matrix
function rope.rope(X, options)
  check.type(X, "matrix", 1, "rope")
  options = core.options(options, 2, "rope", rope.fields)
  local heads = options.heads or 1
  check.arg(X.cols % heads == 0, 2, "rope", "%d column(s), which %d heads do not divide", X.cols, heads)
  return rope.turn(X, rope.settings(options, X.cols // heads, 2, "rope"), heads)
end

return rope
