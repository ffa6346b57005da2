#!/bin/sh
# Compiles and links a Fortran program the way a user does, then runs it:
# blacs_fortran_test.sh RUN_MPI PROGRAM.f90 LIBRARY.so
# Exits 77, visibly skipping, where there is no gfortran.
set -eu

run_mpi=$1
source=$2
library=$(realpath "$3")

if ! command -v gfortran >/dev/null 2>&1; then
  echo "SKIPPED: no gfortran on this machine"
  exit 77
fi

directory=$(dirname "$library")
program=$TEST_TMPDIR/program
gfortran -Wall -Werror -o "$program" "$source" \
  -L"$directory" -lbrigade_blacs -Wl,-rpath,"$directory"
"$run_mpi" 4 "$program"
