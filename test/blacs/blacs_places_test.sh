#!/bin/bash
# Programs and places out of the ordinary. Arguments: run_mpi.sh, the program blacs_cases.
set -u

run_mpi=$1
cases=$2
failures=0
out=$TEST_TMPDIR/out

fail() {
  echo "FAILED over $BRIGADE_TRANSPORT: $*; got:"
  tail -n 100 "$out"
  failures=$((failures + 1))
}

# run CASE LINES TEXT [WORD...]: must succeed, with so many lines that match; the words come before the program.
run() {
  local name=$1 lines=$2 text=$3 code
  shift 3
  TEST_TIMEOUT=250 "$run_mpi" 2 "$@" "$cases" "$name" > "$out" 2>&1
  code=$?
  [ $code -eq 0 ] || fail "$name: exit code $code"
  [ "$(grep -c -- "$text" "$out")" = "$lines" ] || fail "$name: expected $lines lines with '$text'"
}

for BRIGADE_TRANSPORT in auto mpi tcp; do
  export BRIGADE_TRANSPORT
  run threads_in_turn 2 "done"
  run spawn 2 'the sum is 6'
  run receive_from_any 1 'received 7 with tag 5'
  # MPI is at MPI_THREAD_SINGLE. Over mpi each wait calls MPI.
  [ $BRIGADE_TRANSPORT = mpi ] || run wait_on_both_threads 1 'MPI is polled by the main thread, 0 times by others'
done

BRIGADE_TRANSPORT=auto
run many_contexts 2 'the last is 4999'

# An error that MPI returns to us instead of ending the job.
TEST_TIMEOUT=200 "$run_mpi" 2 "$cases" errors_return > "$out" 2>&1 && fail "errors_return: exit code 0"
[ "$(grep -c 'done' "$out")" = 2 ] || fail "errors_return: no grid"
grep -q "BLACS ERROR 'blacs_gridinit: .*MPI_Comm_create" "$out" || fail "errors_return: no error"

# Between hosts costs are measured, and kept at home, unless that cannot be written to.
if unshare --net true 2> "$out"; then
  home=$TEST_TMPDIR/home
  two_hosts=(env -u XDG_CACHE_HOME BRIGADE_TEST_TWO_HOSTS=1 BRIGADE_CALIBRATE=1 BRIGADE_LOG=info)
  run turns 1 'BLACS over transport' "${two_hosts[@]}" HOME="$home"
  [ -n "$(find "$home/.cache/brigade" -name '*.json')" ] || fail "turns: nothing is measured on two hosts"
  run turns 1 'BLACS over transport' "${two_hosts[@]}" HOME=/proc/nowhere
else
  echo "skipped: two hosts: $(cat "$out")"
fi

# Ranks whose process numbers mean nothing to each other: no shared memory, but all else. Open MPI's own shared memory
# breaks there.
export OMPI_MCA_btl=self,tcp
apart=(unshare --pid --fork)
[ "$(id -u)" -eq 0 ] || apart=(unshare --user --map-root-user --pid --fork)
if "${apart[@]}" true 2> "$out"; then
  run turns 1 'BLACS over transport \(tcp\|mpi\)' "${apart[@]}" env BRIGADE_LOG=info
else
  echo "skipped: process namespaces: $(cat "$out")"
fi

[ $failures -eq 0 ]
