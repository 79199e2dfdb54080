local helper = require "spec.helper"
local ts = require "tessera"

-- A file of this header and data.
local function safetensors(header, data)
  local path = helper.path ".safetensors"
  local file <close> = assert(io.open(path, "wb"))
  file:write(string.pack("<s8", header), data or "")
  return path
end

local function refused(header, data, words)
  local ok, message = pcall(ts.load, safetensors(header, data))
  assert.is_false(ok, header)
  assert.matches(words, message, 1, true)
end

describe(".safetensors", function()
  it("loads every type that a matrix can hold", function()
    local cases = {
      {"F64", string.pack("<dd", 0.1, -0.0), {0.1, -0.0}, "f64"},
      {"F32", string.pack("<ff", 1.5, 2.0 ^ -149), {1.5, 2.0 ^ -149}, "f32"},
      {"F16", string.pack("<I2I2", 0x3C00, 0x8001), {1, -2.0 ^ -24}, "f32"},
      {"BF16", string.pack("<I2I2", 0x3F80, 0xC000), {1, -2}, "f32"},
      {"I64", string.pack("<i8", -(1 << 53)), {-2.0 ^ 53}, "f64"},
      {"I32", string.pack("<i4", -5), {-5}, "f64"},
      {"I16", string.pack("<i2", -5), {-5}, "f64"},
      {"I8", string.pack("<i1", -5), {-5}, "f64"},
      {"U64", string.pack("<i8", math.mininteger), {2.0 ^ 63}, "f64"},
      {"U32", string.pack("<I4", 4294967295), {4294967295}, "f64"},
      {"U16", string.pack("<I2", 65535), {65535}, "f64"},
      {"U8", string.pack("<I1", 255), {255}, "f64"},
      {"BOOL", "\0\1", {0, 1}, "f64"},
    }
    for _, case in ipairs(cases) do
      local name, data, want, dtype = table.unpack(case)
      local header = ('{"t":{"dtype":"%s","shape":[%d],"data_offsets":[0,%d]}}'):format(name, #want, #data)
      local m = ts.load(safetensors(header, data), "t")
      assert.matrix_identical(ts.matrix({want}, {dtype = dtype}), m, name)
    end
  end)

  it("gives one tensor by name, all of them without, and the names in the file's order", function()
    local header = '{"b":{"dtype":"U8","shape":[1,2],"data_offsets":[2,4]},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}'
    local path = safetensors(header, "\1\2\3\4")
    assert.same({"b", "a"}, ts.names(path))
    assert.matrix_equal({{3, 4}}, ts.load(path, "b"))
    local all = ts.load(path)
    assert.matrix_equal({{1, 2}}, all.a)
    assert.matrix_equal({{3, 4}}, all.b)
  end)

  it("names the near tensor where there is none of that name", function()
    assert.error_matches(function() ts.load("spec/fixtures/ok.safetensors", "W") end,
      "it holds no 'W' %(did you mean 'w'%?%)")
  end)

  it("gives the metadata beside the tensors", function()
    local _, metadata = ts.load("spec/fixtures/meta.safetensors")
    assert.same({format = "pt"}, metadata)
    local _, none = ts.load("spec/fixtures/ok.safetensors")
    assert.is_nil(none)
  end)

  it("refuses, by name, a tensor that no matrix can be; the others load", function()
    local header = '{"c":{"dtype":"C64","shape":[1],"data_offsets":[0,8]},"x":{"dtype":"U8","shape":[1,1,2],"data_offsets":[8,10]},'
      .. '"y":{"dtype":"U8","shape":[1],"data_offsets":[10,11]}}'
    local path = safetensors(header, ("\1"):rep(11))
    assert.error_matches(function() ts.load(path, "c") end, "dtype C64 is not supported")
    assert.error_matches(function() ts.load(path, "x") end, "it has 3 axes %(1x1x2%)")
    assert.error_matches(function() ts.load(path) end, "': tensor 'c': dtype C64 is not supported; ts.load%(path, name%) loads one alone$")
    assert.matrix_equal({{1, 1}}, ts.load(path, "x", {reshape = {1, 2}}))
    assert.matrix_equal({{1}}, ts.load(path, "y"))
    path = safetensors('{"x":{"dtype":"U8","shape":[1,1,2],"data_offsets":[0,2]}}', "\1\1")
    assert.error_matches(function() ts.load(path) end, "': array 'x': it has 3 axes %(1x1x2%): give")
  end)

  it("refuses headers that are not strictly what the format says", function()
    local ok = '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    refused('{"t":' .. ok .. ',}', "\1", "JSON: string expected")
    refused('{"t":' .. ok .. '} x', "\1", "JSON: something follows")
    refused(' {"t":' .. ok .. '}', "\1", "not a JSON object")
    refused('{"t":' .. ok .. ',"t\\u0000":1}', "\1", "not an object")
    refused('{"t":[]}', "", "not an object")
    refused('{"t":null}', "", "not an object")
    refused('{"t":{"dtype":"U8","shape":{},"data_offsets":[0,1]}}', "\1", "shape must be")
    refused('{"t":{"dtype":"U8","shape":null,"data_offsets":[0,1]}}', "\1", "shape must be")
    refused('{"t":{"dtype":"U8","shape":[1],"data_offsets":[0]}}', "\1", "data_offsets")
    refused('{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}}', "\1", "data_offsets")
    refused('{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1.0]}}', "\1", "data_offsets")
    refused('{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}', "\1", "unknown field")
    refused('{"t":{"dtype":5,"shape":[1],"data_offsets":[0,1]}}', "\1", "unknown dtype '5'")
    refused('{"t":{"shape":[1],"data_offsets":[0,1]}}', "\1", "unknown dtype")
    refused('{"__metadata__":{"a":1},"t":' .. ok .. '}', "\1", "more than strings")
    refused('{"__metadata__":[],"t":' .. ok .. '}', "\1", "not an object")
    refused('{"__metadata__":{},"__metadata__":{},"t":' .. ok .. '}', "\1", "duplicate key '__metadata__'")
    refused('{"\xff":' .. ok .. '}', "\1", "not UTF-8")
  end)

  describe("saved", function()
    it("comes back bit for bit, with names, dtypes and metadata", function()
      local path = helper.path ".safetensors"
      local matrices = {
        ["a \"quoted\" \\ name\n\1é😀"] = ts.matrix{{-0.0, 1 / 0, 5e-324}},
        small = ts.randn(3, 5, {seed = 1, dtype = "f32"}), view = ts.randn(40, 30, {seed = 2}):t(),
        none = ts.zeros(0, 3), nothing = ts.zeros(3, 0, {dtype = "f32"}),
      }
      ts.save(path, matrices, {metadata = {made = "by hand", ["\"k\""] = "\tv\127"}})
      local back, metadata = ts.load(path)
      for name, m in pairs(matrices) do assert.matrix_identical(m, back[name], name) end
      for name in pairs(back) do assert.is_not_nil(matrices[name]) end
      assert.same({made = "by hand", ["\"k\""] = "\tv\127"}, metadata)
    end)

    it("aligns its data to 8 bytes", function()
      local path = helper.path ".safetensors"
      ts.save(path, {x = ts.ones(1, 1, {dtype = "f32"}), y = ts.ones(1, 1)})
      local file <close> = io.open(path, "rb")
      assert.equal(0, string.unpack("<i8", file:read(8)) % 8)
      assert.same({"y", "x"}, ts.names(path))
    end)

    it("takes no name that could not be read back, and leaves the old file alone", function()
      local path = helper.path ".safetensors"
      ts.save(path, {x = ts.eye(2)})
      local function refuses(words, ...)
        local ok, message = pcall(ts.save, path, ...)
        assert.is_false(ok)
        assert.matches("cannot save '" .. path .. "': " .. words, message, 1, true)
      end
      refuses("the name '__metadata__' is taken", {__metadata__ = ts.eye(2)})
      refuses("JSON: '\xFF' is not UTF-8", {["\xFF"] = ts.eye(2)})
      refuses("JSON: '\xFF' is not UTF-8", {y = ts.eye(2)}, {metadata = {k = "\xFF"}})
      assert.same({"x"}, ts.names(path))
    end)

    it("holds a single matrix as \"matrix\", and nothing at all", function()
      local path = helper.path ".safetensors"
      ts.ones(2, 2):save(path)
      assert.matrix_equal({{1, 1}, {1, 1}}, ts.load(path).matrix)
      ts.save(path, {})
      assert.same({}, ts.load(path))
    end)
  end)
end)
