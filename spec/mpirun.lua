-- mpirun.lua -- runs a script on so many ranks, of Open MPI, on whatever machine the specs run.
local helper = require "spec.helper"

-- More ranks than processors; as root, in a container that forbids one process to read another's memory; without ssh.
local environment = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
  .. "OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent= OMP_NUM_THREADS=1"

local mpirun = {}

--- Whether tessera.mpi is built, and can be run. (With a sanitizer it is check-mpi that runs ranks: it knows what Open MPI itself leaks.)
mpirun.is_here = not helper.instrumented and package.searchpath("tessera.mpi", package.cpath) ~= nil
  and os.execute("mpirun --version >/dev/null 2>&1") == true

--- The command that runs lua5.4 with these arguments on n ranks.
function mpirun.command(n, arguments) return ("mpirun -n %d lua5.4 %s"):format(n, arguments) end

--- Runs it: what all ranks printed, on either stream, and the exit status. `more`: variables ("NAME=value ...") besides.
function mpirun.run(n, arguments, more) return helper.run(mpirun.command(n, arguments), environment .. " " .. (more or "")) end

mpirun.environment = environment

return mpirun
