-- Whom an error blames: each argument of each public function is replaced by a value of each kind.
local core = require "tessera.core"
local helper = require "spec.helper"
local public = require "spec.fuzz.public"
local right = require "spec.fuzz.right"
local ts = require "tessera"

local function refuse() error "no" end

local function values(o)
  return {
    ["nil"] = {}, boolean = {true}, number = {-7.5}, string = {"x"}, table = {{typo = 1}}, ["function"] = {refuse}, userdata = {io.stdout},
    matrix = {ts.ones(3, 1)}, mask = {ts.mask.full(2)}, problem = {o.problem}, summary = {o.summary}, layer = {o.layer},
    cache = {o.cache}, verify = {o.verify}, tiles = {o.tiles}, diff = {o.diff},
  }
end

-- A kind that an argument never is, so that nothing but this argument can be meant.
local foreign = {boolean = true, userdata = true, verify = true, diff = true}

-- What is wrong with the message, or nil. `n` is the argument's number, `kind` what stood there.
local function fault(message, name, n, kind)
  local at, blamed, what = message:match "bad argument #(%d+) to '([^']*)' %((.*)%)$"
  if message:find "userdata" and kind ~= "userdata" then return "calls a " .. kind .. " a userdata" end
  if message:find "got table" and foreign[kind] then return "calls a " .. kind .. " a table" end
  if message:find "0x%x+" then return "tells an address" end
  if not at or name:find " __" then return nil end
  if blamed ~= name:match "[%w_]+$" then return "blames '" .. blamed .. "'" end
  if foreign[kind] and tonumber(at) ~= n then return "blames argument " .. at end
  local got = what:match "got (%w+)"
  if foreign[kind] and got and got ~= kind and got ~= "true" then return "does not say that a " .. kind .. " came" end
end

