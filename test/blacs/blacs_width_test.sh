#!/bin/bash
# Integers of one width and a library of the other's end with an error that names both:
#   blacs_width_test.sh RUN_MPI PROGRAM.f90 LIBRARY.so LIBRARY64.so
set -euo pipefail

run_mpi=$1
source=$2

# expect TEXT LIBRARY.so COMPILER-OPTION...
expect() {
  local text=$1 library directory name
  library=$(realpath "$2")
  directory=$(dirname "$library")
  name=$(basename "$library" .so)
  shift 2
  gfortran -Wall -Werror "$@" -o "$TEST_TMPDIR/program" "$source" -L"$directory" -l"${name#lib}" \
    -Wl,-rpath,"$directory"
  if "$run_mpi" 2 "$TEST_TMPDIR/program" >"$TEST_TMPDIR/out" 2>&1 || ! grep -q "$text" "$TEST_TMPDIR/out"; then
    echo "FAILED: expected an end with '$text', got:"
    cat "$TEST_TMPDIR/out"
    exit 1
  fi
}

expect "BLACS ERROR 'blacs_gridmap: illegal grid: process 0 is twice.*it takes libbrigade_blacs64\\.so" \
  "$3" -fdefault-integer-8
expect "BLACS ERROR 'blacs_[a-z]*: .* = -*[0-9]* needs more than 32 bits; .* takes libbrigade_blacs\\.so" "$4"
