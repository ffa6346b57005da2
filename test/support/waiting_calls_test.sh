#!/bin/bash
# All calls of a table get on while a peer is in MPI_Send (wait_in_call.h), over each transport.
#   waiting_calls_test.sh RUN_MPI PROGRAM[,ARGUMENT...] EXPECTED [VARIABLE=VALUE...]
# There is a run for each argument, whose output must have EXPECTED, a regular expression that shows that the library is
# in use. Libraries in LD_PRELOAD are by paths from here.
set -u

run_mpi=$1
IFS=, read -ra program <<<"$2"
arguments=("${program[@]:1}")
[[ ${#arguments[@]} -gt 0 ]] || arguments=("")
expected=$3
shift 3
variables=()
for variable in "$@"; do
  if [[ $variable == LD_PRELOAD=[^/]* ]]; then
    variable=${variable/=/=$PWD/}
    variable=${variable//:/:$PWD/}
  fi
  variables+=("$variable")
done
failures=0

run() {  # VARIABLE=VALUE...
  local argument output
  for argument in "${arguments[@]}"; do
    output=$(TEST_TIMEOUT=200 "$run_mpi" 2 env BRIGADE_IFACE=lo BRIGADE_LOG=info "${variables[@]}" "$@" "${program[0]}" \
      "$argument" 2>&1) && grep -q 'all calls$' <<<"$output" && grep -q "$expected" <<<"$output" && continue
    echo "FAILED: ${program[0]} $argument with $*: $output"
    failures=$((failures + 1))
  done
}

run BRIGADE_TRANSPORT=shm
run BRIGADE_TRANSPORT=tcp
run BRIGADE_TRANSPORT=auto
run BRIGADE_TRANSPORT=tcp BRIGADE_TEST_BY_MESSAGES=1
run BRIGADE_TRANSPORT=mpi BRIGADE_RMA=on
exit $((failures > 0))
