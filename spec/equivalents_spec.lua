-- What newcomers type first: each name leads to what is here, in errors and in the help.
local equivalents = require "tessera.equivalents"
local helper = require "spec.helper"
local search = require "tessera.help.search"
local ts = require "tessera"

describe("another library's name", function()
  local folder
  setup(function()
    folder = helper.folder()
    ts.eye(4):save(folder .. "/queries.npy")
  end)

  local X = ts.randn(4, 4, {seed = 1})
  local P = ts.problem{Q = X, K = X, V = X}

  -- What the texts speak of.
  local function scope()
    return setmetatable({ts = ts, print = tostring, m = X:copy(), X = X, Y = X:abs(), P = P, S = P:summary(1, 2), T = P:summary(3, 4),
      layer = ts.heads{heads = 1, d_q = 4}, n = 4, r = 2, c = 2}, {__index = _G})
  end

  for name, text in pairs(equivalents) do
    it(("(%s) has something here: %s"):format(name, text), function()
      if text:find "^[%w_]+ of [%w_.:]+$" then return assert(search.entry((text:gsub("P:", "problem:"))), text) end
      local run = assert(load("return " .. text:gsub("queries%.npy", folder .. "/%0"), "=" .. name, "t", scope()))
      local restore = helper.silence() -- of pictures
      local ok, why = pcall(run)
      restore()
      assert(ok, why)
    end)
  end

  it("gives what it stands for", function()
    local function given(name)
      local known = scope()
      known.m, known.X = ts.matrix{{-1, 3}, {5, 1}}, ts.matrix{{7, 8}, {9, 6}}
      known.n = 2
      return assert(load("return " .. equivalents[name], "=" .. name, "t", known))()
    end
    assert.equal(ts.matrix{{7, 8}, {9, 6}}, given "copy_")
    assert.equal(5 ^ 0.5, given "std") -- of -1, 3, 5 and 1, whose mean is 2: squares 9, 1, 9, 1
    assert.is_true(math.abs(given "var" - 5) <= 2 ^ -50)
    assert.equal(ts.matrix{{0, 1}, {1, 1}}, given "clip")
    assert.equal(ts.matrix{{0, 3}, {5, 1}}, given "relu")
    assert.equal(ts.matrix{{-1}, {1}}, given "diag")
    assert.same({1, 1}, {given "argmin"})
    assert.same({nil, nil}, {equivalents.where, equivalents.maximum}) -- no one line of ours does that
  end)

  local function message(f) return select(2, pcall(f)):gsub("^[^:]*:%d+: ", "") end

  it("is told of in the error of whatever does not have it", function()
    assert.equal("a matrix has no field 'transpose'; there is m:t()", message(function() return X:transpose() end))
    assert.equal("a matrix has no field 'T'; there is m:t()", message(function() return X.T end))
    assert.equal("a matrix has no field 'clone'; there is m:copy()", message(function() return X:clone() end))
    assert.equal("tessera has no field 'arange'; there is ts.linspace(1, n, n)", message(function() return ts.arange(3) end))
    assert.equal("tessera has no field 'seed'; there is ts.randn(r, c, {seed = 1})", message(function() ts.seed(1) end))
    assert.equal("tessera has no field 'full'; there is ts.matrix(r, c, 0.5) and ts.mask.full", message(function() return ts.full end))
    assert.equal("a problem has no field 'masked_fill'; there is mask of ts.problem", message(function() return P.masked_fill end))
  end)

  it("names the option where a table takes it", function()
    assert.equal("bad argument #1 to 'problem' (invalid field 'is_causal'): did you mean 'mask'?",
      message(function() ts.problem{Q = X, K = X, V = X, is_causal = true} end))
    assert.equal("bad argument #1 to 'heads' (invalid field 'num_heads'): did you mean 'heads'?",
      message(function() ts.heads{num_heads = 2} end))
    assert.matches("%(invalid field 'num_heads'%): the fields are dtype, seed; there is heads of ts.problem$",
      message(function() ts.randn(2, 2, {num_heads = 2}) end))
  end)

  it("is told of at the prompt, where it is a variable that nobody has made", function()
    local session = require("tessera.repl.session").new()
    local function said(text) return select(2, session:run(text)) end
    assert.equal("attempt to index a nil value (global 'np'); there is ts", said "np.zeros(2)")
    assert.equal("attempt to call a nil value (global 'arange'); there is ts.linspace(1, n, n)", said "arange(3)")
    said "n, keys = 5, {3}"
    assert.equal("attempt to index a nil value (global 'key'); did you mean 'keys'?", said "key[1]") -- one's own come first
    assert.equal("attempt to index a nil value (global 'np'); there is ts", said "np.zeros(2)")
  end)
end)
