#!/bin/bash
# A process of a program is killed: the others end, and somebody says which one was lost.
#   death_test.sh RUN_MPI PROGRAM told|ended [VARIABLE=VALUE...]
# told: mpirun and those that have found out (end_alone.h) leave the others alone, and they find out by themselves,
# unless they wait in MPI. ended: mpirun finds out and ends them, of which a few cases are enough. PROGRAM prints its
# cases; and it dies at some times, too.
set -u

run_mpi=$1 program=$2 how=$3
shift 3
settings=("$@")
export TEST_TIMEOUT=200
failures=0
launch=()
[[ $how == ended ]] || launch=(--enable-recovery)

is_named() {
  if [[ $how == told ]]; then
    # Each of the others has lost somebody: who is late may see that the one which has found out is gone, too.
    for process in 0 1; do
      grep -q "brigade: [A-Za-z_]* on process $process, superstep [0-9]*: .*rank [0-2] of" <<<"$output" || return
    done
    grep -q 'brigade: .*rank 2 of' <<<"$output"
  else
    [[ $code -ne 0 ]] && grep -q 'process rank 2 .* exited on signal' <<<"$output"
  fi
}

seed=${BRIGADE_TEST_SEED:-7}
echo "seed $seed"
seeds=3
[[ ! -v BRIGADE_TEST_FULL ]] || seeds=30
number=0
while read -r case where; do
  if [[ $how == told ]]; then
    [[ $where != 'in MPI' ]] || continue
  else
    ((number++ == 0)) || [[ -n $where ]] || continue
  fi
  code=0
  rm -f "$TEST_TMPDIR"/err.*
  # Each process's last words in a file of their own: mpirun may lose some when a job is aborted.
  # shellcheck disable=SC2016 # for the inner shell
  output=$("$run_mpi" 3 "${launch[@]}" sh -c 'exec 2>"$0.$$"; exec "$@"' "$TEST_TMPDIR/err" \
    env "${settings[@]}" "$program" "$case" 2>&1) || code=$?
  output+=$'\n'$(cat "$TEST_TMPDIR"/err.*)
  if ! is_named || grep -q 'not told\|time limit\|timed out' <<<"$output"; then
    failures=$((failures + 1))
    echo "FAILED: $case, which ended with $code: $output"
  fi
done < <("$program"; seq --format='%g sometime' "$((seed + 1))" "$((seed + seeds))")
exit $((failures > 0))
