#!/bin/bash
# The library exports what the header declares, and nothing else. Arguments: the library, the header.
set -euo pipefail

exported=$(nm -D --defined-only "$1" | awk '{ print $NF }' | LC_ALL=C sort)
expected=$(sed -nE 's/^(void|int) (LI[A-Z]+)\(.*/\2/p' "$2" | LC_ALL=C sort)
[ "$(wc -l <<<"$expected")" -gt 15 ]
if ! diff <(echo "$expected") <(echo "$exported"); then
  echo "FAILED: '<' is missing from the exports, '>' should not be there"
  exit 1
fi
