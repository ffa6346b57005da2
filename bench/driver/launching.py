"""Runs the plan of a job: records every command, shows progress, limits the time, and counts failures."""

import os
import shlex
import subprocess
import sys
import time
from typing import NamedTuple


class Launch(NamedTuple):
    """One command of a plan."""

    title: str  # of the step it belongs to
    command: list
    environment: dict = {}


def say(text):
    """A headline, with the time."""
    print(f"\n== {time.strftime('%T')}  {text}", flush=True)


class Launcher:
    """Launches into one folder. Counts failures, and measures the rest."""

    def __init__(self, output, limit):
        self.output = output
        self.limit = limit  # seconds, 0: none
        self.failures = 0
        self._began = time.monotonic()

    def run(self, launch, **options):
        """Whether it succeeded; `options` are those of subprocess.Popen."""
        line = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in launch.environment.items()),
                         shlex.join(launch.command)])
        with open(self.output / "commands.txt", "a", encoding="utf-8") as commands:
            print(line, file=commands)
        # timeout ends the whole process group, not mpirun alone. It gets SIGTERM when this thread ends, in any way.
        process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "timeout", "--kill-after=10", str(self.limit),
                                    *launch.command],
                                   env={**os.environ, **launch.environment}, stdin=subprocess.DEVNULL, **options)
        try:
            status = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        if status == 0:
            return True
        self.failures += 1
        timeout_status = 124
        why = f"took more than {self.limit} s" if status == timeout_status else f"ended with status {status}"
        print(f"bench/run.sh: this {why}: {line}", file=sys.stderr, flush=True)
        return False

    def run_all(self, plan, done=0, total=None):
        """Announces each step with how far the job is."""
        total = total or len(plan)
        title = None
        for number, launch in enumerate(plan, done + 1):
            if launch.title != title:
                title = launch.title
                minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
                say(f"{title}  (launch {number} of {total}, {minutes} min {seconds:02} s so far)")
            self.run(launch)
