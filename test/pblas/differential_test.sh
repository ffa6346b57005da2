#!/bin/bash
# The library against ScaLAPACK's own products, over the reference BLACS and over ours, and that it took all of them.
# However blocks are fetched, the bits are the same. Arguments: run_mpi.sh, the program, the library, the BLACS, and how
# many ranks there may be, if not 6.
set -u

run_mpi=$1
program=$2
library=$(realpath "$3")
blacs=$(realpath "$4")
most=${5:-6}
few=$((most < 4 ? most : 4))
failures=0

check() {  # RANKS PRELOADS [VARIABLE=VALUE...]
  local ranks=$1 preloads=$2 wanted taken
  shift 2
  rm -f "$TEST_TMPDIR"/err.*
  # Each rank's messages in a file of their own: mpirun may put something else within a line.
  # shellcheck disable=SC2016 # for the inner shell
  "$run_mpi" "$ranks" sh -c 'exec 2>"$0.$$"; exec "$@"' "$TEST_TMPDIR/err" \
    env "LD_PRELOAD=$preloads" BRIGADE_PBLAS=on BRIGADE_EXPLAIN=1 "$@" "$program" >"$TEST_TMPDIR/out" 2>&1 ||
    { failures=$((failures + 1)); echo "FAILED: $ranks ranks, $preloads $*"; }
  cat "$TEST_TMPDIR"/err.* >>"$TEST_TMPDIR/out"
  sed -i 's/\[[0-9]*,[0-9]*\]<[a-z]*>: *//g' "$TEST_TMPDIR/out"
  grep -A 5 'Failure' "$TEST_TMPDIR/out" | head -n 30
  grep -v 'brigade: P.* by one-sided communication' "$TEST_TMPDIR/out" | tail -n 60
  wanted=$(sed -n 's/.*to multiply: //p' "$TEST_TMPDIR/out")
  taken=$(grep -c 'brigade: P.* by one-sided communication' "$TEST_TMPDIR/out")
  [[ ${wanted:-0} -gt 0 && $taken -eq $wanted ]] ||
    { failures=$((failures + 1)); echo "FAILED: $taken of ${wanted:-no} products taken, $ranks ranks, $preloads $*"; }
  grep -q 'left to the PBLAS: .*c shares memory with b' "$TEST_TMPDIR/out" ||
    { failures=$((failures + 1)); echo "FAILED: C may share memory with B, $ranks ranks, $preloads $*"; }
  digest=$(sed -n 's/.*digest: //p' "$TEST_TMPDIR/out")
}

same_digest() {  # as in_memory
  [[ -n $digest && $digest == "$in_memory" ]] ||
    { failures=$((failures + 1)); echo "FAILED: other bits $1: ${digest:-none} in place of ${in_memory:-none}"; }
}

[[ $few -eq $most ]] || check "$most" "$library"
check "$few" "$library"
in_memory=$digest
check "$few" "$library" BRIGADE_KERNEL_COPIES=off
same_digest "without copies by the kernel"
check "$few" "$library:$blacs" BRIGADE_TRANSPORT=tcp BRIGADE_IFACE=lo
same_digest "over TCP"

exit $((failures > 0))
