"""The cluster's job: hosts with slow links are raised on this machine, measured part by part, and taken down."""

import json
import os
import random
import re
import subprocess

from bench.driver import machine, peers
from bench.driver.launching import Launch, say

PATTERNS = "broadcast,reduce,all-reduce,multi-broadcast,multi-reduce,gather,scatter,all-to-all,scan,exscan"


RATE = "400mbit"  # of each link, unless another is given
MOST_HOSTS = 250  # of bench/cluster/cluster.sh

# Parts that run only if named, or with --full.
LONG = ("topologies", "gathers")


class Cluster:
    """Up inside its `with`, and gone afterwards."""

    def __init__(self, hosts, rate):
        self.hosts = hosts
        self.rate = rate
        self.command = [str(machine.ROOT / "bench" / "cluster" / "cluster.sh"), "--name", f"bench-{os.getpid()}"]

    def __enter__(self):
        subprocess.run([*self.command, "up", str(self.hosts), self.rate], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run([*self.command, "down"], check=True)

    def payload_rate(self):
        """Returns the rate of a TCP stream, in MB/s."""
        text = subprocess.run([*self.command, "rate"], check=True, capture_output=True, text=True).stdout
        return float(re.match(r"[\d.]+", text).group())


class ClusterJob:
    """Plans launches, a part at a time; the arguments are the driver's."""

    def __init__(self, arguments, output, programs, cluster, version):
        self.arguments = arguments
        self.output = output
        self.programs = programs
        self.cluster = cluster
        self.version = version
        self.full = arguments.full
        self.pairs = 6 if self.full else 2  # of launches of ScaLAPACK
        self._random = random.Random(1)
        wanted = arguments.libraries
        self.libraries = [library for library in peers.LIBRARIES
                          if (library.label in wanted if wanted is not None else self.full or not library.only_full)]

    def plan(self):
        """[(part, [Launch])]"""
        return [(part, list(PARTS[part](self))) for part in self.arguments.only]

    def run(self, launcher):
        plan = self.plan()
        total = sum(len(launches) for _, launches in plan)
        done = 0
        for _, launches in plan:
            self.record_rate()
            launcher.run_all(launches, done, total)
            done += len(launches)
        self.record_rate()

    def record_rate(self):
        rate = self.cluster.payload_rate()
        say(f"A link carries {rate} MB/s")
        with open(self.output / "cluster.jsonl", "a", encoding="utf-8") as lines:
            print(json.dumps({"hosts": self.cluster.hosts, "rate": self.cluster.rate, "payload_MBps": rate}),
                  file=lines)

    # ---- what parts are made of -----------------------------------------------------------------------------------

    def launch(self, title, command, environment=None):
        return Launch(title, [*self.cluster.command, *command], environment or {})

    def bench(self, ranks, library, json_name, arguments, number=0, per_host=1):
        """brigade_bench on as many hosts, or with `per_host` ranks on each, which then share memory."""
        program = self.programs.bench_mpich if library.mpi.startswith("mpich") else self.programs.bench
        run = ["run", "--mpi", library.mpi]
        transport = self.arguments.transport
        if per_host > 1:
            run += ["--per-host", str(per_host)]
            transport = "auto"
        if library.options:
            run += ["--mpirun", " ".join(library.options)]
        asleep = ["--asleep"] if ranks > machine.processors() else []
        return self.launch(TITLES[json_name.split("_")[0]], [
            *run, str(ranks), program, *arguments, "--transport", transport, "--label", library.label,
            "--seed", str(number + 1), *asleep, "--brigade-version", self.version,
            "--json", str(self.output / f"cluster_{json_name}.jsonl")], library.environment)

    def rounds(self, full, brief):
        return range(full if self.full else brief)

    def either(self, full, brief):
        return full if self.full else brief

    def shuffled(self, things):
        return self._random.sample(things, len(things))

    def ranks(self, default=(4, 7, 8)):
        wanted = self.arguments.ranks or default
        return [ranks for ranks in wanted if ranks <= self.cluster.hosts] or [self.cluster.hosts]


# ---- the parts: each appends to the file of its name --------------------------------------------------------------


def patterns(job):
    """All patterns beside the collectives of all libraries, and beside the reference BLACS with each topology"""
    contenders = [*job.libraries, None] if job.arguments.libraries is None else job.libraries  # None: the BLACS
    most = max(job.ranks())
    common = ["--shapes", "free", "--seconds", job.either("0.3", "0.1"), "--min-iterations", "6"]
    for number in job.rounds(6, 2):
        # Without --full, long measurements have one round.
        is_brief = not job.full and number > 0
        ranks_now = [most] if is_brief else job.ranks()
        for ranks, library in job.shuffled([(ranks, library) for ranks in ranks_now for library in contenders]):
            if library:
                brief = "64K,512K" if is_brief or ranks < most else "1K,64K,512K,4M"
                sizes = job.arguments.sizes or job.either("1K,4K,16K,64K,256K,512K,1M,4M,16M", brief)
                yield job.bench(ranks, library, "patterns", [
                    "spread", "--cases", PATTERNS, "--bytes", sizes, "--peers", "mpi", "--shim", "none", *common],
                                number)
            else:
                sizes = job.arguments.sizes or job.either("1K,64K,512K,4M", "64K,512K" if ranks == most else "64K")
                yield job.bench(ranks, peers.LIBRARIES[0], "patterns", [
                    "spread", "--cases", "broadcast,reduce,all-reduce", "--bytes", sizes, "--peers", "blacs",
                    "--topologies", job.either(" IDSHF123456789", " IDSHF12"), *common], number)


def send(job):
    """One message between two hosts, contiguous and in runs of 256 bytes"""
    sizes = job.arguments.sizes or job.either("8,1K,4K,16K,64K,256K,512K,1M,4M,16M", "1K,64K,512K")
    for number in job.rounds(6, 2):
        for library in job.shuffled(job.libraries):
            # The BLACS are Open MPI's, and as good with any of its settings for collectives.
            contenders = ["--peers", "mpi", "--shim", "none"] if library.label else ["--peers", "mpi,blacs"]
            yield job.bench(2, library, "send", [
                "pingpong", "--runs", "0,256", "--sizes", sizes, *contenders, "--seconds", job.either("0.3", "0.15"),
                "--min-iterations", "5"], number)


def ring(job):
    """Broadcasts from every rank in turn, which follow each other along increasing rings"""
    for number in job.rounds(6, 2):
        for ranks in job.either(job.ranks(), [max(job.ranks())]):
            sizes = job.arguments.sizes or ",".join(str(ranks * size) for size in (8 << 10, 64 << 10, 512 << 10))
            yield job.bench(ranks, peers.LIBRARIES[0], "ring", [
                "spread", "--cases", "successive-broadcasts", "--bytes", sizes, "--shapes", "free,ring",
                "--topologies", " I", "--peers", "mpi,blacs", "--seconds", "0.5", "--min-iterations", "5"], number)


def strided(job):
    """The patterns on panels whose columns are 256 bytes long, and on panels of the same bytes, contiguous"""
    ranks = max(job.ranks())
    common = ["--shapes", "free", "--peers", "none", "--shim", "none", "--seconds", job.either("1", "0.3")]
    for number in job.rounds(6, 2):
        # A single column is contiguous, and so is a block of one.
        for cases, sizes in (("broadcast,reduce,all-reduce", "65536x1,32x2048"),
                             ("multi-broadcast,multi-reduce", "8192xQ,32x256Q")):
            yield job.bench(ranks, peers.LIBRARIES[0], "strided",
                            ["spread", "--cases", cases, "--sizes", sizes, *common], number)


def scalapack(job):
    """Five routines with the reference BLACS and with the shim, in pairs of launches; the shim also on one host"""
    common = [job.programs.scalapack, "-n", "2000", "--eigen-n", "600", "--nb", "64",
              "--repetitions", job.either("3", "1"), "--json", str(job.output / "cluster_scalapack.jsonl")]
    preloaded = ["env", f"LD_PRELOAD={job.programs.shim}"]
    for pair in range(job.pairs):
        grids = [(rows, cols) for rows, cols in ((2, 2), (2, 4), (1, 8)) if rows * cols <= job.cluster.hosts]
        for rows, cols in job.shuffled(grids):
            ranks = str(rows * cols)
            shape = ["--grid", f"{rows}x{cols}", "--pair", str(pair)]
            over_links = {
                "stock": ["run", ranks, *common, *shape],
                "shim": ["run", ranks, *preloaded, f"BRIGADE_TRANSPORT={job.arguments.transport}", *common, *shape],
            }
            for subject in job.shuffled(list(over_links)):
                yield job.launch(TITLES["scalapack"], over_links[subject])
            if job.full or pair == 0:
                yield job.launch(TITLES["scalapack"], [
                    "run", "--per-host", ranks, ranks, *preloaded, *common, *shape, "--label", "one host"])


def loopback(job):
    """Two processes of one host over TCP, beside bare sockets"""
    sizes = job.arguments.sizes or job.either("8,64,1K,4K,16K,64K,256K,1M,4M,16M", "8,1K,64K,256K,1M,4M,16M")

    def pingpong(number, program, transport, label):
        return [program, "pingpong", "--runs", "0", "--sizes", sizes, "--transport", transport, "--label", label,
                "--peers", "mpi,socket", "--shim", "none", "--seconds", job.either("0.5", "0.15"),
                "--seed", str(number + 1), "--brigade-version", job.version,
                "--json", str(job.output / "cluster_loopback.jsonl")]

    for number in job.rounds(6, 1):
        launches = [([*peers.LOOPBACK_OPEN_MPI, *options], job.programs.bench, job.arguments.transport, label,
                     peers.AS_ROOT) for label, options in peers.LOOPBACK_TUNINGS.items()]
        launches += [(peers.LOOPBACK_OPEN_MPI, job.programs.bench, "sockets", "", peers.AS_ROOT),
                     (peers.LOOPBACK_MPICH, job.programs.bench_mpich, job.arguments.transport, "MPICH 5",
                      peers.loopback_mpich_environment())]
        for starter, program, transport, label, variables in job.shuffled(launches):
            yield job.launch(TITLES["loopback"],
                             ["exec", "1", *starter, *pingpong(number, program, transport, label)], variables)


def overlap(job):
    """Transfers of 1 MiB behind computation"""
    for number in job.rounds(6, 1):
        for ranks in (2, 8):
            if ranks <= job.cluster.hosts:
                yield job.bench(ranks, peers.LIBRARIES[0], "overlap", [
                    "overlap", "--peers", "mpi", "--shim", "none", "--seconds", job.either("5", "2")], number)


def topologies(job):
    """Broadcast, reduce and their multi forms along every topology by name, beside each MPI and setting"""
    # As few runs as possible: some take a third of a second at 100mbit.
    options = ["--cases", "broadcast,reduce,multi-broadcast,multi-reduce",
               "--bytes", job.arguments.sizes or "64K,512K,4M", "--shapes", "free,tree,ring,two trees,circulant",
               "--peers", "mpi", "--shim", "none", "--seconds", "0.4", "--min-iterations", "4",
               "--max-iterations", "12"]
    for number in job.rounds(3, 1):
        for ranks, library in job.shuffled([(ranks, library) for ranks in job.ranks((5, 7, 8))
                                            for library in job.libraries]):
            yield job.bench(ranks, library, f"topologies_{job.cluster.rate}", ["spread", *options], number)


def gathers(job):
    """Gathers and scatters on hosts of two and of four ranks, freely and along each topology by name"""
    # All blocks together; each has 64 B to 64 KiB.
    hosts = min(4, job.cluster.hosts)
    for number in job.rounds(6, 2):
        for per_host, library in job.shuffled([(each, library) for each in (2, 4) for library in job.libraries]):
            ranks = hosts * per_host
            sizes = job.arguments.sizes or ",".join(str(ranks * size) for size in (64, 1 << 10, 4 << 10, 64 << 10))
            yield job.bench(ranks, library, f"gathers_{per_host}", [
                "spread", "--cases", "gather,scatter", "--bytes", sizes, "--shapes", "free,tree,ring,fully connected",
                "--peers", "mpi", "--shim", "none", "--seconds", job.either("0.3", "0.1"), "--min-iterations", "6"],
                            number, per_host)


PARTS = {part.__name__: part for part in (patterns, send, ring, strided, scalapack, loopback, overlap, topologies,
                                          gathers)}
TITLES = {name: part.__doc__ for name, part in PARTS.items()}
