-- scripts/bench --against: the child that it talks to, the check of answers, the rows that it prints. What needs no PyTorch.
local helper = require "spec.helper"
local ts = require "tessera"

local agreement = dofile "scripts/agreement.lua"
local peer = dofile "scripts/peer.lua"

local function normal(rows, cols, seed) return ts.randn(rows, cols, {dtype = "f32", seed = seed}) end

local function problem(n_q, n_k, mask)
  return ts.problem{Q = normal(n_q, 16, 1), K = normal(n_k, 8, 2), V = normal(n_k, 8, 3), heads = 4, kv_heads = 2, mask = mask}
end

describe("the check of another implementation's answer", function()
  it("takes what lies within the bound, of few rows and of many, with masks and without", function()
    for _, P in ipairs{problem(3, 40), problem(200, 200, ts.mask.causal(200)), problem(200, 70)} do
      assert.is_true(agreement(P, (P:attention())) <= 1)
      assert.is_true(agreement(P, (P:softmax())) <= 1)
    end
  end)

  it("refuses a row that looks one key too far", function()
    local P = problem(200, 200, ts.mask.causal(200))
    local O = P:with{mask = ts.mask.causal(200, {offset = 1})}:attention()
    assert.is_true(agreement(P, O) > 100)
  end)

  it("refuses the last cell alone, NaN, another shape and another dtype", function()
    local P = problem(200, 70)
    local O = P:attention()
    O:set(200, 16, O(200, 16) + 0.001)
    assert.is_true(agreement(P, O) > 1)
    O:set(200, 16, 0 / 0)
    assert.equal(math.huge, (agreement(P, O)))
    assert.equal(math.huge, (agreement(P, O:slice(1, 199))))
    assert.equal(math.huge, (agreement(P, O:to "f64")))
  end)
end)

describe("the child of the bench", function()
  local function start()
    return assert(peer.start{"env", "LUA_PATH_5_4=lua/?.lua;lua/?/init.lua;;",
      ("LUA_CPATH_5_4=%s/?.so;;"):format(os.getenv "TESSERA_BUILD" or "build"), "spec/host/peer.lua"})
  end

  it("gets the problem's own numbers, and gives its output back", function()
    local child = start()
    assert.equal("1.0", child.version)
    local P = problem(50, 50, ts.mask.window(50, 9, 0))
    assert.matrix_identical((P:attention()), (assert(child:load("p", P, "window 10"))))
    local x = normal(20, 8, 4)
    local self_attention = ts.problem{Q = x, K = x, V = x, mask = ts.mask.causal(20)}
    assert.matrix_identical((self_attention:attention()), (assert(child:load("x", self_attention, "causal"))))
    assert.equal(3 * 0.5, child:time("p", 3))
    child:close()
  end)

  it("leaves no file behind", function()
    local child = start()
    child:load("p", problem(5, 5), "full")
    local directory = child.directory
    assert.equal("answers\nerrors\n", (helper.run("ls " .. directory)))
    child:close()
    assert.equal(2, select(2, helper.run("ls " .. directory)))
  end)

  it("is told of when it can't be started", function()
    local child, wrong = peer.start{"lua5.4", "-e", "print 'hello'"}
    assert.is_nil(child)
    assert.equal("not an answer: hello", wrong)
    assert.same({nil, "it ended without an answer"}, {peer.start{"true"}})
  end)
end)

describe("scripts/bench --against torch", function()
  local function bench(fault, arguments)
    return helper.run("scripts/bench --against torch --seconds 1 --only '^dense f64$' " .. (arguments or ""),
      "PYTHON=spec/host/peer.lua PEER=" .. fault)
  end

  it("prints PyTorch's row below ours, with the ratio, the target and the verdict", function()
    local has_target = (helper.run "scripts/isas"):find "avx2"
    local said, status = bench("", has_target and "--isa avx2" or "")
    assert.equal(0, status, said)
    assert.matches("\ndense f64, torch +the same by PyTorch's SDPA +500%.00 ms +[%d.]+ Tessera's time "
      .. (has_target and "+>  1%.50  %a+ +0 %%\n" or ""), said)
    assert.matches("PyTorch 1%.0: what it was timed on", said)
  end)

  it("has in its JSON what it prints", function()
    local said = bench("", "--json")
    local row = assert(said:match '{[^{}]*"name": "dense f64, torch"[^{}]*}', said)
    for _, field in ipairs{'"value": 500', '"ratio": [%d.]+', '"spread": 0', '"repeats": %d', '"of_bound": [%d.e-]+'} do
      assert.matches(field, row)
    end
    assert.matches('"torch": "1.0"', said)
  end)

  it("stops with status 1 at a wrong answer", function()
    for _, fault in ipairs{"wrong", "swapped"} do
      local said, status = bench(fault)
      assert.equal(1, status, said)
      assert.matches("dense f64, PyTorch: a wrong answer, %S+ from the softmax road, %S+ x the bound", said)
    end
  end)

  it("tells in the row what PyTorch can't run here, and gives no verdict", function()
    local said, status = bench "unable"
    assert.equal(0, status, said)
    assert.matches("dense f64, torch[^\n]*can't run here: no compiler\n", said)
  end)

  it("stops when PyTorch's process ends, and shows its last words", function()
    local said, status = bench "dies"
    assert.equal(1, status, said)
    assert.matches("out of memory\n", said)
    assert.matches("bench: dense f64: PyTorch: it ended without an answer\n", said)
  end)

  it("says which Python lacks torch, and how to name another", function()
    local said, status = bench "absent"
    assert.equal(1, status)
    assert.matches("takes a Python with torch and numpy; spec/host/peer.lua is none %(No module named 'torch'%)%. PYTHON=", said)
    said, status = helper.run("scripts/bench --against torch", "PYTHON=/nowhere/python3")
    assert.equal(1, status)
    assert.matches("/nowhere/python3 is none", said)
  end)

  it("knows no other library", function()
    assert.equal(2, select(2, helper.run "scripts/bench --against jax"))
  end)
end)
