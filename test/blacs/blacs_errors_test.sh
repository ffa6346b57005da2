#!/bin/bash
# Every mistake ends the job by itself, soon, with an error that names the routine, the rank and the
# value. Arguments: run_mpi.sh, the program blacs_cases.
set -u

run_mpi=$1
cases=$2
failures=0

# expect CASE TEXT [VARIABLE=VALUE...]: TEXT is a basic regular expression for one line of stderr.
expect() {
  local name=$1 text=$2 code
  shift 2
  TEST_TIMEOUT=200 "$run_mpi" 2 env "$@" "$cases" "$name" > "$TEST_TMPDIR/out" 2>&1
  code=$?
  if [ $code -eq 0 ] || grep -q 'timed out\|time limit' "$TEST_TMPDIR/out" ||
    ! grep -q "$text" "$TEST_TMPDIR/out"; then
    echo "FAILED: $name (exit code $code): expected an end with '$text', got:"
    cat "$TEST_TMPDIR/out"
    failures=$((failures + 1))
  fi
}

# expect_from_one CASE TEXT: as expect; the error is rank 1's, and names it.
expect_from_one() {
  expect "$@"
  if ! grep -q 'pnum=1' "$TEST_TMPDIR/out"; then
    echo "FAILED: $1: does not name rank 1:"
    cat "$TEST_TMPDIR/out"
    failures=$((failures + 1))
  fi
}

expect_from_one scope_broadcast "BLACS ERROR 'dgebs2d: unknown scope 'X'"
expect_from_one scope_combine "BLACS ERROR 'sgsum2d: unknown scope 'q'"
expect_from_one topology_broadcast "BLACS ERROR 'ztrbr2d: unknown topology 'Z': must be a space, 1 to 9, D, "
expect_from_one topology_combine "BLACS ERROR 'igamx2d: unknown topology '0': must be a space, 1 to 9, D, "
# An empty string does not end the text.
expect_from_one scope_empty "BLACS ERROR 'dgsum2d: unknown scope '': must be R, C or A"
expect_from_one topology_empty "BLACS ERROR 'dgsum2d: unknown topology '': must be a space, 1 to 9, D, "
expect_from_one destination "BLACS ERROR 'dgesd2d: destination {5,0} is outside the 1 x 2 grid"
expect_from_one source "BLACS ERROR 'dtrrv2d: source {0,-3} is outside the 1 x 2 grid"
expect_from_one broadcast_source "BLACS ERROR 'dgebr2d: source {0,2} is outside the 1 x 2 grid"
expect_from_one broadcast_own_source "BLACS ERROR 'dgebr2d: source {0,1} is the receiver itself"
expect_from_one combine_destination "BLACS ERROR 'dgsum2d: destination {7,0} is outside"
expect_from_one negative_m "BLACS ERROR 'dgesd2d: m = -4 is negative"
expect_from_one negative_n "BLACS ERROR 'dgsum2d: n = -6 is negative"
expect_from_one freed_context "BLACS ERROR 'dgesd2d: context 0 does not exist"
expect_from_one no_context "BLACS ERROR 'blacs_barrier: context 77 does not exist"
expect_from_one exit_twice "BLACS ERROR 'blacs_gridexit: context 0 does not exist"
expect_from_one pnum_no_context "BLACS ERROR 'blacs_pnum: context -1 does not exist"
expect_from_one get_no_context "BLACS ERROR 'blacs_get: context 3 does not exist"
expect_from_one long_message "BLACS ERROR 'dgerv2d: mismatch.*80 bytes.*40 bytes"
expect_from_one two_threads "BLACS ERROR '.*called while another thread is inside"
expect broadcast_sizes "BLACS ERROR 'dgeb[rs]2d: mismatch.*\(32.*72\|72.*32\)"
expect combine_sizes "BLACS ERROR 'dgsum2d: mismatch.*\(24.*32\|32.*24\)"
expect combine_kinds "BLACS ERROR 'dg[a-z]*2d: mismatch"
expect_from_one winners_null "BLACS ERROR 'dgamx2d: rA or cA is null, but ldia = 1 requests"
expect_from_one winners_memory "BLACS ERROR 'dgamn2d: no memory for the winners of 33554432 x"
expect_from_one plan_memory "BLACS ERROR 'dgebs2d: out of memory: this process has no memory left"
expect grid_too_large "BLACS ERROR 'blacs_gridinit: illegal grid (2 x 3), #procs = 2"
expect grid_empty "BLACS ERROR 'blacs_gridinit: illegal grid (0 x 1), #procs = 2"
expect map_twice "BLACS ERROR 'blacs_gridmap: illegal grid: process 1 is twice"
expect map_outside "BLACS ERROR 'blacs_gridmap: illegal grid: process 9 of usermap"
expect map_ld "BLACS ERROR 'blacs_gridmap: ldumap = 0 is less than the 1 rows"
expect handle_c "BLACS ERROR 'blacs_gridinit: no system context for handle 55"
expect handle_fortran "BLACS ERROR 'blacs_gridinit: no system context for handle 5555"
expect handle_back "BLACS ERROR 'blacs2sys_handle: no system context for handle 99"
expect handle_null "BLACS ERROR 'sys2blacs_handle: cannot make a handle of MPI_COMM_NULL"
expect after_finalize "BLACS ERROR 'blacs_get: called after MPI_Finalize"
expect_from_one abort "{0,1}, pnum=1, Contxt=0, killed other procs, exiting with error #42\."
expect_from_one abort_no_context "{-1,-1}, pnum=1, Contxt=-1, killed other procs.*#43\."

