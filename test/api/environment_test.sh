#!/bin/bash
# Variables of the environment under libbrigade.so: bad values are errors, good ones are defaults, misspelt names are
# named. Arguments: run_mpi.sh, the program environment.
set -u
unset "${!BRIGADE_@}"

run_mpi=$1
program=$2
out=$TEST_TMPDIR/out
failures=0

fail() {
  echo "FAILED: $*; got:"
  cat "$out"
  failures=$((failures + 1))
}

# says LINES TEXT [VARIABLE=VALUE...] [-- TRANSPORT [CHUNK_BYTES]]: the job ends, and so many lines have the text.
says() {
  local lines=$1 text=$2 transport=() variables=() code
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  [ $# -eq 0 ] || transport=("${@:2}")
  "$run_mpi" 2 env "${variables[@]}" "$program" "${transport[@]}" >"$out" 2>&1
  code=$?
  [ $code -eq 0 ] || fail "${variables[*]} ${transport[*]}: exit code $code"
  [ "$(grep -cE -- "$text" "$out")" -eq "$lines" ] || fail "${variables[*]} ${transport[*]}: not $lines lines of '$text'"
}

# Bad values, also of variables that have no meaning here, and of those that the program overrides.
bad() {  # VARIABLE=VALUE TEXT [-- TRANSPORT]
  says 2 "invalid argument: $1: $2" "$1" "${@:3}"
  ! grep -q 'ran$' "$out" || fail "$1 makes an engine"
}
bad BRIGADE_TRANSPORT=tpc "there is no transport 'tpc'; there are: auto "
bad BRIGADE_TRANSPORT=tpc "there is no transport 'tpc'; there are: auto " -- shm
bad BRIGADE_EXPLAIN=2 'must be 0 or 1'
bad BRIGADE_CHUNK_BYTES=100 'must be a multiple of 64, at least 1024'
bad BRIGADE_KERNEL_COPIES=never 'must be auto, on or off' -- sockets
bad BRIGADE_IO_URING=1 'must be auto, on or off' -- shm
bad BRIGADE_TIME_SLICES=long 'must be short or system'
bad BRIGADE_STATS=often 'must be 0, 1 or ranks'
bad BRIGADE_LI_BACKEND=carrier 'must be windows, mpi_rma, mpi_send or bsp'

good() {  # LINES TEXT [VARIABLE=VALUE...] [-- TRANSPORT [CHUNK_BYTES]]
  says "$@"
  [ "$(grep -c 'ran$' "$out")" -eq 2 ] || fail "$*: not two ranks run"
}
# An option of the program takes precedence.
says 2 'out of memory: .*16777216|invalid argument: .*16777216' BRIGADE_CHUNK_BYTES=16M
good 0 '16777216' BRIGADE_CHUNK_BYTES=16M -- shm 32768
good 0 'brigade: ' BRIGADE_CHUNK_BYTES=16K BRIGADE_STAGING_BYTES=4M BRIGADE_OVERFLOW_WAIT=5 BRIGADE_CALIBRATE=0
good 1 'brigade: broadcast of up to 8 bytes on 2 ranks: .* Chosen by rule' BRIGADE_EXPLAIN=1
good 0 'brigade: ' BRIGADE_EXPLAIN=0
# The result of the trial of io_uring is explained. A setting spares the trial.
explained=(BRIGADE_EXPLAIN=1 BRIGADE_CALIBRATE=0)
good 0 'TCP reads|plain sockets' "${explained[@]}" BRIGADE_IO_URING=off -- tcp
good 0 'TCP reads' "${explained[@]}" BRIGADE_IO_URING=on -- tcp
lines=1
! grep -q 'plain sockets' "$out" || lines=0
good $lines 'TCP reads (through io_uring|by plain calls)' "${explained[@]}" -- tcp
good 1 'brigade: BRIGADE_TRANSPROT is set, but .*nearest name is BRIGADE_TRANSPORT' BRIGADE_TRANSPROT=shm

# The variables that a transport reads show which one is used. A transport that the program names takes precedence.
says 2 'BRIGADE_IFACE=nowhere7 is neither' BRIGADE_IFACE=nowhere7 BRIGADE_TRANSPORT=sockets
good 0 'nowhere7' BRIGADE_IFACE=nowhere7 BRIGADE_TRANSPORT=shm
good 0 'nowhere7' BRIGADE_IFACE=nowhere7 BRIGADE_TRANSPORT=sockets -- shm

good 0 'brigade: ' BRIGADE_TRACE="$TEST_TMPDIR/run.json"
for rank in 0 1; do [ -s "$TEST_TMPDIR/run.$rank.json" ] || fail "no timeline of rank $rank"; done

[ $failures -eq 0 ]
