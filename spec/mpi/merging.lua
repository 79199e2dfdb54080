local mpirun = require "spec.mpirun"

describe("summaries over ranks", function()
  for _, n in ipairs{1, 2, 3, 4, 7} do
    it(("merge, travel and are refused alike on %d"):format(n), function()
      local said, status = mpirun.run(n, "spec/mpi/ranks/merging.lua")
      assert.are.same({"", 0}, {said, status})
    end)
  end
end)
