"""Measurements of --behind besides the main job's: calibrations, TCP on this host, windows, slow hosts; its page."""

import argparse
import json
import os
import subprocess

from bench.driver import machine, peers
from bench.driver.cluster_job import Cluster, ClusterJob
from bench.driver.launching import Launch, say

HOSTS = 4
# The environment that may explain a figure. The page decides which values it shows.
SETTINGS = ("BRIGADE_", "OMPI_MCA_", "UCX_", "MPIR_CVAR_", "I_MPI_", "FI_")
LOOPBACK = {"BRIGADE_IFACE": "lo"}
# Parts of bench/driver/cluster_job.py, and the pairs of launches of ScaLAPACK, of which fewer decide nothing.
PARTS = ["patterns", "send", "ring", "scalapack"]
PAIRS = 6
ALONE = ["--peers", "none", "--shim", "none"]
EXCHANGE = ["exchange", "--blocks", "0,1K,64K,1M"]
WINDOWS = [(2, ["one-sided", "--sizes", "8,1K,64K,1M"]), (2, EXCHANGE), (4, EXCHANGE)]


class BehindJob:
    def __init__(self, given, job):
        self.given = given
        self.job = job  # the MainJob
        self.left_out = []

    def calibrations(self):
        """[(Launch, name of its file)]"""
        extent = self.job.extent
        places = [(ranks, "auto", {}) for ranks in sorted({2, *self.job.calls_ranks(), *extent.spread_ranks})]
        return [(Launch("Calibration", [*self.job.mpirun(ranks, []), self.job.programs.bench, "--transport", transport,
                                        *ALONE, "calibrate"], environment), f"machine_{transport}_{ranks}.json")
                for ranks, transport, environment in [*places, (2, "tcp", LOOPBACK)]]

    def over_tcp(self):
        """Two processes of this host, beside Open MPI with each of its settings."""
        extent = self.job.extent
        tunings = {"": []} if self.given.quick else peers.LOOPBACK_TUNINGS
        sizes = extent.pingpong[extent.pingpong.index("--sizes") + 1]
        return [self.job.bench("TCP between 2 processes", 2, [
            "pingpong", *self.job.common(1, "tcp"), "--transport", "tcp", "--runs", "0", "--sizes", sizes,
            "--peers", "mpi", "--shim", "none", "--seconds", extent.grid_seconds, "--label", label],
                               [*peers.OVER_TCP, *options])._replace(environment=LOOPBACK)
                for label, options in tunings.items()]

    def windows(self):
        """Puts, gets and synchronisation in shared memory, beside Open MPI's windows."""
        return [self.job.bench(f"Windows, {ranks} ranks", ranks, [
            *study, *self.job.common(1, "windows"), "--transport", "auto", "--peers", "mpi", "--shim", "none",
            "--seconds", self.job.extent.grid_seconds, *(["--asleep"] if ranks > machine.processors() else [])])
                for ranks, study in WINDOWS]

    def on_slow_hosts(self, cluster):
        """Returns the cluster's job: the parts of which few launches decide something."""
        libraries = [library.label for library in peers.LIBRARIES if not library.only_full and (
            library.mpi == "openmpi" or (peers.INSTALLED / library.mpi).is_dir())]
        given = argparse.Namespace(**{**vars(self.given), "only": PARTS, "libraries": libraries, "full": False})
        job = ClusterJob(given, self.job.output, self.job.programs, cluster, self.job.version)
        job.pairs = PAIRS
        return job

    def run(self, launcher):
        for launch, name in self.calibrations():
            calibrate(launcher, launch, self.job.output / name)
        launcher.run_all(self.over_tcp())
        if self.given.quick:
            self.left_out += [
                "--quick leaves out windows, slow hosts, tuned MPI, other numbers of ranks than 2 and 4, and most "
                "sizes.",
                "--quick has one pair of launches of ScaLAPACK, which decides nothing."]
        else:
            launcher.run_all(self.windows())
            self.left_out += [
                "Slow hosts are four; ./bench/run.sh --cluster 8 measures more of them, and more grids of ScaLAPACK.",
                "Windows are in shared memory only; ./bench/run.sh --study exchange measures them over TCP and on slow "
                "hosts, and --study mg measures a program."]
            try:
                with Cluster(HOSTS, self.given.rate) as cluster:
                    job = self.on_slow_hosts(cluster)
                    calibration = job.launch("Calibration of slow hosts", [
                        "run", str(HOSTS), self.job.programs.bench, "--transport", self.given.transport, *ALONE,
                        "calibrate"])
                    calibrate(launcher, calibration, self.job.output / "machine_cluster.json")
                    job.run(launcher)
            except subprocess.CalledProcessError as failure:
                self.left_out.append("Slow hosts could not be measured on this machine.")
                print(f"bench/run.sh: slow hosts: {failure}", flush=True)
        about = {"settings": settings(), "left_out": self.left_out}
        (self.job.output / "behind.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def settings():
    return {name: value for name, value in os.environ.items() if value and name.startswith(SETTINGS)}


def calibrate(launcher, launch, path):
    """Stores the output of a launch; nothing if it fails, which is counted."""
    say(launch.title)
    with open(path, "wb") as file:
        succeeded = launcher.run(launch, stdout=file)
    if not succeeded:
        path.unlink()


def report(output, bench):
    """Makes behind.md and behind.html, and prints the path of the page to send."""
    subprocess.run(["/usr/bin/python3", "-m", "bench.report.behind", output, "--bench", bench], check=True,
                   cwd=machine.ROOT)
    print(f"Behind: {output / 'behind.md'}")
