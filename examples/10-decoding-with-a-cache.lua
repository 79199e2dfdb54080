-- Decoding with a cache: a token at a time gives what all at once gives.
--
-- A step appends the new token's keys and values, and asks for one row of attention. That is the summary of the old keys
-- merged with that of the new one; causal attention over the whole sequence is nothing else.
local ts = require "tessera"

local n, width = 20, 16
local layer = ts.heads{heads = 4, kv_heads = 2, d_q = width, seed = 1}
local X = ts.randn(n, width, {seed = 2})
local whole = layer(X, {mask = ts.mask.causal(n)})

-- A prompt of 12 rows at once, then a row a step.
local cache = layer:cache()
local rows = {layer:step(X:slice(1, 12), cache)}
for i = 13, n do rows[#rows + 1] = layer:step(X:slice(i, i), cache) end
print(cache.length)                                                         --> 20

-- As far as rounding allows: the bound of attention on both sides, and of the products with W^O, of `width` terms each.
local P = layer:problem(X, {mask = ts.mask.causal(n)})
local bound = (P:bound().output + P:softmax():abs() * ((width + 1) * 2.0 ^ -53)) * layer.WO:abs() * 2
print("within the bound of one causal call:", (ts.vcat(rows) - whole):abs():div(bound):max() <= 1)
--> within the bound of one causal call:	true

-- Two continuations of one prompt: the keys they share are stored once, and summarised once for both.
local trunk = layer:cache()
layer:step(X:slice(1, 12), trunk)
local branches = {trunk, trunk:fork()}
local A, B = X:slice(13, 13), X:slice(14, 14)
local both = layer:step({A, B}, branches)
print("the first is row 13 as before:", (both[1] - rows[2]):abs():div(bound:row(13)):max() <= 1) --> the first is row 13 as before:	true

-- By hand, for one head without projections: yesterday's summary and today's key.
local K, V = ts.randn(n, 8, {seed = 3}), ts.randn(n, 8, {seed = 4})
local q = ts.randn(1, 8, {seed = 5})
local old = ts.problem{Q = q, K = K:slice(1, 19), V = V:slice(1, 19)}:summary()
local new = ts.problem{Q = q, K = K:slice(20, 20), V = V:slice(20, 20), first_key = 20}:summary()
print("keys", (old * new):keys()[1][1], (old * new):keys()[1][2])              --> keys	1	20
local today = ts.problem{Q = q, K = K, V = V}
print("as cut from one problem:", old * new == today:summary(1, 19) * today:summary(20, 20)) --> as cut from one problem:	true
