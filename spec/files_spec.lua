--- The readers against files made to mislead them: spec/fixtures, with what each must give in EXPECTED.json.
require "spec.helper"
local ts = require "tessera"

local folder = "spec/fixtures/"
local inf = math.huge
local two_by_three = {{1, 2, 3}, {4, 5, 6}}

-- By name: a matrix, a table of tensors, or the words that the error must hold.
local expected = {
  ["c.npy"] = two_by_three, ["fortran.npy"] = two_by_three, ["v2.npy"] = two_by_three,
  ["v3.npy"] = two_by_three, ["pad16.npy"] = two_by_three, ["pad_none.npy"] = two_by_three,
  ["hdr_long.npy"] = two_by_three, ["key_order.npy"] = two_by_three,
  ["be_f4.npy"] = two_by_three,
  ["v9.npy"] = "unsupported version 9.0",
  ["scalar0d.npy"] = {{5}},
  ["vec.npy"] = {{1, 2, 3}},
  ["empty_0x3.npy"] = ts.zeros(0, 3),
  ["empty_3x0.npy"] = ts.zeros(3, 0),
  ["u1.npy"] = {{0, 1, 2}, {253, 254, 255}},
  ["b1.npy"] = {{1, 0, 1}, {0, 1, 0}}, ["bool_q.npy"] = {{1, 0, 1}, {0, 1, 0}},
  ["i8.npy"] = "9007199254740993",
  ["struct.npy"] = "structured dtype",
  ["trunc_data.npy"] = "truncated: 20 of 24 bytes",
  ["trunc_hdr.npy"] = "truncated: the header says 65528 bytes, the file has 0",
  ["trunc_magic.npy"] = "truncated",
  ["v2_hugehdr.npy"] = "truncated: the header says",
  ["neg_dim.npy"] = "bad header: 'shape'",
  ["prod_overflow.npy"] = "too large",
  ["prod_overflow2.npy"] = "too large",
  ["huge_dims_nodata.npy"] = "truncated: 4 of 40000000000 bytes",
  ["trailing.npy"] = "3 bytes follow the data",
  ["ok.safetensors"] = {w = two_by_three},
  ["meta.safetensors"] = {w = two_by_three},
  ["bf16.safetensors"] = {w = {{1.0, -2.0, 9.183549615799121e-41, inf}}},
  ["scalar.safetensors"] = {s = {{2.5}}},
  ["hlen_max.safetensors"] = "header's length",
  ["hlen_wrap.safetensors"] = "header's length",
  ["hlen_past_end.safetensors"] = "header's length",
  ["short7.safetensors"] = "truncated",
  ["dup.safetensors"] = "duplicate key",
  ["overlap.safetensors"] = "overlap",
  ["alias.safetensors"] = "overlap",
  ["hole.safetensors"] = "bytes 4 to 8 belong to no tensor",
  ["trailing.safetensors"] = "follow the last tensor",
  ["short_range.safetensors"] = "4 bytes for a shape that needs 4000000",
  ["past_eof.safetensors"] = "ends at byte",
  ["inverted.safetensors"] = "backwards",
  ["off_wrap.safetensors"] = "63 bits",
  ["unknown_dtype.safetensors"] = "unknown dtype",
  ["shape_overflow.safetensors"] = "too large",
  ["neg_shape.safetensors"] = "shape must be",
  ["float_shape.safetensors"] = "shape must be",
  ["deep.safetensors"] = "nested too deeply",
  ["notobj.safetensors"] = "not a JSON object",
}

local function contents(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

describe("a fixture", function()
  it("is known by name here and in EXPECTED.json", function()
    local all = require "tessera.json".read(contents(folder .. "EXPECTED.json"), 3)
    for name in pairs(all) do assert.is_not_nil(expected[name], name) end
    for name in pairs(expected) do assert.is_not_nil(all[name], name) end
  end)

  for name, want in pairs(expected) do
    it(name .. " gives what EXPECTED.json says", function()
      local ok, got = pcall(ts.load, folder .. name)
      if type(want) == "string" then
        assert.is_false(ok)
        assert.matches("cannot load '" .. folder .. name .. "': ", got, 1, true)
        assert.matches(want, got, 1, true)
      elseif name:find("safetensors") then
        assert.is_true(ok, got)
        for tensor, matrix in pairs(want) do assert.matrix_equal(matrix, got[tensor]) end
        for tensor in pairs(got) do assert.is_not_nil(want[tensor], tensor) end
      else
        assert.is_true(ok, got)
        assert.matrix_equal(want, got)
      end
    end)
  end
end)
