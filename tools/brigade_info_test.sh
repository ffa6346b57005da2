#!/bin/bash
# brigade_info says what is here, and why something is not. Arguments: brigade_info, run_mpi.sh, without.
set -u

info=$1
run_mpi=$2
without=$3
out=$TEST_TMPDIR/out
failures=0
# A singleton of Open MPI may run as root; it wants a short path, as in run_mpi.sh.
TMPDIR=$(mktemp -d /tmp/bg.XXXXXX)
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR HOME=$TMPDIR XDG_CACHE_HOME=$TMPDIR/cache

# run CODE COMMAND...
run() {
  local wanted=$1 code
  shift
  "$@" >"$out" 2>&1
  code=$?
  [ $code -eq "$wanted" ] && return
  echo "FAILED: '$*' ended with $code instead of $wanted; it printed:"
  cat "$out"
  failures=$((failures + 1))
}

# says TEXT: the last run printed exactly one such line.
says() {
  [ "$(grep -cE -- "$1" "$out")" = 1 ] && return
  echo "FAILED: not one line with '$1'; it printed:"
  cat "$out"
  failures=$((failures + 1))
}

run 0 "$info"
says '^brigade [0-9.]+$'
says '^  MPI +Open MPI v'
says '^  processors +[1-9]'
says '^  memory it may lock +[1-9u]'
says '^transports among 1 rank, this process$'
for transport in auto mpi shm tcp sockets; do says "^  $transport +yes: "; done
says 'between hosts MPI '
says '^  BRIGADE_CHUNK_BYTES +32768$'
says '^  BRIGADE_LI_BACKEND +windows$'
says "^calibration in $TMPDIR/cache/brigade$"
says '^  none$'

# What is set is marked, what is misspelt named.
run 0 env BRIGADE_CHUNK_BYTES=16K BRIGADE_TRANSPROT=shm "$info"
says '^\* BRIGADE_CHUNK_BYTES +16384$'
says 'BRIGADE_TRANSPROT is set, .*BRIGADE_TRANSPORT$'

# What is missing says why.
run 0 env BRIGADE_IFACE=nowhere7 "$info"
for line in auto tcp sockets 'address for peers'; do says "^  $line +no: .*BRIGADE_IFACE=nowhere7 is neither"; done
says '^  shm +yes'

run 1 env BRIGADE_KERNEL_COPIES=never "$info"
says '^  BRIGADE_KERNEL_COPIES=never: must be 0 or 1$'
for line in auto shm; do says "^  $line +no: .*BRIGADE_KERNEL_COPIES=never: must be 0 or 1"; done
run 0 env BRIGADE_KERNEL_COPIES=0 "$info"
says '^  shm +yes'
says '^  kernel copies +(allowed; (staging is faster|faster for [0-9]+ to [0-9]+ bytes )|no: the system refuses them: )'
run 0 "$without" process_vm_writev "$info"
says '^  kernel copies +no: the system refuses them: Operation not permitted$'
says '^  shm +yes'

missing=$TEST_TMPDIR/missing
mkdir "$missing"
: >"$missing/liburing.so.2"
run 0 env LD_LIBRARY_PATH="$missing" "$info"
says '^  io_uring +no: .*liburing\.so\.2: '
says '^  libsodium +yes$'
says '^  tcp +yes'
rm "$missing/liburing.so.2"
for name in libsodium.so.{23,26}; do : >"$missing/$name"; done
run 0 env LD_LIBRARY_PATH="$missing" "$info"
says '^  libsodium +no: .*libsodium\.so\.23: .*install libsodium '
for line in tcp sockets; do says "^  $line +no: .*libsodium"; done
for line in auto shm; do says "^  $line +yes"; done

run 1 env BRIGADE_TRANSPORT=tpc "$info"
says "^  BRIGADE_TRANSPORT=tpc: there is no transport 'tpc'; there are: auto"
run 0 env BRIGADE_TRANSPORT=uring "$info"

run 1 env BRIGADE_STATS=often "$info"
says 'BRIGADE_STATS=often: must be 0, 1 or ranks'

# Hydra under a program of Open MPI.
run 0 env MPI_LOCALNRANKS=2 "$info"
says '^  the launcher says that 2 processes .* mpirun is of another MPI than the program'

# Rank 0 speaks for all.
run 0 "$run_mpi" 2 "$info"
says 'transports among 2 ranks$'
says '  shm +yes: '

run 0 "$info" --help
says '^Usage: '
run 0 "$info" --version
says '^brigade_info [0-9.]+$'
run 2 "$info" --hepl
says 'not expected: --hepl'

[ $failures -eq 0 ]
