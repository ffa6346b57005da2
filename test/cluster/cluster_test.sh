#!/bin/bash
# bench/cluster/cluster.sh raises clusters, runs jobs on them, disturbs them, and leaves nothing behind.
# Exit code 77: skipped.
# shellcheck disable=SC2016 # most of what is quoted here is for shells on the hosts
set -u

cluster=$(realpath "$(dirname "$0")/../../bench/cluster/cluster.sh")
name=t$$ # all that is made here is found by it
scratch=$(mktemp -d /tmp/bg.XXXXXX)
chmod 755 "$scratch"
unset XDG_RUNTIME_DIR
failures=0

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}
expect() { # WHAT ACTUAL WANTED
  [[ $2 == "$3" ]] || fail "$1: '$2' instead of '$3'"
}
expect_text() { # WHAT TEXT PATTERN
  [[ $2 =~ $3 ]] || fail "$1: no '$3' in '$2'"
}
# Processes start and end when the system gets to it, which is waited for, for ever if need be.
wait_until() { until "$@"; do sleep 0.05; done; }

c() { "$cluster" --name "$name" "$@"; }
cluster_processes() { pgrep --full -- "brigade-cluster-[0-9]*-$name" | wc -l; }
no_process_left() { [[ $(cluster_processes) -eq 0 ]]; }
no_process_says() { ! pgrep --full -- "$1" >/dev/null; }
# Objects of a cluster outside of its namespaces; other processes may use the machine.
network() {
  ip -brief link | grep -E '^(switch|h[0-9]+|eth0)\b'
  ip netns list | grep -E '^(switch|h[0-9]+)\b'
}
leftovers() {
  find /tmp -maxdepth 1 -name "brigade-cluster-*-$name*"
  findmnt --noheadings --raw --output TARGET,SOURCE | grep -- "-$name"
}
nothing_left() { # WHAT
  wait_until no_process_left
  expect "$1: the machine's network" "$(network)" "$before"
  expect "$1: left behind" "$(leftovers)" ""
}

before=$(network)
if ! c up 1 10mbit; then
  echo "SKIPPED: no cluster can be raised here, see above"
  rm -rf "$scratch"
  exit 77
fi
c down
nothing_left "a cluster of one"
trap 'c down; "$cluster" --name "$name-b" down; rm -rf "$scratch"' EXIT

# A cluster, and jobs on it.
text=$(c up 3 100mbit 2>&1) || fail "up: $text"
text=$(c up 2 5mbit 2>&1) && fail "a second up succeeds"
expect_text "a second up" "$text" "is up"
expect "the machine's network while a cluster is up" "$(network)" "$before"
expect "hosts" "$(c status | grep -c 'link up, 100Mbit')" 3
expect "ranks go to hosts in turn" "$(c run 5 sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)' | sort | tr '\n' ' ')" \
  "0 h1 1 h2 2 h3 3 h1 4 h2 "
expect "ranks fill hosts" "$(c run --per-host 2 5 sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)' | sort | tr '\n' ' ')" \
  "0 h1 1 h1 2 h2 3 h2 4 h3 "
expect "network namespaces" "$(c run 6 readlink /proc/self/ns/net | sort -u | wc -l)" 3
expect "the machine's network namespace among them" \
  "$(c run 6 readlink /proc/self/ns/net | grep -cF "$(readlink /proc/self/ns/net)")" 0
expect "boot ids" "$(c run 3 cat /proc/sys/kernel/random/boot_id | sort -u)" "$(cat /proc/sys/kernel/random/boot_id)"
expect "a rank finds itself in /proc" "$(c run 1 sh -c 'readlink /proc/self & wait; echo $!' | uniq | wc -l)" 1
expect "addresses" \
  "$(c run 3 sh -c 'ip -brief address show up | grep -c "^lo .*127.0.0.1\|^eth0.*10.78.0.[1-3]/24"' | sort -u)" 2
expect "the environment" "$(BRIGADE_TEST='a b' OMP_NUM_THREADS=7 LD_LIBRARY_PATH=/x \
  c run 2 sh -c 'echo "$BRIGADE_TEST" $OMP_NUM_THREADS $LD_LIBRARY_PATH' | sort -u)" "a b 7 /x"
