#!/bin/bash
# Compares the binary interface that the C headers declare with the description of version 1. Additions are allowed, and
# changes fail. exports_test of patterns/api compares the headers with the library.
#   abi_test.sh DESCRIPTION [--write]
# A structure with a size may grow at its end: write the description anew, and see that its diff has nothing else:
#   bazel run //test/api:abi_test -- --write
set -euo pipefail

description=$1
headers=(blocks calls engine group memory multiply operation reductions status window)
work=${TEST_TMPDIR:-$(mktemp -d)}

# A library that defines what the headers declare has the same types.
{
  printf '#include "brigade/%s.h"\n' "${headers[@]}"
  for header in "${headers[@]}"; do
    sed ':join; /\\$/ { N; s/\\\n//; b join }' "include/brigade/$header.h" | grep -vE '^ *(///|#)' | tr '\n' ' ' |
      grep -oE 'BRIGADE_EXPORT [^;]*;'
  done | sed 's/;$/ { __builtin_trap(); }/'
  echo 'brigade_fence_promise promise_of_a_fence(void) { __builtin_trap(); }'  # no prototype has it
} >"$work/interface.c"
gcc -g -std=c99 -shared -fPIC -Wno-return-type -Iinclude -Wl,-soname,libbrigade.so.1 \
  -o "$work/libbrigade.so" "$work/interface.c"

if [ "${2-}" = --write ]; then
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash "$work/libbrigade.so" |
    sed -E "s| path='[^']*'||" >"$BUILD_WORKSPACE_DIRECTORY/test/api/brigade-1.abi"
  exit
fi
if ! out=$(abidiff --no-added-syms "$description" "$work/libbrigade.so"); then
  echo "FAILED: programs that were built with an earlier version 1 may not run with this one:"
  echo "$out"
  exit 1
fi
