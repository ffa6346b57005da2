#!/usr/bin/python3
"""Prints times of collectives on many simulated ranks, this library's beside Open MPI's (the output of scale_table), and draws them."""

import argparse
import collections
import json
import math
import pathlib
import statistics

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

PATTERNS = ("broadcast", "reduce", "multi_broadcast", "multi_reduce")
OWN = ("brigade", "brigade_named")
TITLES = {"brigade": "ours, chosen freely", "brigade_named": "ours, best by name", "open_mpi": "Open MPI"}
STYLES = {"brigade": ("-", "o"), "brigade_named": (":", "s"), "open_mpi": ("--", "x")}
COLOURS = ("#0072b2", "#009e73", "#cc79a7", "#e69f00", "#d55e00")
SIZES = (8, 8 << 10, 64 << 10, 1 << 20, 16 << 20)


def read(files):
    cells = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    if not cells:
        raise SystemExit("scale_report.py: no cells in " + ", ".join(str(f) for f in files))
    return cells


def time_us(subject):
    """What it takes, and whether that was simulated: otherwise it is the closed form's."""
    simulated = subject["simulated_us"]
    return (subject["predicted_us"], False) if simulated is None else (simulated, True)


def ratio(cell, who):
    return cell["open_mpi"]["simulated_us"] / time_us(cell[who])[0]


def size_class(cell):
    """Of the sizes asked for: portions of 8 bytes are the first."""
    if cell["pattern"].startswith("multi") and cell["bytes"] == 8 * cell["ranks"]:
        return SIZES[0]
    return cell["bytes"]


def size_name(size, pattern):
    if size == 8:
        return "8 B each" if pattern.startswith("multi") else "8 B"
    return f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def deviations(cells):
    """Of the closed form from the simulation, relative, wherever there are both."""
    return [abs(c[who]["predicted_us"] / c[who]["simulated_us"] - 1) for c in cells for who in OWN if c[who]["simulated_us"] is not None]


def mean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


def summarise(cells):
    summary = {}
    for pattern in PATTERNS:
        shown = [c for c in cells if c["pattern"] == pattern]
        if not shown:
            continue
        entry = {"cells": len(shown)}
        for who in OWN:
            ratios = [ratio(c, who) for c in shown]
            entry[who] = {"simulated": sum(time_us(c[who])[1] for c in shown), "mean": mean(ratios), "least": min(ratios), "most": max(ratios)}
        errors = sorted(deviations(shown))
        if errors:
            entry["closed_form"] = {"compared": len(errors), "median": statistics.median(errors), "worst": errors[-1]}
        summary[pattern] = entry
    return summary


def print_cells(cells):
    print(f"Microseconds on {cells[0]['machine']}; in brackets Open MPI's time over ours. ~ by the closed form; all others are simulated.")
    for pattern in PATTERNS:
        by_size = collections.defaultdict(list)
        for cell in cells:
            if cell["pattern"] == pattern:
                by_size[size_class(cell)].append(cell)
        for size in sorted(by_size):
            print(f"\n{pattern.replace('_', '-')}, {size_name(size, pattern)}")
            print(f"  {'ranks':>6}  {'ours, chosen freely':<48}  {'ours, best by name':<44}  Open MPI")
            for cell in by_size[size]:
                columns = []
                for who, width in (("brigade", 48), ("brigade_named", 44)):
                    us, simulated = time_us(cell[who])
                    text = f"{'' if simulated else '~'}{us:.1f} ({ratio(cell, who):.2f}) {cell[who]['algorithm']}"
                    if cell[who]["pieces"] > 1:
                        text += f", {cell[who]['pieces']} pieces"
                    columns.append(f"{text:<{width}}")
                peer = cell["open_mpi"]
                print(f"  {cell['ranks']:>6}  {columns[0]}  {columns[1]}  {peer['simulated_us']:.1f} {peer['algorithm']}")


def print_summary(summary):
    print("\nOpen MPI's time over ours, geometric mean (least to most); closed form against simulation")
    for pattern, entry in summary.items():
        print(f"  {pattern.replace('_', '-')}: {entry['cells']} cells")
        for who in OWN:
            own = entry[who]
            print(f"    {TITLES[who]:<20} {own['mean']:.2f} ({own['least']:.2f} to {own['most']:.2f}), {own['simulated']} of {entry['cells']} simulated")
        if "closed_form" in entry:
            form = entry["closed_form"]
            print(f"    closed form off by   {100 * form['median']:.1f} % (median), {100 * form['worst']:.1f} % (worst of {form['compared']})")


def draw(cells, path):
    """A panel per pattern: time over ranks, a colour per size; hollow: by the closed form."""
    figure, grid = plt.subplots(2, 2, figsize=(14, 10), sharex=True)
    for axes, pattern in zip(grid.flat, PATTERNS):
        shown = [c for c in cells if c["pattern"] == pattern]
        for size, colour in zip(SIZES, COLOURS):
            of_size = [c for c in shown if size_class(c) == size]
            for who, (line, marker) in STYLES.items():
                points = [(c["ranks"], *time_us(c[who])) for c in of_size]
                axes.plot([p[0] for p in points], [p[1] for p in points], linestyle=line, color=colour, linewidth=1)
                for ranks, us, simulated in points:
                    fill = colour if simulated or who == "open_mpi" else "white"
                    axes.plot(ranks, us, marker=marker, color=colour, markerfacecolor=fill, markersize=4.5, linestyle="")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_title(pattern.replace("_", "-"))
        axes.set_ylabel("us")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[1]:
        axes.set_xlabel("ranks")
    legend = [plt.Line2D([], [], color=c, label=f"{size_name(s, '')}") for s, c in zip(SIZES, COLOURS)]
    legend += [plt.Line2D([], [], color="black", linestyle=line, marker=marker, label=TITLES[who]) for who, (line, marker) in STYLES.items()]
    legend.append(plt.Line2D([], [], color="black", marker="o", markerfacecolor="white", linestyle="", label="by the closed form"))
    figure.legend(handles=legend, ncol=9, loc="lower center", frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("simulated", type=pathlib.Path, nargs="+", help="what scale_table printed")
    parser.add_argument("--plot", type=pathlib.Path, help="draw here (SVG)")
    parser.add_argument("--summary", type=pathlib.Path, help="write means and deviations here (JSON)")
    arguments = parser.parse_args()
    cells = read(arguments.simulated)
    summary = summarise(cells)
    print_cells(cells)
    print_summary(summary)
    if arguments.plot:
        draw(cells, arguments.plot)
    if arguments.summary:
        arguments.summary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
