#!/bin/bash
# Jobs whose ranks a shell starts, with no launcher and no MPI. Argument: the program job_without_mpi.
set -u

program=$PWD/$1
out=$TEST_TMPDIR/out
failures=0
unset BRIGADE_TRANSPORT OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS
export BRIGADE_TEST_SECRET=shared BRIGADE_TEST_JOB=first

fail() {
  echo "FAILED: $1; the output:"
  cat "$out"
  failures=$((failures + 1))
}

# A port at which nobody listens.
address() { python3 -c '
import socket
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    print("127.0.0.1:%d" % probe.getsockname()[1])'; }

rank() { "$program" "$transport" "$at" "$@" >>"$out" 2>&1 & } # RANK SIZE SECONDS WHAT

await_sockets() { # COUNT STATE: so many sockets at the address, in a state of /proc/net/tcp (01 connected, 0A listens)
  local socket
  socket=$(printf ' [0-9A-F]*:%04X [0-9A-F]*:[0-9A-F]* %s ' "${at##*:}" "$2")
  until [[ $(grep -cE "$socket" /proc/net/tcp) -ge $1 ]]; do sleep 0.05; done
}

begin() { # TITLE
  what=$1
  at=$(address)
  : >"$out"
}

line() { # COUNT PATTERN
  [[ $(grep -cE -- "$2" "$out") -eq $1 ]] || fail "$what: not $1 lines with '$2'"
}

# Runs a case with a time, and if that is too short for what is to happen within it, with longer ones.
with_times() { # CASE
  local before=$failures seconds
  for seconds in 2 10 60; do
    failures=$before
    "$1" $seconds
    [[ $failures -gt $before ]] || break
  done
}

! ldd "$program" | grep -i mpi >"$out" || fail "the program is linked with an MPI"

for transport in shm tcp sockets auto; do
  begin "a job over $transport"
  for rank in 3 1 0 2; do rank $rank 4 100 run; done
  wait
  case $transport in
    auto) line 4 ': well over shm$' ;;
    *) line 4 ": well over $transport\$" ;;
  esac
done
begin "an odd number of ranks"
for rank in 0 1 2 3 4; do rank $rank 5 100 run; done
wait
line 5 ': well over shm$'

missing_rank() { # SECONDS
  begin "a missing rank"
  for rank in 0 1 2; do rank $rank 4 "$1" run; done
  wait
  line 3 ": timed out: rank 3 of 4 has not joined within (the time limit of rank [12], .*)?$1 s( of rank 0)?\$"
}
with_times missing_rank

wrong_secret() { # SECONDS
  begin "a wrong secret"
  for rank in 0 1; do rank $rank 3 "$1" run; done
  BRIGADE_TEST_SECRET=guessed rank 2 3 "$1" run
  wait
  line 2 ': timed out: rank 2 of 3 has not joined within .*; .* as rank 2 and without a proof: '
  line 1 "rank 2: mismatch: rank 2 of 3, connected to rank 0 at $at: the secret is not that of rank 0"
}
with_times wrong_secret

# The second job finds the address in use. Its other rank connects to rank 0 of the first job, which rejects it.
begin "two jobs at an address"
for rank in 0 1; do rank $rank 3 100 run; done
await_sockets 1 0A
second=()
for rank in 0 1; do
  BRIGADE_TEST_JOB=second rank $rank 2 100 run
  second+=($!)
done
wait "${second[@]}"
rank 2 3 100 run
wait
line 3 ': well over shm$'
line 1 "rank 0: unavailable: rank 0: cannot listen at $at: bind: Address already in use; "
line 1 "rank 1: mismatch: .*: job 'second' is not the job of rank 0; "

killed_early() { # SECONDS
  local victim
  begin "a rank that is killed before all have joined"
  for rank in 0 2; do rank $rank 4 100 run; done
  rank 1 4 100 run
  victim=$!
  await_sockets 2 01
  sleep "$1" # for their handshakes
  kill -KILL $victim
  wait
  line 2 ': peer lost: rank 1 of 4 \(127\.0\.0\.1:[0-9]+\) has ended during the bootstrap$'
}
with_times killed_early

begin "a rank that is killed when all have joined"
for rank in 0 1 2 3; do rank $rank 4 100 die; done
wait
line 3 ': peer lost: rank 1 of 4 has ended while a group was made: '

[[ $failures -eq 0 ]]
