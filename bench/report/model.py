"""Measurements of brigade_bench model: how far the cost model is off, and how much slower than the best the library's
own choice is.

Files are named after the edges that were measured (shm.jsonl, cluster.jsonl) and may hold several numbers of ranks.
Every case is there twice, one measurement after the other: each picks the best way, and the other times it, and the way
that the library chose.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys
from typing import NamedTuple

from bench.report import style
from bench.report.style import plt

FREE = "free"
# Shapes whose closed form holds only if rounds keep step; never chosen freely.
NOT_IN_STEP = ("two trees", "circulant graph")
ROOTED = ("broadcast", "reduce")
COLOURS = {"send": style.BLACK, "broadcast": style.BLUE, "reduce": style.ORANGE, "all_reduce": style.YELLOW,
           "multi_broadcast": style.GREEN, "multi_reduce": style.PURPLE, "barrier": style.SKY}
SHORT, LONG = "below 16 KiB", "16 KiB and more"
TITLES = {"error": "error of the model", "noise": "second measurement against first", "regret": "choice over best",
          "free": "the same, measured once more", "by_model": "first by the model over best"}


class Case(NamedTuple):
    """The time of each way in both measurements, what was predicted of it, and which one was chosen: one, once the case
    is complete."""

    edges: str
    pattern: str
    ranks: int
    bytes: int
    first: dict
    second: dict
    predicted: dict
    chosen: set


def read(paths):
    cases = []
    for path in paths:
        open_cases = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                record = json.loads(line)
                key = (record["case"], record["ranks"], record["bytes"])
                way, us, predicted = record["pattern"], record["median_us"], record.get("predicted_us")
            except (ValueError, KeyError) as problem:
                sys.exit(f"{path}:{number}: no line of brigade_bench model: {problem}")
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


def errors(case):
    return [error(case, way) for way in case.predicted if is_in_step(case, way)]


def best_way(case):
    return min(case.predicted, key=lambda way: measured(case, way))


def noise(case, way):
    """How far the two measurements of a way are apart: no model is nearer than half of it to both."""
    return abs(case.second[way] / case.first[way] - 1)


def chosen(case):
    (way,) = case.chosen
    return way


def by_model(case):
    """Returns the candidate that is predicted to be the fastest: a choice by every difference, however small."""
    return min((way for way in case.predicted if is_in_step(case, way)), key=case.predicted.get)


def over_best(case, way):
    """How much longer a way takes than the best. The measurement that picks that one does not time it: it would be too
    lucky."""
    measurements = (case.first, case.second)
    return statistics.mean(timed[way] / timed[min(case.predicted, key=picks.get)] - 1
                           for picks, timed in (measurements, measurements[::-1]))


def quantile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(q * len(ordered)) - 1)]


def spread(values):
    return {"count": len(values), "median": statistics.median(values), "p95": quantile(values, 0.95)}


def by_edges(cases):
    """{edges: [Case]}"""
    return {edges: [c for c in cases if c.edges == edges] for edges in dict.fromkeys(c.edges for c in cases)}


def summarise_edges(cases):
    entry = {"ranks": sorted({c.ranks for c in cases}), **{kind: {} for kind in TITLES}}
    groups = {"all": cases, SHORT: [c for c in cases if c.bytes < 16 << 10],
              LONG: [c for c in cases if c.bytes >= 16 << 10]}
    for name, group in groups.items():
        if not group:
            continue
        entry["error"][name] = spread([abs(e) for c in group for e in errors(c)])
        entry["noise"][name] = spread([noise(c, w) for c in group for w in c.predicted if is_in_step(c, w)])
        choices = [c for c in group if len(c.predicted) > 1]
        if choices:
            entry["regret"][name] = spread([max(over_best(c, chosen(c)), 0) for c in choices])
            entry["free"][name] = spread([max(over_best(c, FREE), 0) for c in choices])
            entry["by_model"][name] = spread([max(over_best(c, by_model(c)), 0) for c in choices])
    others = [abs(error(c, w)) for c in cases for w in c.predicted if not is_in_step(c, w)]
    if others:
        entry["error"]["broadcast and reduce along two trees and on circulant graphs, not counted above"] = (
            spread(others))
    return entry


def summarise(cases):
    return {edges: summarise_edges(own) for edges, own in by_edges(cases).items()}


def case_line(case):
    text = (f"  {case.pattern:<16} p = {case.ranks}  {case.bytes:>9} B  "
            f"{measured(case, chosen(case)):>11.1f} us")
    if len(case.predicted) > 1:
        best = best_way(case)
        text += f"  {100 * over_best(case, chosen(case)):+5.0f} %  {measured(case, best):>11.1f} us {best:<34}"
    else:
        text += " " * 58
    of_case = sorted(errors(case))
    return (f"{text}  {100 * statistics.median(of_case):+5.0f} % "
            f"({100 * of_case[0]:+.0f} to {100 * of_case[-1]:+.0f})")


def make_text(cases, summary):
    return style.render("model.txt.j2", summary=summary, titles=TITLES, cases={
        edges: [case_line(case) for case in own] for edges, own in by_edges(cases).items()})


def draw(cases, path):
    """A panel per kind of edges: predicted over measured time of every way."""
    kinds = by_edges(cases)
    figure, (row,) = plt.subplots(1, len(kinds), figsize=(6 * len(kinds), 5.6), squeeze=False)
    for axes, (edges, own) in zip(row, kinds.items()):
        for pattern, colour in COLOURS.items():
            for in_step, marker in ((True, "o"), (False, "x")):
                points = [(measured(c, w), c.predicted[w]) for c in own if c.pattern == pattern
                          for w in c.predicted if is_in_step(c, w) == in_step]
                if points:
                    axes.plot(*zip(*points), marker, color=colour, markersize=3.5, linestyle="",
                              label=pattern.replace("_", "-") if in_step else None)
        times = [measured(c, w) for c in own for w in c.predicted]
        axes.plot([min(times), max(times)], [min(times), max(times)], color="black", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(edges)
        axes.set_xlabel("measured, us")
        axes.set_ylabel("predicted, us")
        axes.legend(frameon=False, fontsize=8)
    figure.text(0.01, 0.01, "x: broadcast and reduce along two trees and on circulant graphs", fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.model", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=pathlib.Path, nargs="+", help="files that brigade_bench --json wrote")
    parser.add_argument("--plot", type=pathlib.Path, help="draw here (SVG)")
    parser.add_argument("--summary", type=pathlib.Path, help="write the errors here (JSON)")
    arguments = parser.parse_args()
    cases = read(arguments.measured)
    summary = summarise(cases)
    print(make_text(cases, summary), end="")
    if arguments.plot:
        draw(cases, arguments.plot)
    if arguments.summary:
        arguments.summary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
