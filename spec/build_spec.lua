-- The build itself, and what `make install` leaves behind.
local helper = require "spec.helper"

local build = os.getenv "TESSERA_BUILD" or "build"

-- Runs a command outside of the make and the paths that may have started the specs.
local function run(command)
  local said, status = helper.run("unset MAKEFLAGS MFLAGS MAKELEVEL LUA_PATH_5_4 LUA_CPATH_5_4; " .. command)
  assert(status == 0, ("%s: status %d\n%s"):format(command, status, said))
  return said
end

describe("make", function()
  it("has nothing to do the second time", function()
    run("make -q BUILD=" .. build .. " all")
  end)

  it("tells its targets", function()
    local said = run "make help"
    for _, target in ipairs {"all", "setup", "test", "check", "demo", "repl", "bench", "install", "uninstall", "clean"} do
      assert.matches("make " .. target .. " ", said, 1, true)
    end
  end)
end)

describe("the module", function()
  it("shows the linker one symbol, so that no host's function is shadowed", function()
    local said = run("nm -D --defined-only " .. build .. "/tessera/core.so")
    assert.matches("luaopen_tessera_core", said, 1, true)
    for name in said:gmatch "(%S+)\n" do
      local of_sanitizer = name:find "^__" -- in their own builds
      assert.is_true(name == "luaopen_tessera_core" or of_sanitizer ~= nil, name)
    end
  end)

  it("brings no Lua of its own (X06)", function()
    assert.is_nil(run("ldd " .. build .. "/tessera/core.so"):find "liblua")
  end)

  it("says what it lacks where a host keeps Lua to itself, and runs where it does not (X06)", function()
    local library = run("ldd " .. build .. "/host"):match "liblua%S* => (%S+)"
    if not library then return pending "Lua is here no shared library" end
    local function host(how)
      return helper.run(("%s/private %s %s 'print(#require [[tessera]].zeros(2, 3))'"):format(build, library, how))
    end
    assert.same({"2\n", 0}, {host "global"})
    local said, status = host "local"
    assert.equal(1, status)
    assert.matches("core.so: undefined symbol: lua", said, 1, true)
  end)

  it("is never unmapped: OpenMP's threads outlive dlclose (L08)", function()
    assert.matches("NODELETE", run("readelf -d " .. build .. "/tessera/core.so"))
  end)
end)

describe("make install", function()
  if not helper.usual then return end

  local root = helper.path ""
  local prefix = root .. "/its prefix"
  setup(function() run(("make -s install PREFIX='%s'"):format(prefix)) end)
  teardown(function() os.execute("rm -rf " .. root) end)

  it("makes a command that runs scripts from anywhere", function()
    assert.equal("3\n", run(("cd / && '%s/bin/tessera' -e 'print(ts.zeros(2, 3).cols)'"):format(prefix)))
  end)

  it("takes a place for what it is here and now: the command finds its modules from anywhere", function()
    local there = root .. "/a relative one"
    run(([[there="$(realpath -m --relative-to=. '%s')" && make -s install PREFIX="$there" BINDIR="$there/command"]]):format(there))
    assert.equal("3\n", run(("cd / && '%s/command/tessera' -e 'print(ts.zeros(2, 3).cols)'"):format(there)))
  end)

  it("makes a C library that pkg-config knows", function()
    local program = root .. "/program.c"
    local file = assert(io.open(program, "w"))
    file:write [[
#include <stdio.h>
#include <tessera.h>
int main(void) {
    ts_range ranges[] = {{4, 6}, {1, 3}}, room[2];
    ts_keyset keys = {.ranges = room};
    ts_detail detail;
    if (ts_keyset_make(ranges, 2, &keys, &detail) != TS_OK) return 1;
    printf("%d of %d..%d\n", (int)keys.count, (int)room[0].first, (int)room[0].last);
}
]]
    file:close()
    local flags = ("PKG_CONFIG_PATH='%s/lib/pkgconfig' pkg-config --cflags --libs tessera"):format(prefix)
    assert.equal("1 of 1..6\n", run(("eval gcc %s -o %s/program $(%s) && %s/program"):format(program, root, flags, root)))
  end)

  it("may be moved: tessera.pc names no place, but where others lie from its own", function()
    local moved = prefix .. " moved"
    run(("cp -R '%s' '%s'"):format(prefix, moved))
    local flags = run(("PKG_CONFIG_PATH='%s/lib/pkgconfig' pkg-config --cflags tessera"):format(moved))
    assert.equal("", run(("eval test -f %s/tessera.h"):format(flags:match "^%-I(.-)%s*$":gsub("\\", "\\\\"))))
    assert.matches("its\\ prefix\\ moved", flags, 1, true)
  end)

  it("brings the manual", function()
    assert.matches("<h1", run(("cat '%s/share/doc/tessera/manual/index.html'"):format(prefix)), 1, true)
    assert.matches("ts.mask.causal", run(("cat '%s/share/doc/tessera/manual/reference.html'"):format(prefix)), 1, true)
  end)

  it("can be undone, and leaves what others have in the same folders: INCLUDEDIR may be /usr/include", function()
    run(("cd '%s' && touch include/tessera/theirs.h share/doc/tessera/theirs"):format(prefix))
    run(("make -s uninstall PREFIX='%s'"):format(prefix))
    assert.equal("include/tessera/theirs.h\nshare/doc/tessera/theirs\n", run(("cd '%s' && find * -type f | sort"):format(prefix)))
  end)

  it("refuses names that a shell would take apart, before it puts or removes anything", function()
    for _, name in ipairs{"it's", "a&b", "a|b", "a`b", 'a"b'} do
      for _, what in ipairs{"install", "uninstall"} do
        local quoted = ("%q"):format(root .. "/odd " .. name):gsub("`", "\\`")
        local said, code = helper.run(("make -s %s PREFIX=%s"):format(what, quoted))
        assert.not_equal(0, code)
        assert.matches("cannot hold", said, 1, true)
      end
    end
    assert.equal("", run(("find %s -maxdepth 1 -name 'odd*'"):format(root)))
  end)

  it("obeys DESTDIR", function()
    run(("make -s install DESTDIR=%s/staged PREFIX=/usr"):format(root))
    assert.equal("", run(("grep -rl %s %s/staged/usr/bin %s/staged/usr/lib/pkgconfig || true"):format(root, root, root)))
    run(("test -f %s/staged/usr/lib/lua/5.4/tessera/core.so"):format(root))
  end)
end)

