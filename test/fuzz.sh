#!/bin/bash
# Fuzzes the parsers of received data.
set -euo pipefail

usage() {
  cat <<'EOT'
usage: ./test/fuzz.sh [SECONDS]

Runs each fuzz target for so long (60 by default) with clang's libFuzzer and address sanitizer. It starts from the corpus
beside the target, and inputs that run code that no other input runs are added to it: commit them. An input that breaks
something is left in results/fuzz/, and the exit code is not 0; put it into the corpus along with the fix.
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

targets=(transport/tcp/wire:{frame_stream,handshake} transport/bootstrap:{root_handshake,join_handshake} windows/layout:layout
  test/windows:frames)
bazel build --config=fuzz "${targets[@]/%/_fuzzer}"
bin=$(bazel info --config=fuzz bazel-bin 2>/dev/null)
mkdir -p results/fuzz
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
for target in "${targets[@]}"; do
  name=${target#*:}
  fuzzer=$bin/${target/://}_fuzzer
  corpus=${target%:*}/fuzz/corpus/$name
  mkdir "$found/$name"
  echo "== $name, $seconds s"
  "$fuzzer" -max_total_time="$seconds" -max_len=12000 -artifact_prefix="results/fuzz/$name-" -verbosity=0 \
    -print_final_stats=1 "$found/$name" "$corpus"
  # Not counting how often something runs keeps the corpus small.
  "$fuzzer" -merge=1 -use_counters=0 -verbosity=0 "$corpus" "$found/$name"
  echo "$(find "$corpus" -type f | wc -l) inputs in $corpus"
done
