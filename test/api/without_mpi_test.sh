#!/bin/bash
# Four processes that a shell starts, without mpirun and without an MPI, and what can go wrong.
#   without_mpi_test.sh PROGRAM
set -u
unset "${!BRIGADE_@}"
program=$1
folder=$TEST_TMPDIR
failures=0

fail() {
  echo "FAILED: $*"
  tail -n +1 "$folder"/out.*
  failures=$((failures + 1))
}

# A port that no process uses, most probably: of this test's process, below the ephemeral ports.
port=$((20000 + $$ % 10000))
next_address() {
  port=$((port + 1))
  address=127.0.0.1:$port
}

start() {  # RANK ARGUMENT...: in the background; its output goes to out.RANK
  "$program" "${@:2}" >"$folder/out.$1" 2>&1 &
  pids[$1]=$!
}
await() {  # CODE RANK...: the exit codes
  local code=$1 rank
  for rank in "${@:2}"; do
    wait "${pids[rank]}"
    local got=$?
    [ $got -eq "$code" ] || fail "rank $rank ends with $got, not $code"
  done
}
says() {  # TEXT RANK...
  local rank
  for rank in "${@:2}"; do
    grep -qE "$1" "$folder/out.$rank" || fail "rank $rank does not say '$1'"
  done
}

# Runs a case with a time limit that is to end it, and with longer ones if that is too short for what comes before.
with_limits() {  # CASE
  local before=$failures seconds
  for seconds in 3 15 75; do
    failures=$before
    next_address
    "$1" $seconds
    [ $failures -gt $before ] || break
  done
}

pids=()
if grep -q libmpi <<<"$(ldd "$program")"; then
  echo "FAILED: the program is linked with an MPI"
  exit 1
fi
for transport in shm tcp sockets auto; do
  next_address
  for rank in 3 1 2 0; do start $rank $transport "$address" $rank 4 "a secret" "job $transport"; done
  await 0 0 1 2 3
  says "rank [0-3]: passed" 0 1 2 3
done

next_address
start 0 mpi "$address" 0 1
await 3 0
says "unavailable: .*mpi" 0

missing_rank() {  # SECONDS
  for rank in 0 1 2; do start $rank shm "$address" $rank 4 "" "" "$1"; done
  await 3 0 1 2
  says "timed out: .*rank 3" 0 1 2
}
with_limits missing_rank

other_secret() {  # SECONDS
  for rank in 0 1; do start $rank shm "$address" $rank 3 right "" "$1"; done
  start 2 shm "$address" 2 3 wrong "" "$1"
  await 3 0 1 2
  says "secret" 2
  says "rank 2" 0 1
}
with_limits other_secret

other_version() {  # SECONDS: a process with the first version of the handshake joins as rank 1 of 2
  start 0 shm "$address" 0 2 "" "" "$1"
  python3 -c '
import socket, struct, sys, time
host, port = sys.argv[1].split(":")
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    try:
        peer = socket.create_connection((host, int(port)), timeout=1)
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
peer.settimeout(60)
peer.sendall(struct.pack("<8sIIiiII64s32s", b"brigboot", 1, 0, 1, 2, 60000, 0, b"", b""))
print(peer.recv(4096))' "$address" "$1" >"$folder/out.3" 2>&1
  says "handshake version 1 is not the handshake version [0-9]+ of rank 0" 3
  await 3 0
  says "handshake version 1" 0
}
with_limits other_version

next_address  # two jobs at one address
for rank in 0 1; do start $rank shm "$address" $rank 3 "" one 100; done
start 3 shm "$address" 1 3 "" two 100
await 3 3
says "job" 3
start 2 shm "$address" 0 3 "" two 100
await 3 2
says "in use" 2
start 2 shm "$address" 2 3 "" one 100
await 0 0 1 2

next_address  # a rank joins twice
for rank in 0 1; do start $rank shm "$address" $rank 3 "" "" 100; done
start 2 shm "$address" 1 3 "" "" 100
await 3 0 1 2
says "rank 1" 0

next_address  # a rank dies, and another never joins
for rank in 0 1 2; do start $rank shm "$address" $rank 4 "" "" 100; done
connected=$(printf ' [0-9A-F]*:%04X [0-9A-F]*:[0-9A-F]* 01 ' "$port")
until [ "$(grep -cE "$connected" /proc/net/tcp)" -ge 2 ]; do sleep 0.05; done
sleep 0.5  # for their handshakes
kill -9 "${pids[1]}"
await 3 0 2
says "rank 1" 0 2

[ $failures -eq 0 ]
