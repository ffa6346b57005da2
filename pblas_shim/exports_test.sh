#!/bin/bash
# The library exports the ten products, and nothing else. Argument: the library.
set -euo pipefail

if ! diff <(printf '%s\n' p{c,d,s,z}{gemm,syrk}_ p{c,z}herk_ | LC_ALL=C sort) <(nm -D --defined-only "$1" | awk '{ print $NF }' | LC_ALL=C sort); then
  echo "FAILED: '<' is missing from the exports, '>' should not be there"
  exit 1
fi
