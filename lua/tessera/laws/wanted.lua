-- wanted.lua -- what a merge's final state has to say by default, softmax attention, and how far rounding may take it.

local wanted = {}

--- The softmax output of a list of keys {s =, v =}, and what a merge may be off by whose every number is within
--- `unit` relatively. A key whose score is -inf is not allowed.
--
-- The weights are known as if each score had moved by at most δ = unit · (max |s| + ln n + 1), that is within a factor
-- e^(±2δ): the output then moves by (e^(2δ) - 1) Σ p |v - o|, and by the same part of max |v| where a formula does not
-- divide by the weights' own sum. Where scores are so large that this says nothing, the output still lies among the
-- values.
---@param keys {s: number, v: number}[]
---@param unit number
---@return number output NaN where no key is allowed
---@return number error
function wanted.softmax(keys, unit)
  local max, size, largest, low, high = -math.huge, 0, 0, math.huge, -math.huge
  local allowed = {}
  for _, key in ipairs(keys) do
    if key.s > -math.huge then
      allowed[#allowed + 1] = key
      max, size = math.max(max, key.s), math.max(size, math.abs(key.s))
      low, high, largest = math.min(low, key.v), math.max(high, key.v), math.max(largest, math.abs(key.v))
    end
  end
  if #allowed == 0 then return 0 / 0, 0 end
  local norm, sum, spread = 0, 0, 0
  for _, key in ipairs(allowed) do
    local w = math.exp(key.s - max)
    norm, sum = norm + w, sum + w * key.v
  end
  local output = sum / norm
  for _, key in ipairs(allowed) do spread = spread + math.exp(key.s - max) / norm * math.abs(key.v - output) end
  local delta = unit * (size + math.log(#allowed) + 1)
  local moved = delta < 1 / 16 and (math.exp(2 * delta) - 1) * (spread + largest) or high - low
  return output, moved + unit * largest
end

--- How far any other number may be off that is computed from the keys.
function wanted.slack(keys, unit, x)
  local size = math.abs(x)
  for _, key in ipairs(keys) do
    for _, y in ipairs{key.s, key.v} do
      if y - y == 0 then size = math.max(size, math.abs(y)) end
    end
  end
  return unit * (size + math.log(#keys) + 1)
end

return wanted
