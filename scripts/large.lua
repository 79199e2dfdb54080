-- large.lua -- the masks of the library for 131,072 tokens: {name, make, own}, where `own` is how many bytes of tables the
-- mask has to keep, because the user gave as many numbers.
local ts = require "tessera"

local mask, n = ts.mask, 131072

local function list(count, value)
  local numbers = {}
  for k = 1, count do numbers[k] = value(k) end
  return numbers
end

local ids = list(n, function(k) return k // 777 end)
local parents = list(n, function(k) return k // 2 end)
local pieces = list(512, function() return 256 end)
local prefixes = list(512, function(p) return p - (p - 1) % 4 end)
local every_ninth = list(n // 9, function(k) return 9 * k end)
local few_far = list(13, function(k) return 10000 * k end)
local cells = ts.ones(64, 64)
local integers = 8 * n

return {
  {"full", function() return mask.full(n) end},
  {"none", function() return mask.none(n) end},
  {"causal", function() return mask.causal(n) end},
  {"window", function() return mask.window(n, 256, math.huge) end},
  {"chunked", function() return mask.chunked(n, 4096) end},
  {"prefix", function() return mask.prefix(n, 100) end},
  {"documents, lengths", function() return mask.documents(pieces) end, integers},
  {"documents, ids", function() return mask.documents{ids = ids} end, integers},
  {"padding", function() return mask.padding(n, 1000) end},
  {"dilated", function() return mask.dilated(n, 128, 4) end},
  {"global, few near", function() return mask.global(n, {1, 5, 9}) end},
  {"global, few far", function() return mask.global(n, few_far) end},
  {"global, every ninth", function() return mask.global(n, every_ninth) end},
  {"strided", function() return mask.strided(n, 128) end},
  {"longformer", function() return mask.longformer(n, 128, few_far) end},
  {"bigbird", function() return mask.bigbird(n) end},
  {"natten", function() return mask.natten({256, 512}, {7, 7}) end},
  {"tree", function() return mask.tree(parents) end, 2 * integers}, -- where what is under each node begins and ends
  {"shared_prefix", function() return mask.shared_prefix(pieces, prefixes) end, 2 * integers}, -- the piece, and its prefix
  {"block_diffusion", function() return mask.block_diffusion(n // 2, 64) end},
  {"blocks", function() return mask.blocks(cells, 2048, 2048, n) end, 8 * 64 * 64},
  {"random", function() return mask.random(n, 0.1) end},
}
