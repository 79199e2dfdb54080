-- agreement.lua -- how far another implementation's output lies from the softmax road, beside what rounding explains.
--
-- On sixteen rows, as the definition is slow: the first, the last, and others evenly between. The bound
-- is core/bound.md's theorem, for what PyTorch's fused attention does on a CPU: blocks of at most 512 keys, merged online.
-- Its exponential is good to 20 ulp (40u; PyTorch's exp_u20), ours to 7u, and what it rounds besides (the scale after
-- the product, a reciprocal of the norm) is one rounding each, where the theorem has three for an exponent and one for
-- the output. So every term of the bound times 6 is at least the like term for PyTorch; the definition's own bound is
-- added.
local ts = require "tessera"

local function sampled(n)
  if n <= 16 then return nil end
  local rows = {}
  for a = 1, 16 do rows[a] = 1 + (n - 1) * (a - 1) // 15 end
  return rows
end

-- The problem of some query rows of P.
local function part(P, rows)
  local mask, changes = P.mask, {Q = P.Q:take(rows)}
  if mask then changes.mask = ts.mask(#rows, P.n_k, function(a, j) return mask(rows[a], j) end) end
  return P:with(changes)
end

--- The largest error ÷ bound of the output O of problem P, and its error; above 1, or with NaN inf, it is a wrong answer.
return function(P, O)
  if O.rows ~= P.n_q or O.cols ~= P.V.cols // P.kv_heads * P.heads or O.dtype ~= P.Q.dtype then return math.huge, math.huge end
  local rows = sampled(P.n_q)
  local R = rows and part(P, rows) or P
  local error = ((rows and O:take(rows) or O):to "f64" - R:softmax():to "f64"):abs()
  local ratio = error:div(R:bound{k = 512, merge = "online"}.output * 6 + R:bound().output):max()
  if ratio ~= ratio then return math.huge, math.huge end
  return ratio, error:max()
end
