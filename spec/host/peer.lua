#!/usr/bin/env lua5.4
-- Stands in for scripts/bench-torch.py in spec/bench_spec.lua: speaks scripts/peer.lua's protocol, with answers from the
-- fused road. PEER says what is wrong with it: "absent", "wrong", "swapped", "unable", "dies".
local ts = require "tessera"
local fault = os.getenv "PEER"

local function say(...)
  io.stdout:write(table.concat({...}, "\t"), "\n")
  io.stdout:flush()
end

local function mask_of(word, n)
  local width = tonumber(word:match "^window (%d+)$")
  if width then return ts.mask.window(n, width - 1, 0) end
  return word == "causal" and ts.mask.causal(n) or nil
end

local actions = {}

function actions.load(_, q, k, v, heads, kv_heads, mask, out)
  if fault == "unable" then return say("error", "no compiler") end
  if fault == "dies" then
    io.stderr:write "out of memory\n"
    os.exit(3)
  end
  local Q = ts.load(q)
  local P = ts.problem{Q = Q, K = ts.load(k), V = ts.load(v), heads = tonumber(heads), kv_heads = tonumber(kv_heads),
    mask = mask_of(mask, Q.rows)}
  local O = P:attention() * (fault == "wrong" and 1.5 or 1)
  if fault == "swapped" then
    local half = O.cols // 2
    O = ts.hcat(O:slice(1, -1, half + 1, O.cols), O:slice(1, -1, 1, half))
  end
  O:save(out)
  say "ok"
end

function actions.time(_, times) say("ok", tonumber(times) * 0.5) end

if fault == "absent" then return say("error", "No module named 'torch'") end
say("ok", "1.0")
for line in io.lines() do
  local words = {}
  for word in line:gmatch "[^\t]+" do words[#words + 1] = word end
  actions[words[1]](table.unpack(words, 2))
end
