local mpirun = require "spec.mpirun"

describe("200 random problems in both dtypes", function()
  for _, n in ipairs{1, 2, 3, 4, 7} do
    it(("have the answers of one machine by every scheme on %d ranks"):format(n), function()
      local said, status = mpirun.run(n, "spec/mpi/ranks/random_problems.lua 200 1")
      assert.are.equal(0, status, said)
      assert.matches("^%d+ comparisons on " .. n .. " ranks, worst 0%.%d+ of the bound, %d+ rows in bits\n$", said)
    end)
  end
end)
