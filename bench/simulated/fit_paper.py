"""Fits what the AP3000 paper does not state to half of its Table 1, and prints the values; nothing is written.

    python3 -m bench.simulated.fit_paper bazel-bin/bench/simulated/paper_table transport/machines/ap3000.json

Starts from the file's values. Costs: the mean logarithm of how far off the fitted cells are, of which none counts more
than LARGEST_ERROR (one cell that the model cannot explain shall not bend all others), doubtful ones left out; changes
from A to B that go the wrong way; and the point-to-point facts, once they are off by more than TOLERANCE.
Deterministic. Needs python3-scipy.
"""

import argparse
import copy
import json
import math
import pathlib
import statistics
import subprocess

import scipy.optimize

from bench.simulated import paper_data

LARGEST_ERROR = 0.4
TOLERANCE = math.log(1.08)
WEIGHT_OF_FACTS = 2.0


def memory_bus(machine, factor):
    next(bus for bus in machine["buses"] if bus["name"] == "memory")["rate"]["value"] *= factor


def kmem_sends(machine, factor):
    next(memory for memory in machine["memories"] if memory["name"] == "kmem")["send"]["rate"]["value"] *= factor


def work_rate(kind, operands):
    """Of all pairs (from, to) of memories for which `operands` holds."""
    def scale(machine, factor):
        for work in machine[kind]:
            if all(operands(source, target) for source in work["from"] for target in work["to"]):
                for point in work["rate"]["by_run_bytes"]:
                    point[1] *= factor
    return scale


def within_user(source, target):
    return source == target == "user"


def through_kmem(source, target):
    return "kmem" in (source, target) and "sdram" not in (source, target)


# The fitted parameters: each is a factor on values of the file.
PARAMETERS = {
    "memory bus": memory_bus,
    "messages sent from KMEM": kmem_sends,
    "copies within ordinary memory": work_rate("copies", within_user),
    "adds with an operand in KMEM": work_rate("adds", through_kmem),
}


class Simulator:
    """One process that simulates one machine after the other."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, machine):
        self.process.stdin.write(json.dumps(machine) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("fit_paper.py: paper_table ended")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def scaled(machine, factors):
    machine = copy.deepcopy(machine)
    for scale, factor in zip(PARAMETERS.values(), factors):
        scale(machine, factor)
    return machine


def cost(simulated):
    cells = [c for c in paper_data.read_cells(simulated) if c.fitted]
    far = statistics.mean(min(abs(math.log(c.model / c.paper)), LARGEST_ERROR) for c in cells if not c.doubtful)
    wrong = []
    for a, b in paper_data.pairs(cells):
        if paper_data.is_clear(a, b) and not (a.doubtful or b.doubtful):
            model = math.log(b.model / a.model)
            wrong.append(max(0.0, -model if b.paper > a.paper else model))
    facts = 0.0
    for m in paper_data.read_messages(simulated):
        off = math.log(m.model / m.paper)
        facts += max(0.0, (max(0.0, -off) if m.at_least else abs(off)) - TOLERANCE)
    return far + statistics.mean(wrong) + WEIGHT_OF_FACTS * facts


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.simulated.fit_paper", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="paper_table")
    parser.add_argument("machine", type=pathlib.Path)
    parser.add_argument("--evaluations", type=int, default=400, help="most machines to simulate (%(default)s)")
    arguments = parser.parse_args()
    start = json.loads(arguments.machine.read_text(encoding="utf-8"))
    simulate = Simulator(arguments.program)
    known = {}

    def cost_of(logarithms):
        key = tuple(logarithms)
        if key not in known:
            known[key] = cost(simulate(scaled(start, [math.exp(x) for x in logarithms])))
        return known[key]

    origin = [0.0] * len(PARAMETERS)
    corners = [origin] + [[0.15 if i == j else 0.0 for j in range(len(origin))] for i in range(len(origin))]
    found = scipy.optimize.minimize(cost_of, origin, method="Nelder-Mead", options={
        "initial_simplex": corners, "maxfev": arguments.evaluations, "xatol": 0.005, "fatol": 1e-5})
    factors = [math.exp(x) for x in found.x]
    print(f"cost {cost_of(origin):.4f} at the start, {found.fun:.4f} after {len(known)} simulations")
    for name, factor in zip(PARAMETERS, factors):
        print(f"  {name}: x {factor:.4f}")
    fitted = scaled(start, factors)
    for bus in fitted["buses"]:
        print(f"  buses, {bus['name']}: {bus['rate']['value']:.4g} MB/s")
    for memory in fitted["memories"]:
        print(f"  memories, {memory['name']}, send: {memory['send']['rate']['value']} MB/s")
    for kind in ("copies", "adds"):
        for work in fitted[kind]:
            points = ", ".join(f"[{run:g}, {rate:.3g}]" for run, rate in work["rate"]["by_run_bytes"])
            print(f"  {kind}, {work['from']} to {work['to']}: {points}")
    for name, half in paper_data.summarise(paper_data.read_cells(simulate(fitted))).items():
        right, count = half["directions"]
        print(f"  {name}: median error {100 * half['median_error']:.1f} %, directions {right} of {count}")
    simulate.close()


if __name__ == "__main__":
    main()
