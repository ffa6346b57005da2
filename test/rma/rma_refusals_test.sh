#!/bin/bash
# Refusals by libbrigade_rma.so, with MPI's error codes: calls out of order, datatypes, and null
# arguments.
# Arguments: run_mpi.sh, the library, the programs rma_refusals and rma_states, the lines of the latter.
set -u
unset BRIGADE_TRANSPORT  # the texts below are those of auto

run_mpi=$1
library=$PWD/$2
refusals=$3
states=$4
right_states=$5
failures=0
export TEST_TIMEOUT=200

complain() {
  echo "FAILED: $1:"
  cat "$TEST_TMPDIR/out" "$TEST_TMPDIR/err"
  failures=$((failures + 1))
}

# run RANKS [VARIABLE=VALUE...] PROGRAM...: preloaded.
run() {
  "$run_mpi" "$1" env "LD_PRELOAD=$library" BRIGADE_LOG=info "${@:2}" >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err"
}

says() {  # TEXT, a regular expression
  grep -q "$1" "$TEST_TMPDIR/err" || complain "expected '$1'"
}

for variables in BRIGADE_TRANSPORT=shm BRIGADE_TRANSPORT=tcp BRIGADE_CHECK_WINDOWS=1; do
  run 3 "$variables" "$states" || complain "states with $variables"
  sed 's/^.*<stdout>://' "$TEST_TMPDIR/out" | diff "$right_states" - || complain "states with $variables differ"
done

for variables in BRIGADE_TRANSPORT=shm BRIGADE_TRANSPORT=tcp; do
  run 3 "$variables" "$refusals" refused_types || complain "refused_types with $variables"
done
run 3 "$refusals" empty_parts || complain empty_parts
! grep 'left to MPI' "$TEST_TMPDIR/err" || complain 'empty_parts, of which all windows are carried'

# Errors give the MPI name of a datatype or an operation that is not carried.
! run 2 "$refusals" not_carried || complain 'not_carried ends well'
for text in 'sum of MPI_REAL16 is not supported: only MPI_REPLACE and MPI_NO_OP are; BRIGADE_RMA=off' \
  'sum of a datatype of MPI_REAL16 is not supported' 'accumulates MPI_INT into a datatype of MPI_REAL16' \
  'bitwise or is not defined for MPI_REAL$'; do
  says "MPI_Accumulate on rank [01]: $text"
done

# A process that was spawned without its parents' settings.
run 2 "$refusals" spawned || complain 'spawned with the same settings'
says 'a window of 3 ranks is carried over'
! run 2 BRIGADE_CHUNK_BYTES=64K "$refusals" spawned || complain 'spawned with other settings ends well'
says 'MPI_Win_allocate on rank 0: .* differ in chunk bytes (BRIGADE_CHUNK_BYTES): rank 0 has 65536, rank 2 has 32768'

exit $((failures > 0))
