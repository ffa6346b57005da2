#!/bin/bash
# Windows, grids and products are usable in delete callbacks on MPI_COMM_SELF that MPI_Finalize calls, however MPI was
# initialised, whatever was preloaded first, and beside a profiling tool; what is used later is an error that says so;
# and programs may end in any way. Arguments: run_mpi.sh, openmpi or mpich, libbrigade_blacs.so, and, if there are,
# libbrigade_rma.so and libbrigade_pblas.so. Bazel's shards share what begins with "mine".
set -u

run_mpi=$(realpath "$1")
mpi=$2
libraries=$(realpath "${@:3}")
uses=g
[[ $libraries != *_rma.so* ]] || uses+=w
[[ $libraries != *_pblas.so* ]] || uses+=p
folder=$(realpath "$(dirname "$0")")
scalapack=-lscalapack-openmpi
if [[ $mpi == mpich ]]; then
  scalapack=-l:libscalapack-mpich.so.2.2
  # Otherwise UCX, below Debian's MPICH, takes short windows for others that lie beside them.
  export UCX_RCACHE_ENABLE=n
fi
failures=0
cd "$TEST_TMPDIR" || exit 1

[[ ! -v TEST_SHARD_STATUS_FILE ]] || touch "$TEST_SHARD_STATUS_FILE"
turn=0
mine() { ((turn++ % ${TEST_TOTAL_SHARDS:-1} == ${TEST_SHARD_INDEX:-0})); }

# All in a row, so that each is preloaded before those that follow.
row() { printf '%s:' "$@"; }
# shellcheck disable=SC2086 # a list of words
all=$(row $libraries)
libraries_with() { grep -E "_($1)\.so" <<<"$libraries"; }

compile() { "mpicc.$mpi" -O1 -Wall -Wextra -Werror "$@"; }
cases=./finalize_cases
compile -o $cases "$folder/finalize_cases.c" -Wl,--no-as-needed "$scalapack" -ldl || exit 1

complain() {
  echo "FAILED: $*; got:"
  cat out
  failures=$((failures + 1))
}

# job PRELOADS COMMAND...: its output in the file out.
job() {
  TEST_TIMEOUT=200 "$run_mpi" 2 env "LD_PRELOAD=$1" BRIGADE_PBLAS=on BRIGADE_LOG=info BRIGADE_EXPLAIN=1 "${@:2}" >out 2>&1
}

# passes COUNT TEXT PRELOADS COMMAND...: it ends well, and that many lines have the text.
passes() {
  job "${@:3}" || complain "${*:3}: exit code $?"
  [[ $(grep -c -- "$2" out) -eq $1 ]] || complain "${*:3}: not $1 lines with '$2'"
}

# ends TEXT PRELOADS COMMAND...: it fails with the text, and not by a signal.
ends() {
  ! job "${@:2}" || complain "${*:2}: exit code 0"
  grep -q -- "$1" out || complain "${*:2}: no '$1'"
  ! grep -iE 'segmentation|bad termination.*(signal|139)' out || complain "${*:2}: a crash"
}

# works PRELOADS COMMAND...: in the callback as before it, and all by our libraries that are preloaded.
works() {
  passes 1 'the callback has passed' "$@"
  if [[ $1 == *_rma.so* ]]; then
    grep -q 'window of 2 ranks is carried over' out || complain "$*: windows are not carried"
    ! grep 'left to MPI' out || complain "$*: windows are left to MPI"
  fi
  [[ $1 != *_pblas.so* || $(grep -c 'by one-sided communication' out) -eq 2 ]] || complain "$*: products are not taken"
}

# The cases below pass without the libraries, too.
! mine || passes 1 'the callback has passed' '' $cases callback init $uses

# Each library alone; then all, in any order, and one level of threads for each.
for library in $libraries; do
  ! mine || works "$library" $cases callback init $uses
done
levels=(single funneled serialized multiple init)
i=0
for first in $libraries; do
  for second in $libraries; do
    [[ $second != "$first" ]] || continue
    for third in $libraries; do
      [[ $third != "$first" && $third != "$second" ]] || continue
      level=${levels[$((i++ % 5))]}
      ! mine || works "$(row "$first" "$second" "$third")" $cases callback "$level" $uses
    done
  done
done
if [[ $i -eq 0 ]]; then
  for level in "${levels[@]}"; do
    ! mine || works "$all" $cases callback "$level" $uses
  done
fi

