#!/bin/bash
# No call of the BLACS that is local, or locally blocking, waits for a call of another rank.
# Arguments: run_mpi.sh, the program.
set -u

run_mpi=$1
program=$2
failures=0

for transport in auto shm tcp sockets mpi; do
  "$run_mpi" 2 env BRIGADE_TRANSPORT=$transport BRIGADE_IFACE=lo "$program" >"$TEST_TMPDIR/out" 2>&1 &&
    [[ $(grep -o 'done' "$TEST_TMPDIR/out" | wc -l) -eq 2 ]] && continue
  cat "$TEST_TMPDIR/out"
  echo "FAILED: over $transport"
  failures=$((failures + 1))
done

exit $((failures > 0))
