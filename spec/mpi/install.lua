-- What `make install` and `make deb` bring of tessera.mpi, which `make mpi` has built.
local helper = require "spec.helper"
local mpirun = require "spec.mpirun"

local build = os.getenv "TESSERA_BUILD" or "build"

-- Runs a command outside of the make and the paths that may have started the specs.
local function run(command)
  local said, status = helper.run("unset MAKEFLAGS MFLAGS MAKELEVEL LUA_PATH_5_4 LUA_CPATH_5_4; " .. command, mpirun.environment)
  assert(status == 0, ("%s: status %d\n%s"):format(command, status, said))
  return said
end

local code = [['local mpi = require "tessera.mpi"; mpi.print(mpi.rank, mpi.size)']]

describe("make install", function()
  local prefix = helper.path ""
  setup(function() run("make -s install BUILD=" .. build .. " PREFIX=" .. prefix) end)
  teardown(function() os.execute("rm -rf " .. prefix) end)

  it("brings tessera.mpi, which runs from anywhere", function()
    assert.equal("0\t2\n1\t2\n", run(("cd / && mpirun -n 2 %s/bin/tessera -e %s"):format(prefix, code)))
  end)

  it("can be undone", function()
    run("make -s uninstall PREFIX=" .. prefix)
    assert.equal("", run("find " .. prefix .. " -type f"))
  end)
end)

describe("make deb", function()
  if select(2, helper.run "command -v dpkg-deb dpkg-query strip readelf objdump") ~= 0 then return end

  local root, said = helper.path "", nil
  setup(function() said = run("make -s deb BUILD=" .. build) end)
  teardown(function() os.execute("rm -rf " .. root) end)

  local function package(name) return said:match("(%S+/" .. name .. "_%S+%.deb)\n") end
  local function files(name) return run(("dpkg-deb -c %s | awk '!/\\/$/ { print $6 }' | sort"):format(package(name))) end

  it("leaves tessera.mpi to a package of its own, which needs Open MPI", function()
    assert.is_nil(files "tessera":find("mpi.so", 1, true))
    local held = files "tessera%-mpi"
    assert.matches("^%./usr/lib/%S+/lua/5%.4/tessera/mpi%.so\n%./usr/share/doc/tessera%-mpi\n$", held)
    local depends = run("dpkg-deb -f " .. package "tessera%-mpi" .. " Depends")
    for _, name in ipairs{"tessera (= " .. require "tessera".version .. ")", "libopenmpi3", "libc6 (>= "} do
      assert.matches(name, depends, 1, true)
    end
    assert.is_nil(run("dpkg-deb -f " .. package "tessera" .. " Depends"):find("mpi", 1, true))
  end)

  it("makes two packages that run together where Debian's Lua looks for them", function()
    for _, name in ipairs{"tessera", "tessera%-mpi"} do run(("dpkg-deb -x %s %s"):format(package(name), root)) end
    local from = ("LUA_PATH_5_4='%s/usr/share/lua/5.4/?.lua;%s/usr/share/lua/5.4/?/init.lua' "
      .. "LUA_CPATH_5_4=\"$(echo %s/usr/lib/*/lua/5.4)/?.so\""):format(root, root, root)
    assert.equal("0\t2\n1\t2\n", run(("cd / && %s mpirun -n 2 lua5.4 -e %s"):format(from, code)))
    run("readlink -e " .. root .. "/usr/share/doc/tessera-mpi/copyright")
  end)
end)
