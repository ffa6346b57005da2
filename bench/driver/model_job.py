"""The model's job: measures every candidate of a pattern, beside the prediction of the cost model."""

from bench.driver import machine, peers
from bench.driver.launching import Launch

TARGETS = ["//bench:brigade_bench"]


class ModelJob:
    """Plans launches on several numbers of ranks: in shared memory, over TCP on this host, and on a cluster's hosts."""

    def __init__(self, full, output, programs, cluster):
        self.ranks = (2, 3, 4, 5, 6, 7, 8) if full else (2, 5, 8)
        self.full = full
        self.output = output
        self.programs = programs
        self.cluster = cluster

    def plan(self):
        launches = []
        for count in self.ranks:
            launcher = ["mpirun", *peers.YIELDING, "-n", str(count)]
            launches += self.measure(f"{count} ranks in shared memory", count, "shm", "shm", launcher)
            launches += self.measure(f"{count} ranks over TCP on this host", count, "loopback", "tcp", launcher,
                                     {"BRIGADE_IFACE": "lo"})
            launches += self.measure(f"{count} hosts at {self.cluster.rate}", count, "cluster", "tcp",
                                     [*self.cluster.command, "run", str(count)])
        return launches

    def measure(self, title, count, edges, transport, launcher, environment=None):
        # Links that rest between two measurements have full token buckets, and ranks that sleep have to wake.
        study = [*launcher, self.programs.bench, "--peers", "none", "--shim", "none", "--asleep",
                 "--max-iterations", "60", "--json", str(self.output / f"model_{edges}.jsonl"),
                 "--transport", transport]
        # Hosts of a cluster share processors evenly; ranks of one host that outnumber them are not bound.
        if edges == "cluster" or count <= machine.processors():
            study.append("--pin")
        # Slow links are as slow every time; ranks that share processors are not.
        if edges == "cluster":
            short, long = ("0.3", "5"), ("0.5", "1")
        else:
            short, long = ("1", "10") if self.full else ("0.3", "5"), ("1", "4")
        sizes = "8,1K,4K,16K,64K,256K,1M" if self.full else "8,1K,16K,128K,1M"
        launches = [Launch(title, [
            *study, "--seconds", short[0], "--min-iterations", short[1], "model", "--bytes", sizes,
            "--keep-machine", str(self.output / f"machine_{edges}_{count}.json")], environment or {})]
        if self.full:
            launches.append(Launch(title, [*study, "--seconds", long[0], "--min-iterations", long[1],
                                           "model", "--bytes", "4M,16M"], environment or {}))
        return launches