c run 1 touch /dev/shm/left
expect "shared memory of the job before" "$(c run 1 sh -c '[ ! -e /dev/shm/left ] || echo left')" ""
mkdir "$scratch/a folder"
expect "the directory" "$(cd "$scratch/a folder" && c run 2 pwd | sort -u)" "$scratch/a folder"
expect "arguments" "$(c run 1 printf '%s,' 'a b' '$HOME' '' "'")" "a b,\$HOME,,',"
expect "mpirun's options" "$(c run --mpirun '--tag-output -x FOO=1' 1 sh -c 'echo $FOO' 2>/dev/null)" "[1,0]<stdout>:1"
expect "input" "$(echo hello | c run 2 cat)" hello
c run 2 sh -c 'exit $((OMPI_COMM_WORLD_RANK * 5))' >/dev/null 2>&1
expect "exit code of run" $? 5
c exec 2 sh -c 'exit 9'
expect "exit code of exec" $? 9
expect "exec" "$(cd "$scratch/a folder" && c exec 3 sh -c 'hostname; pwd; exec cat' <<<input)" "h3
$scratch/a folder
input"
c run 3 no_such_program >/dev/null 2>&1 && fail "a command that does not exist succeeds"

# mpirun is started again if it hangs, but not once a rank has started.
# This one starts its rank at once, so that the limit is for nothing but to hang. A busy machine may need the longer one.
mkdir "$scratch/bin"
cat >"$scratch/bin/mpirun" <<END
#!/bin/sh
echo >>"$scratch/tries"
[ \$(wc -l <"$scratch/tries") -gt 2 ] || exec sleep 1000
while [ "\$1" != sh ]; do shift; done
exec "\$@"
END
chmod +x "$scratch/bin/mpirun"
for limit in 3 60; do
  rm -f "$scratch/tries"
  text=$(PATH=$scratch/bin:$PATH c run --start-limit $limit 1 echo well 2>&1)
  text="$(grep -v "^cluster.sh: mpirun has started no rank in $limit s" <<<"$text") $(wc -l <"$scratch/tries")"
  [[ $text == "well 3" ]] && break
done
expect "a launch that hangs twice" "$text" "well 3"
for limit in 3 60; do
  rm -f "$scratch/starts"
  PATH=$scratch/bin:$PATH c run --start-limit $limit 1 sh -c "echo >>'$scratch/starts'; sleep $((2 * limit))"
  text="$? $(wc -l <"$scratch/starts")"
  [[ $text == "0 1" ]] && break
done
expect "a command that takes its time" "$text" "0 1"

# Links.
cat >"$scratch/stream.py" <<'END'
"""receive FILE: writes its port to FILE, then how many bytes have come, now and then; send ADDRESS PORT BYTES."""
import socket, sys
if sys.argv[1] == "receive":
    with socket.create_server(("", 0)) as server:
        print(server.getsockname()[1], file=open(sys.argv[2], "w"), flush=True)
        stream = server.accept()[0]
        total = 0
        while data := stream.recv(1 << 16):
            total += len(data)
            with open(sys.argv[2] + ".bytes", "w") as file:
                print(total, file=file)
        print(total)
else:
    socket.create_connection((sys.argv[2], int(sys.argv[3]))).sendall(bytes(int(sys.argv[4])))
END
# carry MOST LINK COMMAND...: one of five measurements is at most so many MB/s. On a busy machine a receiver begins late,
# with much already there.
carry() {
  local most=$1 link=$2 text
  shift 2
  for _ in {1..5}; do
    text=$("$@" rate)
    awk -v a="${text%% MB*}" -v b="$most" 'BEGIN { exit !(a > 0 && a <= b) }' && return
  done
  fail "$link carry $text"
}
carry 12.5 100mbit c
c link 2 16mbit
carry 2 "16mbit into host 2" c
c link 2 100mbit
c link 1 16mbit
carry 2 "16mbit out of host 1" c
expect "hosts with their first rate" "$(c status | grep -c 100Mbit)" 2
c link 1 100mbit

