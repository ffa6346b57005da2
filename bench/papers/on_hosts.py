"""Runs an MPI job on hosts with slow links, which are raised for it and taken down afterwards.

    python3 -m bench.papers.on_hosts 4 bazel-bin/bench/studies/mult_suite -n 320
"""

import argparse
import signal
import subprocess
import sys

from bench.driver import machine
from bench.driver.cluster_job import RATE, Cluster


def command(given, cluster):
    """Returns the command of the job on a raised cluster."""
    asleep = ["--asleep"] if given.ranks > machine.processors() else []
    return [*cluster, "run", "--per-host", str(given.per_host), str(given.ranks), *given.command, *asleep]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python3 -m bench.papers.on_hosts", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-host", type=int, default=1, help="ranks on each host")
    parser.add_argument("ranks", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args(arguments)


def main():
    given = parse(sys.argv[1:])
    # So that the hosts are taken down when the time is over.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Cluster(-(-given.ranks // given.per_host), RATE) as cluster:
        sys.exit(subprocess.run(command(given, cluster.command), check=False).returncode)


if __name__ == "__main__":
    main()
