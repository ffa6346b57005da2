#!/bin/bash
# The models of memory order in test/litmus, by the model checker loom. cargo takes loom from crates.io, or has it
# already. The last line counts.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
cd test/litmus || exit 1
export PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
least=1.73  # what Cargo.toml requires

version=$(rustc --version 2>&1 | cut -d ' ' -f 2)
if ! command -v cargo >/dev/null; then
  skip "memory order" "there is no cargo"
elif [[ $(printf '%s\n' "$least" "$version" | sort --version-sort | head -n 1) != "$least" ]]; then
  skip "memory order" "rustc is $version, and loom needs $least"
elif ! { cargo fetch --locked --offline || timeout 300 cargo fetch --locked; } &>"$work/fetched"; then
  skip "memory order" "the crates cannot be fetched: $(tail -n 1 "$work/fetched")"
else
  check "the models compile" nice -n 15 cargo test --locked --jobs 1 --no-run
  nice -n 15 cargo test --locked --jobs 1 --no-fail-fast >"$work/log" 2>&1
  code=$?
  check "there are verdicts" grep -q '^test .* ok$' "$work/log"
  while read -r name verdict; do
    check "$name" [ "$verdict" = ok ]
  done < <(sed -nE 's/^test ([^ ]+)( - should panic)? \.\.\. (.*)/\1 \3/p' "$work/log")
  [[ $code -eq 0 ]] || cat "$work/log"
  # An abort of loom ends a test program without a verdict.
  [[ $failed -gt 0 ]] || check "the test programs exit with 0" [ "$code" -eq 0 ]
fi
finish
