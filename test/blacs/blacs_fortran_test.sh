#!/bin/sh
# Compiles and links a Fortran program the way a user does, then runs it:
# blacs_fortran_test.sh RUN_MPI PROGRAM.f90 LIBRARY.so [COMPILER-OPTION...]
set -eu

run_mpi=$1
source=$2
library=$(realpath "$3")
shift 3

directory=$(dirname "$library")
name=$(basename "$library" .so)
program=$TEST_TMPDIR/program
gfortran -Wall -Werror "$@" -o "$program" "$source" \
  -L"$directory" -l"${name#lib}" -Wl,-rpath,"$directory"
"$run_mpi" 4 "$program"
