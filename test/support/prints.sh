#!/bin/bash
# The command, whose last word is a program, prints what the head of the example says that it prints:
#   prints.sh EXAMPLE COMMAND...
# Exit code 77: the program was not built.
set -euo pipefail

example=$1
shift
[[ -e ${*: -1} ]] || exit 77
code=0
printed=$("$@" 2>&1) || code=$?
while read -r line; do
  grep -qF -- "$line" <<<"$printed" || { code=1; echo "$* does not print '$line', but:"; break; }
done < <(sed -n 's/^[! ]*-> \(.*[^ *\/]\).*/\1/p' "$example")
[[ $code -eq 0 ]] || echo "$printed"
exit "$code"
