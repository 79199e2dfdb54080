-- scripts/bounds, the study of error ÷ bound, on a small part of its rows; and that it fails where bounds are too small.
local helper = require "spec.helper"

describe("scripts/bounds", function()
  it("finds every row within its bounds, at every length, in both dtypes", function()
    local said, status = helper.run "scripts/bounds --part 0.001 --seed 3"
    assert.equal(0, status, said)
    for _, n in ipairs{64, 256, 1024, 4096} do
      for _, dtype in ipairs{"f64", "f32"} do assert.matches(("\n%-4d %s normal "):format(n, dtype), said) end
    end
    assert.matches("the bounds hold\n$", said)
  end)

  it("says so where a bound is too small", function()
    local said, status = helper.run "scripts/bounds --part 0.001 --divide 20"
    assert.equal(1, status, said)
    assert.matches("THE BOUNDS DO NOT HOLD\n$", said)
  end)

  it("takes no option that it does not know", function()
    assert.equal(2, select(2, helper.run "scripts/bounds --parts 1 2>/dev/null"))
  end)
end)
