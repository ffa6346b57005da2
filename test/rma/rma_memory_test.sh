#!/bin/bash
# The memory that MPI_Alloc_mem and windows take of the system, without the library and with it,
# over shared memory and by messages over TCP.
# Arguments: run_mpi.sh, the program rma_memory, the library.
set -u

run_mpi=$1
program=$2
library=$PWD/$3
failures=0

# run CASE [VARIABLE=VALUE...]
run() {
  local name=$1
  shift
  if ! TEST_TIMEOUT=200 "$run_mpi" 2 env "$@" "$program" "$name" >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err" ||
    ! grep -q PASS "$TEST_TMPDIR/out"; then
    echo "FAILED: $name with $*:"
    cat "$TEST_TMPDIR/err"
    failures=$((failures + 1))
  fi
}

for name in untouched elements lengths described; do
  [[ $name == described ]] || run $name
  run $name "LD_PRELOAD=$library"
  run $name "LD_PRELOAD=$library" BRIGADE_TEST_BY_MESSAGES=1 BRIGADE_TRANSPORT=tcp
done

exit $((failures > 0))
