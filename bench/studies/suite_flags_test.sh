#!/bin/bash
# Flags select the measurements of a suite, and an unknown name is an error, printed by one rank.
#   suite_flags_test.sh RUN_MPI MULT_SUITE RDX_SUITE
set -euo pipefail

run_mpi=$1 mult=$2 rdx=$3
lines=${TEST_TMPDIR:-$(mktemp -d)}/lines.jsonl

measures() {  # FIELD VALUES PROGRAM ARGUMENT...
  local found
  : >"$lines"
  "$run_mpi" 2 "${@:3}" --seconds 0.001 --min-iterations 1 --max-iterations 1 --json "$lines" >/dev/null
  found=$(sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p" "$lines" | sort -u | tr '\n' ';')
  [[ $found == "$2" ]] || { echo "${*:3}: $found, not $2"; exit 1; }
}

refuses() {  # TEXT PROGRAM ARGUMENT...
  local output status=0
  output=$("$run_mpi" 2 "${@:2}" 2>&1) || status=$?
  [[ $status -eq 2 && $(grep -c -e "$1" <<<"$output") -eq 1 ]] || { echo "${*:2}: $status: $output"; exit 1; }
}

measures case 'matrix product, dgemm;' "$mult" -n 8 --kernels dgemm
measures pattern 'get;' "$mult" -n 8 --kernels loops --variants get
measures pattern 'RDXSORTOPT, put;RDXSORTOPT, send;combined, put;combined, send;' "$rdx" --keys 1000 \
  --algorithms combined,RDXSORTOPT
refuses '--kernels: blas not in {loops,dgemm,untransposed}' "$mult" -n 8 --kernels loops,blas
refuses '--algorithms: rdxsort not in {RDXSORT,RDXSORTOPT,combined}' "$rdx" --keys 1000 --algorithms rdxsort
