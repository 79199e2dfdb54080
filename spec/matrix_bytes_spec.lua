-- Elements of a matrix as the bytes that files hold, of every kind.
require "spec.helper"
local ts = require "tessera"
local bytes = require "tessera.core".matrix

local inf, nan = math.huge, 0 / 0

-- The one number that `kind` makes of these bytes.
local function one(kind, text, swapped)
  local m = ts.zeros(1, 1)
  assert.equal(1, (bytes.decode(m, 0, text, kind, swapped)))
  return m(1, 1)
end

-- All patterns of two bytes, in order.
local function patterns()
  local list = {}
  for i = 0, 65535 do list[i + 1] = string.pack("<I2", i) end
  return table.concat(list)
end

describe("decoding", function()
  it("knows whole numbers of 1 to 8 bytes, with and without sign, in both byte orders", function()
    for size = 0, 3 do
      local n = 1 << size
      for _, order in ipairs{"<", ">"} do
        for _, x in ipairs{0, 1, -1, 100, -(1 << (8 * n - 1)), (1 << (8 * n - 1)) - 1} do
          assert.equal(x + 0.0, one("i" .. n, string.pack(order .. "i" .. n, x), order == ">"))
        end
        for _, x in ipairs{0, 1, 255} do
          assert.equal(x + 0.0, one("u" .. n, string.pack(order .. "I" .. n, x), order == ">"))
        end
      end
      assert.equal(2.0 ^ (8 * n) - (n == 8 and 0 or 1), one("u" .. n, ("\255"):rep(n)))
    end
    for _, kind in ipairs{"b1", "?"} do
      assert.same({0.0, 1.0, 1.0}, {one(kind, "\0"), one(kind, "\1"), one(kind, "\128")})
    end
  end)

  it("knows floats of 4 and 8 bytes, in both byte orders", function()
    for _, x in ipairs{0, -1.5, 1e-310, inf, -inf, math.pi} do
      assert.equal(x, one("f8", string.pack("<d", x)))
      assert.equal(x, one("f8", string.pack(">d", x), true))
      local narrow = string.unpack("f", string.pack("f", x))
      assert.equal(narrow, one("f4", string.pack("<f", x)))
      assert.equal(narrow, one("f4", string.pack(">f", x), true))
    end
  end)

  it("knows the 16-bit floats by their definitions", function()
    local half = {[0x0000] = 0, [0x0001] = 2.0 ^ -24, [0x03ff] = 1023 * 2.0 ^ -24, [0x0400] = 2.0 ^ -14, [0x3555] = 0.333251953125,
      [0x3c00] = 1, [0xc000] = -2, [0x7bff] = 65504, [0x7c00] = inf, [0xfc00] = -inf}
    for pattern, x in pairs(half) do assert.equal(x, one("f2", string.pack("<I2", pattern))) end
    for _, pattern in ipairs{0x0000, 0x3f80, 0xc049, 0x7f80, 0x0001, 0x7f7f} do
      assert.equal(string.unpack("<f", string.pack("<I2I2", 0, pattern)), one("bf16", string.pack("<I2", pattern)))
    end
    assert.equal(1, one("f2", "\x3c\x00", true))
    for _, text in ipairs{"\1\x7c", "\0\x7e"} do assert.is_true(one("f2", text) ~= one("f2", text)) end
  end)

  it("tells the first whole number that a double cannot hold", function()
    local m = ts.zeros(1, 4)
    assert.same({4, 2}, {bytes.decode(m, 0, string.pack("<i8i8i8i8", 1, 1 << 53, (1 << 53) + 1, 0), "i8")})
    assert.same({4}, {bytes.decode(m, 0, string.pack("<i8i8i8i8", 1 << 62, math.mininteger, 7, -(1 << 53)), "i8")})
    assert.same({1, 0}, {bytes.decode(m, 0, string.pack("<i8", math.maxinteger), "i8")})
    assert.same({1, 0}, {bytes.decode(m, 0, string.pack("<i8", -1), "u8")})
    assert.same({1}, {bytes.decode(m, 0, string.pack("<i8", math.mininteger), "u8")})
  end)

  it("goes on at any element, row by row, or column by column into the transpose", function()
    local want = ts.randn(5, 700, {seed = 1})
    local text = bytes.encode(want, 0, 3500, "f8")
    for _, piece in ipairs{1, 3, 256, 699, 700, 701, 3500} do
      local m = ts.zeros(5, 700)
      for first = 0, 3499, piece do
        bytes.decode(m, first, text:sub(8 * first + 1, 8 * (first + piece)), "f8")
      end
      assert.matrix_identical(want, m)
    end
    local turned = ts.zeros(700, 5)
    bytes.decode(turned:t(), 0, text, "f8")
    assert.matrix_identical(want:t(), turned)
    assert.matrix_identical(want, (bytes.from_bytes("f64", 5, 700, "head" .. text .. "tail", 4, "f8")))
    assert.matrix_identical(turned, (bytes.from_bytes("f64", 700, 5, text, 0, "f8", false, true)))
  end)

  it("writes no other element, and reads no other byte", function()
    local m = ts.zeros(2, 300)
    bytes.decode(m, 299, "\1\1", "u1")
    assert.equal(2, m:sum())
    assert.same({1, 1}, {m(1, 300), m(2, 1)})
    assert.equal(2, (bytes.from_bytes("f64", 1, 2, ("\1"):rep(9), 3, "u1")):sum())
  end)

  it("refuses what does not fit", function()
    local m = ts.zeros(2, 2)
    assert.error_matches(function() bytes.decode(m, 3, "\1\2", "u1") end, "2 elements for 1 cells")
    assert.error_matches(function() bytes.decode(m, 5, "", "u1") end, "bad argument #2")
    assert.error_matches(function() bytes.decode(m, 0, "\1\2\3", "u2") end, "no whole number of elements of 2")
    assert.error_matches(function() bytes.decode(m, 0, "", "u3") end, "invalid kind of element 'u3'")
    assert.error_matches(function() bytes.from_bytes("f64", 2, 2, ("x"):rep(31), 0, "f8") end, "31 bytes do not hold a 2x2 matrix")
    assert.error_matches(function() bytes.from_bytes("f64", 1 << 32, 1 << 32, "", 0, "f8") end, "do not hold")
    assert.is_true(m == ts.zeros(2, 2))
    assert.same({1 << 40, 0}, {bytes.from_bytes("f64", 1 << 40, 0, "", 0, "f8"):shape()})
  end)
end)

