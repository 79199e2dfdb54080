-- Every public name has help and an example, and every example runs and shows what it promises.
local core = require "tessera.core"
local exact = require "tessera.exact"
local help = require "tessera.help"
local reference = require "tessera.reference"
local helper = require "spec.helper"
local mpirun = require "spec.mpirun"
local setting = require "spec.setting"
local transcript = require "spec.transcript"
local ts = require "tessera"

local topics = reference.topics()

-- The files that examples read.
local function write_files(folder)
  local v = setting(12)
  v.P:summary(1, 6):save(folder .. "part-1.safetensors")
  v.P:summary(7, 12):save(folder .. "part-2.safetensors")
  ts.save(folder .. "queries.npy", v.Q)
  local weights, model = {}, {}
  for _, name in ipairs{"query", "key", "value", "output"} do
    weights[name .. ".weight"] = ts.randn(384, 384, {seed = 1})
    model["layers.3." .. name .. ".weight"] = weights[name .. ".weight"]
  end
  ts.save(folder .. "layer.safetensors", weights)
  ts.save(folder .. "model.safetensors", model)
end

-- The code with its files in that folder.
local function in_folder(code, folder)
  return (code:gsub('"([%w_-]+%.%l+)"', function(name)
    local kind = name:match "%.(%l+)$"
    local is_file = ("npy csv safetensors npz png svg pdf html"):find(kind, 1, true)
    return is_file and '"' .. folder .. name .. '"' or nil
  end))
end

