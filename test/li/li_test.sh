#!/bin/bash
# Programs of LI do the same over a backend, on 1 to 4 processes.
#   li_test.sh RUN_MPI LI_CASES [VARIABLE=VALUE...]
set -u

run_mpi=$1
cases=$2
shift 2
export TEST_TIMEOUT=60
failures=0

sound=(primitives labels lengths 'seen by all' 'around limits' random forgotten)
for processes in 1 2 3 4; do
  output=$("$run_mpi" "$processes" env "$@" "$cases" sound 2>&1) || { failures=$((failures + 1)); echo "$output"; }
  for name in "${sound[@]}"; do
    found=$(grep -c ": $name\$" <<<"$output")
    [[ $found -eq $processes ]] || { failures=$((failures + 1)); echo "FAILED: $name on $processes processes: $output"; }
  done
done
exit $((failures > 0))
