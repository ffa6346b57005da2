"""The main job: Brigade beside its peers on this host."""

import re
import subprocess
import sysconfig
from typing import NamedTuple

from bench.driver import peers
from bench.driver.launching import Launch, say
from bench.driver.machine import ROOT

TARGETS = ["//bench:brigade_bench", "//bench/scalapack:scalapack_timing", "//blacs_shim:libbrigade_blacs.so"]
# The rooms of the benchmark once more, compiled for MPICH.
MPICH_TARGETS = ["//bench:brigade_bench_mpich"]
FACTORIZATIONS = "LU,Cholesky,QR,matrix product"
TESTERS = f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}/scalapack/openmpi-tests"


class Extent(NamedTuple):
    """How much is measured."""

    takes: str  # on 2 cores; with --full the driver says it
    launches: int
    grids: tuple  # of ScaLAPACK's ranks
    pairs: int  # of ScaLAPACK launches; fewer than six decide nothing
    repetitions: str
    problems: list  # (n, nb, routines)
    pingpong: list
    calls_ranks: tuple
    calls_seconds: str
    grid_bytes: str
    grid_seconds: str
    spread_ranks: tuple
    spread_seconds: str
    tuned_seconds: str  # empty: MPI is not tuned


QUICK = Extent("20 seconds", 1, ((2, 2),), 1, "1", [("1000", "32", "LU,matrix product")],
               ["--seconds", "0.05", "--sizes", "8,1K,64K,1M", "--runs", "0"],
               (4,), "0.02", "1K,64K,1M", "0.03", (4,), "0.1", "")
BRIEF = Extent("2 minutes", 1, ((1, 2), (2, 2)), 6, "1",
               [("1000", "32", f"{FACTORIZATIONS},eigenvalues")],
               ["--seconds", "0.2", "--sizes", "8,64,512,1K,4K,16K,64K,256K,1M,4M,8M", "--runs", "0,256"],
               (2, 4, 8), "0.1", "1K,64K,1M,4M", "0.1", (4,), "0.4", "0.15")
FULL = Extent("some hours", 10, ((1, 2), (2, 1), (2, 2), (2, 4)), 10, "3",
              [("2000", "64", FACTORIZATIONS), ("1000", "32", f"{FACTORIZATIONS},eigenvalues")],
              ["--seconds", "1", "--sizes", ",".join(str(8 << i) for i in range(23))],
              (2, 4, 8), "0.5", "1K,64K,1M,4M", "1", (2, 4, 8), "3", "0.3")


def measures_more(extent, more_mpis):
    """Otherwise it is a first report: MPICH, for which all of the benchmark is compiled again, and many ranks per core
    would take a fourth of its time."""
    return extent is FULL or bool(more_mpis)


