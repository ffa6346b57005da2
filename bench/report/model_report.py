#!/usr/bin/python3
"""What brigade_bench model measured: how far the cost model is off, and how much slower than the best the library's own choice is.

Files are named after the edges that were measured (shm.jsonl, cluster.jsonl) and may hold several numbers of ranks. Every case is there
twice, one measurement after the other: each picks the best way, and the other times it, and the way that the library chose.
"""

import argparse
import collections
import json
import math
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

FREE = "free"
# Shapes whose closed form holds only if rounds keep step; never chosen freely.
NOT_IN_STEP = ("two trees", "circulant graph")
ROOTED = ("broadcast", "reduce")
COLOURS = {"send": "#000000", "broadcast": "#0072b2", "reduce": "#d55e00", "all_reduce": "#e69f00", "multi_broadcast": "#009e73",
           "multi_reduce": "#cc79a7", "barrier": "#56b4e9"}

# One case: the time of each way in both measurements, what was predicted of it, and which one was chosen (one, once the case is complete).
Case = collections.namedtuple("Case", "edges pattern ranks bytes first second predicted chosen")


def read(paths):
    cases = []
    for path in paths:
        open_cases = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                record = json.loads(line)
                key = (record["case"], record["ranks"], record["bytes"])
                way, us, predicted = record["pattern"], record["median_us"], record.get("predicted_us")
            except (ValueError, KeyError) as error:
                sys.exit(f"{path}:{number}: no line of brigade_bench model: {error}")
            case = open_cases.get(key)
            if case is None:
                case = open_cases[key] = Case(path.stem.removeprefix("model_"), *key, {}, {}, {}, set())
            (case.second if way in case.first else case.first)[way] = us
            if predicted is not None:
                case.predicted[way] = predicted
            if record.get("chosen"):
                case.chosen.add(way)
        cases += open_cases.values()
    cases = [c for c in cases if FREE in c.second and c.chosen]  # an interrupted one has no second measurement
    if not cases:
        sys.exit("no complete cases")
    return cases


def is_in_step(case, way):
    return case.pattern not in ROOTED or not way.startswith(NOT_IN_STEP)


def measured(case, way):
    return (case.first[way] + case.second[way]) / 2


def error(case, way):
    return case.predicted[way] / measured(case, way) - 1


def best_way(case):
    return min(case.predicted, key=lambda way: measured(case, way))


def noise(case, way):
    """How far the two measurements of a way are apart: no model is nearer than half of it to both."""
    return abs(case.second[way] / case.first[way] - 1)


def chosen(case):
    (way,) = case.chosen
    return way


def over_best(case, way):
    """How much longer a way takes than the best. The measurement that picks that one does not time it: it would be too lucky."""
    measurements = (case.first, case.second)
    return statistics.mean(timed[way] / timed[min(case.predicted, key=picks.get)] - 1 for picks, timed in (measurements, measurements[::-1]))


def quantile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(q * len(ordered)) - 1)]


def spread(values):
    return {"count": len(values), "median": statistics.median(values), "p95": quantile(values, 0.95)}


def size_class(case):
    if case.bytes < 16 << 10:
        return "below 16 KiB"
    return "16 KiB and more"


def summarise(cases):
    summary = {}
    for edges in dict.fromkeys(c.edges for c in cases):
        own = [c for c in cases if c.edges == edges]
        entry = summary[edges] = {"ranks": sorted({c.ranks for c in own}), "error": {}, "noise": {}, "regret": {}, "free": {}}
        for name, group in (("all", own), *((s, [c for c in own if size_class(c) == s]) for s in ("below 16 KiB", "16 KiB and more"))):
            if not group:
                continue
            errors = [abs(error(c, w)) for c in group for w in c.predicted if is_in_step(c, w)]
            entry["error"][name] = spread(errors)
            entry["noise"][name] = spread([noise(c, w) for c in group for w in c.predicted if is_in_step(c, w)])
            choices = [c for c in group if len(c.predicted) > 1]
            if choices:
                entry["regret"][name] = spread([max(over_best(c, chosen(c)), 0) for c in choices])
                entry["free"][name] = spread([max(over_best(c, FREE), 0) for c in choices])
        others = [abs(error(c, w)) for c in own for w in c.predicted if not is_in_step(c, w)]
        if others:
            entry["error"]["broadcast and reduce along two trees and on circulant graphs, not counted above"] = spread(others)
    return summary


def print_cases(cases):
    print("Per case: the time of the way chosen, how much longer that is than the best takes, what the best way took and which it was, both in the mean "
          "of two measurements, and the model's error over all ways (median; least to most)")
    for edges in dict.fromkeys(c.edges for c in cases):
        print(f"\n{edges}")
        for c in (c for c in cases if c.edges == edges):
            errors = sorted(error(c, w) for w in c.predicted if is_in_step(c, w))
            text = f"  {c.pattern:<16} p = {c.ranks}  {c.bytes:>9} B  {measured(c, chosen(c)):>11.1f} us"
            if len(c.predicted) > 1:
                text += f"  {100 * over_best(c, chosen(c)):+5.0f} %  {measured(c, best_way(c)):>11.1f} us {best_way(c):<34}"
            else:
                text += " " * 58
            print(f"{text}  {100 * statistics.median(errors):+5.0f} % ({100 * errors[0]:+.0f} to {100 * errors[-1]:+.0f})")


def print_summary(summary):
    for edges, entry in summary.items():
        print(f"\n{edges}, {', '.join(map(str, entry['ranks']))} ranks")
        titles = {"error": "error of the model", "noise": "second measurement against first", "regret": "choice over best",
                  "free": "the same, measured once more"}
        for title, of in ((titles[key], entry[key]) for key in titles):
            for name, s in of.items():
                print(f"  {title:<32} {name}: median {100 * s['median']:.1f} %, 95 of 100 within {100 * s['p95']:.1f} % ({s['count']})")


def draw(cases, path):
    """A panel per kind of edges: predicted over measured time of every way."""
    kinds = list(dict.fromkeys(c.edges for c in cases))
    figure, grid = plt.subplots(1, len(kinds), figsize=(6 * len(kinds), 5.6), squeeze=False)
    for axes, edges in zip(grid[0], kinds):
        own = [c for c in cases if c.edges == edges]
        for pattern, colour in COLOURS.items():
            for in_step, marker in ((True, "o"), (False, "x")):
                points = [(measured(c, w), c.predicted[w]) for c in own if c.pattern == pattern for w in c.predicted if is_in_step(c, w) == in_step]
                if points:
                    axes.plot(*zip(*points), marker, color=colour, markersize=3.5, linestyle="",
                              label=pattern.replace("_", "-") if in_step else None)
        low = min(measured(c, w) for c in own for w in c.predicted)
        high = max(measured(c, w) for c in own for w in c.predicted)
        axes.plot([low, high], [low, high], color="black", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(edges)
        axes.set_xlabel("measured, us")
        axes.set_ylabel("predicted, us")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.text(0.01, 0.01, "x: broadcast and reduce along two trees and on circulant graphs", fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=pathlib.Path, nargs="+", help="files that brigade_bench --json wrote")
    parser.add_argument("--plot", type=pathlib.Path, help="draw here (SVG)")
    parser.add_argument("--summary", type=pathlib.Path, help="write the errors here (JSON)")
    arguments = parser.parse_args()
    cases = read(arguments.measured)
    summary = summarise(cases)
    print_cases(cases)
    print_summary(summary)
    if arguments.plot:
        draw(cases, arguments.plot)
    if arguments.summary:
        arguments.summary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
