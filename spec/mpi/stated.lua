local mpirun = require "spec.mpirun"

describe("problems over ranks", function()
  for _, n in ipairs{1, 2, 3, 4, 7} do
    it(("cost what is told, and have one answer or one error on all %d"):format(n), function()
      local said, status = mpirun.run(n, "spec/mpi/ranks/stated.lua")
      assert.are.same({"", 0}, {said, status})
    end)
  end
end)
