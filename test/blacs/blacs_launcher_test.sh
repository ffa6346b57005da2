#!/bin/bash
# A job whose launcher does not describe the processes of a host: over each transport ranks find each other and their
# shared memory by themselves. Arguments: run_mpi.sh, the program blacs_cases, libbrigade_blacs.so.
set -u

run_mpi=$1
cases=$2
shim=$3
failures=0
out=$TEST_TMPDIR/out
export TEST_TIMEOUT=200
# Variables that transport/host/launcher.cc reads.
silent=()
for name in OMPI_COMM_WORLD_LOCAL_{SIZE,RANK} MPI_LOCALNRANKS MPI_LOCALRANKID PALS_LOCAL_{SIZE,RANKID} \
  SLURM_{STEP_TASKS_PER_NODE,NODEID,LOCALID}; do
  silent+=(-u "$name")
done

for transport in auto mpi shm tcp sockets; do
  "$run_mpi" 2 env "${silent[@]}" LD_PRELOAD="$PWD/$shim" BRIGADE_LOG=info BRIGADE_IFACE=lo \
    BRIGADE_TRANSPORT=$transport "$cases" turns >"$out" 2>&1 &&
    [ "$(grep -c "BLACS over transport" "$out")" = 1 ] && continue
  echo "FAILED: $transport; got:"
  tail -n 100 "$out"
  failures=$((failures + 1))
done

# Started by the mpirun of another MPI each would be alone.
"$run_mpi" 1 env "${silent[@]}" MPI_LOCALNRANKS=2 LD_PRELOAD="$PWD/$shim" "$cases" lonely >"$out" 2>&1
if [ "$(grep -c 'brigade: the launcher has started 2 processes .* of another MPI' "$out")" != 1 ]; then
  echo "FAILED: a launcher of another MPI is not named; got:"
  cat "$out"
  failures=$((failures + 1))
fi

[ $failures -eq 0 ]
