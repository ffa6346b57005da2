#!/bin/bash
# Programs of BSPlib start and end as their arguments request.
#   start_test.sh RUN_MPI START_CASES
set -u

run_mpi=$1
cases=$2
export TEST_TIMEOUT=200
failures=0

# ends CODE PROCESSES 'CASE ARGUMENT...' LINE...: with this exit code, having printed just these lines.
ends() {
  local expected=$1 processes=$2 case=$3 code=0 output printed
  shift 3
  # shellcheck disable=SC2086 # a list of words
  output=$("$run_mpi" "$processes" "$cases" $case 2>&1) || code=$?
  # The MPI prefixes lines of processes: Open MPI in one way, MPICH in another, with an additional line for aborts.
  # Over TCP there may be little memory to lock.
  printed=$(sed -nE 's/^\[[0-9,]+\](<std(out|err)>:| )//p' <<<"$output" | grep -v 'application called MPI_Abort\|memory is not registered' |
    LC_ALL=C sort)
  if [[ $code -ne $expected || $printed != "$(printf '%s\n' "$@" | LC_ALL=C sort)" ]]; then
    failures=$((failures + 1))
    echo "FAILED: $case on $processes processes, with exit code $code: $output"
  fi
}

ends 0 1 all 'process 0 of 1, sum 1' 'behind, of 1'
ends 0 3 all 'process '{0,1,2}' of 3, sum 3' 'behind, of '{3,3,3}
ends 0 4 two 'process '{0,1}' of 2, sum 2' 'behind, of '{2,2}
ends 0 2 too_many 'process '{0,1}' of 2, sum 2'
ends 0 4 'init and two more' 'alone, of 4' 'process '{0,1,2,3}' of 4, sum 4' 'alone again, of 4'
ends 0 4 'init two' 'alone, of 4' 'process '{0,1}' of 2, sum 2' 'alone again, of 2'
ends 0 3 init_and_leave 'alone, of 3'
ends 0 3 none 'could be '{3,3,3}
ends 0 3 beside_mpi 'process '{0,1,2}' of 3, sum 3' 'behind, of '{3,3,3}
ends 0 4 two_beside_mpi 'process '{0,1}' of 2, sum 2'
ends 0 2 fork 'child '{0,0}
ends 1 1 finalised 'brigade: bsp_end on process 0: MPI_Finalize was called before it'
ends 1 3 abort 'the end of 2'
ends 1 1 abort_first '2 is two'
ends 1 1 abort_wide 'the name %ls'
exit $((failures > 0))
