#!/bin/bash
# With --uneven N the results say that rank 0 is slower. That it is: md_forces_test.cc.
#   md_uneven_test.sh RUN_MPI PROGRAM
set -euo pipefail

run_mpi=$1 program=$2
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
run() {  # RANKS ARGUMENT...
  : >"$lines"
  "$run_mpi" "$1" "$program" --atoms 864 --steps 2 --peers messages --seconds 0.001 --min-iterations 3 \
    --max-iterations 3 --json "$lines" "${@:2}"
}

run 3 --uneven 3
[[ $(grep -c 'rank 0 at 1/3 of the speed' "$lines") -eq 3 ]] || { echo "nothing tells of it"; exit 1; }
