#!/bin/bash
# A tiny run of a study by every variant: it verifies all it measures. No figure is judged.
#   studies_test.sh RUN_MPI RANKS PROGRAM VARIANTS PAUSE_US [ARGUMENT...]
set -euo pipefail

run_mpi=$1 ranks=$2 program=$3 variants=$4 pause_us=$5
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
run() {
  : >"$lines"
  "$run_mpi" "$ranks" "$program" --variants "$variants" --seconds 0.001 --min-iterations 1 --max-iterations 1 --seed 7 \
    --json "$lines" "$@"
}
expect() {  # SUBJECT VARIANT
  grep -q "\"pattern\":\"$2\".*\"subject\":\"$1\"" "$lines" || { echo "no line of $1, $2"; exit 1; }
}

run "${@:6}"
for variant in ${variants//,/ }; do
  expect mpi "$variant"
  [[ $variant == *send || $variant == broadcast || $variant == fold ]] || expect brigade "$variant"
done

# By messages over connections, with ranks that are late at random.
BRIGADE_TEST_BY_MESSAGES=1 BRIGADE_IFACE=lo run "${@:6}" --transport tcp --peers none --pause-us "$pause_us"
for variant in ${variants//,/ }; do
  [[ $variant == *send || $variant == broadcast || $variant == fold ]] || expect brigade "$variant"
done
