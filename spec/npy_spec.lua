local helper = require "spec.helper"
local ts = require "tessera"

local nan, inf = 0 / 0, math.huge

-- A .npy file of these parts, at a path that is removed after the test.
local function npy(descr, order, shape, data, version)
  local header = ("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n"):format(descr, order, shape)
  local path = helper.path(".npy")
  local file <close> = assert(io.open(path, "wb"))
  file:write("\x93NUMPY", version or "\1\0", string.pack("<s2", header), data)
  return path
end

local function load_error(path)
  local ok, message = pcall(ts.load, path)
  assert.is_false(ok)
  return message
end

describe(".npy", function()
  describe("types", function()
    local half = string.pack("<I2I2I2I2I2", 0x3C00, 0xC000, 0x0001, 0x7C00, 0xFBFF) -- 1, -2, 2^-24, inf, -65504
    local cases = {
      {"<f2", half, {1, -2, 2.0 ^ -24, inf, -65504}, "f32"},
      {"<f4", string.pack("<ffff", 1.5, -2.25, 2.0 ^ -149, inf), {1.5, -2.25, 2.0 ^ -149, inf}, "f32"},
      {">f4", string.pack(">ffff", 1.5, -2.25, 2.0 ^ -149, inf), {1.5, -2.25, 2.0 ^ -149, inf}, "f32"},
      {"<f8", string.pack("<ddd", 0.1, 5e-324, -inf), {0.1, 5e-324, -inf}, "f64"},
      {">f8", string.pack(">ddd", 0.1, 5e-324, -inf), {0.1, 5e-324, -inf}, "f64"},
      {"=f8", string.pack("<d", 0.1), {0.1}, "f64"},
      {"|i1", string.pack("<i1i1", -128, 127), {-128, 127}, "f64"},
      {"|u1", string.pack("<I1I1", 0, 255), {0, 255}, "f64"},
      {"<i2", string.pack("<i2i2", -32768, 32767), {-32768, 32767}, "f64"},
      {">u2", string.pack(">I2I2", 1, 65535), {1, 65535}, "f64"},
      {"<i4", string.pack("<i4i4", -2147483648, 2147483647), {-2147483648, 2147483647}, "f64"},
      {">u4", string.pack(">I4I4", 1, 4294967295), {1, 4294967295}, "f64"},
      {"<i8", string.pack("<i8i8", -(1 << 53), 1 << 53), {-2.0 ^ 53, 2.0 ^ 53}, "f64"},
      {"<i8", string.pack("<i8", math.mininteger), {-2.0 ^ 63}, "f64"},
      {">u8", string.pack(">i8", math.mininteger), {2.0 ^ 63}, "f64"},
      {"|b1", "\0\1\1", {0, 1, 1}, "f64"},
      {"?", "\0\1", {0, 1}, "f64"},
    }
    for _, case in ipairs(cases) do
      local descr, data, want, dtype = table.unpack(case)
      it(("loads %s as %s"):format(descr, dtype), function()
        local m = ts.load(npy("'" .. descr .. "'", "False", ("(%d,)"):format(#want), data))
        assert.equal(dtype, m.dtype)
        assert.matrix_identical(ts.matrix({want}, {dtype = dtype}), m)
      end)
    end

    it("keeps NaN a NaN in every float type", function()
      for descr, data in pairs{
        ["<f2"] = "\x01\x7E", [">f4"] = "\x7F\x80\x00\x01", ["<f8"] = "\1\0\0\0\0\0\xF0\x7F",
      } do
        local m = ts.load(npy("'" .. descr .. "'", "False", "()", data))
        assert.is_true(m(1, 1) ~= m(1, 1))
      end
    end)

    it("refuses integers that a double cannot hold, naming the first", function()
      local data = string.pack("<i8i8", 1, (1 << 53) + 1)
      assert.matches("the integer 9007199254740993 ", load_error(npy("'<i8'", "False", "(2,)", data)), 1, true)
      data = string.pack(">i8i8", 1, -1) -- 2^64 - 1
      assert.matches("the integer 18446744073709551615 ", load_error(npy("'>u8'", "False", "(2,)", data)), 1, true)
    end)

    it("refuses complex, text, dates and structures, naming the code", function()
      for _, descr in ipairs{"<c16", "|S5", "<U3", "<M8[ns]", "|O", "<f16", "bf16"} do
        assert.matches("dtype '" .. descr .. "' is not supported",
          load_error(npy("'" .. descr .. "'", "False", "(0,)", "")), 1, true)
      end
      assert.matches("structured", load_error(npy("[('a', '<f8')]", "False", "(0,)", "")))
    end)
  end)

  describe("shapes", function()
    local six = string.pack("<dddddd", 1, 2, 3, 4, 5, 6)

    it("takes no axes as 1x1, one as a row", function()
      assert.matrix_equal({{7}}, ts.load(npy("'<f8'", "False", "()", string.pack("<d", 7))))
      assert.matrix_equal({{1, 2, 3, 4, 5, 6}}, ts.load(npy("'<f8'", "True", "(6,)", six)))
    end)

    it("reads both orders of axes", function()
      assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(npy("'<f8'", "False", "(2, 3)", six)))
      assert.matrix_equal({{1, 3, 5}, {2, 4, 6}}, ts.load(npy("'<f8'", "True", "(2, 3)", six)))
    end)

    it("needs reshape for more than two axes, and says so", function()
      local path = npy("'<f8'", "False", "(1, 2, 3)", six)
      assert.matches("it has 3 axes (1x2x3): give {reshape = {rows, cols}}", load_error(path), 1, true)
      assert.matrix_equal({{1, 2}, {3, 4}, {5, 6}}, ts.load(path, {reshape = {3, 2}}))
      assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(path, nil, {reshape = {2, 3}}))
      assert.error_matches(function() ts.load(path, {reshape = {4, 2}}) end, "1x2x3 does not reshape to 4x2")
      assert.error_matches(function() ts.load(path, {reshape = {0, 0}}) end, "does not reshape")
      assert.error_matches(function() ts.load(path, {reshape = {3}}) end, "bad argument #2 to 'load'")
      assert.error_matches(function() ts.load(path, {reshap = {3, 2}}) end, "invalid field 'reshap'")
    end)

    it("reshapes as NumPy does also where the first axis runs fastest", function()
      -- numpy: numpy.array([1 .. 8]).reshape((2, 2, 2), order="F").reshape(2, 4) is [[1 5 3 7] [2 6 4 8]]
      local eight = string.pack("<dddddddd", 1, 2, 3, 4, 5, 6, 7, 8)
      local path = npy("'<f8'", "True", "(2, 2, 2)", eight)
      assert.matrix_equal({{1, 5, 3, 7}, {2, 6, 4, 8}}, ts.load(path, {reshape = {2, 4}}))
      path = npy("'<f8'", "True", "(2, 3)", six)
      assert.matrix_equal({{1, 3}, {5, 2}, {4, 6}}, ts.load(path, {reshape = {3, 2}}))
    end)

    it("reads Python 2's long integers, and refuses all that is no tuple of counts", function()
      assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(npy("'<f8'", "False", "(2L, 3L)", six)))
      for _, shape in ipairs{"(6)", "6", "(-2, -3)", "(2.0, 3)", "(2,, 3)", "(,)", "[2, 3]", "(2 3)", "(99999999999999999999,)"} do
        assert.matches("bad header: 'shape'", load_error(npy("'<f8'", "False", shape, six)), 1, true)
      end
      local long = "'" .. ("é"):rep(40) .. "'" -- shown as far as characters are whole
      assert.matches("'shape' is '" .. ("é"):rep(28) .. "…", load_error(npy("'<f8'", "False", long, six)), 1, true)
    end)
  end)

  it("names what is wrong with a header", function()
    local path = npy("'<f8'", "False", "(0,), 'shape': (0,)", "")
    assert.matches("'shape' stands twice", load_error(path))
    path = npy("'<f8'", "False", "(0,), 'order': 1", "")
    assert.matches("'descr', 'fortran_order' or 'shape' expected", load_error(path))
    path = npy("'<f8'", "0", "(0,)", "")
    assert.matches("'fortran_order' is 0", load_error(path))
    path = npy("'<f8'", "False", "(0,)} + {'x': 1", "")
    assert.matches("not a dictionary", load_error(path))
  end)

  describe("saved", function()
    it("comes back bit for bit, views and empty matrices too", function()
      local path = helper.path ".npy"
      local odd = ts.matrix{{-0.0, 0.0, 5e-324}, {inf, -inf, 0.1}}
      for _, m in ipairs{
        odd, odd:t(), odd:col(2), odd:slice(1, 2, 2, 3), odd:slice(2, 1), ts.zeros(0, 3), ts.zeros(3, 0),
        ts.zeros(0, 0), ts.randn(300, 500, {seed = 1}), ts.randn(70, 3, {seed = 2, dtype = "f32"}):t(),
      } do
        m:save(path)
        assert.matrix_identical(m, ts.load(path))
      end
    end)

    it("is what NumPy writes, byte for byte", function()
      local path = helper.path ".npy"
      ts.matrix({{1, 2, 3}, {4, 5, 6}}, {dtype = "f32"}):save(path)
      local file <close> = io.open(path, "rb")
      local fixture <close> = io.open("spec/fixtures/c.npy", "rb")
      assert.equal(fixture:read("a"), file:read("a"))
    end)

    it("keeps NaN", function()
      local path = helper.path ".npy"
      ts.matrix{{nan, 1}}:save(path)
      local m = ts.load(path)
      assert.is_true(m(1, 1) ~= m(1, 1) and m(1, 2) == 1)
    end)
  end)
end)
