#!/bin/bash
# With --by-messages puts go over connections; without, directly to memory. In a network of its own, without other
# traffic.
#   by_messages_test.sh RUN_MPI PROGRAM
set -euo pipefail

if [[ $# -eq 2 ]]; then
  if ! unshare --user --map-root-user --net true; then
    echo "skipped: no network of its own"
    exit
  fi
  exec unshare --user --map-root-user --net "$0" "$@" apart
fi
ip link set lo up
export BRIGADE_IFACE=lo

bytes() { awk '$1 == "lo:" { print $2 }' /proc/net/dev; }
sent() {  # ARGUMENT...
  local before
  before=$(bytes)
  "$run_mpi" 2 "$program" --transport tcp --classes W --variants put --peers none --seconds 0.001 --min-iterations 1 \
    --max-iterations 1 "$@" >&2
  echo $(($(bytes) - before))
}

run_mpi=$1 program=$2
directly=$(sent)
by_messages=$(sent --by-messages)
echo "over lo: $directly bytes, and $by_messages by messages"
# Faces alone are some 5 MB a run.
[[ $directly -lt 1000000 && $by_messages -gt 5000000 ]]
