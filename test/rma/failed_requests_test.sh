#!/bin/bash
# The error handler of a broken window tests and waits for requests that failed with it, and for another thread.
# Arguments: run_mpi.sh, the program failed_requests, the library.
set -u

run_mpi=$1
program=$2
library=$PWD/$3
failures=0
export TEST_TIMEOUT=200

# fail_requests CAUSE TEXT TRANSPORT: TEXT, a regular expression, is what the library prints about the failure.
fail_requests() {
  # --enable-recovery: mpirun does not end the job when a rank is killed.
  "$run_mpi" 2 --enable-recovery env "LD_PRELOAD=$library" BRIGADE_LOG=info BRIGADE_IFACE=lo \
    BRIGADE_TEST_BY_MESSAGES=1 "BRIGADE_TRANSPORT=$3" "$program" "$1" >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err"
  if ! grep -q PASS "$TEST_TMPDIR/out" || ! grep -q "carried over $3" "$TEST_TMPDIR/err" ||
    [[ $(grep -c "brigade: a request of one-sided communication on rank 0: .*$2" "$TEST_TMPDIR/err") -ne 1 ]]; then
    echo "FAILED: $1 over $3:"
    cat "$TEST_TMPDIR/out" "$TEST_TMPDIR/err"
    failures=$((failures + 1))
  fi
}

for transport in shm tcp; do
  fail_requests lost_target 'rank 1 of the group' $transport
  fail_requests unattached_memory 'attached' $transport
done

exit $((failures > 0))
