#!/bin/bash
# A tiny run of all that bench/run.sh measures, except the studies: it ends, verifies every subject, and its lines and
# report hold together. No figure is judged.
set -euo pipefail
trap 'echo "smoke_test.sh: line $LINENO ended with status $?" >&2' ERR

cd "${TEST_SRCDIR:-.}/${TEST_WORKSPACE:-.}"
out=${TEST_TMPDIR:-$(mktemp -d)}
export MPLCONFIGDIR=$out
mkdir -p "$out/study"
run_mpi=test/support/run_mpi.sh
bench=bench/brigade_bench

# Messages must not depend on the lengths for which this machine's kernel copies faster.
export BRIGADE_KERNEL_COPIES=off
for ranks in 2 4; do
  BRIGADE_KERNEL_COPIES=on $run_mpi "$ranks" "$bench" spread --cases broadcast,multi-broadcast,all-reduce --bytes 64K \
    --seconds 0.02 --peers none --shim none
  $run_mpi "$ranks" "$bench" pingpong --seconds 0.02 --sizes 8,4K,70000 --json "$out/pingpong.jsonl"
  $run_mpi "$ranks" "$bench" calls --seconds 0.02 --json "$out/calls.jsonl"
  $run_mpi "$ranks" "$bench" spread --seconds 0.02 --sizes 100xQ,50x31 --topologies ' I1' --json "$out/spread.jsonl"
done
$run_mpi 2 "$bench" pingpong --alloc --seconds 0.02 --sizes 70000 --peers none --shim none
$run_mpi 2 "$bench" pingpong --touch --seconds 0.02 --sizes 70000 --peers mpi,ring --shim none
$run_mpi 2 "$bench" pingpong --idle-window private --seconds 0.02 --sizes 8 --runs 0 --peers none --shim none
# One-sided communication, directly and by messages.
$run_mpi 3 "$bench" one-sided --seconds 0.02 --min-iterations 2 --sizes 8,70000 --json "$out/one_sided.jsonl"
$run_mpi 3 "$bench" contended --seconds 0.02 --min-iterations 2 --json "$out/one_sided.jsonl"
for transport in shm tcp mpi; do
  $run_mpi 3 "$bench" contended --seconds 0.02 --min-iterations 2 --shim none --transport "$transport"
  $run_mpi 3 "$bench" exchange --seconds 0.02 --min-iterations 2 --blocks 0,8,70000 --shim none --transport "$transport" \
    --json "$out/exchange.jsonl"
done
cma_off=(--mca btl_vader_single_copy_mechanism none)
patterns=(spread --cases broadcast,reduce,all-reduce,multi-broadcast,multi-reduce,barrier --bytes 1K,64K
  --seconds 0.02 --peers mpi --shim none --json "$out/grid.jsonl")
for ranks in 2 4; do
  $run_mpi "$ranks" "$bench" "${patterns[@]}"
  $run_mpi "$ranks" "${cma_off[@]}" "$bench" "${patterns[@]}" --label 'CMA off'
done
$run_mpi 2 "${cma_off[@]}" "$bench" pingpong --seconds 0.02 --sizes 8,4K --runs 0 --peers mpi,blacs --label 'CMA off' \
  --json "$out/pingpong.jsonl"
$run_mpi 2 "$bench" pingpong --seconds 0.02 --sizes 64K,1M --runs 0 --peers none --shim none --json "$out/memory.jsonl"
# As for MPI with other settings.
$run_mpi 2 "$bench" spread --seconds 0.02 --sizes 100xQ --peers mpi --shim none --label forced --json "$out/spread.jsonl"
scalapack=(bench/scalapack/scalapack_timing -n 60 --eigen-n 40 --nb 8 --grid 2x1 --repetitions 1)
scalapack+=(--json "$out/scalapack.jsonl")
for pair in 0 1; do
  $run_mpi 2 "${scalapack[@]}" --pair $pair
done
# The partner of pair 0 is missing, as if that launch had failed.
LD_PRELOAD=$PWD/blacs_shim/libbrigade_blacs.so \
  $run_mpi 2 "${scalapack[@]}" --pair 1

LD_PRELOAD=$PWD/blacs_shim/libbrigade_blacs.so BRIGADE_TRACE=$out/trace.json \
  $run_mpi 4 bench/scalapack/scalapack_timing -n 60 --eigen-n 40 --nb 8 --repetitions 3 --json "$out/traced.jsonl"
/usr/bin/python3 tools/merge_trace.py "$out/trace.json"
/usr/bin/python3 tools/trace_picture.py "$out/trace.json" --timing "$out/traced.jsonl" --routine QR --zoom 0.5 \
  --picture "$out/trace.svg" >"$out/trace.txt"

# The commands of run.sh --cluster, here within one host.
echo '{"hosts": 4, "rate": "400mbit", "payload_MBps": 47.5}' >"$out/cluster.jsonl"
brief=(--seconds 0.02 --min-iterations 2 --shim none --transport tcp)
for label in "" forced; do
  $run_mpi 4 "$bench" spread --shapes free --bytes 1K,256K \
    --cases broadcast,reduce,all-reduce,multi-broadcast,multi-reduce,gather,scatter,all-to-all,scan,exscan --peers mpi \
    "${brief[@]}" --label "$label" --json "$out/cluster_patterns.jsonl"
done
for shape in "--bytes 1K,256K" "--sizes 100xQ,50x31"; do
  # shellcheck disable=SC2086 # a list of words
  $run_mpi 3 "$bench" spread --cases gather,scatter,all-to-all,scan,exscan $shape --seconds 0.02 --peers mpi --shim none
