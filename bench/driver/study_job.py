"""The papers' studies: each on this host in shared memory, on this host over TCP, and on hosts with slow links."""

from typing import NamedTuple

from bench.driver import machine, peers
from bench.driver.launching import Launch

TARGETS = ["//bench:brigade_bench"]


class Program(NamedTuple):
    """One subcommand of brigade_bench. `ranks`: on which numbers of them it runs."""

    arguments: list
    ranks: tuple
    full_arguments: list = []  # instead of `arguments`, with --full


class Study(NamedTuple):
    title: str
    programs: list


STUDIES = {
    "exchange": Study("One-sided communication as the MPI/SX paper measures it", [
        Program(["exchange", "--blocks", "0,1K,16K,64K,1M"], (2, 4, 8),
                ["exchange", "--blocks", "0,1K,4K,16K,64K,256K,1M,4M"]),
        Program(["one-sided", "--sizes", "8,1K,64K,1M"], (2,),
                ["one-sided", "--sizes", "8,64,512,4K,32K,256K,2M,32M"]),
    ]),
}


class StudyJob:
    """Plans launches: every program in every place, beside every MPI that there is, in rounds."""

    def __init__(self, name, full, output, programs, cluster, version):
        self.name = name
        self.study = STUDIES[name]
        self.full = full
        self.output = output
        self.programs = programs
        self.cluster = cluster
        self.version = version

    def plan(self):
        launches = []
        for number in range(10 if self.full else 2):
            for place in (self.shared_memory, self.loopback, self.hosts):
                for program in self.study.programs:
                    for ranks in program.ranks:
                        launches += place(program, ranks, number)
        return launches

    def command(self, place, program, ranks, label, number):
        """brigade_bench, that of the MPI."""
        bench = self.programs.bench_mpich if label.startswith("MPICH") else self.programs.bench
        asleep = ["--asleep"] if ranks > machine.processors() else []
        return [bench, *(program.full_arguments if self.full and program.full_arguments else program.arguments),
                "--shim", "none", "--seconds", "0.3" if self.full else "0.05", "--min-iterations", "25",
                "--label", label, "--seed", str(number + 1), *asleep, "--brigade-version", self.version,
                "--json", str(self.output / f"study_{self.name}_{place}.jsonl")]

    def mpirun(self, ranks):
        binding = peers.PINNED if ranks <= machine.cores() else peers.YIELDING
        return ["mpirun", "-n", str(ranks), *binding]

    def shared_memory(self, program, ranks, number):
        title = f"{program.arguments[0]}, {ranks} ranks in shared memory"
        place = ("shm", program, ranks)
        launches = [Launch(title, [*self.mpirun(ranks), *self.command(*place, "", number)])]
        # Debian's MPICH cannot be told to yield.
        if ranks <= machine.cores():
            launches.append(Launch(title, ["mpiexec.mpich", "-n", str(ranks), "-bind-to", "core",
                                           *self.command(*place, "MPICH", number)], peers.DEBIAN_MPICH))
        return launches

    def loopback(self, program, ranks, number):
        return [Launch(f"{program.arguments[0]}, {ranks} ranks over TCP on this host", [
            *self.mpirun(ranks), *peers.OVER_TCP, *self.command("loopback", program, ranks, "", number),
            "--transport", "tcp"], {"BRIGADE_IFACE": "lo"})]

    def hosts(self, program, ranks, number):
        title = f"{program.arguments[0]}, {ranks} hosts at {self.cluster.rate}"
        return [Launch(title, [*self.cluster.command, "run", "--mpi", mpi, str(ranks),
                               *self.command("cluster", program, ranks, label, number), "--transport", "tcp"])
                for mpi, label in (("openmpi", ""), ("mpich5", "MPICH 5"))]
