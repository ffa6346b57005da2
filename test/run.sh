#!/bin/bash
# The whole test run: packages, checks, build, tests, sanitizers, and Debian's testers on the shim.
set -uo pipefail

usage() {
  cat <<'EOF'
usage: ./test/run.sh [--full] [--help]

Installs what is missing (Debian 12), lints and builds everything and runs all tests. The last line counts them; the exit
code is 0 if none failed. Safe to run again. Logs are in results/tests/, folders of the ScaLAPACK testers in
results/testers/.

  --full   run every ScaLAPACK tester on Debian's own BLACS too and compare with that instead of the recorded counts
  --help   this text
EOF
}

full=()
for argument in "$@"; do
  case $argument in
    --full) full=(--beside-stock) ;;
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

passed=0
failed=0
skipped=0
broken=() # what failed as a whole, by its title

title() { printf '\n== %s (%d min %02d s since the start)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

finish() {
  title "Result"
  # What failed, once more, since it may have scrolled away.
  grep -HE '^//[^ ]+ +(FAILED|TIMEOUT|FLAKY|NO STATUS)|^\[[0-9/]+\] .* failed |^FAILED: ' "$logs"/*.log |
    sed "s|^$logs/||"
  [[ ${#broken[@]} -eq 0 ]] || printf 'FAILED: %s\n' "${broken[@]}"
  printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [[ $failed -eq 0 && $passed -gt 0 ]]
  exit
}

whole_failed() {  # TITLE
  failed=$((failed + 1))
  broken+=("$1")
}

check() {  # TITLE COMMAND...: one check, counted as one test.
  local name=$1
  title "$name"
  shift
  if "$@"; then passed=$((passed + 1)); else whole_failed "$name"; fi
}

bazel_test() {  # NAME ARGUMENTS...: counts Bazel's line on each target.
  local name=$1 log=$logs/$1.log code targets good
  shift
  title "Tests: $name"
  bazel test --keep_going "$@" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  targets=$(grep -cE '^//[^ ]+ +(\(cached\) )?(PASSED|FAILED|TIMEOUT|FLAKY|NO STATUS)' "$log")
  good=$(grep -cE '^//[^ ]+ +(\(cached\) )?PASSED' "$log")
  passed=$((passed + good))
  failed=$((failed + targets - good))
  # A failure that belongs to no target, such as a BUILD file that cannot be read.
  if [[ $code -ne 0 && $targets -eq $good ]]; then whole_failed "bazel test for $name: exit code $code"; fi
}

testers() {  # TRANSPORT ARGUMENT...
  local transport=$1 log=$logs/testers-$1.log
  shift
  title "Debian's BLACS, PBLAS and ScaLAPACK testers on the shim over $transport"
  BRIGADE_TRANSPORT=$transport ./test/scalapack/run_testers.py --preload bazel-bin/blacs_shim/libbrigade_blacs.so "$@" |
    tee "$log"
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
  else
    whole_failed "testers over $transport: no count at the end of $log"
  fi
}

large_messages() {
  local test=//test/blacs:blacs_large_test_2 available
  available=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 1024) }' /proc/meminfo)
  if [[ $available -ge 20 ]]; then
    bazel_test large "${optimised[@]}" "$test"
  else
    title "Tests: large"
    echo "SKIPPED: $test wants 20 GiB of memory, $available are available"
    skipped=$((skipped + 1))
  fi
}

sanitized() {  # SANITIZER: all that is no MPI job, then the BLACS through its library.
  local sanitizer=$1
  # Sanitizers know nothing of MPI's own memory and threads. The proof of the schedules is arithmetic, and would take
  # longer than everything else.
  bazel_test "$sanitizer" --config="$sanitizer" --build_tests_only --test_tag_filters=-mpi -- \
    //... -//patterns/check:schedule_check_test
  # MPI itself leaks, and freed memory is kept back for a while, so leaks cannot be seen here.
  bazel_test "$sanitizer-blacs" --config="$sanitizer" --test_env=ASAN_OPTIONS=detect_leaks=0 \
    '--test_arg=--gtest_filter=-*LeakNothing' //test/blacs:blacs_shim_test_4
}

cluster() {  # TITLE TEST
  title "$1"
  "./test/cluster/$2.sh" 2>&1 | tee "$logs/$2.log"
  case ${PIPESTATUS[0]} in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) whole_failed "$1" ;;
  esac
}

title "Packages"
./test/install.sh || exit 1

for linter in format includes documents shell python spelling reference; do
  check "Lint: $linter" ./test/lint.sh "$linter"
done

optimised=(--config=opt --config=werror)
check "Build" bazel build "${optimised[@]}" //...
[[ $failed -eq 0 ]] || finish
bazel_test all "${optimised[@]}" //...
large_messages
cluster "The cluster of namespaces" cluster_test
cluster "The TCP transports on it" tcp_cluster_test
testers auto "${full[@]}"
# On one host auto does without MPI.
testers mpi --only '(x[CF]btest|dpb[123]tst|xdlu|xdqr).*' --output results/testers-mpi
sanitized asan
sanitized ubsan
# Where ranks are threads, and nowhere else, there are threads to check.
mapfile -t threaded < <(bazel query --noshow_progress 'kind(cc_test, rdeps(//..., //transport/inproc:inproc_transport) + //transport/...)')
bazel_test tsan --config=tsan "${threaded[@]}"
finish
