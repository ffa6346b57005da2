#!/bin/bash
# A cluster of hosts with slow links on one machine. README.md beside this says how it is made.
set -euo pipefail

usage() {
  cat <<'END'
usage: bench/cluster/cluster.sh [--name NAME] COMMAND

  up N RATE              raise a cluster of N hosts (at most 250), each on a link of RATE both ways, as tc writes it: 400mbit
  down                   end everything that runs on it, and the cluster; harmless if there is none
  run [OPTION...] N COMMAND...
                         run COMMAND as an MPI job of N ranks, in this directory and with this environment, on hosts in turn.
                         Its exit code is the command's. Ctrl-C ends the job and leaves the cluster.
      --per-host K       K consecutive ranks on each host instead
      --mpi MPI          openmpi (default: the mpirun in PATH), or mpich5 or openmpi5 as bench/cluster/cluster_peers.sh installs them
      --mpirun 'OPTIONS' more options of mpirun
      --start-limit S    start mpirun again if no rank has started after S seconds; default: 30
  exec HOST COMMAND...   run COMMAND on one host, 1 to N
  link HOST down|up|RATE cut, restore or slow the link of a host, while traffic flows
  kill HOST              kill every process on a host, MPI's daemon included; the host stays
  rate                   measure what one TCP stream from host 1 to host 2 carries
  status                 print what there is; exit code 1 if nothing

  --name NAME            which cluster, where several are up at once; default: 0

A host has a network namespace with the address 10.78.0.HOST on eth0, a host name hHOST and a /dev/shm of its own; files, users
and processors are the machine's. Everything lives in namespaces of one process: the machine's own network is not touched, and
nothing outlives that process. Root is needed only where the kernel forbids user namespaces.
END
}

self=$(realpath "${BASH_SOURCE[0]}")
subnet=10.78.0

die() {
  echo "cluster.sh: $1" >&2
  exit "${2:-1}"
}

refuse() {
  die "$1 (see --help)" 2
}

# is_up, then the properties of the cluster. Its holder keeps a lock on the directory for as long as it lives.
is_up() { [[ -e $directory/cluster ]] && ! flock --nonblock "$directory" true; }

find_cluster() {
  is_up || die "no cluster '$name' is up"
  read -r holder hosts privileges congestion <"$directory/cluster"
}

need_host() { [[ $1 =~ ^[1-9][0-9]{0,2}$ && $1 -le $hosts ]] || refuse "no host '$1': hosts are 1 to $hosts"; }
need_rate() { [[ $1 =~ ^[1-9][0-9]*[kmg]?bit$ ]] || refuse "'$1' is no rate such as 400mbit"; }

# Goes on with COMMAND ARGUMENT... below as a process on the cluster's switch, which is killed when this one ends, however.
inside() {
  local user=()
  [[ $privileges == root ]] || user=(--user --preserve-credentials)
  exec nsenter --target "$holder" "${user[@]}" --mount --uts --net --pid --wdns="$PWD" -- \
    setpriv --pdeathsig KILL "$BASH" "$self" --inside "$directory" "$@"
}

enter() { # HOST COMMAND...: becomes a command on a host, from the switch
  exec nsenter --target "$(<"$directory/h$1")" --net --uts --mount --wdns="$PWD" -- "${@:2}"
}

on_host() { (enter "$@"); }

shape() { # add|change HOST RATE: both ends of a link
  # A larger bucket than a segment would let short messages pass at any rate.
  local bucket=(root tbf rate "$3" burst 20kb latency 400ms)
  tc qdisc "$1" dev "h$2" "${bucket[@]}" && on_host "$2" tc qdisc "$1" dev eth0 "${bucket[@]}"
}