class MainJob:
    """Plans launches; nothing here runs any but `lu_tester`."""

    def __init__(self, extent, output, programs, cores, version, more_mpis=()):
        self.extent = extent
        self.output = output
        self.programs = programs
        self.cores = cores
        self.version = version
        self.more_mpis = more_mpis
        self.measures_more = measures_more(extent, more_mpis)

    def calls_ranks(self):
        most = max(4, 2 * self.cores)
        return [ranks for ranks in self.extent.calls_ranks if self.measures_more or ranks <= most]

    def mpirun(self, ranks, options):
        """One rank per core while cores last."""
        binding = peers.PINNED if ranks <= self.cores else peers.YIELDING
        return ["mpirun", "-n", str(ranks), *binding, *options]

    def bench(self, title, ranks, arguments, options=()):
        command = [*self.mpirun(ranks, options), self.programs.bench, *arguments, "--brigade-version", self.version]
        return Launch(title, command)

    def bench_mpich(self, title, ranks, arguments):
        """Only while every rank has a core: Debian's MPICH 4.0.2 has no setting to yield."""
        if not self.measures_more or ranks > self.cores:
            return []
        command = ["mpiexec.mpich", "-n", str(ranks), "-bind-to", "core", self.programs.bench_mpich, *arguments,
                   "--label", "MPICH", "--brigade-version", self.version]
        return [Launch(title, command, peers.DEBIAN_MPICH)]

    def bench_other_mpis(self, title, ranks, arguments):
        """Only while every rank has a core. MPIs with MPICH's interface run the program built with MPICH."""
        if ranks > self.cores:
            return []
        launches = []
        for mpi in self.more_mpis:
            program = self.programs.bench if mpi.folder == "openmpi5" else self.programs.bench_mpich
            command = [mpi.starter, "-n", str(ranks), *mpi.options, program, *arguments, "--label", mpi.label,
                       "--brigade-version", self.version]
            launches.append(Launch(title, command, mpi.prepared()))
        return launches

    def common(self, number, name):
        """Options of all launches that write to this file."""
        return ["--seed", str(number), "--json", str(self.output / f"{name}.jsonl")]

    # ---- the plan ------------------------------------------------------------------------------------------------

    def plan(self):
        launches = self.scalapack()
        for number in range(1, self.extent.launches + 1):
            turn = f"round {number} of {self.extent.launches}"
            launches += self.two_ranks(number, turn)
            for ranks in self.calls_ranks():
                launches += self.calls_and_patterns(number, ranks, turn)
            for ranks in self.extent.spread_ranks:
                launches += self.spread(number, ranks, turn)
        if self.extent is FULL:
            launches.append(Launch("Staging memory", [
                *self.mpirun(2, []), self.programs.bench, "pingpong", "--sizes", "64K,1M,64M,1G", "--runs", "0",
                "--peers", "none", "--shim", "none", "--json", str(self.output / "memory.jsonl"),
                "--brigade-version", self.version]))
        return launches

    def scalapack(self):
        """Pairs of launches in alternating order: the first one may have the cooler machine."""
        launches = []
        for n, nb, routines in self.extent.problems:
            for rows, cols in self.extent.grids:
                for pair in range(self.extent.pairs):
                    for subject in ("stock", "shim") if pair % 2 == 0 else ("shim", "stock"):
                        preload = [] if subject == "stock" else ["-x", f"LD_PRELOAD={self.programs.shim}"]
                        title = f"ScaLAPACK on {rows} x {cols} ranks, n = {n}, stock and shim in turn"
                        launches.append(Launch(title, [
                            *self.mpirun(rows * cols, preload), self.programs.scalapack, "-n", n, "--eigen-n", "600",
                            "--nb", nb, "--routines", routines, "--grid", f"{rows}x{cols}",
                            "--repetitions", self.extent.repetitions, "--pair", str(pair),
                            "--json", str(self.output / "scalapack.jsonl")]))
        return launches

    def two_ranks(self, number, turn):
        title = f"Ping-pong and small broadcasts, 2 ranks, {turn}"
        pingpong = ["pingpong", *self.common(number, "pingpong"), *self.extent.pingpong]
        return [
            self.bench(title, 2, pingpong),
            self.bench(title, 2, [*pingpong, "--peers", "mpi,blacs", "--label", "CMA off"], peers.CMA_OFF),
            *self.bench_mpich(title, 2, [*pingpong, "--peers", "mpi", "--shim", "none"]),
            *self.bench_other_mpis(title, 2, [*pingpong, "--peers", "mpi", "--shim", "none"]),
            # The engine against the tree written by hand, with a core for each rank.
            self.bench(title, 2, ["spread", "--cases", "small-broadcast", *self.common(number, "spread"),
                                  "--seconds", self.extent.spread_seconds]),
        ]

    def calls_and_patterns(self, number, ranks, turn):
        title = f"BLACS calls and all patterns, {ranks} ranks, {turn}"
        cases = ("broadcast,reduce,all-reduce,multi-broadcast,multi-reduce,gather,scatter,all-to-all,scan,exscan,"
                 "barrier")
        # The topology that Brigade selects by itself: the others would take most of the time, on 8 ranks above all.
        patterns = ["spread", "--cases", cases, "--shapes", "free", "--bytes", self.extent.grid_bytes,
                    "--seconds", self.extent.grid_seconds, "--peers", "mpi",
                    "--shim", "none", *self.common(number, "grid")]
        return [
            self.bench(title, ranks, ["calls", *self.common(number, "calls"), "--seconds", self.extent.calls_seconds]),
            self.bench(title, ranks, patterns),
            self.bench(title, ranks, [*patterns, "--label", "CMA off"], peers.CMA_OFF),
            *self.bench_mpich(title, ranks, patterns),
            *self.bench_other_mpis(title, ranks, patterns),
        ]

    def spread(self, number, ranks, turn):
        title = f"Spread, {ranks} ranks, {turn}"
        panels = ["spread", "--cases", "multi-broadcast,multi-reduce,broadcast,reduce", *self.common(number, "spread")]
        seconds = ["--seconds", self.extent.spread_seconds]
        launches = [
            self.bench(title, ranks, [*panels, *seconds]),
            self.bench(title, ranks, [*panels, *seconds, "--peers", "mpi,blacs", "--shim", "none",
                                      "--label", "CMA off"], peers.CMA_OFF),
        ]
        for label, options in peers.ONE_HOST_TUNINGS.items() if self.extent.tuned_seconds else ():
            arguments = [*panels, "--seconds", self.extent.tuned_seconds, "--peers", "mpi", "--shim", "none",
                         "--label", label]
            launches.append(self.bench(f"{title}, MPI tuned: {label}", ranks, arguments, options))
        return launches

    # ---- verdicts, not times ---------------------------------------------------------------------------------------

    def lu_tester(self, launcher):
        """ScaLAPACK's own tester, with the reference BLACS and with the shim."""
        say("ScaLAPACK's LU tester")
        for subject in ("stock", "shim"):
            preload = [] if subject == "stock" else ["-x", f"LD_PRELOAD={self.programs.shim}", "-x", "BRIGADE_LOG=info"]
            path = self.output / f"xdlu-{subject}.txt"
            with open(path, "wb") as log:
                # It reads its problems from the current directory.
                launch = Launch("", [*self.mpirun(4, preload), f"{TESTERS}/xdlu"])
                ended = launcher.run(launch, cwd="/usr/share/scalapack", stdout=log, stderr=subprocess.STDOUT)
            text = path.read_text(encoding="utf-8", errors="replace")
            if ended and tester_passed(text, subject):
                for line in re.findall(r"^ *(.*(?:tests completed|tests skipped|Finished).*)$", text, re.MULTILINE):
                    print(f"  {subject}: {line}")
            else:
                print(f"  {subject}: FAILED, see {path}")
                launcher.failures += ended  # the others are counted


def tester_passed(text, subject):
    """The shim must have said its line: a preload that takes no effect would test stock twice."""
    return bool(re.search(r"^ *0 tests completed and failed", text, re.MULTILINE) and
                (subject == "stock" or re.search(r"brigade [0-9]", text)))


def report(output):
    """Makes report.html, and prints its path."""
    say("Report")
    subprocess.run(["/usr/bin/python3", "-m", "bench.report", output, "--picture", output / "picture.svg"], check=True,
                   cwd=ROOT)
    print(f"\nReport: {output / 'report.html'}")
