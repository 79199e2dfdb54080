local mpirun = require "spec.mpirun"

describe("attention over ranks", function()
  for _, n in ipairs{1, 2, 3} do
    it(("has the same bits for 1, 2 and 3 threads a rank, by every scheme on %d"):format(n), function()
      local said, status = mpirun.run(n, "spec/mpi/ranks/threads.lua")
      assert.are.same({"", 0}, {said, status})
    end)
  end
end)
