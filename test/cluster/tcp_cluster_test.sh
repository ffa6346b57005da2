#!/bin/bash
# The TCP transports on a cluster of hosts (bench/cluster/cluster.sh): data, links cut and slowed in the middle of
# messages, ranks that die, stop and leave, strangers, little memory, and who goes on while nobody calls. Wants the
# programs that "bazel build --config=opt //..." leaves in bazel-bin. Exit code 77: skipped.
#   tcp_cluster_test.sh [PATTERN]    only those whose title matches
# shellcheck disable=SC2016 # most of what is quoted here is for shells on the hosts
set -u

only=${1:-}
cd "$(dirname "$0")/../.." || exit 1
programs=$PWD/bazel-bin/test
shim=$PWD/bazel-bin/blacs_shim/libbrigade_blacs.so
name=u$$
scratch=$(mktemp -d /tmp/bg.XXXXXX) || exit 1
chmod 755 "$scratch"
out=$scratch/out
export OMP_NUM_THREADS=1 GTEST_COLOR=no
unset XDG_RUNTIME_DIR
failures=0

fail() {
  echo "FAILED: $1; the output:"
  tail -n 300 "$out"
  failures=$((failures + 1))
}
c() { bench/cluster/cluster.sh --name "$name" "$@"; }
# A limit only ends jobs that hang. mpirun sometimes loses its daemons when the machine is busy, before it starts a
# rank.
run() {
  local code _
  for _ in 1 2 3; do
    timeout 900 bench/cluster/cluster.sh --name "$name" run "$@" >"$out" 2>&1
    code=$?
    grep -q 'ORTE does not know how to route' "$out" || break
  done
  return $code
}
lines() { # COUNT PATTERN
  [[ $(grep -cE -- "$2" "$out") -eq $1 ]] || fail "$what: not $1 lines with '$2'"
}
title() { # fails if it is not wanted
  what=$*
  [[ $what =~ $only ]] || return
  printf '%3d s: %s\n' $SECONDS "$what"
}

if ! c up 4 400mbit; then
  echo "SKIPPED: no cluster can be raised here, see above"
  rm -rf "$scratch"
  exit 77
fi
trap 'c down; rm -rf "$scratch"' EXIT

# --- data ---

# The costs of edges are measured once, by the job that finds no result for these hosts.
if title "calibration"; then
  export XDG_CACHE_HOME=$scratch/cache
  for job in first second; do
    run 4 "$PWD/bazel-bin/bench/brigade_bench" --peers none --shim none --seconds 0.05 --explain \
      spread --cases broadcast --shapes free --bytes 1K,256K || fail "$what: the $job job"
    # A plan for each root.
    lines 4 'broadcast of up to 262144 bytes on 4 ranks: .* in [0-9]+ segments?, predicted [0-9.]+ us. Chosen by the model. Alternatives:$'
    [[ $(find "$scratch/cache/brigade" -name '*.json' | wc -l) -eq 1 ]] || fail "$what: not one file"
    [[ $job == first ]] && cp -p "$scratch"/cache/brigade/*.json "$scratch/first.json"
  done
  [[ ! "$scratch/first.json" -ot $(echo "$scratch"/cache/brigade/*.json) ]] || fail "$what: measured again"
  bazel-bin/bench/brigade_bench explain --pattern reduce --ranks 8 --bytes 1M --machine "$scratch/first.json" \
    >"$out" 2>&1 || fail "$what: explain cannot read what was kept"
  lines 1 '^Choice: '
  # Hosts with different settings get an error, and no rank waits.
  run 4 sh -c 'BRIGADE_CALIBRATE=$((OMPI_COMM_WORLD_RANK % 2)) LD_PRELOAD='"$shim"' '"$programs/blacs/blacs_cases"' grid' &&
    fail "$what: settings that differ"
  grep -q 'rank 0 has 0, rank 1 has 1' "$out" || fail "$what: differing settings are not named"
  unset XDG_CACHE_HOME
fi

if title "conformance"; then
  run 4 "$programs/transport/mpi_conformance_test" '--gtest_filter=*/Tcp*:*/Sockets*' || fail "$what"
  grep -q '\[  PASSED  \] [1-9]' "$out" || fail "$what: there are no tests"
