#!/bin/bash
# A tiny run of products in every way and with every library that there is: it verifies all it measures. No figure is
# judged.
#   product_test.sh RUN_MPI RANKS PROGRAM BLACS PBLAS
set -euo pipefail

run_mpi=$1 ranks=$2 program=$3 blacs=$(realpath "$4") pblas=$(realpath "$5")
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl
run() {
  : >"$lines"
  BRIGADE_IFACE=lo "$run_mpi" "$ranks" "${@:1}" --seconds 0.001 --min-iterations 1 --max-iterations 1 --seed 7 \
    --json "$lines"
}
expect() {  # SUBJECT PATTERN
  grep -q "\"pattern\":\"$2\".*\"subject\":\"$1\"" "$lines" || { echo "no line of $1, $2"; exit 1; }
}

run "$program" -n 7,90 --block 8
for way in diagonal natural blocking 'natural blocking' 'two ahead' 'four ahead' fetched staged \
  'staged blocking'; do
  expect brigade "$way"
done
expect pdgemm pdgemm
expect alone dgemm
run "$program" -n 33 --block 5 --grid "${ranks}x1" --transport tcp --link-mbytes 10
grep -q '"predicted_us":' "$lines" || { echo "no bound"; exit 1; }

run "$program" -n 7,41 --variants ga_dgemm --label other
expect 'Global Arrays' ga_dgemm
if grep -q '"pattern":"diagonal"' "$lines"; then echo "a way that was not named ran"; exit 1; fi

# Not square, and of all ways ahead of the smallest k.
run "$program" -n 29,64 -k 11 --block 4 --variants diagonal,staged,pdgemm,dgemm
expect brigade diagonal
expect pdgemm pdgemm
grep -q ', k = 11"' "$lines" || { echo "no line says what is summed over"; exit 1; }

run "$program" -n 7,41 --block 4 --variants whole,pdsyrk,pdtrmm,dgemm
expect brigade whole
expect pdsyrk pdsyrk
expect pdtrmm pdtrmm
grep -q '"half product, .*"pattern":"dgemm"' "$lines" || { echo "no arithmetic alone"; exit 1; }

for preloads in "$blacs" "$pblas" "$pblas:$blacs"; do
  run env "LD_PRELOAD=$preloads" BRIGADE_PBLAS=on BRIGADE_STATS=1 BRIGADE_EXPLAIN=1 "$program" -n 40 --block 8 \
    --variants diagonal,pdgemm,pdsyrk --label other 2>&1 | tee "$lines.said"
  expect brigade diagonal
  expect 'pdgemm other' pdgemm
  expect 'pdsyrk other' pdsyrk
  # It was theirs, not the stock one.
  [[ $preloads != *"$blacs"* ]] || grep -q 'brigade statistics summed' "$lines.said"
  [[ $preloads != *"$pblas"* ]] || {
    grep -q 'PDGEMM NN 40 .* by one-sided communication' "$lines.said"
    grep -q 'PDSYRK LN 40 .* by one-sided communication' "$lines.said"
  }
done
