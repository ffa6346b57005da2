#!/bin/bash
# Every mistake ends the program on all processes, by itself, with an error that names process, call and superstep.
#   li_misuse_test.sh RUN_MPI LI_MISUSE always|checked [VARIABLE=VALUE...]
# checked: what the checking mode alone finds.
set -u

run_mpi=$1
misuse=$2
what=$3
shift 3
export TEST_TIMEOUT=200
failures=0

fails() {  # TEXT...: as it was found
  echo "FAILED: $*:"
  echo "$output"
  failures=$((failures + 1))
}

settings=("$@")
run() {  # CASE VARIABLE=VALUE...
  output=$("$run_mpi" 3 env "${settings[@]}" "${@:2}" "$misuse" "$1" 2>&1)
}

# expect CASE TEXT VARIABLE=VALUE...: it ends with TEXT, a basic regular expression.
expect() {
  local code=0
  run "$1" "${@:3}" || code=$?
  [[ $code -ne 0 ]] || fails "$1 ended well"
  ! grep -q 'not found\|time limit\|timed out' <<<"$output" || fails "$1 was not ended"
  grep -q "brigade: $2" <<<"$output" || fails "$1 does not say '$2'"
}

# Of the checking mode: without it the program ends well.
finds() {  # CASE TEXT
  expect "$1" "$2" BRIGADE_LI_CHECK=1
  run "$1" || fails "$1 without checks"
  [[ $(grep -c 'not found' <<<"$output") -eq 3 ]] || fails "$1 without checks is found"
}

