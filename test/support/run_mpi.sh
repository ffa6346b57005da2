#!/bin/sh
# Runs a program as an MPI job inside a Bazel test: run_mpi.sh RANKS PROGRAM [ARGUMENT...]
set -eu

ranks=$1
shift

# Open MPI wants a home, and makes sockets whose paths must stay below 108 characters.
TMPDIR=$(mktemp -d /tmp/bg.XXXXXX)
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR HOME="$TMPDIR"
# Sandboxes and containers often run as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS=1
export GTEST_COLOR=no

# A little less than Bazel's limit, so that mpirun itself ends the ranks and says so.
limit=$((${TEST_TIMEOUT:-300} * 9 / 10))

# Nothing to read, lest mpirun takes the lines of a loop of the caller's.
# Open MPI's mpirun can hang when all its ranks have ended at once, its own time limit included; so it has another one.
# Jobs in different sandboxes have the same process numbers, of which Open MPI makes the names of its shared memory.
timeout --foreground --kill-after=5 $((limit + 10)) \
  mpirun -n "$ranks" --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --tag-output \
  --mca btl_vader_backing_directory "$TMPDIR" --timeout "$limit" "$@" </dev/null
