"""The simulated jobs: collectives on up to 65,536 ranks, and what studies bring. Only virtual time counts."""

import sys
import threading

from bench.driver import study_job
from bench.driver.launching import Launch, say
from bench.driver.machine import MACHINES

SCALE_TARGETS = ["//bench/simulated:scale_table"]
PATTERNS = ("broadcast", "reduce", "multi_broadcast", "multi_reduce")


def simulate(launcher, launch, path):
    """A file that cannot be written is a failure, too: an exception would end one thread alone."""
    try:
        with open(path, "wb") as table:
            launcher.run(launch, stdout=table)
    except OSError as error:
        launcher.failures += 1
        print(f"bench/run.sh: {path}: {error.strerror}", file=sys.stderr, flush=True)


def simulate_study(launcher, programs, name):
    """On every machine whose ranks send each other messages of any length: the supersteps of a study, or an iteration
    of a program of the put/get study; of SRUMMA products on fat hosts alone."""
    say("Simulated machines")
    machines = [str(MACHINES / f"{machine}.json") for machine in ("shaped_cluster", "fat_nodes_100g")]
    if name == "srumma":
        launch = Launch("", [programs.srumma_table, machines[-1]])
    elif name in ("mg", "cg", "summa"):
        # SUMMA on more takes minutes a case.
        ranks = ["--ranks", "4,8,16,64,256"] if name == "summa" else []
        launch = Launch("", [programs.putget_table, name, *machines, *ranks])
    else:
        launch = Launch("", [programs.superstep_table, name, *machines])
    simulate(launcher, launch, launcher.output / study_job.results(name, study_job.SIMULATED))


def simulate_scale(launcher, programs, full):
    """Its tables, or None. Two at a time, the longest first: each takes a processor."""
    say("Simulated scale")
    tables = {pattern: launcher.output / f"scale_{pattern}.jsonl" for pattern in PATTERNS}
    messages = "5000000" if full else "300000"

    def simulate_all(*patterns):
        for pattern in patterns:
            launch = Launch("", [programs.scale_table, str(MACHINES / "fat_nodes_100g.json"), pattern,
                                 "--messages", messages])
            simulate(launcher, launch, tables[pattern])
            print(f"  {pattern.replace('_', '-')} done", flush=True)

    other = threading.Thread(target=simulate_all, args=("multi_broadcast", "broadcast"), daemon=True)
    other.start()
    simulate_all("multi_reduce", "reduce")
    other.join()
    return None if launcher.failures else list(tables.values())
