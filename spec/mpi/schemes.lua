local mpirun = require "spec.mpirun"

-- 200 problems in both dtypes under the switch, a quarter of them without.
local count = os.getenv "TESSERA_MPI_ALL" and 200 or 50

describe(("%d random problems"):format(count), function()
  for _, n in ipairs{1, 2, 3, 4, 7} do
    it(("have the answers of one machine by every scheme on %d ranks"):format(n), function()
      local said, status = mpirun.run(n, ("spec/mpi/ranks/random_problems.lua %d 1"):format(count))
      assert.are.equal(0, status, said)
      assert.matches("^%d+ comparisons on " .. n .. " ranks, worst 0%.%d+ of the bound, %d+ rows in bits\n$", said)
    end)
  end
end)
