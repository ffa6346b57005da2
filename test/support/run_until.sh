#!/bin/bash
# Runs an MPI job that does not end by itself, and ends its ranks when COUNT different texts of its output match
# PATTERN, a basic regular expression. Prints the output. Exit code 0: the texts have come.
#   run_until.sh RUN_MPI COUNT PATTERN RANKS PROGRAM [ARGUMENT...]
set -u

run_mpi=$1 count=$2 pattern=$3 ranks=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/ranks"
: >"$work/out"

said() { [[ $(grep -o -- "$pattern" "$work/out" | sort -u | wc -l) -ge $count ]]; }

# shellcheck disable=SC2016 # for the inner shell
"$run_mpi" "$ranks" sh -c 'echo $$ >>"$0"; exec "$@"' "$work/ranks" "$@" >"$work/out" 2>&1 &
job=$!
until said || ! kill -0 $job 2>/dev/null; do sleep 0.1; done
# The launcher ends with its ranks. One of them may be gone.
xargs -r kill <"$work/ranks" 2>/dev/null
wait $job
cat "$work/out"
said
