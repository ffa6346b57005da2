"""Draws the first table of a page of docs/results: a line per row, a point per column; or the reverse.

    python3 -m bench.report.table_picture docs/results/slow-links.md --label "time of the best MPI / Brigade's"

Writes the picture beside the page: slow-links.svg. A cell counts with its first number; rows and columns without one
are left out.
"""

import argparse
import pathlib
import re
import textwrap

from bench.report.style import matplotlib, plt, save

matplotlib.rcParams["svg.hashsalt"] = "brigade"  # equal bytes in every run


def first_table(page):
    """The heads of the columns with numbers, and (name, values) of each row. The first table has command, machine and
    commit."""
    tables = re.findall(r"^\|.*\|\n\|[-|]+\|\n(?:\|.*\|\n)+", page, re.MULTILINE)
    heads, _, *rows = ([cell.strip() for cell in line.replace("`", "").strip("|\n").split("|")]
                       for line in tables[1].splitlines())
    numbers = [[re.match(r"[\d.]+", cell.replace(",", "")) for cell in row] for row in rows]
    columns = [i for i in range(1, len(heads)) if any(ns[i] for ns in numbers)]
    values = [(row[0], [float(ns[i][0]) if ns[i] else None for i in columns]) for row, ns in zip(rows, numbers)]
    return [heads[i] for i in columns], [(name, of_row) for name, of_row in values if any(of_row)]


def draw(columns, rows, label):
    figure, axes = plt.subplots(figsize=(8.5, 3.4))
    figure.subplots_adjust(left=0.09, right=0.68, top=0.97, bottom=0.14)
    for i, (name, values) in enumerate(rows):
        points = [(x, value) for x, value in enumerate(values) if value]
        axes.plot(*zip(*points), marker="os^Dv"[i % 5], linewidth=1, label=textwrap.fill(name, 36))
    if "/" in label:  # a ratio
        axes.axhline(1, color="#000000", linewidth=0.8)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}" if "/" in label else "")
    axes.tick_params(axis="y", which="both", labelsize=7)
    axes.set_xticks(range(len(columns)), [textwrap.fill(column, 14) for column in columns], fontsize=8)
    axes.set_ylabel(label, fontsize=8)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=7)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--label", required=True, help="of the vertical axis")
    parser.add_argument("--by-column", action="store_true", help="a line per column")
    arguments = parser.parse_args()
    columns, rows = first_table(arguments.page.read_text())
    if arguments.by_column:
        names, values = zip(*rows)
        columns, rows = names, list(zip(columns, zip(*values)))
    save(draw(columns, rows, arguments.label), arguments.page.with_suffix(".svg"))


if __name__ == "__main__":
    main()
