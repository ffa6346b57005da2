#!/bin/bash
# With --uneven N rank 0 takes longer for the same forces, by messages and by tasks.
#   md_uneven_test.sh RUN_MPI PROGRAM
set -euo pipefail

run_mpi=$1 program=$2
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
run() {  # RANKS ARGUMENT...
  : >"$lines"
  "$run_mpi" "$1" "$program" --atoms 864 --steps 2 --peers messages --seconds 0.001 --min-iterations 3 \
    --max-iterations 3 --json "$lines" "${@:2}"
}
times() { sed -n 's/.*"pattern":"\([a-z]*\)".*"median_us":\([0-9]*\).*/\1 \2/p' "$lines" | sort; }

run 1
even=$(times)
run 1 --uneven 8
uneven=$(times)
join <(echo "$even") <(echo "$uneven") | awk '
  { print; if ($3 < 3 * $2) slow = 1; ways++ }
  END { exit slow || ways != 3 }' || { echo "rank 0 computes no more than others"; exit 1; }

run 3 --uneven 3
[[ $(grep -c 'rank 0 at 1/3 of the speed' "$lines") -eq 3 ]] || { echo "nothing tells of it"; exit 1; }
