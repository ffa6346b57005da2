#!/bin/bash
# The library exports what the public headers declare, and what is inside it under the number of the release; nothing
# else. Arguments: the library, version.h, the headers.
set -euo pipefail

release=$(sed -n 's/^#define BRIGADE_VERSION "\(.*\)"/\1/p' "$2")
exported=$(nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $NF }')
expected=$(cat "${@:3}" | tr '\n' ' ' | grep -oE 'BRIGADE_EXPORT [^(;]*\bbrigade_\w+\(' |
  sed -E 's/.*\b(brigade_\w+)\($/\1@@BRIGADE_1/' | LC_ALL=C sort)
if ! diff <(echo "$expected") <(grep '^brigade_' <<<"$exported" | LC_ALL=C sort); then
  echo "FAILED: '<' is missing from the exports, '>' should not be there"
  exit 1
fi
if others=$(grep -vE "^brigade_|^_Z.*N?K?7brigade.*@@BRIGADE_INTERNAL_${release//./\\.}\$" <<<"$exported"); then
  echo "FAILED: these should not be there:"
  echo "$others"
  exit 1
fi
# Its threads and shared memory outlive a dlclose.
grep -q NODELETE <<<"$(readelf -d "$1")" || { echo "FAILED: dlclose unloads it"; exit 1; }