fi
for transport in tcp sockets; do
  export BRIGADE_TRANSPORT=$transport
  if title "BLACS over $transport"; then
    # Without the test that takes half a minute, and the one that wants windows of MPI's, which has none between hosts.
    run 4 "$programs/blacs/blacs_shim_test" \
      --gtest_filter=-BlacsLife.ContextsLeakNothing:BlacsBarrier.NoRankReturnsBeforeAllHaveCalled || fail "$what"
  fi
  if title "random calls over $transport"; then
    # It compares in memory that all ranks share.
    run --per-host 4 4 "$programs/blacs/blacs_differential" --shim "$shim" --seed 5 --steps 300 || fail "$what"
  fi
done
export BRIGADE_TRANSPORT=tcp
if title "Debian's testers"; then
  # As run_testers.py calls it: --oversubscribe -n RANKS COMMAND...
  mkdir "$scratch/bin"
  printf '#!/bin/sh\nshift 2\nexec "%s" --name "%s" run "$@"\n' "$PWD/bench/cluster/cluster.sh" "$name" >"$scratch/bin/mpirun.openmpi"
  chmod +x "$scratch/bin/mpirun.openmpi"
  PATH=$scratch/bin:$PATH test/scalapack/run_testers.py --preload "$shim" --output "$scratch/testers" \
    --only 'xCbtest-4-noaux|xdlu|xdqr' >"$out" 2>&1 || fail "$what"
fi
unset BRIGADE_TRANSPORT

# --- progress without calls ---

for transport in tcp sockets; do
  for where in compute receive barrier; do
    title "delivered during $where over $transport" || continue
    run 4 "$programs/cluster/tcp_job" $transport $where "$scratch/$transport-" || fail "$what"
    lines 4 ': well$'
  done
done
if title "no io_uring"; then
  run 4 "$programs/support/without" io_uring_setup "$programs/cluster/tcp_job" tcp barrier || fail "$what"
  lines 4 'brigade: tcp: io_uring: .*Operation not permitted; plain sockets are used instead'
  lines 4 ': well$'
fi
if title "connections of 16 ranks"; then
  run 16 "$programs/cluster/tcp_job" tcp degree || fail "$what"
  lines 16 'connections: ring [12], '
fi

# --- links ---

# A rank's output comes when its daemon gets to it.
reported() { grep -q "$1" "$out" || ! kill -0 $job 2>/dev/null; } # or the job has ended
job_started() { until reported 'victim is'; do sleep 0.1; done; }
for transport in tcp sockets; do
  for pattern in send broadcast multi_reduce; do
    title "a link cut and slowed during $pattern over $transport" || continue
    rm -f "$scratch/over"
    : >"$out"
    run 4 "$programs/patterns/peer_failure" $transport $pattern 100000 "$scratch/over" &
    job=$!
    job_started
    c link 2 down
    sleep 3
    c link 2 up
    sleep 0.5
    c link 2 10mbit
    sleep 0.5
    c link 2 400mbit
    touch "$scratch/over"
    wait $job || fail "$what"
    lines 4 ': well$'
  done
done

for transport in tcp sockets; do
  title "a cable out while ranks connect over $transport" || continue
  rm -f "$scratch/go"
  : >"$out"
  run 4 "$programs/cluster/tcp_job" $transport ring "$scratch/go" &
  job=$!
  until [[ $(grep -c 'about to send' "$out") -eq 4 ]] || ! kill -0 $job 2>/dev/null; do sleep 0.1; done
  c link 2 down
  touch "$scratch/go"
  sleep 8 # longer than it takes to notice that there is no way to a host
  c link 2 up
  wait $job || fail "$what"
  lines 4 ': well$'
done

# --- ranks that go ---