describe("an error", function()
  local folder, restore

  setup(function()
    folder = helper.folder()
    restore = helper.silence() -- what draws, prints
  end)
  teardown(function() restore() end)

  it("names the function that the user called, the argument, and what came by its kind", function()
    local o = right.objects()
    local functions, count, faults = public.functions(o), 0, {}
    for _, call in ipairs(right.calls(o, folder .. "/")) do
      local name, own = call[1], call[1]:find "^%l+:" and 1 or 0
      local last = 0
      for place in pairs(call) do last = math.max(last, place - 1) end
      for n = 1 + own, name:find "^core" and 0 or last do
        for kind, value in pairs(values(o)) do
          local arguments = table.move(call, 2, last + 1, 1, {})
          arguments[n] = value[1]
          local ok, message = pcall(functions[name], table.unpack(arguments, 1, last))
          local wrong = not ok and message ~= "no" and fault(message, name, n - own, kind)
          if not ok then count = count + 1 end
          if wrong then faults[#faults + 1] = ("%s, argument %d a %s: %s: %s"):format(name, n - own, kind, wrong, message) end
        end
      end
    end
    assert.same({}, faults)
    assert.is_true(count > 2000)
  end)

  local X = ts.randn(4, 4, {seed = 1})
  local P, layer = ts.problem{Q = X, K = X, V = X}, ts.heads{heads = 2, d_q = 4}

  local function says(text, f, ...)
    local ok, message = pcall(f, ...)
    assert.is_false(ok)
    assert.equal(text, (message:gsub("^[^:]*:%d+: ", "")))
  end

  it("in a field of P:with is blamed on 'with'", function()
    says("bad argument #1 to 'with' (mask: mask or function expected, got number)", P.with, P, {mask = 3})
    says("bad argument #1 to 'with' (mask: mask or function expected, got matrix; ts.mask.from(M) is the mask of a matrix)",
      P.with, P, {mask = X})
    says("bad argument #1 to 'with' (mask is 3x3, 4x4 expected)", P.with, P, {mask = ts.mask.full(3)})
    says("bad argument #1 to 'with' (field 'score': function or list expected, got layer)", P.with, P, {score = layer})
    says("bad argument #1 to 'with' (field 'base': 2 or e expected, got 7)", P.with, P, {base = 7})
    says("bad argument #1 to 'with' (Q is 4x3, K is 4x4: as many columns expected)", P.with, P, {Q = ts.ones(4, 3)})
    says("bad argument #1 to 'problem' (field 'scale': number or list expected, got mask)", ts.problem,
      {Q = X, K = X, V = X, scale = ts.mask.full(4)})
  end)

  it("in an option of a layer's call is blamed on that call", function()
    says("bad argument #2 to 'layer' (mask: mask or function expected, got number)", layer, X, {mask = 3})
    says("bad argument #3 to 'layer' (mask is 3x3, 4x4 expected)", layer, X, X, {mask = ts.mask.full(3)})
    says("bad argument #2 to 'weights' (field 'scale': 3 numbers for 2 heads)", layer.weights, layer, X, {scale = {1, 2, 3}})
    says("bad argument #3 to 'step' (field 'sink': number or list expected, got string)", layer.step, layer, X, layer:cache(),
      {sink = "x"})
    says("bad argument #2 to 'problem' (field 'base': 2 or e expected, got 3)", layer.problem, layer, X, {base = 3})
  end)

  it("says what was combined with a mask", function()
    says("attempt to combine a mask with a problem (by '&')", function() return ts.mask.full(4) & P end)
    says("attempt to combine a mask with a layer (by '|')", function() return layer | ts.mask.full(4) end)
  end)

  it("in a tiling is blamed on what was called with it, on the user's line", function()
    local wrong, bad = {q = 0}, "field 'q': 0 is less than 1)"
    for text, f in pairs{
      ["bad argument #1 to 'verify' (tiling 2: "] = function() return (P:verify{tilings = {{q = 2}, wrong}}) end,
      ["bad argument #2 to 'layer' (tiling: "] = function() return (layer(X, {tiling = wrong})) end,
      ["bad argument #4 to 'heads_output' (tiling: "] = function() return (layer:heads_output(X, X, X, {tiling = wrong})) end,
      ["bad argument #3 to 'step' (tiling: "] = function() return (layer:step(X, layer:cache(), {tiling = wrong})) end,
      ["bad argument #2 to 'tiles' (tiling: "] = function() return (ts.plot.tiles(P, {tiling = wrong})) end,
      ["bad argument #1 to 'cost' ("] = function() return (P:cost(wrong)) end,
      ["bad argument #2 to 'trace' ("] = function() return (P:trace(1, wrong)) end,
    } do
      says(text .. bad, f)
      local _, message = pcall(f)
      assert.matches("^spec/blame_spec.lua:%d+: ", message)
    end
    says("bad argument #1 to 'verify' (field 'tilings': a list of tilings expected, as in {{q = 16, k = 32}})",
      P.verify, P, {tilings = {q = 2}})
    says("mine", function() return (layer(X, {tiling = {order = function() error("mine", 0) end}})) end)
  end)

  it("of an operator that there is none of says what there is", function()
    local S, m = P:summary(), ts.mask.full(4)
    for sign, with in pairs{["+"] = function(a, b) return a + b end, ["|"] = function(a, b) return a | b end,
      ["^"] = function(a, b) return a ^ b end} do
      says(("a summary has no '%s': summaries merge by '*', as in S * T"):format(sign), with, S, S)
    end
    says("a summary has no '+': summaries merge by '*', as in S * T", function() return 2 + S end)
    says("a summary has no '-': summaries merge by '*', as in S * T", function() return -S end)
    says("a mask has no '*': masks combine by '&', '|', '~' and '-'", function() return m * m end)
    says("a matrix has no '^': matrices have '+', '-', '*' and '/'; A:mul(B), A:div(B) and A:map(f) take each cell",
      function() return X ^ 2 end)
  end)

  it("of a range of keys names the key, and the problem's keys", function()
    says("bad argument #1 to 'summary' (key 0 is none of the problem's 1..4)", P.summary, P, 0, 3)
    says("bad argument #2 to 'summary' (key 9 is none of the problem's 1..4)", P.summary, P, 2, 9)
    says("bad argument #2 to 'summary' (the last key, 1, is before the first, 3)", P.summary, P, 3, 1)
    says("bad argument #1 to 'summary' (key 6 is none of the problem's 1..4)", P.summary, P, 6, 5)
    says("bad argument #1 to 'summary' (key 5 is none of the problem's 1..4)", P.summary, P, 5, 5)
    assert.is_true(P:summary(5, 4) == P:bottom())
    says("bad argument #1 to 'summary' (key 0 is none of the problem's 1..4)", P.summary, P, 0, -1)
  end)

  it("takes a layer for no table of options", function()
    says("bad argument #1 to 'softmax' (table expected, got layer)", P.softmax, P, layer)
    says("bad argument #1 to 'attention' (table expected, got layer)", P.attention, P, layer)
    says("bad argument #3 to 'zeros' (table expected, got layer)", ts.zeros, 1, 1, layer)
    assert.equal("layer", core.kind(layer))
    assert.equal("table", core.kind(setmetatable({}, {__name = "tessera.matrix"})))
  end)
end)
