local helper = require "spec.helper"
local ts = require "tessera"

local has_zlib, zlib = pcall(require, "zlib")

-- A zip file of entries {name, data, method =, packed =, crc =, size =}, each as it is told to be.
local function zip(entries)
  local crc = require "tessera.zip".crc
  local body, directory = "", ""
  for _, e in ipairs(entries) do
    local packed, method = e.packed or e.data, e.method or 0
    local fields = string.pack("<I2I2I2I2I2I4I4I4I2I2", 20, e.flags or 0, method, 0, 33,
      e.crc or (#e.data > 0 and crc()(e.data) or 0), #packed, e.size or #e.data, #e.name, 0)
    directory = directory .. "PK\1\2\20\0" .. fields .. string.pack("<I2I2I2I4I4", 0, 0, 0, 0, e.at or #body) .. e.name
    body = body .. "PK\3\4" .. fields .. e.name .. packed
  end
  local path = helper.path ".npz"
  helper.write(path, body .. directory .. "PK\5\6" .. string.pack("<I2I2I2I2I4I4I2", 0, 0, #entries, #entries, #directory, #body, 0))
  return path
end

local fixture = helper.read "spec/fixtures/c.npy"

local function refused(entries, words)
  local ok, message = pcall(ts.load, zip(entries))
  assert.is_false(ok)
  assert.matches(words, message, 1, true)
end

describe(".npz", function()
  it("comes back bit for bit, each name with its matrix", function()
    local path = helper.path ".npz"
    local matrices = {a = ts.randn(30, 20, {seed = 1}), ["ü/b"] = ts.randn(3, 4, {seed = 2, dtype = "f32"}):t(), none = ts.zeros(0, 3)}
    ts.save(path, matrices)
    local back = ts.load(path)
    for name, m in pairs(matrices) do assert.matrix_identical(m, back[name], name) end
    assert.same({"a", "none", "ü/b"}, ts.names(path))
    assert.matrix_identical(matrices.a, ts.load(path, "a"))
  end)

  it("reads stored arrays", function()
    assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(zip{{name = "x.npy", data = fixture}}).x)
  end)

  if has_zlib then
    it("reads deflated arrays", function()
      local packed = zlib.deflate(9, -15)(fixture, "finish")
      local path = zip{{name = "x.npy", data = fixture, packed = packed, method = 8}, {name = "y.npy", data = fixture}}
      assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(path, "x"))
      assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(path, "y"))
    end)

    it("inflates no more than it is allowed to", function()
      local header = "{'descr': '|u1', 'fortran_order': False, 'shape': (5000000,), }\n"
      local data = "\x93NUMPY\1\0" .. string.pack("<s2", header) .. ("\0"):rep(5000000)
      local path = zip{{name = "x.npy", data = data, packed = zlib.deflate(9, -15)(data, "finish"), method = 8}}
      assert.error_matches(function() ts.load(path, "x", {limit = 1000000}) end, "inflates to %d+ bytes; {limit = bytes} allows as many")
      assert.equal(5000000, ts.load(path, "x").cols)
    end)

    it("refuses compressed data that is damaged, too short, too long or something else", function()
      local packed = zlib.deflate(9, -15)(fixture, "finish")
      refused({{name = "x.npy", data = fixture, packed = "\xFF" .. packed, method = 8}}, "damaged")
      refused({{name = "x.npy", data = fixture, packed = packed:sub(1, -9), method = 8}}, "cannot read")
      refused({{name = "x.npy", data = fixture, packed = packed, method = 8, crc = 1}}, "the checksum is wrong")
      refused({{name = "x.npy", data = fixture, packed = packed, method = 8, size = 1 << 30}}, "follow the data")
      refused({{name = "x.npy", data = fixture, packed = packed, method = 8, size = 100}}, "truncated")
    end)
  end

  it("says what is missing where there is no lua-zlib, and checks sums all the same", function()
    local zip_module, loaded = package.loaded["tessera.zip"], package.loaded.zlib
    local npz_module, preload = package.loaded["tessera.npz"], package.preload.zlib
    package.loaded["tessera.zip"], package.loaded["tessera.npz"], package.loaded.zlib = nil, nil, nil
    package.preload.zlib = function() error "none" end
    finally(function()
      package.loaded["tessera.zip"], package.loaded["tessera.npz"], package.loaded.zlib = zip_module, npz_module, loaded
      package.preload.zlib = preload
    end)
    assert.equal(0xCBF43926, require "tessera.zip".crc()("123456789"))
    assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(zip{{name = "x.npy", data = fixture}}).x)
    refused({{name = "x.npy", data = fixture, crc = 1}}, "the checksum is wrong")
    refused({{name = "x.npy", data = fixture, method = 8}}, "install lua-zlib")
  end)

  it("refuses what is not a plain zip of arrays", function()
    refused({{name = "x.txt", data = "hello"}}, "entry 'x.txt' is no .npy array")
    refused({{name = "x.npy", data = "hello"}}, "truncated")
    refused({{name = "x.npy", data = fixture, flags = 1}}, "encrypted")
    refused({{name = "x.npy", data = fixture, method = 12}}, "method 12 is not supported")
    refused({{name = "x.npy", data = fixture}, {name = "x.npy", data = fixture}}, "duplicate entry 'x.npy'")
    refused({{name = "x.npy", data = fixture}, {name = "y.npy", data = fixture, at = 0}}, "overlap")
    refused({{name = "x.npy", data = fixture, at = 99999}}, "outside the file")
    refused({{name = "x.npy", data = fixture, at = 1}}, "its header is missing")
    refused({{name = "x.npy", data = fixture, size = 5}}, "two sizes")
    local path = helper.path ".npz"
    helper.write(path, "nothing")
    assert.error_matches(function() ts.load(path) end, "not a zip file")
  end)

  it("finds the directory behind a comment that holds its mark", function()
    local path = zip{{name = "x.npy", data = fixture}}
    local bytes = helper.read(path)
    local comment = "PK\5\6 is not the end of this file"
    helper.write(path, bytes:sub(1, -3) .. string.pack("<s2", comment))
    assert.matrix_equal({{1, 2, 3}, {4, 5, 6}}, ts.load(path, "x"))
  end)
end)
