#!/usr/bin/python3
"""Prints Table 1 of the AP3000 paper beside its simulation (the output of paper_table), and draws both."""

import argparse
import json
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

import paper_data  # noqa: E402

COLOURS = {"A": "#d55e00", "B": "#0072b2"}


def print_cells(cells):
    print("MB/s of the whole panel; paper, model and the model's error. * fitted; all others are held out. ? doubtful in the copy at hand.")
    by_row = {}
    for cell in cells:
        by_row.setdefault((cell.pattern, cell.size), []).append(cell)
    # A block per Q, so that a terminal holds the lines.
    for pattern in paper_data.PATTERNS:
        title = {"broadcast": "multi-broadcast", "reduce": "multi-reduce"}[pattern]
        for ranks in paper_data.RANKS:
            print(f"\n{title}, Q = {ranks}")
            print(f"  {'M x N':<9}" + "".join(f"  {f'{algorithm} {column}':<26}" for algorithm in paper_data.ALGORITHMS for column in "AB"))
            for size in paper_data.SIZES:
                line = f"  {size:<9}"
                for cell in by_row[pattern, size]:
                    if cell.ranks != ranks:
                        continue
                    marks = ("*" if cell.fitted else " ") + ("?" if cell.doubtful else " ")
                    line += f"  {cell.paper:3.0f} {cell.model:6.1f} {100 * paper_data.error(cell):+5.0f} % {marks:<9}"
                print(line.rstrip())


def print_directions(cells):
    print("\nFrom A to B, where the paper's change is 10 % or more:")
    for a, b in paper_data.pairs(cells):
        if not paper_data.is_clear(a, b):
            continue
        verdict = "right" if paper_data.is_right(a, b) else "WRONG"
        doubt = " (doubtful)" if a.doubtful or b.doubtful else ""
        half = "fitted" if a.fitted else "held out"
        print(f"  {verdict}  {a.pattern:<9} {a.size:<8} Q = {a.ranks} {a.algorithm}: paper {100 * paper_data.change(a, b):+4.0f} %, "
              f"model {100 * (b.model / a.model - 1):+4.0f} %, {half}{doubt}")


def print_messages(messages):
    print("\nPoint to point:")
    for m in messages:
        unit = "us" if m.unit == "us" else "MB/s"
        least = "at least " if m.at_least else ""
        print(f"  {m.bytes:>8} bytes: paper {least}{m.paper:g} {unit}, model {m.model:.1f} {unit} ({100 * (m.model / m.paper - 1):+.0f} %)")


def print_summary(summary):
    print("\n            cells   median error   without doubtful   directions   without doubtful")
    for name, s in summary.items():
        right, count = s["directions"]
        sure_right, sure_count = s["directions_sure"]
        print(f"  {name:<9} {s['cells']:>5}   {100 * s['median_error']:>10.1f} %   {100 * s['median_error_sure']:>14.1f} %   "
              f"{right:>4} of {count:<2}   {sure_right:>8} of {sure_count}")


def draw(cells, path):
    """One panel per pattern and algorithm: both columns, paper as bars, model as marks."""
    figure, grid = plt.subplots(2, 2, figsize=(15, 7), sharex=True)
    for row, pattern in enumerate(paper_data.PATTERNS):
        for column, algorithm in enumerate(paper_data.ALGORITHMS):
            axes = grid[row][column]
            shown = [c for c in cells if c.pattern == pattern and c.algorithm == algorithm]
            labels = []
            for i, (a, b) in enumerate(paper_data.pairs(shown)):
                labels.append(f"{a.size}\nQ={a.ranks}")
                for offset, cell in ((-0.2, a), (0.2, b)):
                    axes.bar(i + offset, cell.paper, 0.38, color=COLOURS[cell.column], alpha=0.45, linewidth=0)
                    axes.plot(i + offset, cell.model, marker="o" if cell.fitted else "D", color=COLOURS[cell.column],
                              markeredgecolor="black", markeredgewidth=0.6, markersize=6, linestyle="")
            axes.set_xticks(range(len(labels)), labels, fontsize=7)
            axes.set_title(f"{'multi-broadcast' if pattern == 'broadcast' else 'multi-reduce'}, {algorithm}")
            axes.spines[["top", "right"]].set_visible(False)
        grid[row][0].set_ylabel("MB/s")
    legend = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[c], alpha=0.45) for c in "AB"]
    legend += [plt.Line2D([], [], marker=m, color="white", markeredgecolor="black", linestyle="") for m in "oD"]
    grid[0][0].legend(legend, ["A, paper", "B, paper", "model, fitted cell", "model, held out"], frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("simulated", type=pathlib.Path, help="what paper_table printed")
    parser.add_argument("--plot", type=pathlib.Path, help="draw here (SVG)")
    parser.add_argument("--summary", type=pathlib.Path, help="write medians and counts here (JSON)")
    arguments = parser.parse_args()
    simulated = paper_data.read_simulated(arguments.simulated)
    cells = paper_data.read_cells(simulated)
    summary = paper_data.summarise(cells)
    print_cells(cells)
    print_directions(cells)
    print_messages(paper_data.read_messages(simulated))
    print_summary(summary)
    if arguments.plot:
        draw(cells, arguments.plot)
    if arguments.summary:
        arguments.summary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
