#!/bin/bash
# A run of md_study that may not take long has few steps, two at least, and says how far energy drifts.
#   md_steps_test.sh RUN_MPI PROGRAM SECONDS STEPS
set -euo pipefail

out=$("$1" 2 "$2" --atoms 256 --steps 1000000 --run-seconds "$3" --variants nbget --peers none --seconds 0.001 \
  --min-iterations 1 --max-iterations 1)
echo "$out"
grep -qE "256 atoms, $4 steps: energy drifts by at most [0-9.]+e-[0-9]+ of itself" <<<"$out"
