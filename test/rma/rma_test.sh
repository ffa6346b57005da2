#!/bin/bash
# A program that was compiled without us does the same with the library preloaded, and the log shows that it took effect.
# Arguments: run_mpi.sh, the program rma_cases, the library, the program beside_blacs, the BLACS. Bazel's shards share
# what begins with "mine".
set -u
unset BRIGADE_TRANSPORT  # the texts below are those of auto

run_mpi=$1
cases=$2
library=$PWD/$3
beside_blacs=$4
blacs=$PWD/$5
failures=0

[[ ! -v TEST_SHARD_STATUS_FILE ]] || touch "$TEST_SHARD_STATUS_FILE"
turn=0
mine() { ((turn++ % ${TEST_TOTAL_SHARDS:-1} == ${TEST_SHARD_INDEX:-0})); }

# run RANKS CASE [VARIABLE=VALUE...]: output sorted in $TEST_TMPDIR/out, complaints and log in $TEST_TMPDIR/err.
run() {
  local ranks=$1 name=$2
  shift 2
  TEST_TIMEOUT=200 "$run_mpi" "$ranks" env "$@" "$cases" "$name" >"$TEST_TMPDIR/unsorted" 2>"$TEST_TMPDIR/err"
  local code=$?
  LC_ALL=C sort "$TEST_TMPDIR/unsorted" >"$TEST_TMPDIR/out"
  return $code
}

complain() {
  echo "FAILED: $1:"
  cat "$TEST_TMPDIR/err"
  failures=$((failures + 1))
}

# expect LOG RANKS CASE [VARIABLE=VALUE...]: preloaded, it ends well and the log has LOG, a regular expression.
expect() {
  local log=$1 ranks=$2 name=$3
  shift 3
  if ! run "$ranks" "$name" "LD_PRELOAD=$library" BRIGADE_LOG=info "$@" || ! grep -q "$log" "$TEST_TMPDIR/err"; then
    complain "$name on $ranks ranks with $*, expected '$log'"
  fi
}

# compare RANKS CASE: the same output without the library and with it, whatever carries the data.
compare() {
  mine || return 0
  run "$1" "$2" || complain "$2 on $1 ranks without the library"
  cp "$TEST_TMPDIR/out" "$TEST_TMPDIR/plain"
  while read -r log variables; do
    # shellcheck disable=SC2086 # a list of words
    expect "ranks is $log" "$1" "$2" $variables
    diff "$TEST_TMPDIR/plain" "$TEST_TMPDIR/out" || complain "$2 on $1 ranks with $variables differs"
  done <<'EOT'
carried.over.shm
carried.over.shm BRIGADE_TEST_BY_MESSAGES=1
carried.over.tcp BRIGADE_TRANSPORT=tcp
carried.over.tcp BRIGADE_TEST_BY_MESSAGES=1 BRIGADE_TRANSPORT=tcp
carried.over.shm BRIGADE_CHECK_WINDOWS=1
carried.over.tcp BRIGADE_CHECK_WINDOWS=1 BRIGADE_TRANSPORT=tcp
EOT
}

for name in fence post lock types beyond attributes cached errors requests overlap pending forgotten unchecked dynamic \
  allocated funneled serialized locked; do
  compare 3 "$name"
done
compare 2 post
compare 4 lock

if mine; then
  expect 'carried over shm' 3 unattached
  expect 'carried over shm' 3 shared
  ! grep 'left to MPI' "$TEST_TMPDIR/err" || complain 'shared on 3 ranks, of which all windows are carried'
  expect 'left to MPI: some of its ranks share no memory' 3 shared BRIGADE_TEST_BY_MESSAGES=1

  expect 'carried over shm' 3 mapped
  ! grep 'left to MPI' "$TEST_TMPDIR/err" || complain 'mapped on 3 ranks, of which all windows are carried'
  expect 'left to MPI: on rank 0 BRIGADE_RMA=off' 3 allocated BRIGADE_RMA=off BRIGADE_RAM=off
  [[ $(grep -c 'BRIGADE_RAM is set, .* BRIGADE_RMA$' "$TEST_TMPDIR/err") -eq 1 ]] || complain 'a misspelt setting'
