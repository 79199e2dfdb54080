-- What the engine runs is the word of its schedule: folded in Lua, the summaries of its blocks give its very bits.
require "spec.helper"
local dice = require "spec.dice"
local ts = require "tessera"
local core = require "tessera.core"

local function random_problem(draw, seed)
  local heads = draw{1, 2, 4}
  local kv_heads = draw{1, heads}
  local n_q, n_k, d, d_v = draw(21) - 1, draw(31) - 1, draw(10) - 1, draw(10) - 1
  local dtype = draw{"f32", "f64"}
  local function random(rows, cols, stream) return ts.randn(rows, cols, {dtype = dtype, seed = 10 * seed + stream}) end
  return ts.problem{
    Q = random(n_q, heads * d, 1), K = random(n_k, kv_heads * d, 2), V = random(n_k, kv_heads * d_v, 3),
    heads = heads, kv_heads = kv_heads, base = draw{2, math.exp(1), math.exp(1)}, empty = "zero",
    mask = draw{true, false} and ts.mask.random({n_q, n_k}, draw{0.05, 0.6}, {seed = seed}) or nil,
    sink = draw{0.5, false, false} or nil,
  }
end

local function random_tiling(draw)
  local tiling = {q = draw(8), k = draw(8), seed = draw(100),
    order = draw{"forward", "backward", "diagonal", "shuffle", "outward"}}
  if draw(2) == 1 then
    tiling.merge = draw{"online", "tree", "right", "random"}
  else
    tiling.split = draw(4)
  end
  return tiling
end

-- The tiling's word, run in Lua on the summaries of its blocks.
local function fold(P, plan)
  local stack = {}
  for _, entry in ipairs(plan.word) do
    if entry == 0 then
      local right = table.remove(stack)
      stack[#stack] = stack[#stack] * right
    else
      stack[#stack + 1] = P:summary(plan.blocks[entry])
    end
  end
  return stack[1] or P:bottom()
end

-- The rows of m that query tile `tile` covers.
local function rows_of(m, plan, tile) return m:slice((tile - 1) * plan.q + 1, math.min(tile * plan.q, m.rows)) end

local function check(P, tiling, note)
  local A, lse = P:attention(tiling)
  for tile = 1, core.problem.plan(P, tiling).tiles do
    local plan = core.problem.plan(P, tiling, tile)
    local S = fold(P, plan)
    assert(rows_of(S:output(), plan, tile):identical(rows_of(A, plan, tile)), note)
    assert(rows_of(S:lse(), plan, tile):identical(rows_of(lse, plan, tile)), note)
  end
end

describe("the fused road", function()
  it("is the fold of block summaries that its word says, bit for bit, on random problems and tilings", function()
    for seed = 1, 60 do
      local draw = dice(seed)
      local P = random_problem(draw, seed)
      for n = 1, 3 do check(P, random_tiling(draw), ("seed %d, tiling %d, %s"):format(seed, n, P)) end
    end
  end)
end)
