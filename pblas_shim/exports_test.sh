#!/bin/bash
# The library exports the four products, and nothing else. Argument: the library.
set -euo pipefail

if ! diff <(printf 'p%sgemm_\n' c d s z) <(nm -D --defined-only "$1" | awk '{ print $NF }' | LC_ALL=C sort); then
  echo "FAILED: '<' is missing from the exports, '>' should not be there"
  exit 1
fi
