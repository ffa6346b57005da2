#!/bin/bash
# BRIGADE_TRACE: the contents of the files, and errors if there can be none. Arguments: run_mpi.sh, the program
# blacs_cases, blacs_trace_test.py.
set -u

run_mpi=$1
cases=$2
check=$3
out=$TEST_TMPDIR/out
traces=$TEST_TMPDIR/traces
mkdir -p "$traces"

fail() {
  echo "FAILED: $*; got:"
  cat "$out"
  ls -l "$traces"
  exit 1
}

# run CASE [VARIABLE=VALUE...]: must succeed.
run() {
  local name=$1
  shift
  TEST_TIMEOUT=200 "$run_mpi" 2 env "$@" "$cases" "$name" > "$out" 2>&1 || fail "$name $*: exit code $?"
}

run trace
[[ -z $(ls "$traces") ]] || fail "a trace that nobody wanted"

# A message that the kernel copies has no pieces.
export BRIGADE_KERNEL_COPIES=off
for transport in mpi shm; do
  # 3: rank 0 did not wait for rank 1, which may happen on a busy machine.
  code=3
  for ((i = 0; i < 20 && code == 3; ++i)); do
    run trace BRIGADE_TRANSPORT=$transport BRIGADE_TRACE="$traces/run.json"
    [[ $(ls "$traces") == $'run.0.json\nrun.1.json' ]] || fail "not one file per rank"
    [[ ! -s $out ]] || fail "a trace is written in silence"
    /usr/bin/python3 "$check" "$traces" $transport
    code=$?
  done
  [[ $code -eq 0 ]] || fail "wrong traces of $transport"
done

# Said once by each rank, and no reason to fail.
run trace BRIGADE_TRANSPORT=shm BRIGADE_TRACE="$traces/missing/run.json"
for rank in 0 1; do
  line="brigade: BRIGADE_TRACE: cannot write the trace to $traces/missing/run.$rank.json.tmp: No such file or directory"
  [[ $(grep -c -F "$line" "$out") == 1 ]] || fail "expected once: $line"
done
[[ $(wc -l < "$out") == 2 ]] || fail "expected two lines"
