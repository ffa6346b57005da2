#!/bin/bash
# brigade_info prints what is available, and the reason if something is not. Arguments: brigade_info, run_mpi.sh,
# without.
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

# Set variables are marked, and misspelt ones are named.
run 0 env BRIGADE_CHUNK_BYTES=16K BRIGADE_TRANSPROT=shm "$info"
says '^\* BRIGADE_CHUNK_BYTES +16384$'
says 'BRIGADE_TRANSPROT is set, .*BRIGADE_TRANSPORT$'

# Unavailable transports are listed with the reason.
run 0 env BRIGADE_IFACE=nowhere7 "$info"
for line in auto tcp sockets 'address for peers'; do says "^  $line +no: .*BRIGADE_IFACE=nowhere7 is neither"; done
says '^  shm +yes'

run 1 env BRIGADE_KERNEL_COPIES=never "$info"
says '^  BRIGADE_KERNEL_COPIES=never: must be auto, on or off$'
for line in auto shm; do says "^  $line +no: .*BRIGADE_KERNEL_COPIES=never: must be auto, on or off"; done
run 0 env BRIGADE_KERNEL_COPIES=off "$info"
says '^  shm +yes'
says '^  io_uring +(yes|no: )'
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
says '^brigade: BRIGADE_TRANSPORT=uring is an old name; set tcp instead'

run 1 env BRIGADE_STATS=often "$info"
says 'BRIGADE_STATS=often: must be 0, 1 or ranks'

# Hydra under a program of Open MPI.
run 0 env MPI_LOCALNRANKS=2 "$info"
says '^  the launcher has started 2 processes .* mpirun is of another MPI than the program'

# Rank 0 speaks for all.
run 0 "$run_mpi" 2 "$info"
says 'transports among 2 ranks$'
says '  shm +yes: '

# Also for one that has no transport: the reason is that rank's.
# shellcheck disable=SC2016 # the shell of a rank expands it
run 0 "$run_mpi" 2 sh -c '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || export BRIGADE_IFACE=nowhere7; exec "$0"' "$info"
says '  tcp +no: rank 1 of the group: .*BRIGADE_IFACE=nowhere7 is neither'
says '  shm +yes: '

# Lists the MPI libraries that an installation serves.
prefix=$TEST_TMPDIR/prefix
mkdir -p "$prefix/bin" "$prefix/lib/x86_64-any"
cp "$info" "$prefix/bin"
run 0 "$prefix/bin/brigade_info"
says '^  libraries +none beside this program$'
touch "$prefix"/lib/x86_64-any/libbrigade{,_blacs,_mpi_openmpi,_blacs_openmpi,_blacs64_openmpi,_mpi_mpich}.so.1
run 0 "$prefix/bin/brigade_info"
says "^  libraries +$prefix/lib/x86_64-any$"
says '^  for Open MPI +blacs, blacs64, mpi$'
says '^  for MPICH +mpi$'
rm "$prefix"/lib/x86_64-any/*_mpich.so.1
run 0 "$prefix/bin/brigade_info"
says '^  for MPICH +none$'

# Lists the libraries that a program will use, by its link order. The program is not run.
code=$TEST_TMPDIR/code
mkdir "$code"
echo 'void blacs_gridinit_(void) {} void pdgemm_(void) {}' >"$code/scalapack.c"
echo 'void Cblacs_gridinit(void) {} void blacs_gridinit_(void) {}' >"$code/brigade_blacs.c"
echo 'void MPI_Get_library_version(void) {} void ompi_mpi_finalize(void) {}' >"$code/mpi.c"
cat >"$code/program.c" <<'EOF'
#include <stdio.h>
void blacs_gridinit_(void);
int main(void) {
  puts("it runs");
  blacs_gridinit_();
  return 0;
}
EOF
for name in scalapack brigade_blacs mpi; do
  gcc -shared -fPIC "$code/$name.c" -o "$code/lib$name.so.1" -Wl,-soname,lib$name.so.1
  ln -s lib$name.so.1 "$code/lib$name.so"
done
program() {  # NAME OPTION...
  gcc "$code/program.c" -o "$code/$1" -L"$code" -Wl,-rpath,"$code" -Wl,--no-as-needed "${@:2}"
}
program right -lbrigade_blacs -lscalapack -lmpi
program wrong -lscalapack -lbrigade_blacs
program other -Wl,--as-needed -lscalapack -lbrigade_blacs
program inside "$code/scalapack.c"
program static -static "$code/scalapack.c"

run 0 "$info" "$code/right"
says "^$code/right will use$"
says "^  BLACS +$code/libbrigade_blacs.so.1, Brigade$"
says "^  products \\(PBLAS\\) +$code/libscalapack.so.1, not Brigade: link -lbrigade_pblas before it, or preload lib"
says '^  one-sided calls +none$'
says "^  MPI +$code/libmpi.so.1, Open MPI$"
[ "$(wc -l <"$out")" -eq 5 ] || { echo "FAILED: more than the program's libraries"; failures=$((failures + 1)); }
run 0 "$info" "$code/wrong"
says "^  BLACS +$code/libscalapack.so.1, not Brigade: $code/libbrigade_blacs.so.1 comes later and is not called; "
run 0 "$info" "$code/other"
says "^  BLACS +$code/libscalapack.so.1, not Brigade: link -lbrigade_blacs before it, or preload libbrigade_blacs.so$"
says '^  MPI +none$'
run 0 env LD_PRELOAD="$code/libbrigade_blacs.so" "$info" "$code/other"
says "^  BLACS +$code/libbrigade_blacs.so, Brigade$"
for name in inside static; do
  run 0 env LD_PRELOAD="$code/libbrigade_blacs.so" "$info" "$code/$name"
  says '^  BLACS +inside the program; no library takes its place$'
done
# One that lies in this folder.
run 0 env -C "$code" "$(realpath "$info")" right
says "^  BLACS +$code/libbrigade_blacs.so.1, Brigade$"
# A library that a program opens, such as a module of Python.
run 0 "$info" "$code/libbrigade_blacs.so"
says "^  BLACS +$code/libbrigade_blacs.so, Brigade$"
run 1 "$info" "$0"
says '^brigade_info: .* is no program of this machine.s kind \(ELF\); of a script, name the program that it starts$'
run 1 "$info" "$code"
says "^brigade_info: $code: Is a directory$"
mkfifo "$TMPDIR/fifo"
run 1 timeout 200 "$info" "$TMPDIR/fifo"
says 'fifo is no program of this machine.s kind'
run 1 "$info" "$code/none"
says "^brigade_info: $code/none: No such file or directory$"
# Without one of its libraries it would not start.
rm "$code/libmpi.so.1"
run 1 "$info" "$code/right"
says "^brigade_info: its libraries cannot be listed: $code/right: error while loading .* libmpi.so.1: "
# One process of a job prints it.
run 0 "$run_mpi" 2 "$info" "$code/other"
says 'BLACS +.*not Brigade: '

run 1 bash -c '"$0" >/dev/full' "$info"
says '^brigade_info: cannot write standard output; its last lines are missing$'
run 0 "$info" --help
says '^Usage: '
run 0 "$info" --version
says '^brigade_info [0-9.]+$'
run 2 "$info" --hepl
says 'not expected: --hepl'

[ $failures -eq 0 ]