if [[ $what == always ]]; then
  expect range 'LIPUT on process 1, superstep 2: 8 bytes at offset 12 end 4 bytes beyond the 16 bytes that process 2 has'
  expect range_far 'LIGET on process 1, superstep 2: 2 bytes at offset 18446744073709551615 begin 18446744073709551599 bytes beyond the'
  expect label 'LIPUT on process 1, superstep 2: the memory at .* is not registered on this process'
  expect windows 'LIREGISTER on process 0, superstep 2: 64 memory regions are registered, which is the limit'
  expect pid 'LIGET on process 1, superstep 2: there is no process 3: they are 0 to 2'
  expect null_source 'LIPUT on process 1, superstep 2: bytes of this process at NULL'
  expect null_memory 'LIREGISTER on process 2, superstep 2: memory at NULL'
  expect large_memory 'LIREGISTER on process [0-2], superstep 2: 2147483648 bytes, which BSPlib counts in an int' \
    BRIGADE_LI_BACKEND=bsp
  expect negative_memory 'LIREGISTER on process [0-2], superstep 2: 18446744073709551615 bytes, more than any memory' \
    BRIGADE_LI_BACKEND=mpi_send
  expect twice 'LIREGISTER on process 1, superstep 2: the memory at .* is registered already, at offset 0 of'
  expect inside 'LIREGISTER on process 1, superstep 2: the memory at .* is registered already, at offset 8 of the memory at'
  expect around 'LIREGISTER on process 1, superstep 2: 8 bytes from the memory at .* on overlap the memory at .*, which is'
  expect not_open 'LIPUT on process 1, superstep 3: the memory at .* is not open: call LIINIT first'
  expect not_committed 'LIPUT on process 1, superstep 2: the registration of .* is not effective: call LICOMMIT first'
  expect no_sync 'LIBARRIER on process 1, superstep 2: memory was put to or got from since LISYNC'
  expect used_commit 'LICOMMIT on process 1, superstep 2: memory was put to or got from in this superstep'
  expect used_deregister 'LIDEREGISTER on process 1, superstep 2: .* was put to or got from in this superstep'
  expect used_end 'LIEND on process 1, superstep 2: memory was put to or got from in this superstep'
  expect behind_end 'LISYNC: a call after LIEND'
  expect begun_twice 'LIBEGIN on process 0, superstep 2: the program has begun already'
  expect give_up 'LIABORT on process 1, superstep 2: called by the program'
  expect early_exit 'exit on process 1, superstep 2: LIEND has not been called'
  expect not_begun 'LISYNC: LIBEGIN must come first'
  expect processes 'LIBEGIN: its argument is 4, but there are 3 processes: pass LINPROCS()'
  expect '' 'LINPROCS: BRIGADE_LI_BACKEND=pvm: must be windows, mpi_rma, mpi_send or bsp' BRIGADE_LI_BACKEND=pvm
  expect '' 'LINPROCS: BRIGADE_LI_CHECK=yes: must be 0 or 1' BRIGADE_LI_CHECK=yes
  expect '' 'LINPROCS: BRIGADE_LI_BSP=/none: .* cannot open' BRIGADE_LI_BACKEND=bsp BRIGADE_LI_BSP=/none
  expect '' 'LINPROCS: BRIGADE_LI_BSP=.*: libm.so.6 has no bsp_begin' BRIGADE_LI_BACKEND=bsp BRIGADE_LI_BSP=libm.so.6
  # One process ends before LIBEGIN.
  # shellcheck disable=SC2016 # for the inner shell
  output=$("$run_mpi" 3 env "${settings[@]}" \
    sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || export BRIGADE_TEST_LEAVES=1; "$0" not_begun_by_all' "$misuse" 2>&1)
  grep -qi 'brigade: LIBEGIN: process 1 has ended without it\|begin has not been called, as on' <<<"$output" ||
    fails "one process ends before LIBEGIN"
  # The settings of one process differ.
  for backend in windows bsp; do
    # shellcheck disable=SC2016 # for the inner shell
    output=$("$run_mpi" 3 env BRIGADE_LI_BACKEND="$backend" \
      sh -c 'BRIGADE_LI_CHECK=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} == 2)) "$0"' "$misuse" 2>&1)
    grep -q 'differ in their settings: process 0 has .*CHECK=0, process 2 has .*CHECK=1' <<<"$output" || fails "settings"
  done
  # shellcheck disable=SC2016 # for the inner shell
  output=$("$run_mpi" 3 sh -c '
    [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && backend=bsp || backend=windows
    BRIGADE_LI_BACKEND=$backend BRIGADE_LI_CHECK=0 "$0"' "$misuse" 2>&1)
  grep -q 'differ in their settings: process 0 has BRIGADE_LI_BACKEND=windows .*, process 1 has BSPlib' <<<"$output" ||
    fails "one process over BSPlib"
else
  finds source 'LISYNC on process 1, superstep 2: the source of a LIPUT to process 2, operation 2, of 4 bytes, has'
  both='LIBARRIER on process 2, superstep 2: operations touch the same bytes here in one superstep'
  finds two_puts "$both: a LIPUT of process 0, operation 1, writes 8 bytes at .* (offset 0 of what is registered); a"\
' LIPUT of process 1, operation 1, writes 8 bytes at .* (offset 4 of'
  finds put_and_get "$both: a LIPUT of process 0, .* writes 8 .*; a LIGET of process 1, .* reads 4 bytes"
  finds onto_source "$both: a LIPUT of process 2, .* reads 4 .*; a LIPUT of process 0, .* writes 4 bytes"
  finds two_results "${both/process 2/process 1}: a LIGET of process 1, operation 1, writes .* operation 2, writes"
  finds many "$both: a LIGET of process 1, operation 100, reads .*; a LIPUT of process 0"
  expect other_call 'LICOMMIT on process 1, superstep 2: process 0 calls LISYNC or LIOSYNC instead' BRIGADE_LI_CHECK=1
  expect other_memory 'LIOSYNC on process 1, .*: process 0 calls LISYNC or LIOSYNC for other memory' BRIGADE_LI_CHECK=1
  expect early_end 'LIDEREGISTER on process 1, .*: process 0 calls LISYNC or LIOSYNC instead' BRIGADE_LI_CHECK=1
  run order BRIGADE_LI_CHECK=1 BRIGADE_LI_CHEK=1 || fails "order"
  grep -q 'LICOMMIT: process 1 has registered memory regions of the same lengths as process 0, in another order' <<<"$output" ||
    fails "order"
  [[ $(grep -c 'BRIGADE_LI_CHEK is set, .* BRIGADE_LI_CHECK$' <<<"$output") -eq 1 ]] || fails "a misspelt setting"
fi
exit $((failures > 0))
