#!/bin/bash
# The choice between the two libraries does not depend on the free resources of a machine. A
# missing resource ends the job on all ranks with an error that names it. The job also ends if one
# rank takes a product and another does not, and if a wait fails.
# Arguments: run_mpi.sh, the program, the library, the BLACS. Bazel's shards share what begins with "mine".
set -u

run_mpi=$1
program=$2
library=$(realpath "$3")
blacs=$(realpath "$4")
export TEST_TIMEOUT=300
failures=0

[[ ! -v TEST_SHARD_STATUS_FILE ]] || touch "$TEST_SHARD_STATUS_FILE"
turn=0
mine() { ((turn++ % ${TEST_TOTAL_SHARDS:-1} == ${TEST_SHARD_INDEX:-0})); }

complain() {
  echo "FAILED: $*:"
  cat "$TEST_TMPDIR/out"
  failures=$((failures + 1))
}

job() {  # CASE VARIABLE=VALUE...
  "$run_mpi" 2 env LD_PRELOAD="$preloads" BRIGADE_EXPLAIN=1 "${@:2}" "$program" "$1" >"$TEST_TMPDIR/out" 2>&1
}

# ends CASE TEXT VARIABLE=VALUE...: with TEXT from each of $tellers in $call. TEXT and tellers are basic regular expressions.
tellers='0 1' call=PDGEMM
ends() {
  mine || return 0
  local code=0
  job "$1" "${@:3}" || code=$?
  if [[ $code -eq 0 ]] || grep -q 'time limit\|timed out' "$TEST_TMPDIR/out"; then complain "$1 ${*:3} is not ended"; fi
  local rank
  for rank in $tellers; do
    grep -q "brigade: $call on rank $rank: .*$2" "$TEST_TMPDIR/out" || complain "$1 ${*:3}: no '$2' on rank $rank"
  done
  ! grep -v 'it is small' "$TEST_TMPDIR/out" | grep 'left to the PBLAS:' || complain "$1 ${*:3}: it is left to the PBLAS"
}

# ends_well CASE TEXT VARIABLE=VALUE...: fails if it is not mine.
ends_well() {
  mine || return
  job "$1" "${@:3}" || complain "$1 ${*:3} ends badly"
  # Lines of two ranks may get mixed up.
  [[ $(grep -o 'ended well' "$TEST_TMPDIR/out" | wc -l) -eq 2 ]] || complain "$1 ${*:3}: not both ranks end well"
  ! grep -q 'the product is wrong' "$TEST_TMPDIR/out" || complain "$1 ${*:3}"
  grep -q "$2" "$TEST_TMPDIR/out" || complain "$1 ${*:3}: no '$2'"
  return 0
}

hint='BRIGADE_PBLAS=off leaves all products to the PBLAS'
taken='by one-sided communication'
for preloads in "$library" "$library:$blacs"; do
  if ends_well small "$taken" BRIGADE_PBLAS=on BRIGADE_PBLASS=off; then
    grep -q 'BRIGADE_PBLASS is set, .* BRIGADE_PBLAS$' "$TEST_TMPDIR/out" || complain 'a misspelt setting is not named'
  fi
  ends memory "a product on rank 1: a buffer of .* bytes.*; $hint" BRIGADE_PBLAS=on
  ends memory_for_columns "a product on rank 1: a list of columns, .*; $hint" BRIGADE_PBLAS=on
  # Smaller buffers go into what has been freed.
  ends_well memory "$taken" BRIGADE_PBLAS=on BRIGADE_MULTIPLY_BYTES=4K
  # The other has ended the grid, or is inside the PBLAS, and waits for this one.
  tellers=0
  for transport in auto tcp; do
    ends taken_one_has_ended 'process {0,1} of the grid has ended the grid' \
      BRIGADE_PBLAS=auto BRIGADE_TRANSPORT=$transport BRIGADE_IFACE=lo
    # The missing rank is in MPI_Finalize.
    ends taken_one_is_missing 'rank 1 .*\(is gone\|has left\)\|process {0,1} of the grid has ended the grid' \
      BRIGADE_PBLAS=auto BRIGADE_TRANSPORT=$transport BRIGADE_IFACE=lo
    ends taken_one_is_small 'process {0,1} of the grid leaves to the PBLAS a product that this rank computes with Brigade' \
      BRIGADE_PBLAS=auto BRIGADE_TRANSPORT=$transport BRIGADE_IFACE=lo
  done
  ends taken_looks_fail 'rank 1 .* is gone' BRIGADE_PBLAS=auto
  tellers='0 1'
  # Ranks that come late are waited for, and nothing stays behind of how they were waited for.
  if ends_well one_is_late "$taken" BRIGADE_PBLAS=auto; then
    ! grep -q 'left over' "$TEST_TMPDIR/out" || complain 'one_is_late'
  fi
  mine || continue
  # A rank that has ended a grid without taken products has left no trace of it.
  test/support/run_until.sh "$run_mpi" 1 'process {0,0} of a grid waits for other ranks to call product number 2' 2 \
    env LD_PRELOAD="$preloads" BRIGADE_PBLAS=auto BRIGADE_REPORT_SECONDS=1 "$program" one_is_missing \
    >"$TEST_TMPDIR/out" || complain 'one_is_missing: the wait is not reported'