fi

# Cases that Debian's Open MPI gets wrong or does not check.
for name in pairs out_of_range halves computing threads bottom held; do
  mine || continue
  expect 'carried over shm' 4 $name
  expect 'carried over shm' 4 $name BRIGADE_TEST_BY_MESSAGES=1
  expect 'carried over tcp' 4 $name BRIGADE_TEST_BY_MESSAGES=1 BRIGADE_TRANSPORT=tcp
done

if mine; then
  expect 'carried over shm' 4 typers
  expect 'carried over shm' 3 callbacks
  expect 'carried over shm' 3 makers
  expect 'carried over tcp' 3 makers BRIGADE_TEST_BY_MESSAGES=1 BRIGADE_TRANSPORT=tcp
fi

# Calls that are left to MPI work there.
if mine; then
  expect 'left to MPI: some of its ranks reach each other by transport mpi only' 3 fence BRIGADE_TRANSPORT=mpi
  expect 'carried over mpi' 3 fence BRIGADE_TRANSPORT=mpi BRIGADE_RMA=on
  expect 'carried over mpi' 3 overlap BRIGADE_TRANSPORT=mpi BRIGADE_RMA=on BRIGADE_TEST_BY_MESSAGES=1
  expect 'left to MPI: on rank 0 BRIGADE_RMA=off' 3 lock BRIGADE_RMA=off
  # Of one process Open MPI's component rdma makes no window.
  run 2 allocated "LD_PRELOAD=$library" BRIGADE_LOG=info OMPI_MCA_osc=rdma
  grep -q 'left to MPI: on rank 0 MPI has no window of one process' "$TEST_TMPDIR/err" || complain 'no handle'
  # A target that calls MPI_Win_sync alone gets on, though no other thread makes progress for it.
  expect 'carried over mpi' 3 synced BRIGADE_TRANSPORT=mpi BRIGADE_RMA=on BRIGADE_TEST_BY_MESSAGES=1
fi

# One engine beside the BLACS, whichever comes first, also where it has a thread.
if mine; then
  for preloads in "$library:$blacs" "$blacs:$library"; do
    for first in grid window; do
      TEST_TIMEOUT=200 "$run_mpi" 2 env "LD_PRELOAD=$preloads" BRIGADE_TRANSPORT=tcp "$beside_blacs" $first \
        >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err" || complain "$first first, with $preloads"
    done
  done
fi

# Errors that end the job, with a text.
# refuse TEXT CASE [VARIABLE=VALUE...]
refuse() {
  local text=$1 name=$2
  shift 2
  if run 2 "$name" "LD_PRELOAD=$library" "$@" || ! grep -q "$text" "$TEST_TMPDIR/err"; then
    complain "$name with $*, expected an end with '$text'"
  fi
}
if mine; then
  refuse "brigade: MPI_Put on rank 1: the access to bytes 77 to 80 of rank 0's window, which has 4 bytes, ends 77 bytes beyond" fatal
  expect 'carried over shm' 2 conflict
  expect 'carried over shm' 3 shared BRIGADE_CHECK_WINDOWS=1
  expect 'carried over shm' 3 computing BRIGADE_CHECK_WINDOWS=1
  # As if each rank were on a host of its own.
  expect 'carried over tcp' 3 fence BRIGADE_CHECK_WINDOWS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1
  conflict='a conflict in the window of rank 0, bytes 4 to 7: a put of rank [01] comes before a put of rank [01] is'
  refuse "brigade: MPI_Win_fence on rank [01]: .*$conflict over" conflict BRIGADE_CHECK_WINDOWS=1
  refuse 'BRIGADE_RMA=maybe: must be off, on or auto' fence BRIGADE_RMA=maybe
  refuse "MPI_Win_create on rank [01]: BRIGADE_TRANSPORT=tpc: there is no transport 'tpc'" fence BRIGADE_TRANSPORT=tpc
fi

exit $((failures > 0))