describe("help", function()
  -- Walks what is there, not what is said to be there.
  local function each_name(visit)
    for name, value in pairs(ts) do
      visit("ts." .. name)
      if type(value) == "table" then
        for field in next, value do if type(field) == "string" then visit("ts." .. name .. "." .. field) end end
      end
    end
    for _, kind in ipairs{"matrix", "mask", "summary", "problem", "layer", "cache", "wide"} do
      for name in next, reference.methods(kind) do
        if not name:find "^__" then visit(kind .. ":" .. name) end
      end
    end
  end

  it("is there for every public function, method, option table and law", function()
    local missing, count = {}, 0
    each_name(function(name)
      count = count + 1
      if not topics.by_name[name] then missing[#missing + 1] = name end
    end)
    for _, law in ipairs(ts.problem{Q = ts.ones(2, 1), K = ts.ones(3, 1), V = ts.ones(3, 1)}:verify{rounds = 1}) do
      if not topics.by_name["law " .. law.law] then missing[#missing + 1] = "law " .. law.law end
    end
    assert.same({}, missing)
    assert.is_true(count > 120)
  end)

  it("says something, with every argument of a function", function()
    for _, topic in ipairs(topics) do
      assert(#topic.body > 0 and #topic.body[1].text > 3, topic.name .. " says nothing")
      local value = reference.value(topic.name)
      local what = type(value) == "function" and debug.getinfo(exact.inner(value), "uS")
      if what and what.what == "Lua" and not what.isvararg then
        local own = topic.name:find ":" and 1 or 0
        assert(#topic.params == what.nparams - own, ("%s has %d parameters, of which %d are described"):format(topic.name,
          what.nparams - own, #topic.params))
      end
    end
  end)

  it("closes the parentheses of a line in a list", function()
    for _, topic in ipairs(topics) do
      local line = require "tessera.annotations".summary(topic):gsub("%[0, 1%)", "")
      assert.are.equal(select(2, line:gsub("%(", "")), select(2, line:gsub("%)", "")), line)
    end
  end)

  it("lists what stands in a library, and what a letter can do", function()
    assert.is_truthy(help.text("ts.mask"):find("ts.mask.causal  ", 1, true))
    assert.is_truthy(help.text("P"):find("\n  P:verify  ", 1, true))
    assert.is_truthy(help.text("S"):find("\n  S:output  ", 1, true))
    assert.are.equal(help.text "ts.mask", help.text "ts.mask.")
  end)

  it("has an example for every name", function()
    for _, topic in ipairs(topics) do assert(#reference.examples(topic) > 0, topic.name .. " has no example") end
  end)

  describe("example", function()
    local folder
    setup(function()
      folder = helper.folder() .. "/"
      write_files(folder)
    end)

    local done = {}
    for _, topic in ipairs(topics) do
      for _, code in ipairs(topic.file == "mpi" and {} or reference.examples(topic)) do
        if not done[code] then
          done[code] = true
          it(("of %s runs: %s"):format(topic.name, code:match "^[^\n]*"), function()
            local n = code:find "1024" and 1024 or code:find "permutations%(5%)" and 10 or 12
            transcript.new(setting(n)):type(in_folder(code, folder))
          end)
        end
      end
    end
  end)

  describe("on many processes", function()
    if not mpirun.is_here then return pending "has examples, too, which run after `make mpi`" end
    it("has examples that run on each", function()
      local said, status = mpirun.run(2, "spec/mpi/ranks/examples.lua")
      assert.are.equal(0, status, said)
      assert.matches("%d+ examples", said)
    end)
  end)

  it("finds names, methods with a receiver, fields, options, laws and values", function()
    local function first_line(x) return help.text(x):match "^[^\n]*" end
    assert.equal("ts.mask.causal(size [, options])", first_line "ts.mask.causal")
    assert.equal("ts.mask.causal(size [, options])", first_line "causal")
    assert.equal("ts.mask.causal(size [, options])", first_line(ts.mask.causal))
    assert.equal("P:attention([tiling])", first_line "P:attention")
    assert.equal("P:attention([tiling])", first_line " attention() ")
    assert.equal("P.first_key", first_line "P.first_key")
    assert.equal("law commutativity", first_line "commutativity")
    assert.matches("^  order of P:attention +.*backward", help.text "order")
    assert.equal("matrix", first_line(ts.zeros(1, 1)))
    assert.equal("problem", first_line(setting(12).P))
    assert.matches("m:row_count", help.text(ts.mask.causal(2)))
    assert.matches("ts%.problem", help.text(ts))
    assert.equal(help.text(), help.text "")
  end)

  it("knows the field's words, and says where there is no such thing", function()
    for words, name in pairs{flash = "P:attention", ['"kv cache"'] = "layer:step", ["online softmax"] = "ts.fold",
      ["sliding window"] = "ts.mask.window", gqa = "kv_heads of ts.problem", ["causal mask"] = "ts.mask.causal",
      ["log sum exp"] = "m:logsumexp", score_mod = "score of ts.problem",
      ["how do I use a KV-cache"] = "layer:cache", batches = "ts.mask.documents", ["attention sink"] = "sink of ts.problem"} do
      assert(("\n" .. help.text(words)):find("\n  " .. name .. "  ", 1, true), words .. " does not find " .. name)
    end
    assert.matches("There is no dropout: .*\n  ts%.mask%.random ", help.text "dropout")
    assert.matches("There is no batch axis: .*\n  heads of ts%.problem ", help.text "batch")
    assert.matches("There are no gradients", help.text "gradient")
    assert.matches("S %* T merges two summaries.*\n  ts%.fold ", help.text "⋆")
    assert.matches("^S %* T merges two summaries.*\n  merge of P:attention ", help.text "merge")
    assert.matches("the sum of e%^%(s %- m%).*\n  P:bottom ", help.text "⊥")
    assert.matches(":quit or%s+Ctrl%-D leaves", help.text "quit")
    assert.matches("numbered scripts", help.text "examples")
    assert.matches("First keys that stay in every window are a%s+mask", help.text "window with sinks")
    assert.matches("\n  order of P:attention ", help.text "block order")
    assert.matches("\n  ts%.linspace ", help.text "arange")
    assert.matches("^A seed is an option of what draws", help.text "seed")
  end)

  it("tells in its glossary of what there is alone", function()
    local search = require "tessera.help.search"
    for _, entry in ipairs(require "tessera.help.glossary") do
      assert.is_true(#entry[2] > 0 or entry[3] ~= nil)
      for _, name in ipairs(entry[2]) do assert(search.entry(name), name .. " is told of, and is nothing") end
      for name in (entry[3] or ""):gmatch "ts%.[%w_.]*[%w_]" do assert(topics.by_name[name], name) end
      for name in (entry[3] or ""):gmatch "P:([%w_]+)" do assert(topics.by_name["problem:" .. name], name) end
      for words in entry[1]:gmatch "[^,]+" do assert(#search.glossary(words) > 0, words) end
    end
  end)

  it("takes a bare name for what matrices and other values have, before it is that of a rank's", function()
    local size = "^What other libraries call 'size' is m:shape%(%) here%..*\n  m:shape .*\nIn tessera%.mpi:\n  mpi%.size "
    assert.matches(size, help.text "size")
    assert.matches("^print is a function of Lua itself%..*\n  mpi%.print ", help.text "print")
    assert.matches("^What other libraries call 'broadcast' is .*\n  mpi%.broadcast ", help.text "broadcast")
    assert.matches("^mpi%.rank\n", help.text "rank")
    assert.matches("^m:shape%(%)\n", help.text "shape")
  end)

  it("says how many topics have a name, those of matrices first", function()
    assert.matches("^2 things are called 'softmax':\n  m:softmax .*\n  P:softmax ", help.text "softmax")
    assert.matches("^ts%.save%(.*\nThe same name elsewhere:\n  m:save .*\n  S:save ", help.text "save")
  end)

  it("knows what other libraries call by another name", function()
    for name, topic in pairs{transpose = "m:t", arange = "ts.linspace", clone = "m:copy", matmul = "is X * Y here"} do
      assert(help.text(name):find(topic, 1, true), name .. " does not find " .. topic)
    end
  end)

  it("searches comments by the beginnings of words, those first whose names have them", function()
    local search = require "tessera.help.search"
    assert.equal("ts.mask.prefix", search.topics("prefix lm")[1].name)
    assert.equal("ts.mask.random", search.topics("random mask")[1].name)
    assert.same({}, search.topics "ausal") -- of "causal"
    assert.same({}, search.topics "...(")
  end)

  it("takes a question for the words that it is about", function()
    assert.equal(help.text "lse", help.text "what is lse?")
    assert.equal(help.text "plot", help.text "How do I plot")
    assert.equal(help.text "plot mask", help.text "how do I plot a mask?")
    assert.matches("^layer:step appends to a cache", help.text "how do I use a KV-cache":match "\n\n(.*)")
    assert.matches("^Nothing is called 'is a'", help.text "is a")
  end)

  it("searches where nothing has that name, and then names the near one", function()
    assert.matches("These speak of it:\n  ts%.mask%.prefix", help.text "prefix lm")
    assert.equal("Nothing is known of 'atention': did you mean 'attention'?", help.text "atention")
    assert.equal("Nothing is known of 'xyzzyqq'.", help.text "xyzzyqq")
    assert.equal(help.text "decode", help.text "P:decode")
  end)

  it("knows every option", function()
    for name in ([[Q K V scale mask score sink heads kv_heads base first_key empty nonfinite q k order merge split exp degree threads seed
      laws tilings rounds bits rows offset side dtype limit reshape metadata window block random global prefix layer names transposed
      rope bias d_q d_k d_v d_h d_vh d_o tiling layout dims n_q n_k d density summarize finish bottom equal want sample roundings
      run grid seeds file resume title labels size max norm value output lse keys problem]]):gmatch "%S+" do
      assert(not help.text(name):find "^Nothing is known", name)
    end
    assert.matches("\n  split of P:attention +`split`: instead of `merge`", help.text "split")
    assert.matches("degree of P:attention", help.text "degree")
    assert.matches("\n  sink of ts%.problem  ", help.text "sink")
  end)

  it("names what to see also, and only what there is", function()
    for _, topic in ipairs(topics) do
      for _, name in ipairs(help.see_also(topic)) do assert(topics.by_name[name], name) end
    end
    assert.is_true(#help.see_also(topics.by_name["problem:attention"]) >= 2)
  end)

  it("does not send to the members of a library that stand above", function()
    assert.matches("\n  ts%.mask%.full .*\n  ts%.mask%.random ", help.text "ts.mask")
    assert.not_matches("See also.*ts%.mask%.full", help.text "ts.mask")
    assert.matches("See also: ts%.mask, ts%.mask%.none", help.text "ts.mask.full")
  end)

  it("keeps to the width", function()
    for _, topic in ipairs(topics) do
      for line in help.topic(topic, 72):gmatch "[^\n]+" do
        assert(line:find "^    " or line:find "^%S+%(" or utf8.len(line) <= 72, line)
      end
    end
  end)

  it("knows every method of the core's tables by kind", function()
    assert.equal(core.matrix.methods, reference.methods "matrix")
    assert.is_nil(reference.methods "string")
  end)
end)
