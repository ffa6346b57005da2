#!/bin/bash
# Coarrays of Fortran are carried: the program says the same with the library preloaded as without it.
# Arguments: run_mpi.sh, the library, the program.
set -uo pipefail
unset BRIGADE_TRANSPORT  # the texts below are those of auto

run_mpi=$1
library=$PWD/$2
program=$TEST_TMPDIR/coarrays
mpif90 -fcoarray=lib -o "$program" "$3" -lcaf_openmpi || exit 1

# run OUTPUT [VARIABLE=VALUE...]
run() {
  "$run_mpi" 4 env "${@:2}" "$program" 2>"$TEST_TMPDIR/log" | sed 's/^[^>]*>//' | LC_ALL=C sort >"$TEST_TMPDIR/$1"
}

run stock || { cat "$TEST_TMPDIR/log"; exit 1; }
while read -r transport settings; do
  # shellcheck disable=SC2086 # a list of words
  if ! run brigade "LD_PRELOAD=$library" BRIGADE_LOG=info $settings ||
    ! grep -q "a window of 4 ranks is carried over $transport" "$TEST_TMPDIR/log" ||
    ! diff "$TEST_TMPDIR/stock" "$TEST_TMPDIR/brigade"; then
    echo "FAILED: coarrays over $transport:"
    cat "$TEST_TMPDIR/log"
    exit 1
  fi
done <<'EOT'
shm
tcp BRIGADE_TRANSPORT=tcp BRIGADE_TEST_BY_MESSAGES=1
EOT