done
$run_mpi 4 "$bench" spread --cases successive-broadcasts --bytes 256K --shapes free,ring --topologies I --peers mpi,blacs \
  "${brief[@]}" --json "$out/cluster_ring.jsonl"
$run_mpi 4 "$bench" spread --cases broadcast --sizes 8192x1,32x256 --shapes free --peers none "${brief[@]}" \
  --json "$out/cluster_strided.jsonl"
$run_mpi 4 "$bench" spread --cases broadcast,reduce,multi-broadcast,multi-reduce --bytes 64K --peers mpi \
  --shapes 'free,tree,ring,two trees,circulant' "${brief[@]}" --json "$out/cluster_topologies_400mbit.jsonl"
$run_mpi 4 "$bench" spread --cases gather,scatter --bytes 1K --peers mpi --shapes 'free,tree,ring,fully connected' \
  "${brief[@]}" --json "$out/cluster_gathers_2.jsonl"
$run_mpi 4 "$bench" overlap --sizes 64K --peers mpi "${brief[@]}" --json "$out/cluster_overlap.jsonl"
$run_mpi 2 "$bench" pingpong --sizes 8,64K,200K --runs 0,256 --peers mpi "${brief[@]}" --json "$out/cluster_send.jsonl"
$run_mpi 2 "$bench" pingpong --sizes 8,64K --runs 0 --peers mpi,socket "${brief[@]}" --json "$out/cluster_loopback.jsonl"
cluster_scalapack=("${scalapack[@]::${#scalapack[@]}-1}" "$out/cluster_scalapack.jsonl")
$run_mpi 2 "${cluster_scalapack[@]}"
LD_PRELOAD=$PWD/blacs_shim/libbrigade_blacs.so $run_mpi 2 "${cluster_scalapack[@]}"
LD_PRELOAD=$PWD/blacs_shim/libbrigade_blacs.so $run_mpi 2 "${cluster_scalapack[@]}" --label "one host"

# The commands of run.sh --model.
for transport in shm tcp; do
  for ranks in 2 4; do
    $run_mpi "$ranks" "$bench" --transport $transport --peers none --shim none --seconds 0.02 --min-iterations 2 \
      --json "$out/study/model_$transport.jsonl" model --bytes 8,4K,200K --keep-machine "$out/machine_$transport.json"
  done
done
if $run_mpi 2 "$bench" --transport shm --peers none --shim none model --bytes 8 --keep-machine "$out/none/machine.json" \
  >"$out/error.txt" 2>&1; then exit 1; fi
grep -q 'cannot write .*/none/machine.json: No such file' "$out/error.txt"
/usr/bin/python3 -m bench.report.model "$out"/study/model_*.jsonl --plot "$out/study/model.svg" \
  --summary "$out/study/summary.json" >"$out/study/model.txt"
# calibrate prints a machine, and nothing else. It needs no BLACS.
$run_mpi 2 "$bench" --transport shm --shim nowhere.so --stock nowhere.so calibrate >"$out/calibrated.txt"
[[ $(head -1 "$out/calibrated.txt") == *'>:{' ]]
for exact in --exact ''; do
  # shellcheck disable=SC2086 # none, or one
  "$bench" explain --pattern reduce --ranks 4 --bytes 64K $exact --machine "$out/machine_shm.json" >"$out/explained.txt"
  grep -E '^Choice: .* in [0-9]+ segments?, predicted [0-9.]+ us\. Chosen by the rule for ranks that share memory' \
    "$out/explained.txt"
  grep '^    pipelined, if .*; copies: ' "$out/explained.txt"
  if grep 'inline messages' "$out/explained.txt"; then exit 1; fi # too long
done
"$bench" explain --pattern send --ranks 2 --bytes 64K --run-bytes 256 --machine "$out/machine_shm.json" \
  --json "$out/explained.json"
"$bench" explain --pattern send --ranks 2 --bytes 64 --machine "$out/machine_shm.json" >/dev/full 2>"$out/full.txt" &&
  { echo "a full disk under explain ends with status 0"; exit 1; }
grep 'brigade_bench: cannot write standard output' "$out/full.txt"

status=0
$run_mpi 2 "$bench" spread --bogus 2>"$out/refused.txt" || status=$?
[[ $status -eq 2 ]] || { echo "an unknown flag ended with $status, not 2"; exit 1; }
[[ $(grep -c -e --bogus "$out/refused.txt") -eq 1 ]] || { echo "not refused once:"; cat "$out/refused.txt"; exit 1; }

status=0
$run_mpi 2 "$bench" pingpong --sizes 8 --runs 0 --peers none "${brief[@]}" --json /dev/full 2>"$out/full.txt" ||
  status=$?
[[ $status -ne 0 ]] || { echo "a full disk ends with status 0"; exit 1; }
grep 'cannot write /dev/full: No space left on device' "$out/full.txt"

status=0
$run_mpi 2 "$bench" spread --cases broadcast --sizes 99999999x99999 --peers none --shim none 2>"$out/long.txt" ||
  status=$?
[[ $status -ne 0 ]] || { echo "a panel of 73 TiB ends with status 0"; exit 1; }
grep 'brigade_bench: rank [01]: out of memory: this process has no memory left' "$out/long.txt"

/usr/bin/python3 -m bench.report "$out" --picture "$out/picture.svg"
# The page of run.sh --behind.
for ranks in 2 4; do
  cp "$out/machine_shm.json" "$out/machine_auto_$ranks.json"
done
/usr/bin/python3 -m bench.report.behind "$out" --bench "$bench"
/usr/bin/python3 -m bench.smoke_test "$out"
