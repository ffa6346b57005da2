#!/bin/sh
# Compiles and links a Fortran program the way a user does, then runs it:
# blacs_fortran_test.sh RUN_MPI PROGRAM.f90 LIBRARY.so
set -eu

run_mpi=$1
source=$2
library=$(realpath "$3")

directory=$(dirname "$library")
program=$TEST_TMPDIR/program
gfortran -Wall -Werror -o "$program" "$source" \
  -L"$directory" -lbrigade_blacs -Wl,-rpath,"$directory"
"$run_mpi" 4 "$program"
