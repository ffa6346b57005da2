#!/bin/bash
# Programs of Fortran are carried, too, whose wrappers of Open MPI call PMPI_*.
# Arguments: run_mpi.sh, the library, the programs.
set -euo pipefail
unset BRIGADE_TRANSPORT  # the texts below are those of auto

run_mpi=$1
library=$PWD/$2
# The module mpi has what the header has.
sed "/include 'mpif.h'/d; s/^  implicit none/  use mpi\n&/" "$3" >"$TEST_TMPDIR/module.f90"
for source in "${@:3}" "$TEST_TMPDIR/module.f90"; do
  mpif90 -o "$TEST_TMPDIR/program" "$source"
  "$run_mpi" 3 env "LD_PRELOAD=$library" BRIGADE_LOG=info "$TEST_TMPDIR/program" 2>"$TEST_TMPDIR/log"
  if ! grep -q 'a window of 3 ranks is carried over shm' "$TEST_TMPDIR/log"; then
    echo "FAILED: $source was not carried:"
    cat "$TEST_TMPDIR/log"
    exit 1
  fi
done