told() { [[ $(grep -c ': peer lost: ' "$out") -ge 3 ]]; }
# mpirun may end all ranks when it writes to a killed daemon, before they have printed anything.
ended_by_mpirun() { grep -q FORCE-TERMINATE "$out"; }
it_left='\(10\.78\.0\.2:[0-9]+\): (it has left|Connection refused)'
for transport in tcp sockets; do
  # The handling of a lost peer does not depend on how bytes get to the socket.
  patterns=(broadcast multi_reduce)
  [[ $transport == sockets ]] || patterns+=(send reduce all_reduce multi_broadcast barrier)
  for pattern in "${patterns[@]}"; do
    for end in die leave; do
      title "$end during $pattern over $transport" || continue
      # A rank that only sends to it receives no shutdown frame, and may detect the loss first and notify the others. The test
      # runs again then.
      for _ in 1 2 3; do
        run --mpirun --enable-recovery 4 "$programs/patterns/peer_failure" $transport "$pattern" 100000 $end
        [[ $? -ne 124 ]] || fail "$what: hangs"
        [[ $end == die ]] || grep -qE "$it_left" "$out" || continue
        break
      done
      grep -q 'WRONG' "$out" && fail "$what"
      for rank in 0 2 3; do
        grep -qE "rank $rank: peer lost: .*rank [0-9] of the group \(10\.78\.0\.[0-9]:[0-9]+\): " "$out" ||
          fail "$what: rank $rank does not say whom it lost"
      done
      grep -q '(10\.78\.0\.2:[0-9]*): ' "$out" || fail "$what: nobody names the victim"
      # Ranks that never had a connection with it cannot get one.
      [[ $end == die ]] || grep -qE "$it_left" "$out" ||
        fail "$what: nobody knows that it left"
    done
  done
  for cable in in out; do
    title "a host killed, its cable $cable, over $transport" || continue
    for _ in 1 2 3; do
      : >"$out"
      run --mpirun --enable-recovery 4 "$programs/cluster/tcp_job" $transport silence 10 2>/dev/null &
      job=$!
      until [[ $(grep -c ': sends' "$out") -eq 4 ]] || ! kill -0 $job 2>/dev/null; do sleep 0.1; done
      [[ $cable == in ]] || c link 2 down
      c kill 2
      for ((i = 0; i < 6000; ++i)); do
        if told || ended_by_mpirun; then break; fi
        sleep 0.1
      done
      # mpirun waits for the daemon that was killed.
      c down
      wait $job
      c up 4 400mbit >/dev/null
      if told || ! ended_by_mpirun; then break; fi
    done
    # A reset after the end of the stream is a broken pipe to the writer.
    why='the connection ended|Connection reset by peer|Broken pipe'
    [[ $cable == in ]] || why='its system has not answered for 10 s|Connection timed out'
    for rank in 0 2 3; do
      grep -qE "rank $rank: peer lost: .*rank [0-9] of the group \(10\.78\.0\.[0-9]:[0-9]+\): " "$out" ||
        fail "$what: rank $rank does not say whom it lost"
    done
    grep -qE "\(10\.78\.0\.2:[0-9]+\): ($why)" "$out" || fail "$what: nobody names the victim"
  done
  if title "a rank stops for a while over $transport"; then
    rm -f "$scratch/go"
    : >"$out"
    run 4 "$programs/patterns/peer_failure" $transport all_reduce 100000 pause="$scratch/go" &
    job=$!
    until reported 'waiting for rank 1[: ].*nothing has moved for'; do sleep 0.1; done
    touch "$scratch/go"
    wait $job || fail "$what"
    lines 4 ': well$'
    grep -q 'waiting for rank 1[: ].*nothing has moved for' "$out" || fail "$what: nobody reports it"
  fi
done

for transport in tcp sockets; do
  title "a receiver that stops within a message over $transport" || continue
  rm -f "$scratch/sent"
  run 2 "$programs/cluster/tcp_job" $transport stopped "$scratch/sent" || fail "$what"
  lines 2 ': well$'
done

for transport in tcp sockets; do
  if title "ranks that receive nothing leave over $transport"; then
    run 4 "$programs/cluster/tcp_job" $transport unreceived || fail "$what"
    lines 4 ': well$'
    lines 4 'brigade: tcp: rank [0-3] of the group \(10\.78\.0\.[1-4]:[0-9]+\) has closed the group without receiving'
  fi
done

# --- strangers ---

cat >"$scratch/stranger.py" <<'END'
"""Disturbs an endpoint of peer_failure on host 1, from when it listens until the file given exists."""
import os, random, re, resource, socket, struct, subprocess, sys, time

resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
magic = b"brigade\n" + struct.pack("<I", 1)
crowd = []
rounds = 0
address = None
while not os.path.exists(sys.argv[1]):
    if not address:
        # MPI listens on every address, and is left alone. The host's sockets, seen from there.
        listing = open(sys.argv[2]).read()
        ports = re.findall(r"10\.78\.0\.1:(\d+) .*peer_failure", listing)
        address = ports and ("10.78.0.1", int(ports[0]))
        time.sleep(0.01)
        continue
    for first in (random.randbytes(2000), magic + bytes(32), magic + random.randbytes(68), b""):
        try:
            with socket.create_connection(address) as stranger:
                stranger.sendall(first)
                if rounds % 2:  # a reset, as of a port scan
                    stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
    while len(crowd) < 1000:
        crowd.append(socket.create_connection(address))
        if len(crowd) % 2:
            crowd[-1].sendall(b"b")
    rounds += 1
    time.sleep(0.01)
