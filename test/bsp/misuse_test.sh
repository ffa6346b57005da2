#!/bin/bash
# Violations of BSPlib's rules end the program on all processes, with the error and its place on stderr.
#   misuse_test.sh RUN_MPI MISUSE_CASES PART PARTS      every PARTS-th case, from number PART on
set -u

run_mpi=$1
cases=$2
part=$3
parts=$4
export TEST_TIMEOUT=200
failures=0

number=0
while read -r name text; do
  ((number++ % parts == part)) || continue
  code=0
  output=$("$run_mpi" 3 "$cases" "$name" 2>&1 </dev/null) || code=$?
  # Over TCP there may be little memory to lock.
  said=$(grep -F 'brigade: ' <<<"$output" | grep -v 'memory is not registered')
  others=$(grep -vcF -- "$text" <<<"$said")
  # If all processes make the error, every process that comes to it prints it.
  if [[ $code -eq 0 || $said != *"$text"* || ($others -ne 0 && $text != *' on process 0: '*) ]]; then
    failures=$((failures + 1))
    echo "FAILED: $name, which ended with $code, said not '$text': $output"
  fi
done < <("$cases")
[[ $number -gt 25 ]] || { echo "FAILED: $number cases"; exit 1; }
exit $((failures > 0))
