#!/bin/bash
# A tiny run of everything bench/run.sh runs: it ends, verifies every subject, and its lines and report hold together.
# No figure is judged.
set -euo pipefail

cd "${TEST_SRCDIR:-.}/${TEST_WORKSPACE:-.}"
out=${TEST_TMPDIR:-$(mktemp -d)}
export MPLCONFIGDIR=$out
run_mpi=test/run_mpi.sh
bench=bench/brigade_bench

for ranks in 2 4; do
  $run_mpi "$ranks" "$bench" pingpong --seconds 0.02 --max-bytes 70000 --factor 16 --json "$out/pingpong.jsonl"
  $run_mpi "$ranks" "$bench" spread --seconds 0.02 --sizes 100xQ,50x31 --topologies ' I1' --json "$out/spread.jsonl"
done
# As for MPI with other settings.
$run_mpi 2 "$bench" spread --seconds 0.02 --sizes 100xQ --peers mpi --shim none --label forced --json "$out/spread.jsonl"
for pair in 0 1; do
  $run_mpi 2 bench/scalapack_timing -n 60 --nb 8 --repetitions 1 --pair $pair --json "$out/scalapack.jsonl"
done
# The partner of pair 0 is missing, as if that launch had failed.
LD_PRELOAD=$PWD/blacs_shim/libbrigade_blacs.so \
  $run_mpi 2 bench/scalapack_timing -n 60 --nb 8 --repetitions 1 --pair 1 --json "$out/scalapack.jsonl"

LD_PRELOAD=$PWD/blacs_shim/libbrigade_blacs.so BRIGADE_TRACE=$out/trace.json \
  $run_mpi 4 bench/scalapack_timing -n 60 --nb 8 --repetitions 3 --json "$out/traced.jsonl"
/usr/bin/python3 bench/merge_trace.py "$out/trace.json"
/usr/bin/python3 bench/trace_picture.py "$out/trace.json" --timing "$out/traced.jsonl" --routine QR --zoom 0.5 \
  --picture "$out/trace.svg" >"$out/trace.txt"

status=0
$run_mpi 2 "$bench" spread --bogus 2>"$out/refused.txt" || status=$?
[[ $status -eq 2 ]] || { echo "an unknown flag ended with $status, not 2"; exit 1; }
[[ $(grep -c -e --bogus "$out/refused.txt") -eq 1 ]] || { echo "not refused once:"; cat "$out/refused.txt"; exit 1; }

/usr/bin/python3 bench/make_report.py "$out" --picture "$out/picture.svg"
/usr/bin/python3 bench/smoke_test.py "$out"