print("rounds:", rounds)
END
for transport in tcp sockets; do
  title "strangers over $transport" || continue
  rm -f "$scratch/over"
  : >"$out"
  : >"$scratch/ports"
  c exec 1 sh -c 'until [ -e "$1" ] || grep -q "10\.78\.0\.1:.*peer_failure" "$0"; do ss -ltnpH >"$0"; done' \
    "$scratch/ports" "$scratch/over" &
  looker=$!
  c exec 4 python3 "$scratch/stranger.py" "$scratch/over" "$scratch/ports" >"$scratch/rounds" 2>&1 &
  stranger=$!
  run 4 "$programs/patterns/peer_failure" $transport multi_broadcast 100000 "$scratch/over" &
  job=$!
  until reported '(100 times so far)'; do sleep 0.1; done
  touch "$scratch/over"
  wait $job || fail "$what"
  wait $stranger $looker
  lines 4 ': well$'
  grep -q 'rounds: [1-9]' "$scratch/rounds" || fail "$what: there were none: $(<"$scratch/rounds")"
  grep -q 'brigade: a connection from 10\.78\.0\.4:.* was dropped: ' "$out" || fail "$what: not told"
  grep -q '(100 times so far)' "$out" || fail "$what: not counted"
done

# --- jobs without a launcher ---

# Two ranks on each host but the last, which has one. 2 x 3 ranks make a grid.
if title "ranks that a shell starts"; then
  export BRIGADE_TEST_SECRET=shared
  for transport in auto tcp; do
    : >"$out"
    for rank in 6 5 4 3 2 1 0; do
      c exec $((rank / 2 + 1)) "$programs/bootstrap/job_without_mpi" $transport 10.78.0.1:4711 $rank 7 100 run \
        >>"$out" 2>&1 &
    done
    wait
    [[ $transport == auto ]] && transport='shm\+tcp'
    lines 7 ": well over $transport\$"
  done
  # Every call of the C interface.
  : >"$out"
  for rank in 3 2 1 0; do
    c exec $((rank + 1)) timeout 900 "$programs/api/without_mpi" tcp 10.78.0.1:4711 $rank 4 shared >>"$out" 2>&1 &
  done
  wait
  lines 4 ': passed$'
  # The host of a rank that dies is another than that of rank 0.
  : >"$out"
  for rank in 0 1 2; do
    c exec $((rank + 1)) "$programs/bootstrap/job_without_mpi" auto 10.78.0.1:4711 $rank 3 100 die >>"$out" 2>&1 &
  done
  wait
  lines 2 ': peer lost: rank 1 of 3 has ended while a group was made: '
  unset BRIGADE_TEST_SECRET
fi

# --- little memory ---

# With a choice of its own: the kernel frees the memory of a trial's ring later, and the job counts locked memory.
limited=(env BRIGADE_IO_URING=on sh -c 'ulimit -l 8192 && exec setpriv --inh-caps=-ipc_lock --bounding-set=-ipc_lock "$0" "$@"')
if title "a receiver that sleeps"; then
  run 1 "${limited[@]}" python3 -c 'import ctypes
memory = ctypes.create_string_buffer(16 << 20)
assert ctypes.CDLL(None).mlock(memory, 16 << 20) != 0' || fail "the limit on locked memory does not bite"
  # A million messages; at 400 Mbit/s they would be on their way for half a minute.
  for host in 1 2; do c link "$host" 10gbit; done
  run 2 "${limited[@]}" "$programs/cluster/tcp_job" tcp flood 1000000 10 60 || fail "$what"
  lines 2 ': well$'
  grep -qE 'overflow: [0-9]+ bytes at most, refused [1-9]' "$out" || fail "$what: the sender did not come to its limit"
  for host in 1 2; do c link "$host" 400mbit; done
fi
if title "a receiver that sleeps, and a sender that does not wait"; then
  run 2 "${limited[@]}" "$programs/cluster/tcp_job" tcp flood 100000 10 0 && fail "$what: ends well"
  grep -q 'rank 0: .*overflow' "$out" || fail "$what: the error is not clear"
fi

[[ $failures -eq 0 ]] && echo "The TCP transports: all as it should be, in $SECONDS s"
