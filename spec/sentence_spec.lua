-- Nouns of messages agree with their numbers.
require "spec.helper"
local sentence = require "tessera.sentence"
local ts = require "tessera"

describe("a sentence", function()
  it("has the singular behind 1 alone", function()
    assert.equal("1 key", sentence("%d key(s)", 1))
    assert.equal("0 keys", sentence("%d key(s)", 0))
    assert.equal("12 key heads of 1", sentence("%d key head(s) of %d", 12, 1))
    assert.equal("1 key for 2 heads, and 1 more", sentence("%d key(s) for %d head(s), and %d more", 1, 2, 1))
    assert.equal("x, 2 of 1 row: 3.50", sentence("%s, %s of %d row(s): %.2f", "x", 2, 1, 3.5))
  end)

  it("leaves what the values say as it is", function()
    assert.equal("cannot load '1 file(s)': 2 bytes", sentence("cannot load '%s': %d byte(s)", "1 file(s)", 2))
    assert.equal("a 'x'", sentence("a '%s'%s", "x", ""))
  end)

  it("is what Tessera says", function()
    assert.equal("layer of 1 head, f64, 8 parameters", tostring(ts.heads{heads = 1, d_q = 2, d_h = 1}):match "^[^\n]*")
    assert.equal("cache of 1 key in 1 segment", (function()
      local layer = ts.heads{heads = 1, d_q = 2}
      local cache = layer:cache()
      layer:step(ts.ones(1, 2), cache)
      return tostring(cache)
    end)())
    assert.equal("mask 2x2 of 1 head (lifted)", tostring(ts.mask(2, 2, function(_, _, h) return h == 1 end, {heads = 1})):match "^[^\n]*")
  end)
end)
