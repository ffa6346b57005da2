#!/bin/bash
# On a host without liburing, libsodium or enough shared memory the library is loaded, prints a line about it, and does
# what it can.
# Arguments: run_mpi.sh, the program blacs_cases, libbrigade_blacs.so.
set -u

run_mpi=$1
cases=$2
shim=$3
failures=0
out=$TEST_TMPDIR/out
export TEST_TIMEOUT=200

fail() {
  echo "FAILED: $*; got:"
  tail -n 100 "$out"
  failures=$((failures + 1))
}

# run CASE FILE,... [VARIABLE=VALUE...]: with such files that are none, which dlopen finds before the system's.
run() {
  local name=$1 missing=$TEST_TMPDIR/missing file
  rm -rf "$missing"
  mkdir "$missing"
  for file in ${2//,/ }; do : >"$missing/$file"; done
  shift 2
  "$run_mpi" 2 env LD_LIBRARY_PATH="$missing${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}" LD_PRELOAD="$PWD/$shim" \
    BRIGADE_LOG=info "$@" "$cases" "$name" >"$out" 2>&1
}

# lines COUNT TEXT: so many lines of the last run match.
lines() {
  [ "$(grep -c -- "$2" "$out")" = "$1" ] || fail "expected $1 lines with '$2'"
}

run blacs_exit liburing.so.2 BRIGADE_TRANSPORT=tcp || fail "tcp without liburing"
lines 1 'BLACS over transport tcp'
lines 1 'brigade: tcp: .*liburing.so.2: .*; plain sockets are used instead$'
lines 1 'received intact'

# As Debian 12 calls it, and as later systems do.
sodium=libsodium.so.23,libsodium.so.26

# A request for connections fails if strangers could open them.
for transport in tcp sockets; do
  run blacs_exit $sodium BRIGADE_TRANSPORT=$transport && fail "$transport without libsodium"
  why='peers cannot be authenticated: .*libsodium.so.26: .*; .*libsodium.so.23: .*; install libsodium '
  grep -q "BLACS ERROR .*$why" "$out" ||
    fail "$transport without libsodium: another error"
  lines 0 'received'
done

instead='brigade: tcp: peers cannot be authenticated: .*; install libsodium .*; auto uses mpi instead$'
run blacs_exit $sodium BRIGADE_TRANSPORT=auto || fail "one host without libsodium"
lines 1 'BLACS over transport shm to every peer'
lines 1 "$instead"
lines 1 'received intact'
run blacs_exit $sodium BRIGADE_TRANSPORT=auto BRIGADE_LOG=off || fail "one host without libsodium, silent"
lines 0 brigade
lines 1 'received intact'

# The memory that ranks share is a file. Open MPI has none here.
run blacs_exit "" BRIGADE_TRANSPORT=auto OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp prlimit --fsize=1000000 ||
  fail "one host with a limit on file sizes"
lines 1 'brigade: shm: a limit on file size .*; auto sends within this host as between hosts$'
lines 1 'BLACS over transport tcp'
lines 1 'received intact'

# Settings make Open MPI use TCP, so that only libsodium keeps Brigade from it; connections of its start, by shared
# memory, stay.
if unshare --net true 2>"$out"; then
  run blacs_exit $sodium BRIGADE_TRANSPORT=auto BRIGADE_LOG=off BRIGADE_TEST_TWO_HOSTS=1 OMPI_MCA_pml=ob1 \
    OMPI_MCA_btl=self,vader,tcp || fail "two hosts without libsodium"
  lines 1 "$instead"
  lines 2 "; auto uses mpi instead\$"  # on each, with its own reason
  lines 1 'received intact'
else
  echo "skipped: two hosts: $(cat "$out")"
fi

[ $failures -eq 0 ]
