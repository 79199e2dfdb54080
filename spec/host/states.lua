-- A hundred states, each of which loads the module, computes on several threads, and is closed.
for n = 1, 100 do
  local said, err = host.state(([[
    local ts = require "tessera"
    local X = ts.randn(256, 32, {seed = %d})
    local O = ts.problem{Q = X, K = X, V = X, heads = 4}:attention{q = 16, threads = 4}
    return O.rows
  ]]):format(n))
  assert(said == "256", err)
end