c exec 2 python3 "$scratch/stream.py" receive "$scratch/port" >"$scratch/received" &
receiver=$!
wait_until test -s "$scratch/port"
c link 1 4mbit # so that the message is not through before the link is cut
c exec 1 python3 "$scratch/stream.py" send 10.78.0.2 "$(<"$scratch/port")" 20000000 &
wait_until test -s "$scratch/port.bytes"
c link 2 down
expect "hosts with a link" "$(c status | grep -c 'link up')" 2
no_byte_comes() { bytes=$(<"$scratch/port.bytes") && sleep 2 && [[ $(<"$scratch/port.bytes") == "$bytes" ]]; }
wait_until no_byte_comes
[[ $bytes -lt 20000000 ]] || fail "bytes go through a link that is cut"
c link 1 100mbit
c link 2 up
wait $receiver
expect "bytes after the link was restored" "$(<"$scratch/received")" 20000000

# Hosts killed.
c exec 2 sh -c "sleep 1$$; echo alive" >"$scratch/h2" &
killed=$!
"$cluster" --name "$name" exec 3 sleep "2$$" &
other=$!
wait_until pgrep --full "^sleep 1$$" >/dev/null
wait_until pgrep --full "^sleep 2$$" >/dev/null
c kill 2
wait $killed
expect "exit code of what was killed" $? 137
expect "other hosts' processes" "$(pgrep --full --count "^sleep 2$$")" 1
expect "what was to follow on the killed host" "$(<"$scratch/h2")" ""
expect "a killed host's processes" "$(pgrep --full --count "^sleep 1$$")" 0
kill $other
wait_until no_process_says "^sleep 2$$"
expect "a killed host, later" "$(c exec 2 hostname)" h2
expect "a job on it" "$(c run 3 hostname | sort | tr '\n' ' ')" "h1 h2 h3 "

# Two clusters with the same addresses.
"$cluster" --name "$name-b" up 2 50mbit >/dev/null || fail "a second cluster"
second=$("$cluster" --name "$name-b" exec 2 readlink /proc/self/ns/net)
[[ $second != "$(c exec 2 readlink /proc/self/ns/net)" ]] || fail "two clusters share a host"
c down
c status >/dev/null 2>&1 && fail "there is a status after down"
text=$(c run 1 hostname 2>&1) && fail "a job runs after down"
expect_text "run after down" "$text" "no cluster '$name' is up"
expect "down again" "$(c down)" "Cluster '$name' is not up"
expect "the second cluster, after the first one's end" \
  "$("$cluster" --name "$name-b" run 2 hostname | sort | tr '\n' ' ')" "h1 h2 "
"$cluster" --name "$name-b" exec 1 sleep "3$$" &
"$cluster" --name "$name-b" run 2 sleep "3$$" &
until [[ $(pgrep --full --count "^sleep 3$$") -eq 3 ]]; do sleep 0.05; done
"$cluster" --name "$name-b" down
wait
wait_until no_process_says "sleep 3$$"
nothing_left "down"

# Interrupted, as by Ctrl-C, at several moments. Background processes ignore it by default.
foreground() { setsid env --default-signal=INT "$cluster" --name "$name" "$@" >>"$scratch/interrupted" 2>&1 & }
interrupted=0
for delay in 0 0.01 0.03 0.06 0.1 0.15 0.2 0.3; do
  foreground up 12 400mbit
  sleep "$delay"
  kill -INT -- "-$!" 2>/dev/null
  wait $!
  # Exit code and status agree whether the cluster was made or not.
  case $? in
    0) c status >/dev/null || fail "up ended well, but there is no cluster" ;;
    *)
      interrupted=$((interrupted + 1))
      c status >/dev/null 2>&1 && fail "up was interrupted after $delay s, but there is a cluster"
      nothing_left "up interrupted after $delay s"
      ;;
  esac
  c down >/dev/null
  nothing_left "up interrupted after $delay s, then down"
done
[[ $interrupted -gt 0 ]] || fail "no up was interrupted"
# up killed, which can tidy nothing: the directory is left, nothing else, and the next up takes it.
setsid "$cluster" --name "$name" up 12 400mbit >/dev/null &
wait_until test -e "/tmp/brigade-cluster-$EUID-$name/h3"
kill -KILL $!
wait $! 2>/dev/null
wait_until no_process_left
c up 2 400mbit >/dev/null || fail "up after an up that was killed"