done
# Without the library of names, or with one from before it gave what the part needs.
# Among the files of this test lies the part for one family; where they were built may lie that for the other.
preloads=$(realpath "${3%.so}"_*.so.1)
# Each rank finds such an error by itself, and ends the job before the other has to.
by_itself='[01]'
tellers=$by_itself
ends small 'not opened by a libbrigade_pblas.so of its version' BRIGADE_PBLAS=on
# MPI has no rank of a process that has not initialised it.
if mine; then
  ! job before_mpi || complain 'before_mpi is not ended'
  grep -q 'brigade: PDGEMM: this part was not opened by' "$TEST_TMPDIR/out" || complain 'before_mpi: no text'
fi
preloads=$library
# Values that must be equal on all ranks, also before there is a multiplier. Over our BLACS that takes a rank that calls
# MPI.
tellers=0
ends one_is_small 'process {0,1} of the grid leaves to the PBLAS a product that this rank computes with Brigade' BRIGADE_PBLAS=auto
preloads=$library:$blacs
ends one_is_small 'process {0,1} of the grid leaves to the PBLAS a product that this rank computes with Brigade' BRIGADE_PBLAS=auto BRIGADE_TRANSPORT=mpi
preloads=$library
tellers='0 1'
# A call that the PBLAS report as an error on one rank counts as its product.
ends one_has_no_letter 'are in different products.* come to 2 and 3' BRIGADE_PBLAS=auto
ends one_has_no_grid 'are in different products.* come to 2 and 3' BRIGADE_PBLAS=auto
ends_well alpha 'PDGEMM is left to the PBLAS: the ranks of a product differ in alpha' BRIGADE_PBLAS=on
ends_well small 'left to the PBLAS: BRIGADE_PBLAS=off' BRIGADE_PBLAS=off
# A bad value ends the job, whatever the product.
tellers=$by_itself
ends small "BRIGADE_TRANSPORT=pigeon: there is no transport 'pigeon'" BRIGADE_PBLAS=on BRIGADE_TRANSPORT=pigeon
ends small "BRIGADE_TRANSPORT=pigeon: there is no transport 'pigeon'" BRIGADE_TRANSPORT=pigeon
ends small 'BRIGADE_MULTIPLY_BYTES=1K: must be 4096 bytes or more' BRIGADE_MULTIPLY_BYTES=1K
tellers='0 1'
# Settings that decide about bits are equal on all ranks.
differing() {  # ASSIGNMENT: made on each rank, where $rank is its number
  # shellcheck disable=SC2016 # for the inner shell
  printf '#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\nexport %s\nexec "%s" "$@"\n' "$1" "$same" \
    >"$TEST_TMPDIR/differing"
  chmod +x "$TEST_TMPDIR/differing"
}
same=$program program=$TEST_TMPDIR/differing
# shellcheck disable=SC2016 # for that shell
differing 'BRIGADE_MULTIPLY_BYTES=$((8192 << rank))'
ends small "differ in .*(BRIGADE_MULTIPLY_BYTES): rank 0 has 8192, rank 1 has 16384; $hint" BRIGADE_PBLAS=on
# shellcheck disable=SC2016
differing 'BRIGADE_PBLAS=$([ $rank = 0 ] && echo on || echo auto)'
ends taken_large 'the ranks of a grid differ in BRIGADE_PBLAS: rank 0 has on, rank 1 has auto'
tellers=0
ends small 'process {0,1} of the grid leaves to the PBLAS a product that this rank computes with Brigade: .*BRIGADE_PBLAS'

exit $((failures > 0))
