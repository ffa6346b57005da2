"""Fits what the LI paper does not state of its cluster to half of its Tables 1 to 3, and prints the values; nothing is
written.

    python3 -m bench.papers.fit_li bazel-bin/bench/simulated/superstep_table transport/machines

Starts from the values of pc_cluster.json. Costs: the mean logarithm of how far off the fitted cells are, none of which
counts more than LARGEST_ERROR. Of the time to bring the keys of a sort a part is constant and the rest grows with the
keys, so two sizes are simulated for all. Deterministic. Needs python3-scipy.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

import scipy.optimize

from bench.papers import li

LARGEST_ERROR = 0.7
SIZES = (1024000, 4096000)


def set_overheads(machine, message_us, rate):
    for side in ("send_overhead", "receive_overhead"):
        machine["between_hosts"][side]["message"]["value"] = message_us
        machine["between_hosts"][side]["rate"]["value"] = rate
    return machine


def simulate(program, machines, message_us, rate):
    """Returns {nodes: records} of Mult and of Rdx."""
    found = {}
    for nodes, name in li.MACHINES.items():
        machine = set_overheads(json.loads((machines / f"{name}.json").read_text(encoding="utf-8")), message_us, rate)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(machine, file)
            file.flush()
            lines = []
            for study in (["mult", "--ranks", li.PRODUCT_RANKS[nodes]],
                          ["rdx", "--ranks", "2,4,8,16", "--sizes", ",".join(map(str, SIZES)), "--cases",
                           li.SORTS]):
                lines += subprocess.run([program, study[0], file.name, *study[1:]], check=True, capture_output=True,
                                        text=True).stdout.splitlines()
        found[nodes] = [json.loads(line) for line in lines]
    return found


def grown(records, algorithm, ranks, keys):
    """Returns the records with one more, of a sort of `keys`."""
    few, many = ([record for record in records if record["case"] == f"radix sort, {algorithm}"
                  and (record["ranks"], record["rows"]) == (ranks, size)][0] for size in SIZES)
    per_key = {way: (many[way] - few[way]) / (SIZES[1] - SIZES[0]) for way in {*li.PUTS.values()}}
    return [*records, {**many, "rows": keys, **{way: many[way] + (keys - SIZES[1]) * cost
                                                for way, cost in per_key.items()}}]


def errors(found, cache, fitted):
    """Returns log(simulated / paper) of the cells that are fitted, or of the others."""
    off = []
    for product in li.PRODUCTS:
        if product.fitted == fitted:
            speedup = li.speedup_of_product(found[product.nodes], product, cache)
            off.append(math.log(speedup / product.speedup))
    for sort in li.SORT_CELLS:
        if sort.fitted == fitted and sort.speedup:
            records = grown(found[sort.nodes], sort.algorithm, sort.ranks, sort.keys)
            off.append(math.log(li.speedup_of_sort(records, sort) / sort.speedup))
    return off


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.papers.fit_li", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="superstep_table")
    parser.add_argument("machines", type=pathlib.Path)
    parser.add_argument("--evaluations", type=int, default=60, help="most machines to simulate (%(default)s)")
    given = parser.parse_args()
    known = {}

    def cost(logarithms):
        message_us, rate, cache = (math.exp(x) for x in logarithms)
        key = f"{message_us:.4g}", f"{rate:.4g}"
        if key not in known:
            known[key] = simulate(given.program, given.machines, float(key[0]), float(key[1]))
        return statistics.mean(min(abs(off), LARGEST_ERROR) for off in errors(known[key], cache, True))

    start = json.loads((given.machines / "pc_cluster.json").read_text(encoding="utf-8"))["between_hosts"]
    origin = [math.log(start["send_overhead"][key]["value"]) for key in ("message", "rate")] + [math.log(li.CACHE)]
    corners = [origin] + [[x + 0.3 * (i == j) for j, x in enumerate(origin)] for i in range(3)]
    found = scipy.optimize.minimize(cost, origin, method="Nelder-Mead", options={
        "initial_simplex": corners, "maxfev": given.evaluations, "xatol": 0.01, "fatol": 1e-4})
    message_us, rate, cache = (math.exp(x) for x in found.x)
    print(f"cost {cost(origin):.4f} at the start, {found.fun:.4f} after {len(known)} machines")
    print(f"  a message {message_us:.4g} us, bytes {rate:.4g} MB/s, blocks in a cache {cache:.3g} times as fast")
    simulated = simulate(given.program, given.machines, message_us, rate)
    for name, fitted in (("fitted", True), ("held out", False)):
        off = [abs(math.expm1(error)) for error in errors(simulated, cache, fitted)]
        print(f"  {name}: {len(off)} cells, median error {100 * statistics.median(off):.1f} %")


if __name__ == "__main__":
    main()
