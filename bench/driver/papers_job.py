"""The launches of --papers: every run of the papers' studies that has no result yet, within a budget of hours."""

import os
import platform
import subprocess
import sys
import time

from bench.driver import machine, peers
from bench.driver.launching import Launch
from bench.papers import contract
from bench.papers.results import CUT_SHORT, Results

HOURS = 3.0
MEMORY = "/proc/meminfo"


def free_megabytes():
    with open(MEMORY, encoding="utf-8") as lines:
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable"))


def about(version):
    """Returns texts for records: the commit, this machine, and versions on it."""
    def first_line(*command):
        try:
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]
        except (OSError, subprocess.CalledProcessError, IndexError):
            return "none"

    lscpu = subprocess.run(["lscpu"], check=True, capture_output=True, text=True).stdout
    model = next((line.split(":")[1].strip() for line in lscpu.splitlines() if line.startswith("Model name")), "?")
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"commit": version,
            "machine": f"{model}, {machine.cores()} cores, {machine.processors()} processors, {gibibytes:.0f} GiB, "
                       f"Linux {platform.release()}",
            "versions": ", ".join((first_line("mpirun", "--version"), first_line("g++", "--version")))}


class PapersJob:
    """Starts runs and records each. `limit`: seconds of a run; 0: by its estimate. `now`, `free`: the clock and the
    memory, which tests set."""

    def __init__(self, names, hours, folder, programs, about, limit=0, now=time.monotonic, free=free_megabytes):
        self.studies = [contract.study(name) for name in names]
        self.results = Results(folder)
        self.budget = hours * 3600
        self.limit = limit
        self.words = {"bin": programs.bin_folder, "machines": machine.MACHINES, "version": about["commit"]}
        self.about = about
        self.now = now
        self.free = free

    def missing(self):
        """Returns [(study, run)] without a result: first those that take the least time for a cell, last those that
        failed before, of which short ones would else use up each of several short budgets."""
        worths = {study.name: study.worths() for study in self.studies}
        return sorted(((study, run) for study in self.studies for run in study.runs()
                       if self.results.reason(study, run)),
                      key=lambda pair: (self.results.has_failed(*pair),
                                        pair[1].seconds / worths[pair[0].name][pair[1].name], pair[0].name,
                                        pair[1].name))

    def launch(self, study, run):
        asleep = ["--asleep"] if run.ranks > machine.processors() else []
        words = {**self.words, "output": self.results.output(study, run)}
        command = [part for word in run.command
                   for part in (asleep if word == "{asleep}" else [str(word).format(**words)])]
        if not run.ranks:
            return Launch(study.title, command, run.environment)
        binding = peers.PINNED if run.ranks <= machine.cores() else peers.YIELDING
        return Launch(study.title, ["mpirun", "-n", str(run.ranks), *binding, *command], run.environment)

    def reason_to_leave(self, run, left):
        if run.seconds > left:
            return f"takes {run.seconds} s, {left:.0f} were left"
        if run.megabytes > self.free():
            return f"takes {run.megabytes} MB, {self.free()} were free"
        return ""

    def run(self, launcher):
        began = self.now()
        missing = self.missing()
        for number, (study, run) in enumerate(missing, 1):
            left = max(0, self.budget - (self.now() - began))
            since = self.now()
            reason = self.reason_to_leave(run, left)
            # A run that is left keeps the record of an earlier failure.
            keeps_record = bool(reason) and self.results.has_failed(study, run)
            if not reason:
                print(f"{time.strftime('%T')}  {study.name}/{run.name}: {number} of {len(missing)}, about "
                      f"{run.seconds} s", flush=True)
                reason = self._start(launcher, study, run, left)
            if reason:
                print(f"  {study.name}/{run.name} not run: {reason}", file=sys.stderr, flush=True)
            if not keeps_record:
                self.results.write(study, run, self.about, self.now() - since, reason)

    def _start(self, launcher, study, run, left):
        """Returns the reason of a failure."""
        output = self.results.clear(study, run)
        limit = self.limit or 60 + 5 * run.seconds
        launcher.limit = max(1, int(min(left, limit)))
        since = self.now()
        launch = self.launch(study, run)
        if any("{output}" in str(word) for word in run.command):
            succeeded = launcher.run(launch)
        else:
            with open(output, "wb") as table:
                succeeded = launcher.run(launch, stdout=table)
        if not succeeded:
            if self.now() - since < launcher.limit:
                return "failed"
            return CUT_SHORT if left < limit else f"took more than {limit} s"
        if self.results.lines(study, run) is None:
            launcher.failures += 1
            return "output damaged"
        return ""
