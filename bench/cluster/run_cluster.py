#!/usr/bin/python3
"""Measures Brigade beside its peers on hosts with slow links, a cluster that it raises on this machine and takes down.

bench/run.sh --cluster calls it with what it has built. Its JSON lines are in files of their own, from which
make_report.py makes sections of the report. Alone, for one piece of it:

    bazel build --config=opt //bench:brigade_bench //bench/scalapack:scalapack_timing //blacs_shim:libbrigade_blacs.so
    bench/cluster/run_cluster.py --output /tmp/ring --only ring
    bench/cluster/run_cluster.py --output /tmp/slow --only topologies --rate 100mbit
    bench/cluster/run_cluster.py --output /tmp/mpich --only patterns --ranks 8 --sizes 512K --libraries 'MPICH 5; pipeline 16K'
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "brigade"


def forced(**algorithms):
    """Options that force algorithms of Open MPI: operation = (number, segment in bytes or 0)."""
    options = "--mca coll_tuned_use_dynamic_rules 1"
    for operation, (number, segment) in algorithms.items():
        options += f" --mca coll_tuned_{operation}_algorithm {number}"
        options += f" --mca coll_tuned_{operation}_algorithm_segmentsize {segment}"
    return options


def forced_mpich(chunk_bytes, algorithms):
    """Variables that force algorithms of MPICH: trees are chains, and messages along them cut."""
    variables = {}
    for operation, algorithm in algorithms.items():
        variables[f"MPIR_CVAR_{operation}_INTRA_ALGORITHM"] = algorithm
        variables[f"MPIR_CVAR_{operation}_DEVICE_COLLECTIVE"] = "0"
    for operation in ("BCAST", "ALLREDUCE", "IREDUCE"):
        variables[f"MPIR_CVAR_{operation}_TREE_TYPE"] = "kary"
        variables[f"MPIR_CVAR_{operation}_TREE_KVAL"] = "1"
        variables[f"MPIR_CVAR_{operation}_TREE_PIPELINE_CHUNK_SIZE"] = str(chunk_bytes)
    variables["MPIR_CVAR_IREDUCE_RING_CHUNK_SIZE"] = str(chunk_bytes)
    return variables


class Library(NamedTuple):
    """An MPI and its settings: what a launch of its own is needed for."""

    label: str  # after the names of its subjects
    mpi: str = "openmpi"  # as cluster.sh run --mpi
    options: str = ""  # of mpirun
    environment: dict = {}
    only_full: bool = False


# MPICH cuts no reduction into pieces but non-blocking ones. Both MPIs yield when idle, MPICH without being told.
MPICH_BEST = {"BCAST": "pipelined_tree", "ALLGATHER": "ring", "REDUCE_SCATTER_BLOCK": "pairwise",
              "REDUCE_SCATTER": "pairwise", "ALLREDUCE": "ring", "REDUCE": "nb", "IREDUCE": "tsp_tree"}
# Open MPI has no ring for reduce_scatter_block: butterfly (4) or halving (3) are left, and MPI_Reduce_scatter is measured, too.
RINGS = {"allgather": (4, 0), "reduce_scatter": (3, 0), "reduce_scatter_block": (4, 0)}
LIBRARIES = [
    Library(""),
    Library("pipeline 16K", options=forced(bcast=(3, 16384), reduce=(3, 16384), allreduce=(5, 16384), **RINGS)),
    Library("pipeline 8K", options=forced(bcast=(3, 8192), reduce=(3, 8192), allreduce=(4, 0),
                                          **{**RINGS, "reduce_scatter_block": (3, 0)})),
    Library("MPICH 5", mpi="mpich5"),
    Library("MPICH 5, chains of 8K", mpi="mpich5", environment=forced_mpich(8192, MPICH_BEST)),
    Library("pipeline 4K", only_full=True,
            options=forced(bcast=(3, 4096), reduce=(3, 4096), allreduce=(4, 0), **RINGS)),
    Library("pipeline 64K", only_full=True,
            options=forced(bcast=(3, 65536), reduce=(3, 65536), allreduce=(5, 65536), **RINGS)),
    Library("scatter", only_full=True,
            options=forced(bcast=(9, 0), reduce=(7, 0), allreduce=(2, 0), allgather=(5, 0), reduce_scatter=(2, 0),
                           reduce_scatter_block=(2, 0))),
    Library("MPICH 5, chains of 4K", mpi="mpich5", only_full=True, environment=forced_mpich(4096, MPICH_BEST)),
    Library("MPICH 5, chains of 16K", mpi="mpich5", only_full=True, environment=forced_mpich(16384, MPICH_BEST)),
    Library("MPICH 5, rings", mpi="mpich5", only_full=True,
            environment=forced_mpich(16384, {**MPICH_BEST, "BCAST": "scatter_ring_allgather", "IREDUCE": "tsp_ring"})),
]

# Open MPI's TCP between two processes of one host, as it is and with larger buffers, messages sent at once, and pieces.
LOOPBACK_TUNINGS = {
    "": "",
    "buffers 4M": "--mca btl_tcp_sndbuf 4194304 --mca btl_tcp_rcvbuf 4194304",
    "pieces 1M": "--mca btl_tcp_max_send_size 1048576 --mca btl_tcp_rdma_pipeline_send_length 1048576",
    "eager 512K": "--mca btl_tcp_eager_limit 524288 --mca btl_tcp_rndv_eager_limit 524288 "
                  "--mca btl_tcp_max_send_size 1048576",
}

PATTERNS = "broadcast,reduce,all-reduce,multi-broadcast,multi-reduce"


class Failure(Exception):
    pass


class Cluster:
    """Up inside its `with`, and gone afterwards."""

    def __init__(self, hosts, rate):
        self.hosts = hosts
        self.rate = rate
        self.command = [str(HERE / "cluster.sh"), "--name", f"bench-{os.getpid()}"]

    def __enter__(self):
        subprocess.run(self.command + ["up", str(self.hosts), self.rate], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(self.command + ["down"], check=True)

    def payload_rate(self):
        """What a TCP stream carries, in MB/s."""
        text = subprocess.run(self.command + ["rate"], check=True, capture_output=True, text=True).stdout
        return float(re.match(r"[\d.]+", text).group())


class Measurement:
    """Where to, with what, how much; and the launches."""

    def __init__(self, arguments, cluster):
        self.arguments = arguments
        self.cluster = cluster
        self.full = arguments.full
        self.random = random.Random(1)
        self.failures = 0
        self.libraries = ([library for library in LIBRARIES if library.label in arguments.libraries]
                          if arguments.libraries is not None else
                          [library for library in LIBRARIES if self.full or not library.only_full])
        self.shim = arguments.bin / "blacs_shim" / "libbrigade_blacs.so"

    def program(self, name, mpi="openmpi"):
        return str((self.arguments.mpich_bin if mpi.startswith("mpich") else self.arguments.bin) / "bench" / name)

    def launch(self, command, environment=None):
        """Runs it under the time limit. What fails is counted, and the rest is still measured."""
        with open(self.arguments.output / "commands.txt", "a") as commands:
            set_variables = " ".join(f"{name}={value}" for name, value in (environment or {}).items())
            print(f"{set_variables} {' '.join(command)}".strip(), file=commands)
        try:
            subprocess.run(self.cluster.command + command, check=True, timeout=self.arguments.limit,
                           env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"run_cluster.py: {error}", file=sys.stderr)
            self.failures += 1

    def bench(self, ranks, library, json_name, arguments, round_number=0):
        """brigade_bench on as many hosts."""
        run = ["run", "--mpi", library.mpi]
        asleep = ["--asleep"] if ranks > len(os.sched_getaffinity(0)) else []
        if library.options:
            run += ["--mpirun", library.options]
        program = [self.program("brigade_bench", library.mpi), *arguments, "--transport", self.arguments.transport,
                   "--label", library.label, "--seed", str(round_number + 1), *asleep,
                   "--brigade-version", self.arguments.brigade_version,
                   "--json", str(self.arguments.output / f"cluster_{json_name}.jsonl")]
        self.launch(run + [str(ranks), *program], library.environment)

    def shuffled(self, things):
        return self.random.sample(things, len(things))

    def ranks(self, default=(4, 7, 8)):
        return [ranks for ranks in self.arguments.ranks or default if ranks <= self.cluster.hosts] or [self.cluster.hosts]


# ---- the pieces: each appends to the file of its name ----------------------------------------------------------


def patterns(m):
    """All patterns beside the collectives of all libraries, and beside stock BLACS with each topology."""
    contenders = [*m.libraries, None] if m.arguments.libraries is None else m.libraries  # None: the BLACS
    most = max(m.ranks())
    common = ["--shapes", "free", "--seconds", "0.3" if m.full else "0.1", "--min-iterations", "6"]
    for number in range(6 if m.full else 2):
        # Without --full, what takes long has one round.
        is_brief = not m.full and number > 0
        ranks_now = [most] if is_brief else m.ranks()
        for ranks, library in m.shuffled([(ranks, library) for ranks in ranks_now for library in contenders]):
            if library:
                sizes = m.arguments.sizes or ("1K,4K,16K,64K,256K,512K,1M,4M,16M" if m.full else
                                              "64K,512K" if is_brief or ranks < most else "1K,64K,512K,4M")
                m.bench(ranks, library, "patterns", ["spread", "--cases", PATTERNS, "--bytes", sizes, "--peers", "mpi",
                                                     "--shim", "none", *common], number)
            else:
                sizes = m.arguments.sizes or (
                    "1K,64K,512K,4M" if m.full else "64K,512K" if ranks == most else "64K")
                m.bench(ranks, LIBRARIES[0], "patterns",
                        ["spread", "--cases", "broadcast,reduce,all-reduce", "--bytes", sizes, "--peers", "blacs",
                         "--topologies", " IDSHF123456789" if m.full else " IDSHF12", *common], number)


def send(m):
    """One message between two hosts, contiguous and in runs of 256 bytes."""
    sizes = m.arguments.sizes or ("8,1K,4K,16K,64K,256K,512K,1M,4M,16M" if m.full else "1K,64K,512K")
    for number in range(6 if m.full else 2):
        for library in m.shuffled(m.libraries):
            # The BLACS are Open MPI's, and as good with any of its settings for collectives.
            peers = ["--peers", "mpi", "--shim", "none"] if library.label else ["--peers", "mpi,blacs"]
            m.bench(2, library, "send", ["pingpong", "--runs", "0,256", "--sizes", sizes, *peers,
                                         "--seconds", "0.3" if m.full else "0.15", "--min-iterations", "5"], number)


def ring(m):
    """Broadcasts from every rank in turn, which follow each other along increasing rings."""
    for number in range(6 if m.full else 2):
        for ranks in m.ranks() if m.full else [max(m.ranks())]:
            sizes = ",".join(str(ranks * size) for size in (64 << 10, 512 << 10))
            m.bench(ranks, LIBRARIES[0], "ring",
                    ["spread", "--cases", "successive-broadcasts", "--bytes", sizes, "--shapes", "free,ring",
                     "--topologies", "I", "--peers", "mpi,blacs", "--seconds", "0.5", "--min-iterations", "5"], number)


def strided(m):
    """The patterns on panels whose columns are 256 bytes long, and on panels of the same bytes in one piece."""
    ranks = max(m.ranks())
    common = ["--shapes", "free", "--peers", "none", "--shim", "none", "--seconds", "1" if m.full else "0.3"]
    for number in range(6 if m.full else 2):
        # A single column is contiguous, and so is a portion of one.
        for cases, sizes in (("broadcast,reduce,all-reduce", "65536x1,32x2048"),
                             ("multi-broadcast,multi-reduce", "8192xQ,32x256Q")):
            m.bench(ranks, LIBRARIES[0], "strided", ["spread", "--cases", cases, "--sizes", sizes, *common], number)


def scalapack(m):
    """Five routines with stock BLACS and with the shim preloaded, in pairs of launches; and the latter on one host."""
    common = [m.program("scalapack_timing"), "-n", "2000", "--eigen-n", "600", "--nb", "64",
              "--repetitions", "3" if m.full else "1", "--json", str(m.arguments.output / "cluster_scalapack.jsonl")]
    preloaded = ["env", f"LD_PRELOAD={m.shim}"]
    for pair in range(6 if m.full else 2):
        grids = [(rows, cols) for rows, cols in ((2, 2), (2, 4), (1, 8)) if rows * cols <= m.cluster.hosts]
        for rows, cols in m.shuffled(grids):
            ranks = str(rows * cols)
            shape = ["--grid", f"{rows}x{cols}", "--pair", str(pair)]
            over_links = {
                "stock": ["run", ranks, *common, *shape],
                "shim": ["run", ranks, *preloaded, f"BRIGADE_TRANSPORT={m.arguments.transport}", *common, *shape],
            }
            for subject in m.shuffled(list(over_links)):
                m.launch(over_links[subject])
            if m.full or pair == 0:
                m.launch(["run", "--per-host", ranks, ranks, *preloaded, *common, *shape, "--label", "one host"])


def loopback(m):
    """Two processes of one host over TCP, beside bare sockets."""
    sizes = m.arguments.sizes or (
        "8,64,1K,4K,16K,64K,256K,1M,4M,16M" if m.full else "8,1K,64K,256K,1M,4M,16M")
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def pingpong(number, mpi, transport, label):
        return [m.program("brigade_bench", mpi), "pingpong", "--runs", "0", "--sizes", sizes, "--transport", transport,
                "--label", label, "--peers", "mpi,socket", "--shim", "none", "--seconds", "0.5" if m.full else "0.15",
                "--seed", str(number + 1), "--brigade-version", m.arguments.brigade_version,
                "--json", str(m.arguments.output / "cluster_loopback.jsonl")]

    open_mpi = "mpirun -n 2 --bind-to core --mca pml ob1 --mca btl self,tcp"
    prefix = PEERS / "mpich5"
    mpich = {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": f"{prefix}/lib",
             "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0", "MPIR_CVAR_NOLOCAL": "1"}  # not its shared memory
    for number in range(6 if m.full else 1):
        launches = [(f"{open_mpi} {options}", "openmpi", m.arguments.transport, label, environment)
                    for label, options in LOOPBACK_TUNINGS.items()]
        launches += [(open_mpi, "openmpi", "sockets", "", environment),
                     ("mpiexec -n 2 -bind-to core", "mpich5", m.arguments.transport, "MPICH 5", mpich)]
        for starter, mpi, transport, label, variables in m.shuffled(launches):
            m.launch(["exec", "1", *starter.split(), *pingpong(number, mpi, transport, label)], variables)


def overlap(m):
    """Transfers of 1 MiB behind computation."""
    for number in range(6 if m.full else 1):
        for ranks in (2, 8):
            if ranks <= m.cluster.hosts:
                m.bench(ranks, LIBRARIES[0], "overlap", ["overlap", "--peers", "mpi", "--shim", "none",
                                                         "--seconds", "5" if m.full else "2"], number)


def topologies(m):
    """Broadcast, reduce and their multi forms along every topology by name, beside each MPI and setting."""
    # What takes a third of a second at 100mbit is run as seldom as can be.
    options = ["--cases", "broadcast,reduce,multi-broadcast,multi-reduce", "--bytes", m.arguments.sizes or "64K,512K,4M",
               "--shapes", "free,tree,ring,two trees,circulant", "--peers", "mpi", "--shim", "none",
               "--seconds", "0.4", "--min-iterations", "4", "--max-iterations", "12"]
    for number in range(3 if m.full else 1):
        for ranks, library in m.shuffled([(ranks, library) for ranks in m.ranks((5, 7, 8)) for library in m.libraries]):
            m.bench(ranks, library, f"topologies_{m.cluster.rate}", ["spread", *options], number)


PIECES = {piece.__name__: piece for piece in (patterns, send, ring, strided, scalapack, loopback, overlap, topologies)}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="pieces:\n" + "\n".join(f"  {n:10} {p.__doc__}" for n, p in PIECES.items()))
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder for the results")
    parser.add_argument("--hosts", type=int, default=8, help="default: %(default)s")
    parser.add_argument("--rate", default="400mbit", help="of each link, both ways; default: %(default)s")
    parser.add_argument("--only", metavar="PIECE,...", help="these pieces; default: all, topologies only with --full")
    parser.add_argument("--ranks", metavar="P,...",
                        help="of patterns, ring and topologies; default: 4,7,8, of topologies 5,7,8")
    parser.add_argument("--sizes", metavar="BYTES,...", help="of patterns, send, loopback and topologies: 64K,1M")
    parser.add_argument("--libraries", metavar="LABEL;...",
                        help="of patterns, send and topologies, without the BLACS: of " +
                        "; ".join(f"'{library.label}'" for library in LIBRARIES))
    parser.add_argument("--full", action="store_true", help="all sizes, settings and rounds: hours")
    parser.add_argument("--transport", default="tcp", help="of Brigade; default: %(default)s")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "bazel-bin", help="what Bazel has built")
    parser.add_argument("--mpich-bin", type=pathlib.Path, help="the same with --config=mpich; default: beside it")
    parser.add_argument("--brigade-version", default="unknown", help="recorded with the figures")
    parser.add_argument("--limit", type=int, help="seconds a launch may take; default: 1200, with --full 3600")
    arguments = parser.parse_args()
    if arguments.only is None:
        arguments.only = [piece for piece in PIECES if arguments.full or piece != "topologies"]
    else:
        arguments.only = arguments.only.split(",")
    if arguments.ranks is not None:
        arguments.ranks = [int(ranks) for ranks in arguments.ranks.split(",")]
    if arguments.libraries is not None:
        arguments.libraries = [label.strip() for label in arguments.libraries.split(";")]
        for label in set(arguments.libraries) - {library.label for library in LIBRARIES}:
            parser.error(f"no library '{label}'")
    for piece in arguments.only:
        if piece not in PIECES:
            parser.error(f"no piece '{piece}'")
    if arguments.hosts < 2:
        parser.error("it takes two hosts")
    arguments.limit = arguments.limit or (3600 if arguments.full else 1200)
    if arguments.mpich_bin is None:
        configuration = arguments.bin.resolve().parent  # .bazelrc gives MPICH's a suffix
        arguments.mpich_bin = configuration.with_name(configuration.name + "-mpich") / "bin"
    arguments.output.mkdir(parents=True, exist_ok=True)
    arguments.output = arguments.output.resolve()
    return arguments


def main():
    arguments = parse_arguments()
    # So that the cluster is taken down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with Cluster(arguments.hosts, arguments.rate) as cluster:
        measurement = Measurement(arguments, cluster)

        def record_rate():
            rate = cluster.payload_rate()
            print(f"\n== {time.strftime('%T')}  a link carries {rate} MB/s", flush=True)
            with open(arguments.output / "cluster.jsonl", "a") as lines:
                print(json.dumps({"hosts": cluster.hosts, "rate": cluster.rate, "payload_MBps": rate}), file=lines)

        for piece in arguments.only:
            record_rate()
            print(f"\n== {time.strftime('%T')}  {PIECES[piece].__doc__}", flush=True)
            PIECES[piece](measurement)
        record_rate()
    if "topologies" in arguments.only:
        # Only here: the report draws, for which it needs more than Python.
        import cluster_report
        print(cluster_report.topologies_text(arguments.output))
    if measurement.failures:
        sys.exit(f"run_cluster.py: {measurement.failures} launches failed, see above")


if __name__ == "__main__":
    main()
