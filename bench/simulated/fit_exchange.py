"""Fits what the MPI/SX paper does not state to half of the cells of its tables, and prints the values; nothing is
written.

    python3 -m bench.simulated.fit_exchange bazel-bin/bench/simulated/exchange_table transport/machines/sx5.json

Starts from the file's values. Minimises how far off the fitted cells are, as logarithms, of which large ones count less
(soft_l1: cells that the model cannot explain shall not bend all others); doubtful cells are left out. Deterministic.
Needs python3-scipy.
"""

import argparse
import copy
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

import scipy.optimize

from bench.papers import mpisx

# From where on an error counts less.
SMALL_ERROR = 0.2
# Numbers of the solver, whose steps are relative, begin here: factors of 1.
START = 1.0
CACHE_CLEAR = "clearing of the cache"


def within_host(*path):
    def scale(machine, factor):
        for names in path:
            *outer, last = names.split(".")
            value = machine["within_host"]
            for name in (*outer, last):
                value = value[name]
            value["value"] *= factor
    return scale


def copies(ways, *runs):
    """Of all copies within user memory, of all others, or of both; of runs of these lengths."""
    def scale(machine, factor):
        for work in machine["copies"]:
            if (work["from"] == work["to"] == ["user"]) in ways:
                for point in work["rate"]["by_run_bytes"]:
                    if point[0] in runs:
                        point[1] *= factor
    return scale


# The fitted parameters: each is a factor on values of the file, or on the flag of the program.
PARAMETERS = {
    "latency": within_host("latency", "grant"),
    "sending": within_host("send_overhead.message"),
    "receiving": within_host("receive_overhead.message"),
    "copies within user memory": copies([True], 1024),
    "copies through shared memory": copies([False], 1024),
    "runs of 4 bytes": copies([True, False], 4),
    "runs of 8 bytes": copies([True, False], 8),
    CACHE_CLEAR: lambda machine, factor: None,
}


def scaled(machine, factors):
    machine = copy.deepcopy(machine)
    for scale, factor in zip(PARAMETERS.values(), factors):
        scale(machine, factor)
    return machine


def cells():
    return [cell for table in mpisx.STUDY.tables for cell in table.cells]


def factors_of(numbers):
    return [math.exp(x - START) for x in numbers]


class Model:
    """The errors of all cells, by the factors."""

    def __init__(self, program, machine):
        self.program = program
        self.machine = machine

    def records(self, factors):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(scaled(self.machine, factors), file)
            file.flush()
            clear_us = mpisx.CACHE_CLEAR_US * factors[-1]
            text = subprocess.run([self.program, file.name, "--cache-clear-us", str(clear_us)], check=True,
                                  capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def errors(self, factors, chosen):
        records = self.records(factors)
        return [math.log(cell.simulated.take(records) / cell.paper) for cell in cells() if chosen(cell)]


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.simulated.fit_exchange", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="exchange_table")
    parser.add_argument("machine", type=pathlib.Path)
    parser.add_argument("--iterations", type=int, default=8, help="most of them (%(default)s)")
    arguments = parser.parse_args()
    model = Model(arguments.program, json.loads(arguments.machine.read_text(encoding="utf-8")))
    found = scipy.optimize.least_squares(
        lambda numbers: model.errors(factors_of(numbers), lambda cell: cell.fitted),
        [START] * len(PARAMETERS), bounds=(START - 3, START + 3), loss="soft_l1", f_scale=SMALL_ERROR, diff_step=0.05,
        max_nfev=arguments.iterations)
    factors = factors_of(found.x)
    for name, factor in zip(PARAMETERS, factors):
        print(f"  {name}: x {factor:.4f}")
    fitted = scaled(model.machine, factors)
    for side in ("latency", "send_overhead", "receive_overhead"):
        value = fitted["within_host"][side]
        print(f"  {side}: {value.get('message', value)['value']:.4g} us")
    for work in fitted["copies"]:
        points = ", ".join(f"[{run:g}, {rate:.4g}]" for run, rate in work["rate"]["by_run_bytes"])
        print(f"  copies, {work['from']} to {work['to']}: {points}")
    print(f"  {CACHE_CLEAR}: {mpisx.CACHE_CLEAR_US * factors[-1]:.4g} us")
    for name, chosen in (("fitted", lambda cell: cell.fitted), ("held out", lambda cell: cell.held_out)):
        errors = [abs(math.expm1(error)) for error in model.errors(factors, chosen)]
        print(f"  {name}: {len(errors)} cells, median error {100 * statistics.median(errors):.1f} %")


if __name__ == "__main__":
    main()
