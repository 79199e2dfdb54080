-- core.lua -- the C part of tessera.mpi, which joins the other ranks when it is loaded.

local path = package.searchpath("tessera.mpi", package.cpath)
if not path then
  error("tessera.mpi is not built: `scripts/setup --mpi` installs Open MPI, then `make mpi` builds it (Debian: the package "
    .. "tessera-mpi); run scripts with `mpirun -n 4 scripts/tessera FILE.lua`", 0)
end
local open, why = package.loadlib(path, "luaopen_tessera_mpi")
if not open then error("tessera.mpi cannot be loaded: " .. why, 0) end
return open()
