"""Draws tables of the pages of docs/results again.

    python3 -m bench.report.table_picture

Writes each picture of PICTURES beside its page: slow-links.svg. Leaves out rows and columns without a number, and
zeros, which have no place on a logarithmic axis.
"""

import itertools
import pathlib
import re
import textwrap
from typing import NamedTuple

from bench.report.style import matplotlib, plt, save

matplotlib.rcParams["svg.hashsalt"] = "brigade"  # equal bytes in every run
matplotlib.rcParams["font.sans-serif"] = ["DejaVu Sans"]  # each text has the whole list

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results"


class Picture(NamedTuple):
    """Describes the picture of a page."""

    label: str  # of the axis of values; with a "/" the values are ratios, and 1 is marked
    form: str = "rows"  # rows: a line per row; columns: a line per column; dots: a point per column in each row
    tables: tuple = (1,)  # of the page, where table 0 has command, machine and commit; several for dots only
    names: int = 1  # columns that name a row; lines of rows with two names have a panel for each first name
    number: int = 0  # which number of a cell is drawn
    skip: tuple = ()  # columns that are not drawn


PICTURES = {
    "blocks": Picture("time of MPI / Brigade's", names=2),
    "blocks-hosts": Picture("time of the best Open MPI / Brigade's", names=2),
    "copy": Picture("ns per run", "columns"),
    "factorizations": Picture("time with BRIGADE_PBLAS=off / with on", "dots", names=2),
    "li-exchanges": Picture("time of the other / that of LI over Brigade's windows", "dots", names=2,
                            skip=("windows, us",)),
    "li-product": Picture("time of the other / that of LI over Brigade's windows", "dots", names=2),
    "li-sort": Picture("time of the other / that of LI over Brigade's windows", "dots", names=2, skip=("windows, ms",)),
    "model": Picture("%; 95 of 100 cases are below", "dots", number=1),
    "one-host-calls": Picture("time of the peer / Brigade's"),
    "one-sided": Picture("time of the best MPI / Brigade's"),
    "pblas": Picture("time of ScaLAPACK's pdgemm / that of our PBLAS", "dots", names=2),
    "putget": Picture("time of the best MPI's messages / that of puts or gets, prefetching", "dots", (1, 2, 3, 4),
                      names=2, number=1),
    "scalapack": Picture("time with the reference BLACS / with Brigade"),
    "scale": Picture("time of Open MPI / Brigade's, chosen freely", names=2),
    "slow-links": Picture("time of the best MPI / Brigade's"),
    "srumma": Picture("time of the other / Brigade's", "dots", names=2,
                      skip=("ours, ms", "of alone", "over the bound")),
    "srumma-orders": Picture("time / that of the default", "dots"),
    "synchronisation": Picture("us", "columns"),
    "topologies": Picture("time / the bound, 8 hosts", "dots", names=2, number=2),
    "transport-tcp": Picture("time of the peer / Brigade's (tcp)"),
    "zero-copy": Picture("us"),
}


class Table(NamedTuple):
    title: str
    heads: list  # of the names
    columns: list
    rows: list  # of (names, values)


def read_tables(page, picture):
    found = list(re.finditer(r"^\|.*\|\n\|[-|]+\|\n(?:\|.*\|\n)+", page, re.MULTILINE))
    return [read_table(page, found[i], picture) for i in picture.tables]


def read_table(page, match, picture):
    heads, _, *rows = ([cell.strip() for cell in re.sub("[`*]", "", line).strip("|\n").split("|")]
                       for line in match[0].splitlines())
    numbers = [[numbers_of(cell)[picture.number:picture.number + 1] for cell in row] for row in rows]
    columns = [i for i in range(picture.names, len(heads))
               if heads[i] not in picture.skip and any(ns[i] for ns in numbers)]
    values = [(row[:picture.names], [ns[i][0] if ns[i] else None for i in columns]) for row, ns in zip(rows, numbers)]
    headings = re.findall(r"^## (.*)$", page[:match.start()], re.MULTILINE)
    return Table("".join(headings[-1:]), heads[:picture.names], [heads[i] for i in columns],
                 [(names, of_row) for names, of_row in values if any(of_row)])


def numbers_of(cell):
    """Returns the numbers of a cell that begins with one."""
    cell = cell.replace(",", "")
    return [float(number) for number in re.findall(r"\d[\d.]*", cell)] if re.match(r"~?\d", cell) else []


def joined(names):
    return ", ".join(filter(None, names))