describe("encoding", function()
  it("is the inverse of decoding for every number of 16 bits; NaN stays NaN (X05)", function()
    for kind, mantissa in pairs{f2 = 10, bf16 = 7} do
      local all = patterns()
      local back = bytes.encode(bytes.from_bytes("f32", 256, 256, all, 0, kind), 0, 65536, kind)
      local top = (0x7fff >> mantissa) << mantissa -- an exponent of ones
      for i = 0, 65535 do
        local got = string.unpack("<I2", back, 2 * i + 1)
        if i & 0x7fff > top then
          assert(got & 0x7fff > top, i)
        else
          assert(got == i, i)
        end
      end
    end
  end)

  it("rounds to the nearest, ties to even, once", function()
    local function to(kind, x) return one(kind, bytes.encode(ts.matrix{x}, 0, 1, kind)) end
    local last = {f2 = 2.0 ^ -10, bf16 = 2.0 ^ -7, f4 = 2.0 ^ -23}
    for kind, ulp in pairs(last) do
      assert.equal(1, to(kind, 1 + ulp / 2))
      assert.equal(1 + 2 * ulp, to(kind, 1 + 1.5 * ulp))
      -- Just beside a tie: a rounding to f32 on the way would lose the difference.
      assert.equal(1 + ulp, to(kind, 1 + ulp / 2 + 2.0 ^ -50))
      assert.equal(1, to(kind, 1 + ulp / 2 - 2.0 ^ -50))
      assert.equal(-1 - ulp, to(kind, -1 - ulp / 2 - 2.0 ^ -50))
      assert.equal(inf, to(kind, 1e300))
      assert.equal(-inf, to(kind, -inf))
      assert.equal(-inf, 1 / to(kind, -1e-300))
    end
    assert.equal(65504, to("f2", 65519.99))
    assert.equal(inf, to("f2", 65520))
    assert.equal(2.0 ^ -24, to("f2", 2.0 ^ -24 * 1.4))
    assert.equal(0, to("f2", 2.0 ^ -25))
    assert.equal(2.0 ^ -14, to("f2", 2.0 ^ -14 - 2.0 ^ -26))
  end)

  it("takes a part of any view, row by row", function()
    local m = ts.matrix{{1, 2, 3}, {4, 5, 6}}
    assert.equal(string.pack("<ddd", 2, 3, 4), bytes.encode(m, 1, 3, "f8"))
    assert.equal(string.pack("<fff", 4, 2, 5), bytes.encode(m:t(), 1, 3, "f4"))
    assert.equal(string.pack(">f", 6), bytes.encode(m, 5, 1, "f4", true))
    assert.equal("", bytes.encode(ts.zeros(0, 3), 0, 0, "f8"))
    assert.error_matches(function() bytes.encode(m, 5, 2, "f8") end, "bad argument #3")
    assert.error_matches(function() bytes.encode(m, 0, 1, "i4") end, "a kind of float expected")
  end)
end)

