#!/bin/bash
# A setting that must be equal on all ranks, and is not on rank 1, ends the job with an error that names it, the ranks
# and both values, whichever library reads it.
# Arguments: run_mpi.sh; the libraries of one-sided calls, of products and of the BLACS; a program for each of these,
# for LI and for BSPlib.
set -u

run_mpi=$1
rma=$(realpath "$2")
pblas=$(realpath "$3")
blacs=$(realpath "$4")
rma_program=$5
pblas_program=$6
blacs_program=$7
li_program=$8
bsp_program=$9
export TEST_TIMEOUT=200
unset BRIGADE_TRANSPORT BRIGADE_CALIBRATE
failures=0

# differs TEXT VARIABLE=VALUE COMMAND...: on 2 ranks, of which rank 1 has this variable. TEXT is a regular expression.
differs() {
  local text=$1 variable=$2 code=0
  shift 2
  # shellcheck disable=SC2016 # for the inner shell
  "$run_mpi" 2 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export "$0"; exec "$@"' "$variable" "$@" \
    >"$TEST_TMPDIR/out" 2>&1 || code=$?
  [[ $code -ne 0 ]] && ! grep -q 'not found\|time limit\|timed out' "$TEST_TMPDIR/out" &&
    grep -qE "brigade:.* $text|BLACS ERROR.* $text" "$TEST_TMPDIR/out" && return
  echo "FAILED: $variable on rank 1, $*: exit code $code, expected '$text':"
  cat "$TEST_TMPDIR/out"
  failures=$((failures + 1))
}

# group COMMAND...: what all libraries have in common.
group() {
  differs 'differ in the transport \(BRIGADE_TRANSPORT\): rank 0 has auto, rank 1 has tcp' BRIGADE_TRANSPORT=tcp "$@"
  differs 'differ in chunk bytes \(BRIGADE_CHUNK_BYTES\): rank 0 has 32768, rank 1 has 65536' BRIGADE_CHUNK_BYTES=64K \
    "$@"
  differs 'differ in staging bytes \(BRIGADE_STAGING_BYTES\): rank 0 has 2097152, rank 1 has 4194304' \
    BRIGADE_STAGING_BYTES=4M "$@"
  differs 'differ in calibration \(BRIGADE_CALIBRATE\): rank 0 has 1, rank 1 has 0' BRIGADE_CALIBRATE=0 "$@"
  differs 'differ in topologies \(BRIGADE_TOPOLOGY\): rank 0 has hint, rank 1 has strict' BRIGADE_TOPOLOGY=strict "$@"
}

of_rma=(env LD_PRELOAD="$rma" "$rma_program" empty_parts)
group "${of_rma[@]}"
differs 'differ in BRIGADE_CHECK_WINDOWS: rank 0 has 0, rank 1 has 1' BRIGADE_CHECK_WINDOWS=1 "${of_rma[@]}"
differs 'differ in BRIGADE_RMA: rank 0 has auto, rank 1 has on' BRIGADE_RMA=on "${of_rma[@]}"

of_blacs=("$blacs_program" grid)
group "${of_blacs[@]}"
differs 'differ in BRIGADE_STATS: rank 0 has 0, rank 1 has ranks' BRIGADE_STATS=ranks "${of_blacs[@]}"
differs 'differ in BRIGADE_STATS_FILE: rank 0 has none, rank 1 has a file' BRIGADE_STATS_FILE="$TEST_TMPDIR/stats.json" \
  "${of_blacs[@]}"

for preloads in "$pblas" "$pblas:$blacs"; do
  of_pblas=(env LD_PRELOAD="$preloads" BRIGADE_PBLAS=on "$pblas_program" small)
  group "${of_pblas[@]}"
  differs 'differ in the buffers of products \(BRIGADE_MULTIPLY_BYTES\): rank 0 has 8388608, rank 1 has 4096' \
    BRIGADE_MULTIPLY_BYTES=4K "${of_pblas[@]}"
  differs 'differ in BRIGADE_PBLAS: rank 0 has auto, rank 1 has on' BRIGADE_PBLAS=on \
    env LD_PRELOAD="$preloads" "$pblas_program" taken_large
done

group "$bsp_program" all

of_li=("$li_program" primitives)
group "${of_li[@]}"
differs 'process 0 has BRIGADE_LI_BACKEND=windows .*, process 1 has BRIGADE_LI_BACKEND=mpi_send ' \
  BRIGADE_LI_BACKEND=mpi_send "${of_li[@]}"
differs 'process 0 has .* BRIGADE_LI_CHECK=0, process 1 has .* BRIGADE_LI_CHECK=1' BRIGADE_LI_CHECK=1 "${of_li[@]}"

exit $((failures > 0))
