#!/usr/bin/python3
"""Prints Table 1 of the AP3000 paper beside its simulation (the output of paper_table), and draws both."""

import argparse
import json
import pathlib

from bench.report import style
from bench.report.style import plt
from bench.simulated import paper_data

COLOURS = {"A": style.ORANGE, "B": style.BLUE}
TITLES = {"broadcast": "multi-broadcast", "reduce": "multi-reduce"}


def cell_text(cell):
    marks = ("*" if cell.fitted else " ") + ("?" if cell.doubtful else " ")
    return f"  {cell.paper:3.0f} {cell.model:6.1f} {100 * paper_data.error(cell):+5.0f} % {marks:<9}"


def blocks(cells):
    """One per pattern and Q, so that a terminal holds the lines."""
    for pattern in paper_data.PATTERNS:
        for ranks in paper_data.RANKS:
            of_block = [c for c in cells if (c.pattern, c.ranks) == (pattern, ranks)]
            lines = [f"  {size:<9}" + "".join(cell_text(c) for c in of_block if c.size == size)
                     for size in paper_data.SIZES]
            yield {"title": TITLES[pattern], "ranks": ranks, "lines": [line.rstrip() for line in lines]}


def make_text(cells, messages, summary):
    return style.render(
        "paper.txt.j2", blocks=list(blocks(cells)), messages=messages, summary=summary, is_right=paper_data.is_right,
        columns=[f"{algorithm} {column}" for algorithm in paper_data.ALGORITHMS for column in "AB"],
        clear=[pair for pair in paper_data.pairs(cells) if paper_data.is_clear(*pair)])


def draw_panel(axes, cells):
    """Both columns of the table, paper as bars, model as marks."""
    labels = []
    for i, (a, b) in enumerate(paper_data.pairs(cells)):
        labels.append(f"{a.size}\nQ={a.ranks}")
        for offset, cell in ((-0.2, a), (0.2, b)):
            axes.bar(i + offset, cell.paper, 0.38, color=COLOURS[cell.column], alpha=0.45, linewidth=0)
            axes.plot(i + offset, cell.model, marker="o" if cell.fitted else "D", color=COLOURS[cell.column],
                      markeredgecolor="black", markeredgewidth=0.6, markersize=6, linestyle="")
    axes.set_xticks(range(len(labels)), labels, fontsize=7)


def draw(cells, path):
    """One panel per pattern and algorithm."""
    figure, grid = plt.subplots(2, 2, figsize=(15, 7), sharex=True)
    for row, pattern in zip(grid, paper_data.PATTERNS):
        for axes, algorithm in zip(row, paper_data.ALGORITHMS):
            draw_panel(axes, [c for c in cells if (c.pattern, c.algorithm) == (pattern, algorithm)])
            axes.set_title(f"{TITLES[pattern]}, {algorithm}")
        row[0].set_ylabel("MB/s")
    legend = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[c], alpha=0.45) for c in "AB"]
    legend += [plt.Line2D([], [], marker=m, color="white", markeredgecolor="black", linestyle="") for m in "oD"]
    grid[0][0].legend(legend, ["A, paper", "B, paper", "model, fitted cell", "model, held out"], frameon=False,
                      fontsize=8)
    figure.tight_layout()
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.paper", description=__doc__)
    parser.add_argument("simulated", type=pathlib.Path, help="what paper_table printed")
    parser.add_argument("--plot", type=pathlib.Path, help="draw here (SVG)")
    parser.add_argument("--summary", type=pathlib.Path, help="write medians and counts here (JSON)")
    arguments = parser.parse_args()
    simulated = paper_data.read_simulated(arguments.simulated)
    cells = paper_data.read_cells(simulated)
    summary = paper_data.summarise(cells)
    print(make_text(cells, paper_data.read_messages(simulated), summary), end="")
    if arguments.plot:
        draw(cells, arguments.plot)
    if arguments.summary:
        arguments.summary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