describe("distances", function()
  it("worst gives the first cell of most ulps", function()
    local a = ts.matrix{{1, 2}, {3, nan}}
    local b = ts.matrix{{1, 2 + 2.0 ^ -51}, {3 + 2.0 ^ -51, nan}}
    assert.same({1, 2, 1}, {bytes.worst(a, b)})
    assert.same({1, 2, 1}, {bytes.worst(a:t(), b:t())}) -- the other cell, which now comes first
    b:set(2, 1, 3 + 2.0 ^ -50)
    assert.same({2, 1, 2}, {bytes.worst(a, b)})
    assert.same({2, 2, inf}, {bytes.worst(a, ts.matrix{{1, 2}, {3, 4}})})
    local i, j, ulps = bytes.worst(ts.zeros(0, 2), ts.zeros(0, 2))
    assert.is_true(i == nil and j == nil and ulps == 0)
  end)

  it("ulps gives those of every cell, in either dtype", function()
    local a = ts.matrix{1, -0.0, inf, 5e-324}
    assert.same({{1, 0, inf, 2}}, bytes.ulps(a, ts.matrix{1 + 2.0 ^ -52, 0, 1, -5e-324}):table())
    local f = {dtype = "f32"}
    assert.same({{8}}, bytes.ulps(ts.matrix({1}, f), ts.matrix({1 + 2.0 ^ -20}, f)):table())
    assert.error_matches(function() bytes.ulps(a, a:t()) end, "shapes differ: 1x4 against 4x1")
    assert.error_matches(function() bytes.worst(a, a:to "f32") end, "f64 expected, got f32")
  end)
end)

describe("hashing", function()
  it("tells one changed bit and another shape, and nothing of where the numbers lie", function()
    for _, dtype in ipairs{"f32", "f64"} do
      local m = ts.randn(5, 67, {seed = 1, dtype = dtype})
      local hash = bytes.hash(m)
      assert.matches("^" .. ("%x"):rep(32) .. "$", hash)
      assert.equal(hash, bytes.hash(m:t():copy():t()))
      assert.equal(hash, bytes.hash(ts.hcat(m, m):slice(1, 5, 68, 134)))
      assert.are_not.equal(hash, bytes.hash(m:slice(1, 4)))
      assert.are_not.equal(hash, bytes.hash(m:t()))
      for _, at in ipairs{1, 64, 67} do
        local other = m:copy()
        other:set(5, at, -m(5, at))
        assert.are_not.equal(hash, bytes.hash(other))
      end
    end
    assert.are_not.equal(bytes.hash(ts.zeros(0, 2)), bytes.hash(ts.zeros(2, 0)))
  end)
end)
