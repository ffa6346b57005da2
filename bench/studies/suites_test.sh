#!/bin/bash
# A tiny run of a suite over every backend of LI: it verifies all it measures. No figure is judged.
#   suites_test.sh RUN_MPI RANKS PROGRAM [ARGUMENT...]
set -euo pipefail

run_mpi=$1 ranks=$2 program=$3
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
for backend in windows mpi_rma mpi_send bsp; do
  : >"$lines"
  BRIGADE_LI_BACKEND=$backend "$run_mpi" "$ranks" "$program" --seconds 0.001 --min-iterations 1 --max-iterations 2 \
    --seed 7 --json "$lines" "${@:4}"
  name=${backend/windows/brigade}
  for subject in "$name" mpi; do
    grep -q "\"subject\":\"$subject\"" "$lines" || { echo "$backend: no line of $subject"; exit 1; }
  done
done
