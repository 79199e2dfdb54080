-- What `make bench-mpi` prints and holds to: memory on four ranks, time on two, and what their messages wait for.
local mpirun = require "spec.mpirun"

local function show(format, ...) io.stdout:write(format:format(...), "\n"):flush() end

-- {{memory, of the exchange}, ...} of n ranks, in MiB; the threads are four in all.
local function memory(n, keys, window)
  local said, status = mpirun.run(n, ("spec/mpi/ranks/memory.lua %d %d"):format(keys, window), ("OMP_NUM_THREADS=%d"):format(4 // n))
  assert.are.equal(0, status, said)
  local list = {}
  for most, exchange, seconds in said:gmatch "([%d.]+) MiB, ([%d.]+) MiB for the exchange, ([%d.]+) s" do
    list[#list + 1] = {tonumber(most), tonumber(exchange), tonumber(seconds)}
  end
  assert.are.equal(n, #list)
  return list
end

local function check_memory(keys, window, name)
  local single = memory(1, keys, window)[1]
  show("%s: one rank takes %.2f MiB, %.1f s", name, single[1], single[3])
  for r, own in ipairs(memory(4, keys, window)) do
    local limit = single[1] / 4 + own[2]
    show("  rank %d of 4: %.2f MiB, at most %.2f + %.2f for the exchange; %.1f s", r - 1, own[1], single[1] / 4, own[2], own[3])
    assert.is_true(own[1] <= limit, ("rank %d takes %.2f MiB, more than %.2f"):format(r - 1, own[1], limit))
  end
end

describe("four ranks take a quarter of one rank's memory each, and what they exchange by", function()
  it("for 1,048,576 keys and a window of 512", function() check_memory(1 << 20, 512, "1,048,576 keys, window of 512") end)
  it("for 65,536 keys, dense", function() check_memory(1 << 16, 0, "65,536 keys, dense") end)
end)

describe("two ranks of one thread take the time of one rank of two", function()
  it("or 1.15 times as long", function()
    local said, status = mpirun.run(2, "spec/mpi/ranks/speed.lua 5", "OMPI_MCA_hwloc_base_binding_policy=none")
    assert.are.equal(0, status, said)
    show("%s", said)
    local cases = 0
    for work in said:gmatch "processor time ([%d.]+)" do
      cases = cases + 1
      assert.is_true(tonumber(work) <= 1.15, said)
    end
    assert.are.equal(8, cases)
  end)
end)

describe("keys that travel while two ranks work", function()
  for _, how in ipairs{"cma", "none"} do -- one process reads the other's memory; or all goes through a buffer, piece by piece
    it(("are waited for by single_copy_mechanism=%s"):format(how), function()
      local said, status = mpirun.run(2, "spec/mpi/ranks/overlap.lua 9",
        "OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=" .. how)
      assert.are.equal(0, status, said)
      show("keys of 8 MiB, single_copy_mechanism=%s, wait:\n%s", how, said)
      assert.matches("ms without work\n.* ms after work\n.* ms after work that never asked\n", said)
    end)
  end
end)
