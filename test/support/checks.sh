# shellcheck shell=bash
# Sourced by scripts whose checks count as a test each. $work is a folder that is gone in the end; the last line counts.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0
only=  # a regular expression: of checks those whose titles match

check() {  # TITLE COMMAND...: what it prints is shown if it fails.
  local name=$1
  shift
  [[ $name =~ $only ]] || return 0
  if "$@" >"$work/out" 2>&1; then
    echo "passed: $name"
    passed=$((passed + 1))
  else
    cat "$work/out"
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

skip() {  # TITLE WHY
  echo "SKIPPED: $1, $2"
  skipped=$((skipped + 1))
}

finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [[ $failed -eq 0 && $passed -gt 0 ]]
  exit
}
