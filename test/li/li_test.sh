#!/bin/bash
# Programs of LI do the same over a backend, on 1 to 4 processes.
#   li_test.sh RUN_MPI LI_CASES [VARIABLE=VALUE...]
set -u

run_mpi=$1
cases=$2
shift 2
full=${BRIGADE_TEST_FULL+yes}
[[ -n $full ]] && TEST_TIMEOUT=1500 || TEST_TIMEOUT=${TEST_TIMEOUT:-200}
export TEST_TIMEOUT
failures=0

for processes in 1 2 3 4; do
  sound=(primitives labels anew lengths 'seen by all' 'around limits' random forgotten)
  [[ -z $full && $processes -gt 2 ]] || sound+=(limit)
  output=$("$run_mpi" "$processes" env "$@" "$cases" sound 2>&1) || { failures=$((failures + 1)); echo "$output"; }
  grep 'random supersteps' <<<"$output"
  for name in "${sound[@]}"; do
    found=$(grep -c ": $name\$" <<<"$output")
    [[ $found -eq $processes ]] || { failures=$((failures + 1)); echo "FAILED: $name on $processes processes: $output"; }
  done
  # Only asks for the number of processes.
  if ! output=$("$run_mpi" "$processes" env "$@" "$cases" unused 2>&1) ||
    [[ $(grep -c "one of $processes: unused" <<<"$output") -ne $processes ]]; then
    failures=$((failures + 1))
    echo "FAILED: unused on $processes processes: $output"
  fi
done
exit $((failures > 0))
