#!/bin/bash
# The library exports the ten products, the names of MPI's initialisation, and nothing else. Its part for an MPI exports
# the functions to which products are forwarded. Arguments: the library, and the part.
set -euo pipefail

products=$(printf '%s\n' p{c,d,s,z}{gemm,syrk}_ p{c,z}herk_)
initialisation=$(printf '%s\n' {,P}MPI_Init{,_thread})
for library in "$@"; do
  names=$products
  [ "$library" != "$1" ] || names+=$'\n'$initialisation
  if ! diff <(LC_ALL=C sort <<<"$names") <(nm -D --defined-only "$library" | awk '{ print $NF }' | grep -v brigade_take_find_ |
    LC_ALL=C sort); then
    echo "FAILED: '<' is missing from the exports of $library, '>' should not be there"
    exit 1
  fi
done
