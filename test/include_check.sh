#!/bin/bash
# Checks who includes whom: membuf <- transport <- patterns <- blacs_shim, and the two system interfaces in their corners.
# bench/ and test/ may use all. Tests beside the code may use the helpers of test/.
set -euo pipefail
cd "$(dirname "$0")/.."

sources=(--recursive --line-number --extended-regexp --include=*.h --include=*.cc --include=*.c)
broken=0

forbid() {  # RULE PATTERN GREP-ARGUMENTS...
  local rule=$1 pattern=$2
  shift 2
  if grep "${sources[@]}" "$@" -e "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern"; then
    echo "^ $rule"
    broken=1
  fi
}

forbid "membuf/ includes no other folder" "(transport|patterns|blacs_shim)/" membuf
forbid "transport/ includes membuf/ alone" "(patterns|blacs_shim)/" transport
forbid "patterns/ never includes blacs_shim/" "blacs_shim/" patterns
forbid "nothing needs bench/" "bench/" membuf transport patterns blacs_shim
forbid "only tests use test/" "test/" --exclude=*_test.* membuf transport patterns blacs_shim
forbid "MPI stays in transport/mpi_*, blacs_shim/, bench/ and test/" "mpi\.h" membuf patterns
forbid "MPI stays in transport/mpi_* and registry.cc, blacs_shim/, bench/ and test/" "mpi\.h" \
  --exclude=mpi_* --exclude=registry.cc transport
forbid "io_uring stays in transport/uring_*" "liburing\.h" --exclude=uring_* \
  membuf transport patterns blacs_shim bench test
exit $broken