up() {
  [[ $# -eq 2 ]] || refuse "up needs a number of hosts and a rate"
  [[ $1 =~ ^[1-9][0-9]{0,2}$ && $1 -le 250 ]] || refuse "'$1' is no number of hosts from 1 to 250"
  need_rate "$2"
  local tool user ready pid from
  for tool in ip:iproute2 tc:iproute2 nsenter:util-linux unshare:util-linux setpriv:util-linux flock:util-linux; do
    command -v "${tool%:*}" >/dev/null || die "no ${tool%:*} in PATH (package ${tool#*:})"
  done

  # Until the holder gets "stay", it ends with this process, in every case.
  lock=
  to=
  trap abandon EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  mkdir -m 700 "$directory" 2>/dev/null || [[ -d $directory && -O $directory && ! -L $directory ]] ||
    die "cannot make $directory, or it is not yours"
  exec {lock}<"$directory"
  flock --nonblock "$lock" || die "cluster '$name' is up, or coming up"
  [[ $directory -ef /proc/self/fd/$lock ]] || die "cluster '$name' was just going down: try again"
  rm -rf "${directory:?}"/* # what a killed holder left

  local namespaces=(--mount --uts --net --pid --fork --kill-child)
  privileges=none
  for user in "" "--user --map-root-user"; do
    # shellcheck disable=SC2086 # two words or none
    if unshare $user "${namespaces[@]}" mount --no-mtab -t proc proc /proc 2>"$directory/refusal"; then
      privileges=${user:+user} && privileges=${privileges:-root}
      break
    fi
  done
  if [[ $privileges == none ]]; then
    die "this system lets you make no namespaces: $(<"$directory/refusal")
It takes root with CAP_SYS_ADMIN, or user namespaces: see sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone
and kernel.apparmor_restrict_unprivileged_userns. A container may forbid both."
  fi

  # shellcheck disable=SC2086
  coproc holding { exec setsid unshare $user "${namespaces[@]}" -- "$BASH" "$self" --inside "$directory" hold "$1" "$2" 2>&1; }
  # Copies, because the shell closes its own if the holder ends.
  exec {from}<&"${holding[0]}" {to}>&"${holding[1]}"
  # Lines before "ready" are error texts of the holder. It keeps no descriptor of the caller open.
  while read -r ready pid congestion <&"$from" && [[ $ready != ready ]]; do echo "$ready $pid $congestion" >&2; done
  [[ $ready == ready ]] || exit 1
  echo "$pid $1 $privileges $congestion" >"$directory/cluster"
  echo stay >&"$to"
  trap - EXIT INT TERM
  echo "Cluster '$name': $1 hosts at $2, congestion control $congestion, made with $privileges namespaces"
}

# Removes everything, except files of another process that has the lock.
abandon() {
  local patience=--nonblock end
  trap '' INT TERM
  if [[ -n ${holding_PID-} ]]; then
    kill -KILL "$holding_PID" 2>/dev/null || true
    patience=
  fi
  # The holder outlives its parent if that ends before they are tied. Then it ends for want of a word.
  for end in $to ${holding[1]-}; do exec {end}>&-; done
  [[ -z $lock ]] || exec {lock}<&-
  [[ ! -O $directory || -L $directory ]] || remove ${patience:+"$patience"} || true
}

# While the lock is free, no process writes to the directory.
remove() { flock "$@" "$directory" rm -rf "$directory"; }

# The first process of the cluster, ancestor of all others. Prints its number, as seen outside, and the congestion
# control when all is ready, and stays only if it then reads "stay".
hold() {
  local i host pid
  # /proc is still the one outside, and this shell reads it itself.
  read -r pid _ </proc/self/stat
  mount --no-mtab -t proc proc /proc

  make() { # WHAT COMMAND...
    local error
    error=$("${@:2}" 2>&1) || die "cannot make a $1, which this kernel may lack: $error"
  }
  hostname switch
  ip link set lo up
  make bridge ip link add switch type bridge
  ip address add $subnet.254/24 dev switch
  ip link set switch up
  mkdir "$directory"/{run,sys}
  for ((i = 1; i <= $1; ++i)); do
    read -r host < <(exec unshare --net --uts --mount "$BASH" "$self" --inside "$directory" host "$i") || exit 1
    echo "$host" >"$directory/h$i"
    # Larger segments than the bucket would be cut into packets by the processor.
    make veth ip link add "h$i" gso_max_size 16384 type veth peer name eth0 gso_max_size 16384 netns "$host"
    on_host "$i" ip address add $subnet."$i"/24 dev eth0
    on_host "$i" ip link set eth0 up
    make "token bucket (tbf)" shape add "$i" "$2"
    ip link set "h$i" master switch up
  done
  # Launchers call this in place of ssh.
  printf '#!/bin/sh\nexec %q %q --inside %q agent "$@"\n' "$BASH" "$self" "$directory" >"$directory/agent"
  chmod +x "$directory/agent"

  echo "ready $pid $(on_host 1 cat /proc/sys/net/ipv4/tcp_congestion_control)"
  read -r || exit 1
  exec </dev/null >/dev/null 2>&1
  # A shell, because this process inherits orphans and must bury them.
  while true; do sleep infinity; done
}

host() { # HOST: the process that holds a host's namespaces, already in them; says its number when they are furnished
  local control
  hostname "h$1"
  ip link set lo up
  # The machine's default may be bbr, which is erratic behind a token bucket. Namespaces may use the algorithms that the
  # machine allows.
  for control in cubic reno; do
    echo $control 2>/dev/null >/proc/sys/net/ipv4/tcp_congestion_control && break
  done
  # A connection must not remember how one before it fared with a cut link.
  echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save
  mount --no-mtab -t tmpfs tmpfs /dev/shm
  # UCX looks for network devices there, others for control groups.
  mount --no-mtab -t sysfs sysfs "$directory/sys"
  mount --no-mtab --rbind /sys/fs/cgroup "$directory/sys/fs/cgroup"
  mount --no-mtab --move "$directory/sys" /sys
  echo $$
  exec sleep infinity >/dev/null 2>&1
}

down() {
  if [[ ! -e $directory ]]; then
    echo "Cluster '$name' is not up"
    return
  fi
  if is_up; then
    find_cluster
    kill -KILL "$holder"
  elif ! flock --nonblock "$directory" true; then
    die "cluster '$name' is coming up: interrupt that"
  fi
  remove
}

run() {
  local per_host=1 map=node start_limit=30 mpi=openmpi options=()
  while [[ ${1-} == --* ]]; do
    [[ $# -ge 2 ]] || refuse "$1 needs a value"
    case $1 in
      --per-host)
        [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || refuse "'$2' is no number of ranks"
        per_host=$2 map=slot
        ;;
      --mpi)
        case $2 in
          openmpi) ;;
          mpich5 | openmpi5) [[ -d $peers/$2 ]] || die "no $2 in $peers: run bench/cluster/cluster_peers.sh" ;;
          *) refuse "unknown MPI: $2" ;;
        esac
        mpi=$2
        ;;
      --mpirun) read -r -a options <<<"$2" ;;
      --start-limit)
        [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || refuse "'$2' is no number of seconds"
        start_limit=$2
        ;;
      *) refuse "unknown option of run: $1" ;;
    esac
    shift 2
  done
  [[ $# -ge 2 ]] || refuse "run needs a number of ranks and a command"
  [[ $1 =~ ^[1-9][0-9]{0,3}$ ]] || refuse "'$1' is no number of ranks"
  if [[ $map == node ]]; then
    per_host=$((($1 + hosts - 1) / hosts))
  elif (($1 > hosts * per_host)); then
    refuse "$1 ranks, $per_host on each host, need more than $hosts hosts"
  fi
  inside launch "$mpi" "$start_limit" "$per_host" "$map" "$1" "$hosts" "${#options[@]}" "${options[@]}" "${@:2}"
}

# Sets starter to the command that starts a job, without the program, and its environment. Idle ranks yield their
# processor: there are fewer processors than hosts.
starter() { # uses the variables of launch
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  if [[ $mpi != openmpi ]]; then
    export PATH=$peers/$mpi/bin:$PATH LD_LIBRARY_PATH=$peers/$mpi/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
  local open_mpi=(mpirun -n "$ranks" --host "$addresses" --map-by "$map" --bind-to none
    --mca btl_tcp_if_include "$subnet.0/24" --mca mpi_yield_when_idle 1)
  case $mpi in
    openmpi)
      starter=("${open_mpi[@]}" --mca plm_rsh_agent "$directory/agent" --mca plm_rsh_no_tree_spawn 1
        --mca oob_tcp_if_include "$subnet.0/24" --mca orte_tmpdir_base "$scratch")
      ;;
    openmpi5)
      starter=("${open_mpi[@]}" --mca pml ob1 --mca btl "self,sm,tcp" --prtemca plm ssh --prtemca plm_ssh_agent "$directory/agent"
        --prtemca plm_ssh_no_tree_spawn 1 --prtemca prte_if_include "$subnet.0/24" --pmixmca ptl_tcp_if_include "$subnet.0/24"
        --prtemca prte_tmpdir_base "$scratch")
      ;;
    mpich5)
      export UCX_TLS=${UCX_TLS:-tcp,self} UCX_NET_DEVICES=${UCX_NET_DEVICES:-eth0}
      # It deals ranks out by the numbers after the hosts.
      [[ $map == slot ]] || addresses=${addresses//:$per_host/:1}
      starter=(mpiexec -n "$ranks" -hosts "$addresses" -launcher ssh -launcher-exec "$directory/agent" -iface switch)
      ;;
  esac
}

# mpirun sometimes hangs before any rank has started: then, and only then, it is started again.
launch() { # MPI START_LIMIT PER_HOST MAP RANKS HOSTS NUMBER_OF_OPTIONS OPTION... COMMAND...
  local mpi=$1 start_limit=$2 per_host=$3 map=$4 ranks=$5 options=("${@:8:$7}") command=("${@:8+$7}")
  local list=() addresses i try scratch mpirun code deadline
  for ((i = 1; i <= $6 && (i - 1) * per_host < ranks; ++i)); do list+=("$subnet.$i:$per_host"); done
  addresses=$(IFS=, && echo "${list[*]}")
  # A race of mpirun's own with its children, which it reports and does not mind.
  local errors filter
  exec {errors}> >(exec sed --unbuffered '/plm:.sh: Warning: setpgid(.*) failed in parent/d' >&2)
  filter=$!
  for try in 1 2 3 4 5; do
    scratch=$(mktemp -d "$directory/run/XXXXXX")
    mkdir "$scratch/unstarted"
    # In a process namespace of its own a job ends as a whole. With the switch's /proc, by which agent finds the hosts.
    starter
    # shellcheck disable=SC2016 # for the rank's shell
    setpriv --pdeathsig KILL unshare --pid --fork --kill-child "${starter[@]}" "${options[@]}" \
      sh -c ': >"$0/unstarted/$$" && exec "$@"' "$scratch" "${command[@]}" <&0 2>&"$errors" &
    mpirun=$!
    deadline=$((SECONDS + start_limit))
    while kill -0 $mpirun 2>/dev/null && [[ -z $(ls "$scratch/unstarted") ]]; do
      # Succeeds only if no rank has started, and then none can any more.
      if ((SECONDS > deadline)) && rmdir "$scratch/unstarted" 2>/dev/null; then
        kill -KILL $mpirun
        break
      fi
      sleep 0.1
    done
    code=0
    wait $mpirun 2>/dev/null || code=$?
    if [[ -d $scratch/unstarted ]]; then
      rm -rf "$scratch"
      exec {errors}>&-
      wait $filter
      exit $code
    fi
    rm -rf "$scratch"
    echo "cluster.sh: mpirun has started no rank in $start_limit s (try $try of 5)" >&2
  done
  exit 1
}

agent() { # [OPTION...] ADDRESS WORD...: what ssh would do, for launchers
  while [[ $1 == -* ]]; do shift; done
  # /proc must be that of the job's process namespace, and names in /dev/shm that hold process numbers be no other job's.
  # shellcheck disable=SC2016
  enter "${1##*.}" unshare --mount-proc sh -c 'mount --no-mtab -t tmpfs tmpfs /dev/shm && exec sh -c "$0"' "${*:2}"
}

kill_host() { # HOST
  local host process found=true
  host=$(<"$directory/h$1")
  while $found; do
    found=false
    for process in /proc/[0-9]*; do
      [[ $process/ns/net -ef /proc/$host/ns/net && $process != "/proc/$host" ]] || continue
      found=true
      kill -KILL "${process#/proc/}" 2>/dev/null || true
    done
  done
}

link() { # HOST down|up|RATE
  case $2 in
    down | up) ip link set "h$1" "$2" ;;
    *) shape change "$1" "$2" ;;
  esac
}

status() {
  local i state rate
  for ((i = 1; i <= $1; ++i)); do
    read -r _ state _ < <(ip -brief link show "h$i")
    [[ $(tc qdisc show dev "h$i") =~ rate\ ([^ ]*) ]] && rate=${BASH_REMATCH[1]}
    echo "host $i: $subnet.$i, link ${state,,}, $rate"
  done
}

# Measures the rate of one stream from host 1 to host 2 for two seconds, after a warm-up of half a second.
rate() {
  local program='
import socket, sys, time
if sys.argv[1] == "receive":
    with socket.create_server(("", 0)) as server:
        print(server.getsockname()[1], flush=True)
        stream = server.accept()[0]
        start, received = None, 0
        begin = time.monotonic()
        while time.monotonic() < begin + 2.5:
            size = len(stream.recv(1 << 20))
            now = time.monotonic()
            if start:
                received += size
            elif now > begin + 0.5:
                start = now
        print(f"{received / (now - start) / 1e6:.2f}")
else:
    stream = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    try:
        while True:
            stream.sendall(bytes(1 << 20))
    except ConnectionError:
        pass
'
  coproc receiver { on_host 2 python3 -c "$program" receive; }
  local port speed
  read -r port <&"${receiver[0]}"
  on_host 1 python3 -c "$program" $subnet.2 "$port" &
  read -r speed <&"${receiver[0]}"
  echo "$speed MB/s of payload, one stream, one way"
}

name=0
if [[ ${1-} == --name ]]; then
  [[ ${2-} =~ ^[A-Za-z0-9_-]{1,20}$ ]] || refuse "--name needs a name of at most 20 letters and digits"
  name=$2
  shift 2
fi
peers=${XDG_CACHE_HOME:-${HOME-}/.cache}/brigade
if [[ ${1-} == --inside ]]; then
  directory=$2
  "${@:3}"
  exit
fi
directory=${XDG_RUNTIME_DIR:-/tmp}/brigade-cluster-$EUID-$name

verb=${1-}
[[ $# -eq 0 ]] || shift
case $verb in
  -h | --help) usage ;;
  up | down) "$verb" "$@" ;;
  run)
    find_cluster
    run "$@"
    ;;
  exec)
    find_cluster
    [[ $# -ge 2 ]] || refuse "exec needs a host and a command"
    need_host "$1"
    inside enter "$@"
    ;;
  link)
    find_cluster
    [[ $# -eq 2 ]] || refuse "link needs a host and down, up or a rate"
    need_host "$1"
    [[ $2 == up || $2 == down ]] || need_rate "$2"
    inside link "$@"
    ;;
  kill)
    find_cluster
    [[ $# -eq 1 ]] || refuse "kill needs a host"
    need_host "$1"
    inside kill_host "$1"
    ;;
  rate)
    find_cluster
    [[ $hosts -ge 2 ]] || die "it takes two hosts"
    inside rate
    ;;
  status)
    find_cluster
    inside status "$hosts"
    ;;
  *) refuse "unknown command: '$verb'" ;;
esac
