-- A hundred states, each of which loads the module, computes on several threads, and is closed.
for n = 1, 100 do
  local said, err = host.state(([[
    local ts = require "tessera"
    local X = ts.randn(64, 8, {seed = %d})
    local O = ts.problem{Q = X, K = X, V = X, heads = 2}:attention{q = 8, threads = 4}
    return O.rows
  ]]):format(n))
  assert(said == "64", err)
end
