--- ablation.lua -- layers made of another one's heads: without some, with some only, with some averaged.

local check = require "tessera.check"
local core = require "tessera.core"
local layer = require "tessera.heads.layer"
local projections = require "tessera.heads.projections"

local ablation = {}

local function copy_sizes(sizes, changes)
  local copy = {}
  for name, value in pairs(sizes) do copy[name] = changes[name] or value end
  return copy
end

-- The head numbers in a list, checked: whole, of the layer, none twice.
local function checked(list, count, fname)
  check.arg(check.type_of(list) == "table", 1, fname, "list of heads expected, got %s", check.type_of(list))
  local numbers, seen = {}, {}
  for i, x in ipairs(list) do
    local h = check.whole(x, 1)
    check.arg(h and h <= count, 1, fname, "there is no head %s of %d", x, count)
    check.arg(not seen[h], 1, fname, "head %d stands twice", h)
    numbers[i], seen[h] = h, true
  end
  return numbers
end

-- Copies heads of one layer's projection to another's: head i of the new one is head list[i] of the old.
local function copy_heads(from, into, letter, list)
  for _, part in ipairs{"weights", "biases"} do
    local old, new = from[part][letter], into[part][letter]
    if old and new then
      local width = old.cols // projections.shapes(from.sizes)[letter].heads
      for i, h in ipairs(list) do
        new:slice(1, new.rows, (i - 1) * width + 1, i * width)
          :assign(old:slice(1, old.rows, (h - 1) * width + 1, h * width))
      end
    end
  end
end

-- Copies W^O, the rows of head list[i] to those of head i, and its bias.
local function copy_output(from, into, list)
  local width = from.sizes.d_vh
  for i, h in ipairs(list) do
    into.weights.o:slice((i - 1) * width + 1, i * width):assign(from.weights.o:slice((h - 1) * width + 1, h * width))
  end
  if into.biases.o then into.biases.o:assign(from.biases.o) end
end

local function all(count)
  local list = {}
  for i = 1, count do list[i] = i end
  return list
end

--- layer:without(list): a copy of the layer in which rows of W^O are 0.
function ablation.without(self, list)
  local state = layer.state(self)
  local sizes = state.sizes
  local off = checked(list, sizes.heads, "without")
  local result, into = layer.blank(sizes, state.has_bias, state.rope)
  copy_heads(state, into, "q", all(sizes.heads))
  copy_heads(state, into, "k", all(sizes.kv_heads))
  copy_heads(state, into, "v", all(sizes.kv_heads))
  copy_output(state, into, all(sizes.heads))
  for _, h in ipairs(off) do into.weights.o:slice((h - 1) * sizes.d_vh + 1, h * sizes.d_vh):fill(0) end
  return result
end

-- The key heads that the query heads in `list` use, and whether they share them evenly and in order, so that
-- each is kept once; otherwise every query head gets its own.
local function key_heads(list, group)
  local distinct, counts = {}, {}
  for _, h in ipairs(list) do
    local g = (h - 1) // group + 1
    if distinct[#distinct] == g then
      counts[#counts] = counts[#counts] + 1
    else
      distinct[#distinct + 1], counts[#counts + 1] = g, 1
    end
  end
  for _, count in ipairs(counts) do
    if count ~= counts[1] then return nil end
  end
  return distinct
end

--- layer:only(list): a layer of those heads, renumbered.
function ablation.only(self, list)
  local state = layer.state(self)
  local sizes = state.sizes
  list = checked(list, sizes.heads, "only")
  check.arg(#list > 0, 1, "only", "a layer has at least one head")
  local group = sizes.heads // sizes.kv_heads
  local keys = key_heads(list, group)
  if not keys then
    keys = {}
    for i, h in ipairs(list) do keys[i] = (h - 1) // group + 1 end
  end
  local result, into = layer.blank(copy_sizes(sizes, {heads = #list, kv_heads = #keys}), state.has_bias, state.rope)
  copy_heads(state, into, "q", list)
  copy_heads(state, into, "k", keys)
  copy_heads(state, into, "v", keys)
  copy_output(state, into, list)
  return result
end

-- Head g of the new projection is the mean of the old one's heads (g - 1) * size + 1 .. g * size.
local function average_heads(from, into, letter, size)
  for _, part in ipairs{"weights", "biases"} do
    local old, new = from[part][letter], into[part][letter]
    local count = projections.shapes(into.sizes)[letter].heads
    local width = old and old.cols // (count * size)
    for g = 1, old and new and count or 0 do
      local sum = core.matrix.zeros(old.rows, width, {dtype = old.dtype})
      for h = (g - 1) * size, g * size - 1 do sum = sum + old:slice(1, old.rows, h * width + 1, (h + 1) * width) end
      new:slice(1, new.rows, (g - 1) * width + 1, g * width):assign(sum / size)
    end
  end
end

--- layer:group(kv_heads): a layer whose key heads are means of this one's.
function ablation.group(self, kv_heads)
  local state = layer.state(self)
  local sizes = state.sizes
  local count = check.whole(kv_heads, 1)
  check.arg(count and sizes.kv_heads % count == 0, 1, "group", "a divisor of the layer's %d key heads expected, got %s",
    sizes.kv_heads, kv_heads)
  local size = sizes.kv_heads // count
  local result, into = layer.blank(copy_sizes(sizes, {kv_heads = count}), state.has_bias, state.rope)
  copy_heads(state, into, "q", all(sizes.heads))
  average_heads(state, into, "k", size)
  average_heads(state, into, "v", size)
  copy_output(state, into, all(sizes.heads))
  return result
end

return ablation
