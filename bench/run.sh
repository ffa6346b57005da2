#!/bin/bash
# Measures Brigade beside its peers on this machine and writes one report. bench/README.md says how to read it.
set -euo pipefail

usage() {
  cat <<'END'
usage: bench/run.sh [--full] [--output DIR] [--help]

Installs what is missing, builds, then measures
  - ScaLAPACK's LU tester on stock BLACS and on the shim,
  - ScaLAPACK's LU, Cholesky, QR and matrix product, stock against shim,
  - BLACS ping-pong on 2 ranks: shim, stock, raw MPI,
  - spread on 4 ranks: Brigade's patterns, shim, stock BLACS, plain patterns, MPI collectives,
and prints the path of the report. Takes less than 5 minutes on 2 cores.

  --full        all sizes, spread on 2, 4 and 8 ranks, 10 launches of everything: about two hours
  --output DIR  where results go, no results in it yet; default: results/<date and time> beside this folder
END
}

refuse() {
  echo "bench/run.sh: $1" >&2
  usage >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=
full=false
while [[ $# -gt 0 ]]; do
  case $1 in
    --full) full=true ;;
    --output)
      [[ $# -ge 2 ]] || refuse "--output needs a directory"
      out=$2
      shift
      ;;
    --help | -h)
      usage
      exit 0
      ;;
    *) refuse "unknown argument: $1" ;;
  esac
  shift
done

# Lines of two runs in one file would be taken for one run.
[[ -z $out || -z $(compgen -G "$out/*.jsonl") ]] || refuse "$out already holds results"

if $full; then
  launches=10 repetitions=3 orders=(1000 2000) blocks=(32 64)
  pingpong_grid=(--factor 2 --seconds 1) spread_ranks=(2 4 8) spread_seconds=3 limit=3600
else
  launches=1 repetitions=1 orders=(1000) blocks=(32)
  pingpong_grid=(--factor 4 --seconds 0.4) spread_ranks=(4) spread_seconds=1 limit=300
fi

pairs=10 # of ScaLAPACK launches: fewer decide nothing

# Open MPI's forced algorithms can only be chosen at launch: each line is one more launch of MPI as peer.
tunings=(
  "binomial|bcast 6|reduce 5|allgatherv 3|reduce_scatter 2"
  "pipeline|bcast 3 65536|reduce 3 65536|allgatherv 4|reduce_scatter 3"
  "scatter|bcast 9|reduce 7|allgatherv 2|reduce_scatter 4"
)

step() { printf '\n== %s  %s\n' "$(date +%T)" "$1"; }

step "Packages"
"$root/test/install.sh"

step "Build"
(cd "$root" && bazel build --config=opt --config=werror //bench:brigade_bench //bench:scalapack_timing //blacs_shim:libbrigade_blacs.so)
bin=$(cd "$root" && bazel info --config=opt --config=werror bazel-bin 2>/dev/null)
shim=$bin/blacs_shim/libbrigade_blacs.so

out=${out:-$root/results/$(date +%Y%m%d-%H%M%S)}
mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d /tmp/brigade.XXXXXX) # short: Open MPI makes sockets in it
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch MPLCONFIGDIR=$scratch OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
[[ $EUID -ne 0 ]] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Open MPI's slots are cores, of which nproc may count each several times; it knows of limits to this process instead.
cores=$(lscpu --parse=core,socket | grep -v '^#' | sort -u | wc -l)
((cores <= $(nproc))) || cores=$(nproc)
version=$(git -C "$root" describe --always --dirty --tags 2>/dev/null || echo unknown)

# launch RANKS [mpirun option...] -- PROGRAM [argument...]
# One rank per core while cores last; beyond that unpinned, and told to yield, or the figures measure the scheduler.
launch() {
  local command=(mpirun -n "$1")
  if [[ $1 -le $cores ]]; then
    command+=(--bind-to core)
  else
    command+=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  fi
  shift
  while [[ $1 != -- ]]; do
    command+=("$1")
    shift
  done
  shift
  command+=("$@")
  echo "${command[*]}" >>"$out/commands.txt"
  timeout --kill-after=10 "$limit" "${command[@]}" && return
  echo "bench/run.sh: this failed, or took more than $limit s: ${command[*]}" >&2
  return 1
}

# What fails is counted, and the rest is still measured.
failures=0
try() { "$@" || failures=$((failures + 1)); }

bench() { # RANKS [mpirun option...] -- brigade_bench arguments
  local before=()
  while [[ $1 != -- ]]; do
    before+=("$1")
    shift
  done
  shift
  launch "${before[@]}" -- "$bin/bench/brigade_bench" "$@" --brigade-version "$version"
}

step "ScaLAPACK's LU tester"
testers=/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests
for subject in stock shim; do
  log=$out/xdlu-$subject.txt
  preload=()
  [[ $subject == stock ]] || preload=(-x LD_PRELOAD="$shim" -x BRIGADE_LOG=info)
  # It reads its problems from the current directory.
  # The shim must have said its line: a preload that takes no effect would test stock twice.
  if (cd /usr/share/scalapack && launch 4 "${preload[@]}" -- "$testers/xdlu") >"$log" 2>&1 &&
    grep -qE '^ *0 tests completed and failed' "$log" && { [[ $subject == stock ]] || grep -q '^brigade' "$log"; }; then
    grep -E 'tests (completed|skipped)|Finished' "$log" | sed "s/^ */  $subject: /"
  else
    echo "  $subject: FAILED, see $log"
    failures=$((failures + 1))
  fi
done

step "ScaLAPACK timing, stock and shim in turn, $pairs pairs of launches"
for ranks in 2 4; do
  for n in "${orders[@]}"; do
    for nb in "${blocks[@]}"; do
      for ((pair = 0; pair < pairs; ++pair)); do
        # Whoever goes first may have the cooler machine: take turns.
        order=(stock shim)
        ((pair % 2 == 0)) || order=(shim stock)
        for subject in "${order[@]}"; do
          preload=()
          [[ $subject == stock ]] || preload=(-x LD_PRELOAD="$shim")
          try launch "$ranks" "${preload[@]}" -- "$bin/bench/scalapack_timing" -n "$n" --nb "$nb" \
            --repetitions "$repetitions" --pair "$pair" --json "$out/scalapack.jsonl"
        done
      done
    done
  done
done

for ((i = 1; i <= launches; ++i)); do
  step "Ping-pong and small broadcasts, 2 ranks, launch $i of $launches"
  try bench 2 -- pingpong --seed "$i" --json "$out/pingpong.jsonl" "${pingpong_grid[@]}"
  # The engine against the tree written by hand, with a core for each rank.
  try bench 2 -- spread --cases small-broadcast --seed "$i" --json "$out/spread.jsonl" --seconds "$spread_seconds"

  for ranks in "${spread_ranks[@]}"; do
    step "Spread, $ranks ranks, launch $i of $launches"
    try bench "$ranks" -- spread --seed "$i" --json "$out/spread.jsonl" --seconds "$spread_seconds"
    for tuning in "${tunings[@]}"; do
      IFS='|' read -r -a fields <<<"$tuning"
      step "Spread, $ranks ranks, launch $i of $launches, MPI tuned: ${fields[0]}"
      forced=(--mca coll_tuned_use_dynamic_rules 1)
      for field in "${fields[@]:1}"; do
        read -r operation algorithm segment <<<"$field"
        forced+=(--mca "coll_tuned_${operation}_algorithm" "$algorithm"
          --mca "coll_tuned_${operation}_algorithm_segmentsize" "${segment:-0}")
      done
      try bench "$ranks" "${forced[@]}" -- spread --seed "$i" --json "$out/spread.jsonl" --seconds 0.3 \
        --peers mpi --shim none --label "${fields[0]}"
    done
  done
done

step "Report"
/usr/bin/python3 "$root/bench/make_report.py" "$out" --picture "$out/picture.svg"
echo
echo "Report: $out/report.html"
[[ $failures -eq 0 ]] || { echo "bench/run.sh: $failures launches failed, see above" >&2; exit 1; }
