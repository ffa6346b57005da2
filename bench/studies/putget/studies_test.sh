#!/bin/bash
# A tiny run of a study by every variant: it verifies all it measures. No figure is judged. With BRIGADE_TEST_FULL a
# long one in place of the first, and another seed.
#   studies_test.sh RUN_MPI RANKS PROGRAM VARIANTS PAUSE_US FULL_ARGUMENTS [ARGUMENT...]
set -euo pipefail

run_mpi=$1 ranks=$2 program=$3 variants=$4 pause_us=$5 full_arguments=$6
shift 6
long=("$@")
[[ ! -v BRIGADE_TEST_FULL ]] || read -ra long <<<"$full_arguments"
seed=${BRIGADE_TEST_SEED:-7}
echo "BRIGADE_TEST_SEED=$seed"
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
run() {
  : >"$lines"
  "$run_mpi" "$ranks" "$program" --variants "$variants" --seconds 0.001 --min-iterations 1 --max-iterations 1 \
    --seed "$seed" --json "$lines" "$@"
}
expect() {  # SUBJECT VARIANT
  grep -q "\"pattern\":\"$2\".*\"subject\":\"$1\"" "$lines" || { echo "no line of $1, $2"; exit 1; }
}

run "${long[@]}"
for variant in ${variants//,/ }; do
  expect mpi "$variant"
  [[ $variant == *send || $variant == broadcast || $variant == fold ]] || expect brigade "$variant"
done

# By messages over connections, with ranks that are late at random.
BRIGADE_IFACE=lo run "$@" --transport tcp --by-messages --peers none --pause-us "$pause_us"
for variant in ${variants//,/ }; do
  [[ $variant == *send || $variant == broadcast || $variant == fold ]] || expect brigade "$variant"
done
