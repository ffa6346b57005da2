#!/bin/bash
# Measures Brigade beside its peers on this machine and writes one report. bench/README.md says how to read it.
set -euo pipefail

usage() {
  cat <<'END'
usage: bench/run.sh [--full] [--output DIR] [--cluster HOSTS [--rate RATE]] [--help]
       bench/run.sh --paper [--output DIR]
       bench/run.sh --scale [--full] [--output DIR]
       bench/run.sh --model [--rate RATE] [--full] [--output DIR]

Installs what is missing, builds, then measures
  - ScaLAPACK's LU tester on stock BLACS and on the shim,
  - ScaLAPACK's LU, Cholesky, QR, matrix product and eigensolver on 1x2, 2x1, 2x2 and 2x4, stock against shim,
  - ping-pong on 2 ranks: Brigade, shim, stock, raw MPI, a bare ring in shared memory,
  - the BLACS calls ScaLAPACK makes most on 2, 4 and 8 ranks: shim, stock,
  - all patterns on contiguous data on 2, 4 and 8 ranks: Brigade, MPI collectives,
  - spread of panels on 4 ranks: Brigade's patterns, shim, stock BLACS, plain patterns, MPI collectives,
MPI being Open MPI as it is, Open MPI without single copies (CMA), and MPICH while every rank has a core,
and prints the path of the report. Takes about 5 minutes on 2 cores, besides the first build.

  --full        all sizes, spread on 2, 4 and 8 ranks, staging memory up to 1 GiB messages (needs 6 GiB),
                10 launches of everything: some hours
  --output DIR  where results go, none of the same kind in it yet; default: results/<date and time> beside this folder
  --cluster HOSTS
                instead: ping-pong, all patterns, ScaLAPACK and overlap with computation on as many hosts with slow links,
                which are raised on this machine (bench/cluster/cluster.sh) and taken down; beside Open MPI and MPICH 5, which is
                installed from PyPI, each as it is and at its best. About 15 minutes; adds to the report in DIR, if there is one.
                With --full also every topology by name (bench/cluster/run_cluster.py --only topologies measures them alone)
  --rate RATE   of each link, both ways; default: 400mbit
  --paper       instead: simulates Table 1 of the AP3000 paper (96 cells) and its point-to-point figures, prints them beside the
                paper's, and the path of a plot. Takes seconds, besides the first build
  --scale       instead: broadcast, reduce, multi-broadcast and multi-reduce on 8 to 65,536 simulated ranks of fat hosts, beside what
                Open MPI does by default; prints a table, and the paths of it and of a plot. Takes some minutes, besides the
                first build; with --full longer simulations, too
  --model       instead: every way of running a pattern in shared memory, over TCP on one host and on hosts with slow links (2 to 8
                ranks), beside what the cost model says it takes, and what the library chooses beside the best; prints a table, and
                the paths of a plot and of what was measured of each machine. Takes about 15 minutes; with --full, 2 to 8 ranks and up to
                16 MiB, two to three hours
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
hosts=
rate=
paper=false
scale=false
model=false
while [[ $# -gt 0 ]]; do
  case $1 in
    --full) full=true ;;
    --paper) paper=true ;;
    --scale) scale=true ;;
    --model) model=true ;;
    --output)
      [[ $# -ge 2 ]] || refuse "--output needs a directory"
      out=$2
      shift
      ;;
    --cluster | --rate)
      [[ $# -ge 2 ]] || refuse "$1 needs a value"
      if [[ $1 == --rate ]]; then rate=$2; else hosts=$2; fi
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

if $paper && { $full || [[ -n $hosts || -n $rate ]]; }; then refuse "--paper goes with --output only"; fi
if $scale && { $paper || [[ -n $hosts || -n $rate ]]; }; then refuse "--scale goes with --full and --output only"; fi
if $model && { $paper || $scale || [[ -n $hosts ]]; }; then refuse "--model goes with --rate, --full and --output only"; fi
rate=${rate:-400mbit}
[[ -z $hosts || $hosts =~ ^[1-9][0-9]{0,2}$ ]] || refuse "'$hosts' is no number of hosts"

# Lines of two runs in one file would be taken for one run.
shopt -s extglob
if [[ -n $hosts ]]; then kind='cluster*'; else kind='!(cluster*)'; fi
results="$kind.jsonl"
if $paper; then results=paper.json; fi
if $scale; then results=scale_*.jsonl; fi
if $model; then results=model_*.jsonl; fi
[[ -z $out || -z $(compgen -G "$out/$results") ]] || refuse "$out already holds results"

factorizations="LU,Cholesky,QR,matrix product"
if $full; then
  launches=10 pairs=10 repetitions=3 limit=3600
  problems=("2000 64 $factorizations" "1000 32 $factorizations,eigenvalues") # n, nb, routines
  pingpong_grid=(--seconds 1 --sizes 8,64,512,1K,4K,16K,64K,128K,256K,512K,1M,2M,4M,8M,32M)
  calls_seconds=0.5 grid_seconds=1 spread_ranks=(2 4 8) spread_seconds=3 tuned_seconds=0.3
else
  launches=1 pairs=6 repetitions=1 limit=300 # fewer pairs decide nothing
  problems=("1000 32 $factorizations,eigenvalues")
  pingpong_grid=(--seconds 0.2 --sizes 8,64,512,1K,4K,16K,64K,256K,1M,4M,8M --runs 0,256)
  calls_seconds=0.1 grid_seconds=0.1 spread_ranks=(4) spread_seconds=0.4 tuned_seconds=0.15
fi
process_grids=(1x2 2x1 2x2 2x4)

# Long messages in two copies through shared memory, as everywhere without CMA: the other setting to compare with.
cma_off=(--mca btl_vader_single_copy_mechanism none)

# Open MPI's forced algorithms can only be chosen at launch: each line is one more launch of MPI as peer.
tunings=(
  "binomial|bcast 6|reduce 5|allgatherv 3|reduce_scatter 2"
  "pipeline|bcast 3 65536|reduce 3 65536|allgatherv 4|reduce_scatter 3"
  "scatter|bcast 9|reduce 7|allgatherv 2|reduce_scatter 4"
)

step() { printf '\n== %s  %s\n' "$(date +%T)" "$1"; }

step "Packages"
"$root/test/install.sh"

if $paper; then
  step "Build"
  (cd "$root" && bazel build --config=opt --config=werror //bench/simulated:paper_table)
  bin=$(cd "$root" && bazel info --config=opt --config=werror bazel-bin 2>/dev/null)
  out=${out:-$root/results/$(date +%Y%m%d-%H%M%S)}
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  step "Table 1 of the AP3000 paper"
  "$bin/bench/simulated/paper_table" "$root/transport/machines/ap3000.json" >"$out/paper.json"
  /usr/bin/python3 "$root/bench/simulated/paper_report.py" "$out/paper.json" --plot "$out/paper.svg" --summary "$out/paper_summary.json" |
    tee "$out/paper.txt"
  echo
  echo "Plot: $out/paper.svg"
  exit 0
fi

if $scale; then
  step "Build"
  (cd "$root" && bazel build --config=opt --config=werror //bench/simulated:scale_table)
  bin=$(cd "$root" && bazel info --config=opt --config=werror bazel-bin 2>/dev/null)
  out=${out:-$root/results/$(date +%Y%m%d-%H%M%S)}
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  messages=300000
  if $full; then messages=5000000; fi
  simulate() { # PATTERN...
    local pattern
    for pattern in "$@"; do
      "$bin/bench/simulated/scale_table" "$root/transport/machines/fat_nodes_100g.json" "$pattern" --messages "$messages" \
        >"$out/scale_$pattern.jsonl" || return
    done
  }
  step "Simulated scale"
  simulate multi_broadcast broadcast &
  other=$!
  failed=false
  simulate multi_reduce reduce || failed=true
  wait "$other" || failed=true
  if $failed; then exit 1; fi
  MPLCONFIGDIR=$out /usr/bin/python3 "$root/bench/simulated/scale_report.py" "$out"/scale_{broadcast,reduce,multi_broadcast,multi_reduce}.jsonl \
    --plot "$out/scale.svg" --summary "$out/scale_summary.json" | tee "$out/scale.txt"
  echo
  echo "Plot: $out/scale.svg"
  echo "Report: $out/scale.txt"
  exit 0
fi

# As many as this process may use. nproc takes OMP_NUM_THREADS for a limit, too.
processors=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
if $model; then
  step "Build"
  (cd "$root" && bazel build --config=opt --config=werror //bench:brigade_bench)
  program=$(cd "$root" && bazel info --config=opt --config=werror bazel-bin 2>/dev/null)/bench/brigade_bench
  out=${out:-$root/results/$(date +%Y%m%d-%H%M%S)}
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  if $full; then
    ranks=(2 3 4 5 6 7 8) sizes=8,1K,4K,16K,64K,256K,1M long_sizes=4M,16M one_host=(--seconds 1 --min-iterations 10)
  else
    ranks=(2 5 8) sizes=8,1K,16K,128K,1M long_sizes= one_host=(--seconds 0.3 --min-iterations 5)
  fi
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  [[ $EUID -ne 0 ]] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  measure() { # EDGES LAUNCHER...
    local edges=$1
    shift
    # Links that rest between two measurements have saved up what they pass at once, and ranks that slept are found asleep.
    local study=("$@" "$program" --peers none --shim none --asleep --max-iterations 60 --json "$out/model_$edges.jsonl"
      --transport "$transport")
    # Hosts of a cluster share processors evenly; ranks of one host that outnumber them are bound by nobody, not by Open MPI.
    if [[ $edges == cluster || $count -le $processors ]]; then study+=(--pin); fi
    local short=("${one_host[@]}") long=(--seconds 1 --min-iterations 4)
    # Slow links are as slow every time; ranks that share processors are not.
    if [[ $edges == cluster ]]; then short=(--seconds 0.3 --min-iterations 5) long=(--seconds 0.5 --min-iterations 1); fi
    "${study[@]}" "${short[@]}" model --bytes "$sizes" --keep-machine "$out/machine_${edges}_$count.json"
    [[ -z $long_sizes ]] || "${study[@]}" "${long[@]}" model --bytes "$long_sizes"
  }
  on_one_host=(mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  cluster=("$root/bench/cluster/cluster.sh" --name "model-$$")
  trap '"${cluster[@]}" down' EXIT
  "${cluster[@]}" up "${ranks[-1]}" "$rate"
  for count in "${ranks[@]}"; do
    step "$count ranks in shared memory"
    transport=shm measure shm "${on_one_host[@]}" -n "$count"
    step "$count ranks over TCP on this host"
    transport=tcp BRIGADE_IFACE=lo measure loopback "${on_one_host[@]}" -n "$count"
    step "$count hosts at $rate"
    transport=tcp measure cluster "${cluster[@]}" run "$count"
  done
  step "Report"
  MPLCONFIGDIR=$out /usr/bin/python3 "$root/bench/report/model_report.py" "$out"/model_*.jsonl --plot "$out/model.svg" \
    --summary "$out/model_summary.json" | tee "$out/model.txt"
  echo
  echo "Plot: $out/model.svg"
  echo "Machines: $out/machine_*.json"
  exit 0
fi

step "Build"
(cd "$root" && bazel build --config=opt --config=werror //bench:brigade_bench //bench/scalapack:scalapack_timing //blacs_shim:libbrigade_blacs.so)
bin=$(cd "$root" && bazel info --config=opt --config=werror bazel-bin 2>/dev/null)
shim=$bin/blacs_shim/libbrigade_blacs.so
mpich=(--config=opt --config=werror --config=mpich)
(cd "$root" && bazel build "${mpich[@]}" //bench:brigade_bench) || true # then its launches fail, and are counted
mpich_bin=$(cd "$root" && bazel info "${mpich[@]}" bazel-bin 2>/dev/null)

out=${out:-$root/results/$(date +%Y%m%d-%H%M%S)}
mkdir -p "$out"
out=$(cd "$out" && pwd)
scratch=$(mktemp -d /tmp/brigade.XXXXXX) # short: Open MPI makes sockets in it
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch MPLCONFIGDIR=$scratch OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
[[ $EUID -ne 0 ]] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Open MPI's slots are cores, of which nproc may count each several times.
cores=$(lscpu --parse=core,socket | grep -v '^#' | sort -u | wc -l)
((cores <= processors)) || cores=$processors
version=$(git -C "$root" describe --always --dirty --tags 2>/dev/null || echo unknown)

finish() { # FAILURES
  step "Report"
  /usr/bin/python3 "$root/bench/report/make_report.py" "$out" --picture "$out/picture.svg"
  echo
  echo "Report: $out/report.html"
  [[ $1 == 0 ]] || { echo "bench/run.sh: $1 launches failed, see above" >&2; exit 1; }
  exit 0
}

if [[ -n $hosts ]]; then
  step "More MPIs"
  "$root/bench/cluster/cluster_peers.sh" || true # then its launches fail, and are counted
  more=()
  ! $full || more=(--full)
  failures=0
  "$root/bench/cluster/run_cluster.py" --output "$out" --hosts "$hosts" --rate "$rate" --bin "$bin" --mpich-bin "$mpich_bin" \
    --brigade-version "$version" "${more[@]}" || failures=some
  finish "$failures"
fi

# Records a command and runs it under the time limit.
run() {
  echo "$*" >>"$out/commands.txt"
  timeout --kill-after=10 "$limit" "$@" && return
  echo "bench/run.sh: this failed, or took more than $limit s: $*" >&2
  return 1
}

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
  run "${command[@]}" "$@"
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

# Only while every rank has a core: Debian's MPICH 4.0.2 cannot be told to yield, and would measure the scheduler. Its
# reduction within a host crashes in place at roots other than 0; the general one is as fast.
bench_mpich() { # RANKS brigade_bench arguments
  local ranks=$1
  shift
  [[ $ranks -le $cores ]] || return 0
  run env MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE=0 mpiexec.mpich -n "$ranks" -bind-to core \
    "$mpich_bin/bench/brigade_bench" "$@" --label MPICH --brigade-version "$version"
}

step "ScaLAPACK's LU tester"
testers=/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests
for subject in stock shim; do
  log=$out/xdlu-$subject.txt
  preload=()
  [[ $subject == stock ]] || preload=(-x LD_PRELOAD="$shim" -x BRIGADE_LOG=info)
  # It reads its problems from the current directory.
  # The shim must have said its line, be it amid others: a preload that takes no effect would test stock twice.
  if (cd /usr/share/scalapack && launch 4 "${preload[@]}" -- "$testers/xdlu") >"$log" 2>&1 &&
    grep -qE '^ *0 tests completed and failed' "$log" && { [[ $subject == stock ]] || grep -q 'brigade [0-9]' "$log"; }; then
    grep -E 'tests (completed|skipped)|Finished' "$log" | sed "s/^ */  $subject: /"
  else
    echo "  $subject: FAILED, see $log"
    failures=$((failures + 1))
  fi
done

step "ScaLAPACK timing, stock and shim in turn, $pairs pairs of launches"
for problem in "${problems[@]}"; do
  read -r n nb routines <<<"$problem"
  for grid in "${process_grids[@]}"; do
    for ((pair = 0; pair < pairs; ++pair)); do
      # Whoever goes first may have the cooler machine: take turns.
      order=(stock shim)
      ((pair % 2 == 0)) || order=(shim stock)
      for subject in "${order[@]}"; do
        preload=()
        [[ $subject == stock ]] || preload=(-x LD_PRELOAD="$shim")
        try launch $((${grid/x/*})) "${preload[@]}" -- "$bin/bench/scalapack/scalapack_timing" -n "$n" --eigen-n 600 --nb "$nb" \
          --routines "$routines" --grid "$grid" --repetitions "$repetitions" --pair "$pair" \
          --json "$out/scalapack.jsonl"
      done
    done
  done
done

mpi_alone=(--peers mpi --shim none)
for ((i = 1; i <= launches; ++i)); do
  step "Ping-pong and small broadcasts, 2 ranks, launch $i of $launches"
  pingpong=(pingpong --seed "$i" --json "$out/pingpong.jsonl" "${pingpong_grid[@]}")
  try bench 2 -- "${pingpong[@]}"
  try bench 2 "${cma_off[@]}" -- "${pingpong[@]}" --peers mpi,blacs --label "CMA off"
  try bench_mpich 2 "${pingpong[@]}" "${mpi_alone[@]}"
  # The engine against the tree written by hand, with a core for each rank.
  try bench 2 -- spread --cases small-broadcast --seed "$i" --json "$out/spread.jsonl" --seconds "$spread_seconds"

  for ranks in 2 4 8; do
    step "BLACS calls and all patterns, $ranks ranks, launch $i of $launches"
    try bench "$ranks" -- calls --seed "$i" --json "$out/calls.jsonl" --seconds "$calls_seconds"
    patterns=(spread --cases broadcast,reduce,all-reduce,multi-broadcast,multi-reduce,barrier --bytes 1K,64K,1M,4M
      --seed "$i" --json "$out/grid.jsonl" --seconds "$grid_seconds" "${mpi_alone[@]}")
    try bench "$ranks" -- "${patterns[@]}"
    try bench "$ranks" "${cma_off[@]}" -- "${patterns[@]}" --label "CMA off"
    try bench_mpich "$ranks" "${patterns[@]}"
  done

  for ranks in "${spread_ranks[@]}"; do
    step "Spread, $ranks ranks, launch $i of $launches"
    panels=(spread --cases multi-broadcast,multi-reduce,broadcast,reduce --seed "$i" --json "$out/spread.jsonl")
    try bench "$ranks" -- "${panels[@]}" --seconds "$spread_seconds"
    try bench "$ranks" "${cma_off[@]}" -- "${panels[@]}" --seconds "$spread_seconds" --peers mpi,blacs --shim none \
      --label "CMA off"
    for tuning in "${tunings[@]}"; do
      IFS='|' read -r -a fields <<<"$tuning"
      step "Spread, $ranks ranks, launch $i of $launches, MPI tuned: ${fields[0]}"
      forced=(--mca coll_tuned_use_dynamic_rules 1)
      for field in "${fields[@]:1}"; do
        read -r operation algorithm segment <<<"$field"
        forced+=(--mca "coll_tuned_${operation}_algorithm" "$algorithm"
          --mca "coll_tuned_${operation}_algorithm_segmentsize" "${segment:-0}")
      done
      try bench "$ranks" "${forced[@]}" -- "${panels[@]}" --seconds "$tuned_seconds" "${mpi_alone[@]}" --label "${fields[0]}"
    done
  done
done

if $full; then
  step "Staging memory"
  try bench 2 -- pingpong --sizes 64K,1M,64M,1G --runs 0 --peers none --shim none --json "$out/memory.jsonl"
fi

finish "$failures"
