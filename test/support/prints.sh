#!/bin/bash
# The command, of which the program is the word named as the example, prints what the head of the example says that it
# prints:
#   prints.sh EXAMPLE COMMAND...
# Exit code 77: the program was not built.
set -euo pipefail

example=$1
shift
name=$(basename "${example%.*}")
program=
for word; do [[ ${word##*/} != "$name" ]] || program=$word; done
[[ -e $program ]] || exit 77
lines=$(sed -n 's/^[! ]*-> \(.*[^ *\/]\).*/\1/p' "$example")
[[ -n $lines ]] || { echo "prints.sh: the head of $example has no line '-> TEXT'" >&2; exit 1; }
code=0
printed=$("$@" 2>&1) || code=$?
[[ $code -ne 77 ]] || code=1
while read -r line; do
  grep -qF -- "$line" <<<"$printed" || { code=1; echo "$* does not print '$line', but:"; break; }
done <<<"$lines"
[[ $code -eq 0 ]] || echo "$printed"
exit "$code"
