#!/bin/bash
# Fuzzes the parsers of what strangers may send to a port of ours.
set -euo pipefail

usage() {
  cat <<'EOT'
usage: ./test/fuzz.sh [SECONDS]

Runs each fuzz target of transport/tcp/wire/fuzz/ for so long (60 by default) with clang's libFuzzer and address
sanitizer. It starts from the corpus there, and inputs that run code that no other input runs are added to it: commit
them. An input that breaks something is left in results/fuzz/, and the exit code is not 0; put it into the corpus along
with the fix.
EOT
}

seconds=${1:-60}
if [[ ! $seconds =~ ^[0-9]+$ ]]; then
  usage
  [[ $seconds == --help ]]
  exit
fi
cd "$(dirname "$0")/.."
if ! command -v clang >/dev/null; then
  echo "fuzz.sh: this needs clang: apt-get install clang libclang-rt-14-dev" >&2
  exit 1
fi

bazel build --config=fuzz //transport/tcp/wire:{frame_stream,hello}_fuzzer
bin=$(bazel info --config=fuzz bazel-bin 2>/dev/null)/transport/tcp/wire
mkdir -p results/fuzz
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
for target in frame_stream hello; do
  corpus=transport/tcp/wire/fuzz/corpus/$target
  mkdir "$found/$target"
  echo "== $target, $seconds s"
  "$bin/${target}_fuzzer" -max_total_time="$seconds" -max_len=12000 -artifact_prefix="results/fuzz/$target-" -verbosity=0 \
    -print_final_stats=1 "$found/$target" "$corpus"
  # Not counting how often something runs keeps the corpus small.
  "$bin/${target}_fuzzer" -merge=1 -use_counters=0 -verbosity=0 "$corpus" "$found/$target"
  echo "$(find "$corpus" -type f | wc -l) inputs in $corpus"
done