# Windows, grids and products that the program does not end, end after its callback.
if mine; then
  works "$all" $cases forgotten multiple $uses
  ! grep 'UCX' out || complain "MPICH is left with windows"
fi

# Linked in place of preloaded.
if mine; then
  # shellcheck disable=SC2046,SC2086 # lists of words
  compile -o linked "$folder/finalize_cases.c" -Wl,--no-as-needed $libraries "$scalapack" -ldl \
    $(printf -- '-Wl,-rpath,%s ' $(dirname $libraries)) || complain "linking"
  passes 1 'the callback has passed' '' ./linked callback init $uses
fi

# A profiling tool, in front and behind, that initialises MPI by the same function or by another. Its own attribute is
# older than the program's, and newer than ours.
for options in '' -DRAISE_LEVEL; do
  mine || continue
  # shellcheck disable=SC2086 # a list of words
  compile -shared -fPIC $options -o tool.so "$folder/tool.c" || complain "compiling"
  for preloads in "./tool.so:$all" "$all:./tool.so"; do
    works "$preloads" $cases callback init $uses
    [[ $(grep -c 'the tool has passed' out) -eq 1 ]] || complain "the tool, $options, $preloads"
    works "$preloads" $cases callback funneled $uses
  done
done

# Fortran, by both modules.
if [[ $uses == *w*p* ]]; then
  while read -r options init; do
    mine || continue
    # shellcheck disable=SC2086 # a list of words
    "mpif90.$mpi" -ffree-line-length-none $options -o fortran "$folder/finalize_test.F90" "$scalapack" ||
      complain "compiling"
    works "$all" ./fortran "$init"
  done <<<$'-UF08 init\n-UF08 thread\n-DF08 init\n-DF08 thread'
fi

# MPI is initialised past the libraries, or before they are opened: callbacks of older attributes come behind our end.
late=${uses/p/}
if mine; then
  passes 1 'the callback has passed' "$all" $cases late past "$late"
  # shellcheck disable=SC2046 # a list of words
  passes 1 'the callback has passed' '' $cases late multiple "$late" $(libraries_with 'blacs|rma')
fi
if mine; then
  ends "dgsum2d: called after MPI_Finalize has ended the BLACS; load the library before" "$all" $cases late_call past g
  if [[ $uses == *w* ]]; then
    ends "MPI_Win_lock_all on rank [01]: MPI_Finalize has ended this window" "$all" $cases late_call past w
  fi
fi
# Products go to ScaLAPACK's own then, which has its own BLACS here.
if [[ $uses == *p* ]] && mine; then
  passes 1 'by one-sided communication' "$(libraries_with pblas)" $cases late past p
  passes 1 'by one-sided communication' '' $cases late init p "$(libraries_with pblas)"
fi

# Behind MPI_Finalize.
if mine; then
  ends "dgsum2d: called after MPI_Finalize" "$all" $cases after init g
  text='MPI_Win_lock_all: MPI_Finalize has ended this window'
  [[ $mpi != mpich ]] || text='an MPI routine (internal_Win_lock_all) .*after finalizing'  # MPICH's own
  [[ $uses != *w* ]] || ends "$text" "$all" $cases after init w
  [[ $uses != *p* ]] || ends "PBLAS ERROR 'Parameter number" "$all" $cases after init p
fi

# MPI 4: MPI is initialised and finalised while a session is open, or finalised behind it.
compile -E -dM -include mpi.h -x c /dev/null >macros
if [[ $uses == *w* ]] && grep -q 'define MPI_VERSION 4' macros && mine; then
  compile -o sessions "$folder/sessions.c" || complain "compiling"
  for order in '' session_first; do
    # shellcheck disable=SC2086 # a list of words
    passes 1 'sessions have passed' "$all" ./sessions $order
    grep -q 'carried over' out || complain "no window of a program with sessions is carried"
  done
fi

# Functions of atexit that were registered before all of this, and ends without MPI_Finalize.
if mine; then
  passes 2 'has left' "$all" $cases exit_finalize init $uses
  passes 2 'has left' "$all" $cases exit_first init $uses
  for ending in exit _exit abort; do
    job "$all" $cases $ending init $uses
    ! grep -iE 'segmentation|CHECK failed' out || complain "$ending: a crash"
    # A launcher may kill the other rank as soon as one has left.
    [[ $ending != exit ]] || grep -q 'has left' out || complain "the end of $ending is missing"
  done
  ! find /dev/shm -iname '*brigade*' | grep . || complain "memory that is left"
fi

exit $((failures > 0))
