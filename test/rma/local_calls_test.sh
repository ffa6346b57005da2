#!/bin/bash
# No call on windows that MPI makes local waits for another rank, whatever carries the data.
# Arguments: run_mpi.sh, the program, the library.
set -u

run_mpi=$1
program=$2
library=$PWD/$3
failures=0

while read -r variables; do
  # shellcheck disable=SC2086 # a list of words
  "$run_mpi" 2 env "LD_PRELOAD=$library" BRIGADE_IFACE=lo $variables "$program" >"$TEST_TMPDIR/out" 2>&1 &&
    [[ $(grep -o 'done' "$TEST_TMPDIR/out" | wc -l) -eq 2 ]] && continue
  cat "$TEST_TMPDIR/out"
  echo "FAILED: $variables"
  failures=$((failures + 1))
done <<'EOT'
BRIGADE_TRANSPORT=shm
BRIGADE_TRANSPORT=shm BRIGADE_TEST_BY_MESSAGES=1
BRIGADE_TRANSPORT=shm BRIGADE_KERNEL_COPIES=off
BRIGADE_TRANSPORT=tcp
BRIGADE_TRANSPORT=tcp BRIGADE_TEST_BY_MESSAGES=1
BRIGADE_TRANSPORT=tcp BRIGADE_CHECK_WINDOWS=1
EOT

exit $((failures > 0))