expect grid "BLACS ERROR 'blacs_.*BRIGADE_CHUNK_BYTES=100: must be" BRIGADE_CHUNK_BYTES=100
expect grid "BLACS ERROR 'blacs_.*BRIGADE_STAGING_BYTES=lots: must be" BRIGADE_STAGING_BYTES=lots
expect grid "BLACS ERROR 'blacs_.*BRIGADE_LOG=loud: must be" BRIGADE_LOG=loud
expect grid "BLACS ERROR 'blacs_gridinit: .*BRIGADE_STAGING_BYTES=4096" BRIGADE_STAGING_BYTES=4K
expect grid "BLACS ERROR 'blacs_gridinit: .*BRIGADE_CHUNK_BYTES=4194304" BRIGADE_CHUNK_BYTES=4M
expect grid "BLACS ERROR 'blacs_pinfo: .*BRIGADE_TRANSPORT=pigeon" BRIGADE_TRANSPORT=pigeon

# Calls of four ranks that do not match, while other ranks return or wait.
expect_among_four() {
  local transport
  for transport in shm tcp auto mpi; do
    TEST_TIMEOUT=200 "$run_mpi" 4 env BRIGADE_TRANSPORT=$transport "$cases" "$1" > "$TEST_TMPDIR/out" 2>&1
    if ! grep -q "BLACS ERROR '.*: mismatch: .*$2" "$TEST_TMPDIR/out"; then
      echo "FAILED: $1 over $transport: expected an end with '$2', got:"
      cat "$TEST_TMPDIR/out"
      failures=$((failures + 1))
    fi
  done
}
expect_among_four another_root "differ in the root: rank 3 called broadcast number 0 (1), rank [01] called broadcast number 0 (0)"
expect_among_four no_root "differ in the root: rank . called broadcast number 0 (.), rank . called broadcast number 0 (.)"
expect_among_four another_scope \
  "come in different orders: rank . waits in barrier number 0 of scope .*, rank . waits in barrier number 0 of scope .*, each for the other"
expect_among_four barrier_among_sums "differ in "

# Messages that are sent and not received take overflow memory, over shared memory, too; if the system has no more
# memory, a send fails after a time.
expect_at_limit() {
  local limit=$1
  shift
  TEST_TIMEOUT=200 "$run_mpi" 2 env BRIGADE_TRANSPORT=shm BRIGADE_OVERFLOW_WAIT=1 "$@" "$cases" flood \
    > "$TEST_TMPDIR/out" 2>&1
  if ! grep -q "BLACS ERROR 'dgesd2d: .*receivers do not drain and overflow memory is at .*$limit;" "$TEST_TMPDIR/out"; then
    echo "FAILED: flood: expected an end at the limit '$limit', got:"
    cat "$TEST_TMPDIR/out"
    failures=$((failures + 1))
  fi
}
expect_at_limit '1048576 bytes' BRIGADE_OVERFLOW_BYTES=1M
ulimit -S -f 65536
expect_at_limit 'what the system has'
ulimit -S -f unlimited

# Settings that differ between ranks: rank 0 reads its own.
expect_different() {
  expect grid "$1" bash -c "[ \$OMPI_COMM_WORLD_RANK = 0 ] && export $2; exec \"\$@\"" --
}
expect_different "BLACS ERROR 'blacs_gridinit: mismatch.*" BRIGADE_CHUNK_BYTES=16K
expect_different "BLACS ERROR 'blacs_gridinit: the ranks of a grid differ in BRIGADE_STATS: rank 0 has 1, rank 1 has 0" \
  BRIGADE_STATS=1
expect_different "BLACS ERROR 'blacs_gridinit: the ranks of a grid differ in BRIGADE_STATS_FILE: rank 0 has a file, rank 1" \
  BRIGADE_STATS_FILE=/dev/null

[ $failures -eq 0 ]
