#!/bin/bash
# Programs of BSPlib behave as its paper defines, on 1 to 4 processes.
#   bsp_test.sh RUN_MPI BSP_CASES [VARIABLE=VALUE...]
set -u

run_mpi=$1
cases=$2
shift 2
[[ -n ${BRIGADE_TEST_FULL+full} ]] && TEST_TIMEOUT=1500 || TEST_TIMEOUT=200
export TEST_TIMEOUT
failures=0

names='enquiry paper put_is_buffered get_reads_at_the_end gets_before_puts overlaps lengths direct newest_counts
  any_order sizes tag_sizes messages direct_from_message local_calls random'
for processes in 1 2 3 4; do
  output=$("$run_mpi" "$processes" env "$@" BRIGADE_STAGING_BYTE=1M "$cases" 2>&1) ||
    { failures=$((failures + 1)); echo "$output"; }
  grep 'random supersteps' <<<"$output"
  [[ $(grep -c 'BRIGADE_STAGING_BYTE is set, .* BRIGADE_STAGING_BYTES$' <<<"$output") -eq 1 ]] ||
    { failures=$((failures + 1)); echo "FAILED: a misspelt setting on $processes processes: $output"; }
  for name in $names; do
    found=$(grep -c ": $name\$" <<<"$output")
    [[ $found -eq $processes ]] || { failures=$((failures + 1)); echo "FAILED: $name on $processes processes: $output"; }
  done
done
exit $((failures > 0))
