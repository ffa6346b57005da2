#!/bin/bash
# A tiny run of a suite over every backend of LI: it verifies all it measures. No figure is judged. With
# BRIGADE_TEST_FULL of the sizes that the suite has by default.
#   suites_test.sh RUN_MPI RANKS PROGRAM OPTION SIZES [ARGUMENT...]
set -euo pipefail

run_mpi=$1 ranks=$2 program=$3
sizes=("$4" "$5") length=(--seconds 0.001 --min-iterations 1 --max-iterations 2)
if [[ -n ${BRIGADE_TEST_FULL+full} ]]; then
  sizes=() length=(--seconds 1 --min-iterations 5 --max-iterations 100)
  export TEST_TIMEOUT=1500
fi
seed=${BRIGADE_TEST_SEED:-7}
echo "seed $seed"
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
for backend in windows mpi_rma mpi_send bsp; do
  : >"$lines"
  BRIGADE_LI_BACKEND=$backend "$run_mpi" "$ranks" "$program" "${length[@]}" --seed "$seed" --json "$lines" \
    "${sizes[@]}" "${@:6}"
  name=${backend/windows/brigade}
  for subject in "$name" mpi; do
    grep -q "\"subject\":\"$subject\"" "$lines" || { echo "$backend: no line of $subject"; exit 1; }
  done
done