def panels_of(table):
    """Yields a table for each first name; an empty name stands for that of the row above."""
    firsts = itertools.accumulate((names[0] for names, _ in table.rows), lambda above, first: first or above)
    for first, rows in itertools.groupby(zip(firsts, table.rows), lambda pair: pair[0]):
        yield Table(f"{first} {table.heads[0]}", table.heads[1:], table.columns,
                    [(names[1:], values) for _, (names, values) in rows])


def transposed(table):
    return Table(table.title, [""], [joined(names) for names, _ in table.rows],
                 list(zip(([column] for column in table.columns), zip(*(values for _, values in table.rows)))))


def draw(picture, tables):
    if picture.form == "dots":
        return draw_dots(picture.label, tables)
    table = transposed(tables[0]) if picture.form == "columns" else tables[0]
    return draw_lines(picture.label, list(panels_of(table)) if picture.names == 2 else [table])


class Styles(dict):
    """The marker and colour of each name, equal in all panels of a picture."""

    def of(self, name):
        i = self.setdefault(name, len(self))
        return {"marker": "os^Dv"[i % 5], "color": f"C{i % 10}", "label": textwrap.fill(name, 36)}


def draw_lines(label, panels):
    alone = len(panels) == 1
    figure, axes = plt.subplots(1, len(panels), figsize=(8.5, 3.4), sharey=True, squeeze=False)
    figure.subplots_adjust(left=0.09, right=0.68 if alone else 0.84, top=0.97 if alone else 0.93, bottom=0.14,
                           wspace=0.06)
    styles = Styles()
    for ax, panel in zip(axes[0], panels):
        for names, values in panel.rows:
            ax.plot(*zip(*((x, value) for x, value in enumerate(values) if value)), linewidth=1,
                    **styles.of(joined(names)))
        if "/" in label:
            ax.axhline(1, color="#000000", linewidth=0.8)
        ax.set_xticks(range(len(panel.columns)), [textwrap.fill(name, 14 if alone else 6) for name in panel.columns],
                      fontsize=7 if alone else 6)
        ax.set_title("" if alone else panel.title, fontsize=8)
    first = axes[0][0]
    first.set_ylabel(label, fontsize=8)
    first.set_yscale("log")
    first.yaxis.set_major_formatter("{x:g}")
    lowest, highest = first.get_ylim()
    first.yaxis.set_minor_formatter("{x:g}" if "/" in label and highest / lowest < 100 else "")
    for ax in axes[0]:
        ax.tick_params(axis="y", which="both", labelsize=7)
    legend(axes[0], axes[0][-1])
    return figure


def draw_dots(label, panels):
    heights = [len(panel.rows) + 1 for panel in panels]
    figure, axes = plt.subplots(len(panels), 1, figsize=(8.5, 0.5 + 0.16 * sum(heights)), sharex=True, squeeze=False,
                                height_ratios=heights, layout="constrained")
    styles = Styles()
    for ax, panel in zip(axes[:, 0], panels):
        for j, column in enumerate(panel.columns):
            ax.plot(*zip(*((values[j], y) for y, (_, values) in enumerate(panel.rows) if values[j])), linestyle="",
                    markersize=4, **styles.of(column))
        for y, (names, _) in enumerate(panel.rows):
            if y and len(names) > 1 and names[0]:
                ax.axhline(y - 0.5, color="#dddddd", linewidth=0.8)
        if "/" in label:
            ax.axvline(1, color="#000000", linewidth=0.8)
        ax.set_yticks(range(len(panel.rows)), [joined(names) for names, _ in panel.rows], fontsize=7)
        ax.set_ylim(len(panel.rows) - 0.5, -0.5)
        ax.tick_params(axis="y", left=False)
        heads = joined(panel.heads)
        ax.set_title(f"{panel.title} ({heads})" if panel.title else heads, fontsize=8, loc="left")
    last = axes[-1][0]
    last.set_xlabel(label, fontsize=8)
    last.set_xscale("log")
    last.xaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    last.xaxis.set_major_formatter("{x:g}")
    last.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    last.tick_params(axis="x", labelsize=7)
    legend(axes[:, 0], axes[0][0])
    return figure


def legend(all_axes, beside):
    lines = {text: line for ax in all_axes for line, text in zip(*ax.get_legend_handles_labels())}
    beside.legend(lines.values(), lines.keys(), loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=7)


def main():
    for name, picture in PICTURES.items():
        page = PAGES / f"{name}.md"
        save(draw(picture, read_tables(page.read_text(), picture)), page.with_suffix(".svg"))


if __name__ == "__main__":
    main()