describe("luarocks make", function()
  if build ~= "build" or select(2, helper.run "command -v luarocks") ~= 0 then return end

  it("makes a rock whose command runs scripts and the prompt from anywhere, and that can be removed", function()
    local tree = helper.run("mktemp -d"):match "[^\n]+"
    local rocks = "luarocks --lua-version 5.4 --tree " .. tree
    run(rocks .. " make")
    local command = "cd / && env -u LUA_PATH -u LUA_CPATH -u LUA_PATH_5_4 -u LUA_CPATH_5_4 " .. tree .. "/bin/tessera "
    assert.equal("10\n", run(command .. "-e 'print(ts.mask.causal(4):count())'"))
    assert.matches("\n> 42\n", run("echo '6 * 7' | (" .. command .. "-i)"))
    run(rocks .. " remove tessera")
    assert.equal("", run("find " .. tree .. " -type f -not -name 'manifest*' -not -name index.html"))
    os.execute("rm -r " .. tree)
  end)
end)

describe("make deb", function()
  if not helper.usual or select(2, helper.run "command -v dpkg-deb dpkg-query strip readelf objdump") ~= 0 then return end

  local root, package = helper.path "", nil
  setup(function()
    package = run("make -s deb BUILD=" .. build):match "(%S+/tessera_%S+%.deb)\n"
    run(("dpkg-deb -x %s %s"):format(package, root))
  end)
  teardown(function() os.execute("rm -rf " .. root) end)

  it("holds the manual, the examples and their data", function()
    local doc = root .. "/usr/share/doc/tessera"
    local said = run("cd " .. doc .. " && ls manual/reference.html examples/01-a-real-layer.lua examples/data/tokens.json")
    assert.equal("examples/01-a-real-layer.lua\nexamples/data/tokens.json\nmanual/reference.html\n", said)
  end)

  it("names the version that Lua tells, and what the module needs", function()
    local control = run("dpkg-deb -f " .. package)
    assert.matches("\nVersion: " .. require "tessera".version .. "\n", control, 1, true)
    for _, name in ipairs{"lua5.4", "libc6 (>= ", "libgomp1", "libmpfr6", "libsleef3"} do
      assert.matches(name, control:match "\nDepends: ([^\n]*)", 1, true)
    end
  end)

  it("holds a module that runs where Debian's Lua looks for it, and nothing of whoever built it", function()
    local code = [[print(require "tessera".mask.causal(4):count())]]
    local said = run(("cd / && LUA_PATH_5_4='%s/usr/share/lua/5.4/?.lua;%s/usr/share/lua/5.4/?/init.lua' "
      .. "LUA_CPATH_5_4=\"$(echo %s/usr/lib/*/lua/5.4)/?.so\" lua5.4 -W -e '%s'"):format(root, root, root, code))
    assert.equal("10\n", said)
    for line in run("dpkg-deb -c " .. package):gmatch "[^\n]+" do assert.matches(" root/root ", line, 1, true) end
    for _, folder in ipairs{"lua", "core", "build", "scripts"} do -- of a checkout anywhere: /x alone would be found in most texts
      local found = helper.run(([[grep -rlF "$PWD/%s" %s/usr --include=*.lua --include=*.pc --include=tessera]]):format(folder, root))
      assert.equal("", found)
    end
  end)
end)
