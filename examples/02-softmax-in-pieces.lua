-- Softmax in pieces: the algebra of summaries by hand, then the same from Tessera.
--
-- One query, four keys. With weights 2^s instead of e^s every number below is exact, and can be checked on paper.
local ts = require "tessera"

local scores, values = {1, 3, 0, 2}, {8, 4, 2, 6}

-- Of a set of keys: the largest score m, the sum l of 2^(s - m), and the sum z of 2^(s - m) v.
local function summary(first, last)
  local m, l, z = math.max(table.unpack(scores, first, last)), 0, 0
  for j = first, last do
    l, z = l + 2.0 ^ (scores[j] - m), z + 2.0 ^ (scores[j] - m) * values[j]
  end
  return {m = m, l = l, z = z}
end

-- Two summaries of different keys make the one of all of them: both are brought to the larger maximum.
local function merge(a, b)
  local m = math.max(a.m, b.m)
  return {m = m, l = 2.0 ^ (a.m - m) * a.l + 2.0 ^ (b.m - m) * b.l, z = 2.0 ^ (a.m - m) * a.z + 2.0 ^ (b.m - m) * b.z}
end

local function show(name, s) print(("%-18s m = %g, l = %g, z = %g, output %.4f"):format(name, s.m, s.l, s.z, s.z / s.l)) end

show("keys 1 and 2", summary(1, 2))                              --> keys 1 and 2       m = 3, l = 1.25, z = 6, output 4.8000
show("keys 3 and 4", summary(3, 4))                              --> keys 3 and 4       m = 2, l = 1.25, z = 6.5, output 5.2000
show("merged", merge(summary(1, 2), summary(3, 4)))              --> merged             m = 3, l = 1.875, z = 9.25, output 4.9333
show("all at once", summary(1, 4))                               --> all at once        m = 3, l = 1.875, z = 9.25, output 4.9333

-- The same problem stated to Tessera: scores are c·⟨q, k⟩ with q = 1 and the scale c = 1.
local K, V = ts.matrix(scores):t(), ts.matrix(values):t()
local P = ts.problem{Q = ts.ones(1, 1), K = K, V = V, scale = 1, base = 2}
local S, T = P:summary(1, 2), P:summary(3, 4)
local m, l, z = (S * T):row(1)
print(("from Tessera:      m = %g, l = %g, z = %g"):format(m, l, z(1, 1)))   --> from Tessera:      m = 3, l = 1.875, z = 9.25
print("S * T == T * S:", S * T == T * S)                                    --> S * T == T * S:	true
print("the definition:", (S * T):output():identical((P:softmax())))         --> the definition:	true
