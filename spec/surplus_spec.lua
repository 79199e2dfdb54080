-- An argument more than a function takes: Lua drops it, and then the call means something else than was thought.
local helper = require "spec.helper"
local public = require "spec.fuzz.public"
local reference = require "tessera.reference"
local right = require "spec.fuzz.right"
local ts = require "tessera"

-- These take as many as one likes, or judge by themselves how many there are in each of their forms.
local any = {["ts.matrix"] = true, ["ts.hcat"] = true, ["ts.vcat"] = true, ["ts.score.chain"] = true, ["layer:problem"] = true,
  ["layer:heads_output"] = true, ["layer:weights"] = true, ["layer:similarity"] = true}
local loose = {["ts.diff"] = true} -- says that it ignores them
local hidden = {["problem:bound"] = 2} -- what it takes from our own files alone

local function message(f, ...) return (tostring(select(2, pcall(f, ...))):gsub("^[^:]*:%d+: ", "")) end

describe("an argument more than is taken", function()
  local folder, restore
  setup(function()
    folder = helper.folder()
    restore = helper.silence() -- what draws, prints
  end)
  teardown(function() restore() end)

  it("is an error of every function that names it, its number and what it is", function()
    local objects, topics = right.objects(), reference.topics().by_name
    local functions, count = public.functions(objects), 0
    for _, call in ipairs(right.calls(objects, folder .. "/")) do
      local name, topic = call[1], topics[call[1]]
      if topic and not any[name] and not loose[name] then
        local own = name:find ":" and 1 or 0
        local last = 0
        for place in pairs(call) do last = math.max(last, place - 1) end
        last = math.max(last, #topic.params + own + (hidden[name] or 0))
        local arguments = table.move(call, 2, last + 1, 1, {})
        arguments[last + 1] = "surplus"
        local wanted = ("bad argument #%d to '%s' (no argument expected, got string)"):format(last + 1 - own, name:match "[%w_]+$")
        assert.equal(wanted, message(functions[name], table.unpack(arguments, 1, last + 1)))
        count = count + 1
      end
    end
    assert(count > 100, count)
  end)

  local X = ts.randn(4, 4, {seed = 1})
  local P = ts.problem{Q = X, K = X, V = X}

  it("is none where it is nil, or the second result of a call", function()
    assert.is_true(X:identical(X, nil))
    assert.is_false(X:identical(P:attention()))
    assert.equal(4, ts.exp(P:attention()).rows)
    assert.equal(0.0, ts.diff(P:softmax(), P:softmax()).ulps)
    assert.equal(4, ts.ulps(P:softmax(), P:softmax()).rows)
    assert.is_true(P:summary({{1, 2}}, {{{1, 2}}, {{3, 4}}}) == P:summary(1, 2)) -- as mpi.shard gives them
    assert.equal("bad argument #2 to 'row' (no argument expected, got matrix)", message(X.row, X, 1, X))
  end)

  it("behind a size is told where the other side belongs", function()
    local wanted = "bad argument #%d to '%s' (no argument expected, got number; a size of two sides is one list, {n_q, n_k})"
    for name, arguments in pairs{full = {2, 5}, none = {2, 5}, prefix = {2, 5, 1}, dilated = {2, 5, 1, 1}} do
      assert.equal(wanted:format(#arguments, name), message(ts.mask[name], table.unpack(arguments)))
    end
  end)

  it("is one where a matrix or a mask is asked for a cell, too", function()
    assert.equal("bad argument #3 to 'm' (no argument expected, got number)", message(function() local m = X return m(1, 2, 3) end))
    local mask = ts.mask.causal(4)
    assert.is_false(mask(1, 2, 3)) -- it serves every head
    assert.equal("bad argument #4 to 'mask' (no argument expected, got number)", message(function() return mask(1, 2, 3, 4) or 0 end))
  end)

  it("of a form that takes fewer is one, too", function()
    local function is_refused(n, f, ...)
      assert.matches(("^bad argument #%d to '[%%w_]+' %%(no argument expected"):format(n), message(f, ...))
    end
    is_refused(3, ts.matrix, {1, 2}, {}, 7)
    is_refused(4, ts.matrix, 2, 2, {}, 7)
    is_refused(2, P.summary, P, {{1, 2}}, 7)
    is_refused(2, P.summary, P, {{1, 2}}, {{3, 4}})
    is_refused(2, P.summary, P, {{1, 2}}, {})
    is_refused(2, X.identical, X, X, X, X)
    is_refused(5, ts.mask, 2, 2, function() return true end, nil, 7)
  end)

  it("is none of a function of numbers that is a score itself, though a score has i, j and h behind s", function()
    for _, name in ipairs{"abs", "sqrt", "exp", "tanh", "sin", "cos"} do
      local f = ts[name]
      local scored = ts.problem{Q = X:abs(), K = X:abs(), V = X, score = f}
      local wanted = scored:with{score = function(s) return f(s), tostring(s) end} -- no more lifted than f is
      for _, road in ipairs{"softmax", "attention"} do
        assert.is_true(scored[road](scored):identical((wanted[road](wanted))))
      end
      assert.equal(f(0.5), ts.score.chain(f, function(s) return s end)(0.5, 1, 2, 1))
      assert.matches("^bad argument #3 to '%a+' %(no argument expected, got string%)", message(f, 1, 2, "surplus"))
      assert.matches("^bad argument #2 to '%a+' %(no argument expected, got number%)", message(f, X, 2))
    end
    assert.equal("bad argument #2 to 'log' (no argument expected, got number)", message(ts.log, 8, 2)) -- the base, to math.log
  end)

  it("is one in a cell that no sample meets, too, whatever can be lifted", function()
    local M, log = ts.randn(2000, 2, {seed = 1}), ts.log
    for _, f in ipairs{function(i) return M(i, 1, 1) end, function(i, j) return log(i, j) end} do
      local function keeps(i, j) return i ~= 1777 or j ~= 1234 or f(i, j) > 0 end
      assert.matches("no argument expected, got number", message(ts.mask, 2000, 2000, keeps))
    end
  end)
end)
