#!/bin/bash
# A tiny run of the overlap of gets, in shared memory and by messages over TCP. No figure is judged.
#   overlap_test.sh RUN_MPI RANKS PROGRAM
set -euo pipefail

run_mpi=$1 ranks=$2 program=$3
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
brief=(--bytes 8,100K --seconds 0.001 --min-iterations 1 --max-iterations 2 --seed 7 --json "$lines")
"$run_mpi" "$ranks" "$program" "${brief[@]}"
BRIGADE_IFACE=lo "$run_mpi" "$ranks" "$program" "${brief[@]}" --transport tcp --peers none --variants get,staged
for what in 'sleeps' 'computes'; do
  for subject in brigade 'brigade, by messages' mpi; do
    count=$(grep -c "\"case\":\"get, delay, wait; the target $what\".*\"subject\":\"$subject\"" "$lines") || true
    wanted=32
    [[ $subject == brigade ]] || wanted=16
    [[ $count -eq $wanted ]] || { echo "$count lines of $subject, target $what, not $wanted"; exit 1; }
  done
done

# Over mpi there is no progress thread, and a get by messages would wait for ever.
"$run_mpi" "$ranks" "$program" "${brief[@]}" --transport mpi --variants staged 2>&1 | tee "$lines.said" && { echo 'not refused'; exit 1; }
grep -q 'no progress thread serves a target that is elsewhere' "$lines.said"
