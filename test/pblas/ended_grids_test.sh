#!/bin/bash
# The end of a grid waits for no rank, with products that are taken and such that are left, over the reference BLACS and
# over ours, and over several transports; and many grids take no memory that stays.
# Arguments: run_mpi.sh, the program, the library, the BLACS.
set -u

run_mpi=$1
program=$2
library=$(realpath "$3")
blacs=$(realpath "$4")
failures=0

check() {  # PRELOADS VARIABLE=VALUE...
  "$run_mpi" 4 env "LD_PRELOAD=$1" "${@:2}" "$program" >"$TEST_TMPDIR/out" 2>&1 ||
    { failures=$((failures + 1)); echo "FAILED: $*"; }
  grep -v '^$' "$TEST_TMPDIR/out" | tail -n 8
}

for preloads in "$library" "$library:$blacs"; do
  check "$preloads" BRIGADE_PBLAS=on
  check "$preloads" BRIGADE_PBLAS=on BRIGADE_TRANSPORT=tcp BRIGADE_IFACE=lo
  check "$preloads" BRIGADE_PBLAS=auto
done

exit $((failures > 0))
