#!/bin/bash
# A rank that dies in the middle of a pattern is named by ranks that wait for it, and all ranks end; a stopped one is
# reported, and all continue when it does. Arguments: run_mpi.sh, the programs peer_failure and blacs_cases.
set -u

run_mpi=$1
program=$2
blacs=$3
ranks=4
victim=1
out=$TEST_TMPDIR/out
failures=0

fail() {
  echo "FAILED: $1; the job's output:"
  cat "$out"
  failures=$((failures + 1))
}

die() {  # PATTERN ELEMENTS
  local what="$* die" rank pid
  # mpirun leaves the others alone.
  TEST_TIMEOUT=300 "$run_mpi" $ranks --enable-recovery "$program" shm "$@" die > "$out" 2>&1
  pid=$(sed -n 's/.*victim is process //p' "$out")
  if [ -z "$pid" ] || grep -q 'time limit\|timed out\|WRONG\|: well' "$out"; then
    fail "$what: did not end as it should"
    return
  fi
  for rank in 0 2 3; do
    # It has detected the loss, or another rank has notified it.
    grep -q "rank $rank: peer lost: .*\([a-z_]* number [0-9]* of group rank $rank\|a send to rank [0-9]\|broke it in [a-z_]* number [0-9]*\|broke it:\).*rank $victim of the group (process $pid) is gone" "$out" ||
      fail "$what: rank $rank does not say in which call it lost whom"
  done
}

reports_of() { grep -o "[a-z_]* number [0-9]* of group rank $1[^0-9].*waiting for rank [0-9]*[: ].* for [0-9]* s" "$out"; }
call_and_time() { sed 's/ of group .* for / /'; }

stop() {  # PATTERN ELEMENTS
  local what="$* stop" rank pid job again
  : > "$out"  # the job before had a victim, too
  TEST_TIMEOUT=300 "$run_mpi" $ranks "$program" shm "$@" stop > "$out" 2>&1 &
  job=$!
  until pid=$(sed -n 's/.*victim is process //p' "$out") && [ -n "$pid" ] || ! kill -0 $job 2> /dev/null; do sleep 0.1; done
  kill -STOP "$pid"
  for rank in 0 2 3; do
    until [ "$(reports_of $rank | wc -l)" -ge 2 ] || ! kill -0 $job 2> /dev/null; do sleep 0.1; done
  done
  kill -CONT "$pid"
  wait $job || fail "$what: does not end well"
  [ "$(grep -c ': well$' "$out")" -eq $ranks ] || fail "$what: not all end well"
  grep -q "waiting for rank ${victim}[: ]" <<<"$(reports_of '[023]')" || fail "$what: nobody waits for the victim"
  for rank in 0 2 3; do
    again=$(reports_of $rank | call_and_time | sort | uniq -d)
    [ -z "$again" ] || fail "$what: more than one report in an interval: $again"
  done
}

for pattern in send broadcast reduce all_reduce multi_broadcast multi_reduce gather scatter all_to_all scan; do
  die $pattern 1
  die $pattern 100000
done
die barrier 1
for pattern in "send 100000" "broadcast 1" "all_reduce 1" "all_reduce 100000" "multi_reduce 1000" "barrier 1"; do
  # shellcheck disable=SC2086 # the words are two arguments
  stop $pattern
done

# Through the BLACS, where the first error ends the job.
export BRIGADE_TRANSPORT=shm BRIGADE_REPORT_SECONDS=0.2
TEST_TIMEOUT=300 "$run_mpi" 2 --enable-recovery "$blacs" dying_peer > "$out" 2>&1
if grep -q 'time limit' "$out" ||
  ! grep -q "BLACS ERROR 'dgerv2d: .*receive number 5 .*waiting for rank 1: .*rank 1 of the group (process [0-9]*) is gone" "$out"; then
  fail "dying_peer"
fi
if ! TEST_TIMEOUT=300 "$run_mpi" 2 "$blacs" stopped_peer > "$out" 2>&1 || [ "$(grep -c "done" "$out")" -ne 2 ] ||
  ! grep -q "brigade: receive number 5 of group rank 0, waiting for rank 1: nothing has moved for " "$out"; then
  fail "stopped_peer"
fi
[ $failures -eq 0 ]