for moment in launch rank; do
  foreground run 2 sh -c "echo >'$scratch/rank'; sleep 4$$; true"
  job=$!
  [[ $moment == launch ]] || wait_until test -e "$scratch/rank"
  # Again and again: it may not listen yet.
  while kill -0 $job 2>/dev/null; do
    kill -INT -- "-$job" 2>/dev/null
    sleep 0.05
  done
  wait $job && fail "an interrupted run ends well"
  wait_until no_process_says "sleep 4$$"
  expect "hosts after Ctrl-C at $moment" "$(c run 2 hostname | sort | tr '\n' ' ')" "h1 h2 "
done
# The process that holds everything is killed.
read -r holder _ <"/tmp/brigade-cluster-$EUID-$name/cluster"
kill -KILL "$holder"
wait_until no_process_left
c status >/dev/null 2>&1 && fail "there is a status when its holder is gone"
c up 1 400mbit >/dev/null || fail "up after the holder was killed"
c down
nothing_left "kills"

# Refusals.
refused() { # WHAT PATTERN COMMAND...
  local text
  text=$("${@:3}" 2>&1) && fail "$1: is not refused"
  expect_text "$1" "$text" "$2"
}
c up 2 400mbit >/dev/null
refused "no command" "unknown command" "$cluster"
refused "an unknown command" "unknown command: 'jump'" c jump
refused "no host 3" "no host '3': hosts are 1 to 2" c exec 3 true
refused "no host 0" "no host '0'" c link 0 down
refused "no rate" "'fast' is no rate" c link 1 fast
refused "no ranks" "'x' is no number of ranks" c run x true
refused "too many ranks" "3 ranks, 1 on each host, need more than 2 hosts" c run --per-host 1 3 true
refused "an unknown option" "unknown option of run: --fast" c run --fast 1 2 true
c down
refused "no hosts" "'0' is no number of hosts" c up 0 400mbit
refused "no rate of up" "'400' is no rate" c up 2 400
refused "a name with a path" "needs a name" "$cluster" --name ../x up 2 400mbit
mkdir "$scratch/without"
for tool in bash realpath ip nsenter unshare setpriv flock mkdir rm setsid mount hostname sleep cat touch; do
  ln -s "$(command -v $tool)" "$scratch/without/"
done
refused "no tc" "no tc in PATH \(package iproute2\)" env PATH="$scratch/without" "$BASH" "$cluster" --name "$name" up 2 400mbit
# The error of tc on a kernel without this queue.
printf '#!/bin/sh\necho "Error: Specified qdisc kind is unknown." >&2\nexit 2\n' >"$scratch/without/tc"
chmod +x "$scratch/without/tc"
refused "no tbf" "cannot make a token bucket .* Specified qdisc kind is unknown" \
  env PATH="$scratch/without" "$BASH" "$cluster" --name "$name" up 2 400mbit
nothing_left "a kernel without tbf"
ln -s / "/tmp/brigade-cluster-$EUID-$name"
refused "a directory that leads elsewhere" "cannot make /tmp/brigade-cluster-$EUID-$name, or it is not yours" c up 2 400mbit
rm "/tmp/brigade-cluster-$EUID-$name"
# A user who may make no namespaces, neither as root nor otherwise.
refused "no namespaces" "lets you make no namespaces: unshare: .*user.max_user_namespaces" \
  unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all "$@"' \
  sh "$cluster" --name "$name" up 2 400mbit
nothing_left "refusals"

# An ordinary user.
if [[ $EUID -eq 0 ]]; then
  cp "$cluster" "$scratch/cluster.sh"
  chmod 755 "$scratch/cluster.sh"
  user() {
    (cd / && exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ "$scratch/cluster.sh" --name "$name" "$@")
  }
  if text=$(user up 2 100mbit 2>&1); then
    expect_text "an ordinary user's up" "$text" "made with user namespaces"
    expect "an ordinary user's job" "$(user run 4 hostname | sort | tr '\n' ' ')" "h1 h1 h2 h2 "
    carry 12.5 "an ordinary user's 100mbit" user
    user link 1 down
    expect "an ordinary user's link" "$(user status | grep -c 'link down')" 1
    user kill 1 || fail "an ordinary user's kill"
    user down
  else
    expect_text "an ordinary user's up" "$text" "lets you make no namespaces"
    echo "SKIPPED: a cluster of an ordinary user"
  fi
  nothing_left "an ordinary user"
fi

[[ $failures -eq 0 ]] && echo "cluster.sh: all as it should be"
