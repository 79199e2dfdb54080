--- The readers against files made to mislead them: spec/fixtures, with what each must give in EXPECTED.json.
local helper = require "spec.helper"
local ts = require "tessera"

local folder = "spec/fixtures/"
local inf = math.huge
local two_by_three = {{1, 2, 3}, {4, 5, 6}}

-- The public cases that a file belongs to.
local cases = {
  {"F01", "fortran"}, {"F02", "v2.npy v3 v9"}, {"F03", "scalar0d vec empty_0x3 empty_3x0"},
  {"F04", "pad16 pad_none hdr_long key_order struct"}, {"F05", "u1 b1 bool_q be_f4 i8"},
  {"F06", "trunc_ v2_hugehdr neg_dim prod_overflow huge_dims_nodata"},
  {"F07", "hlen_ short7 dup overlap alias hole trailing.safetensors short_range past_eof inverted off_wrap unknown_dtype shape_overflow "
    .. "neg_shape float_shape deep notobj"},
}
local function case_of(name)
  for _, case in ipairs(cases) do
    for start in case[2]:gmatch "%S+" do
      if name:sub(1, #start) == start then return case[1] .. ": " end
    end
  end
  return ""
end

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

local function folder_of_our_own() return helper.folder() .. "/" end

local function listing(path)
  local pipe <close> = io.popen("ls -A '" .. path .. "'")
  return pipe:read("a")
end

describe("a fixture", function()
  it("is known by name here and in EXPECTED.json", function()
    local all = require "tessera.json".read(helper.read(folder .. "EXPECTED.json"), 3)
    for name in pairs(all) do assert.is_not_nil(expected[name], name) end
    for name in pairs(expected) do assert.is_not_nil(all[name], name) end
  end)

  for name, want in pairs(expected) do
    it(case_of(name) .. name .. " gives what EXPECTED.json says", function()
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

describe("ts.load", function()
  it("blames the argument", function()
    assert.error_matches(function() ts.load() end, "bad argument #1 to 'load' %(string expected, got nil%)")
    assert.error_matches(function() ts.load "x.txt" end, "bad argument #1 to 'load' %(the ending of 'x.txt' is none of")
    assert.error_matches(function() ts.load "npy" end, "bad argument #1 to 'load'")
    assert.error_matches(function() ts.load(folder .. "c.npy", "w") end, "bad argument #2 to 'load' %(.*holds one matrix")
    assert.error_matches(function() ts.load(folder .. "c.npy", 5) end, "bad argument #2 to 'load' %(string expected, got number")
    assert.error_matches(function() ts.load(folder .. "ok.safetensors", "w", {x = 1}) end,
      "bad argument #3 to 'load' %(invalid field 'x'%)")
  end)

  it("says in the system's words why there is no file", function()
    assert.error_matches(function() ts.load "none.npy" end, "cannot load 'none.npy': No such file or directory")
    local path = folder_of_our_own()
    assert(os.execute("mkdir '" .. path .. "d.npy'"))
    assert.error_matches(function() ts.load(path .. "d.npy") end, "d.npy': Is a directory")
    assert.error_matches(function() ts.load(path .. "d.npy\0.csv") end, "a name cannot hold a zero byte")
    for name, target in pairs{zero = "/dev/zero", full = "/dev/full"} do
      os.execute(("ln -s %s '%s%s.csv'"):format(target, path, name))
      assert.error_matches(function() ts.load(path .. name .. ".csv") end, name .. ".csv': not a regular file")
    end
    os.execute(("mkfifo '%spipe.npy'"):format(path))
    assert.error_matches(function() ts.load(path .. "pipe.npy") end, "pipe.npy': not a regular file")
    assert.error_matches(function() ts.load "/dev/null.npy" end, "cannot load")
  end)

  it("gives one value, without a nil behind it, where there is no metadata", function()
    assert.equal(1, select("#", ts.load(folder .. "c.npy")))
    assert.equal(1, select("#", ts.names(folder .. "c.npy")))
    local name = os.tmpname()
    finally(function() os.remove(name) os.remove(name .. ".npz") end)
    ts.save(name .. ".npz", {x = ts.ones(1, 1)})
    assert.equal(1, select("#", ts.load(name .. ".npz")))
    assert.equal(1, select("#", ts.load(name .. ".npz", "x")))
  end)

  it("takes endings in any case", function()
    local path = folder_of_our_own() .. "A.NPY"
    ts.ones(1, 2):save(path)
    assert.matrix_equal({{1, 1}}, ts.load(path))
  end)

  it("reads every fixture in 64 MB of address space, whatever sizes it claims (case F06)", function()
    if os.getenv "ASAN_OPTIONS" then return pending("the sanitizer takes terabytes of address space") end
    local script = folder_of_our_own() .. "all.lua"
    helper.write(script, [[
      package.path, package.cpath = "lua/?.lua;lua/?/init.lua;" .. package.path, arg[1] .. "/?.so;" .. package.cpath
      local ts = require "tessera"
      for at = 2, #arg do
        local ok, message = pcall(ts.load, arg[at])
        if not ok and not message:find("cannot load", 1, true) then print(arg[at], message) end
      end
      print "done"
    ]])
    local names = {}
    for name in pairs(expected) do names[#names + 1] = folder .. name end
    local pipe <close> = io.popen(("ulimit -v 65536; OMP_NUM_THREADS=1 lua5.4 '%s' '%s' %s 2>&1"):format(script,
      os.getenv "TESSERA_BUILD" or "build", table.concat(names, " ")))
    local output = pipe:read "a"
    if output:find("failed to map segment", 1, true) then return pending("the module alone takes more here") end
    assert.equal("done\n", output)
  end)

  it("leaves no file open, whatever happens", function()
    local process = io.open "/proc/self/stat"
    if not process then return pending("there is no /proc here") end
    local folder_of_files = ("/proc/%d/fd"):format(process:read("n"))
    process:close()
    collectgarbage() -- what others left to the collector
    collectgarbage("stop")
    finally(function() collectgarbage("restart") end)
    local function open_files()
      local pipe <close> = io.popen("sleep 0.1; ls " .. folder_of_files) -- until popen has closed its own end
      return pipe:read "a"
    end
    local before = open_files()
    for name in pairs(expected) do pcall(ts.load, folder .. name) end
    assert.equal(before, open_files())
  end)
end)

describe("ts.save", function()
  it("blames the argument", function()
    assert.error_matches(function() ts.save("x.npy", 5) end, "bad argument #2 to 'save' %(matrix or table")
    assert.error_matches(function() ts.save("x.safetensors", {a = 5}) end, "field 'a': matrix expected, got number")
    assert.error_matches(function() ts.save("x.safetensors", {ts.ones(1, 1)}) end, "name expected, got number")
    assert.error_matches(function() ts.save("x.npy", {a = ts.ones(1, 1)}) end, "holds one matrix")
    assert.error_matches(function() ts.save("x.safetensors", {}, {metadata = {a = 1}}) end, "field 'metadata'")
    for _, path in ipairs{"x.npz", "x.npy", "x.csv"} do
      assert.error_matches(function() ts.save(path, ts.ones(1, 1), {metadata = {a = "b"}}) end,
        "bad argument #3 to 'save' %(field 'metadata': '" .. path .. "' keeps none")
    end
    assert.error_matches(function() ts.save(ts.ones(1, 1), "x.npy") end, "got matrix; the path comes first%)")
    assert.error_matches(function() ts.ones(1, 1):save() end, "bad argument #1 to 'save' %(string expected, got nil%)")
  end)

  it("says in the system's words why it cannot, and leaves nothing behind", function()
    local path = folder_of_our_own()
    assert.error_matches(function() ts.ones(1, 1):save(path .. "none/x.npy") end,
      "cannot save '" .. path .. "none/x.npy': .*No such file or directory")
    assert(os.execute("mkdir '" .. path .. "x.npy'"))
    assert.error_matches(function() ts.ones(1, 1):save(path .. "x.npy") end, "Is a directory")
    assert.error_matches(function() ts.ones(1, 1):save(path .. "y\0.npy") end, "a name cannot hold a zero byte")
    assert.equal("x.npy\n", listing(path))
  end)

  it("leaves the old file whole, and nothing else, when writing fails", function()
    local path = folder_of_our_own()
    ts.ones(2, 2):save(path .. "x.npy")
    -- A file larger than ulimit -f allows: the write fails half-way.
    local command = ([[LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='%s/?.so;;' sh -c "trap '' XFSZ; ulimit -f 8; lua5.4 -e \"
      local ok, message = pcall(function() require('tessera').ones(500, 500):save('%sx.npy') end) print(ok, message)\""]])
      :format(os.getenv "TESSERA_BUILD" or "build", path)
    local pipe <close> = io.popen(command)
    assert.matches("^false.*cannot save '.*x.npy': File too large", pipe:read("a"))
    assert.equal("x.npy\n", listing(path))
    assert.matrix_equal(ts.ones(2, 2), ts.load(path .. "x.npy"))
  end)

  it("leaves the old file whole when it is interrupted", function()
    local path = folder_of_our_own()
    ts.ones(2, 2):save(path .. "x.csv")
    local large, steps = ts.ones(100, 100), 0
    debug.sethook(function()
      steps = steps + 1
      if steps == 50 then debug.sethook() error "interrupted!" end
    end, "", 1000)
    local ok, message = pcall(large.save, large, path .. "x.csv")
    debug.sethook()
    assert.is_false(ok)
    assert.matches("interrupted!", message)
    assert.equal("x.csv\n", listing(path))
    assert.matrix_equal(ts.ones(2, 2), ts.load(path .. "x.csv"))
  end)

  it("follows a link and keeps the file's permissions", function()
    local path = folder_of_our_own()
    ts.ones(1, 1):save(path .. "x.npy")
    assert(os.execute(("chmod 640 '%sx.npy' && ln -s x.npy '%sy.npy'"):format(path, path)))
    ts.ones(3, 3):save(path .. "y.npy")
    assert.matrix_equal(ts.ones(3, 3), ts.load(path .. "x.npy"))
    local pipe <close> = io.popen(("stat -c %%a%%F '%sx.npy' '%sy.npy'"):format(path, path))
    assert.matches("^640regular file\n.*symbolic link\n$", pipe:read("a"))
  end)

  it("follows links to where nothing is yet, and refuses those that lead nowhere, instead of replacing them", function()
    local path = folder_of_our_own()
    assert(os.execute(("cd '%s' && mkdir a b && ln -s ../b/y.npy a/x.npy && ln -s \"$PWD/b/z.npy\" b/y.npy && ln -s x.npy x.npy")
      :format(path)))
    ts.ones(2, 2):save(path .. "a/x.npy")
    assert.matrix_equal(ts.ones(2, 2), ts.load(path .. "b/z.npy"))
    assert.error_matches(function() ts.ones(2, 2):save(path .. "x.npy") end, "x.npy': Too many levels of symbolic links$")
    local pipe <close> = io.popen(("cd '%s' && find . -type l | sort"):format(path))
    assert.equal("./a/x.npy\n./b/y.npy\n./x.npy\n", pipe:read("a"))
  end)

  it("saves under the longest names that the system has, and puts one in the place of another", function()
    local path = folder_of_our_own()
    local longest = 255
    if not io.open(path .. ("x"):rep(longest), "w") then return pending "names are shorter here" end
    for length = 240, longest do
      for _, letter in ipairs{"x", "é"} do
        local name = path .. letter:rep((length - #".npy") // #letter) .. ("."):rep((length - #".npy") % #letter) .. ".npy"
        for x = 1, 2 do ts.matrix(1, 1, x):save(name) end
        assert.matrix_equal({{2}}, ts.load(name))
      end
    end
    local said = require "spec.helper".run(("ls %s | grep -c part"):format(path))
    assert.equal("0\n", said)
    assert.error_matches(function() ts.ones(1, 1):save(path .. ("x"):rep(longest) .. ".npy") end, "File name too long")
  end)

  it("takes a name for a name, whatever it looks like", function()
    local path = folder_of_our_own()
    for _, name in ipairs{"'; touch pwned; '", "`touch pwned`", "|touch pwned", "<touch pwned", "a_{b}@c", "new\nline\nEOD"} do
      ts.ones(1, 2):save(path .. name .. ".npy")
      assert.matrix_equal({{1, 1}}, ts.load(path .. name .. ".npy"))
    end
    assert.is_nil(io.open(path .. "pwned"))
    assert.is_nil(io.open "pwned")
  end)
end)
