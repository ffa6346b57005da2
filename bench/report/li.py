"""Common parts of the pages of the LI paper's suites. Subjects: LIPUT and LIGET over a backend ("brigade": over its
windows), and MPI's sends and receives ("mpi")."""

import collections
import csv
import pathlib
import re
from typing import NamedTuple

from bench.report.measurements import OURS, Summary, Versus, collect, geometric_mean, ratio
from bench.report.style import (BLACK, COLOURS, ORANGE, Cell, Section, Table, bytes_axis, plot, plt, ratio_cell,
                                time_cell)

LIBRARIES = ("BSPlib", "PUB", "LAM")
METHOD = """A launch is LI over one backend, with MPI's sends and receives beside; launches of all backends take turns,
and those of the same contender count together. In brackets stand 95 % intervals; other small figures are the time over
that of Brigade's windows with the same algorithm: above 1, Brigade is faster. Debian's Open MPI makes no windows over
TCP, so that there are others instead."""


class Contender(NamedTuple):
    """A column."""

    subject: str
    pattern: str

    @property
    def title(self):
        name = self.subject.replace("brigade", "windows")
        return f"{name}: {self.pattern}"


def _order(contender):
    return (contender.subject not in OURS, contender.subject.split()[0] == "mpi", contender.subject)


def contenders(cases):
    """Ours first, then other backends, then messages; patterns of each in the order in which they were measured."""
    found = dict.fromkeys(Contender(*who) for subjects in cases for who in subjects if who[0] != "alone")
    return sorted(found, key=_order)


def two_sided(pattern):
    """Returns the pattern of this algorithm with messages."""
    return re.sub("(put|get)$", "send", pattern)


def over(subjects, who):
    """The time over that of Brigade's windows with the same algorithm, by put where `who` sends; None for ours."""
    if who[0] in OURS:
        return None
    ours = subjects.get(("brigade", re.sub("send$", "put", who[1])))
    return ratio(subjects[who], ours) if ours else None


def best(subjects, pattern, peer):
    """The ratio of the `peer`, "mpi" or "mpi_rma" of any label, that does best against Brigade's windows with
    `pattern`; None if there is none."""
    wanted = two_sided(pattern) if peer == "mpi" else pattern
    peers = [figure for (subject, of_peer), figure in subjects.items()
             if subject.split()[0] == peer and of_peer == wanted]
    return ratio(min(peers, key=lambda figure: figure.median), subjects["brigade", pattern]) if peers else None


def summaries(place, cases, name_of):
    """Two lines: beside the best one-sided MPI, and beside the best messages."""
    lines = []
    for what, peer in (("the best MPI's windows", "mpi_rma"), ("the best MPI's messages", "mpi")):
        versus = [Versus(f"{name_of(key)}, {pattern}", figure) for key, subjects in cases.items()
                  for subject, pattern in subjects if subject == "brigade"
                  if (figure := best(subjects, pattern, peer)) is not None]
        if versus:
            lines.append(Summary(f"{place}: LI over Brigade's windows beside {what}", {"best MPI": versus}))
    return lines


def time_with_ratio(subjects, who):
    """The cell of a contender in the row of a case: its time, with the spread, and the ratio."""
    if who not in subjects:
        return ""
    time, spread, *_ = time_cell(subjects[who])
    versus = over(subjects, who)
    return Cell(time, f"{spread} {versus.median:.2f}" if versus else spread,
                ratio_cell(versus).verdict if versus else "")


def range_of(values):
    """'least to most, geometric mean m'."""
    return f"{min(values):.2f} to {max(values):.2f}, mean {geometric_mean(values):.2f}" if values else "not measured"


def claim(place, text, values, holds, why):
    """A row: what the paper says, what is found here, and whether the mean is as `holds` says; if not, what can be the
    reason: the same everywhere, or by place, "" being all other places."""
    if not values:
        return [text, range_of(values), ""]
    reason = why if isinstance(why, str) else why.get(place, why[""])
    return [text, range_of(values), "as there" if holds(geometric_mean(values)) else Cell("differs", reason)]


def beside(cases, peer, wanted=""):
    """How many times as long the best `peer`, "mpi" or "mpi_rma" of any label, takes as Brigade's windows, by case and
    by pattern that begins as wanted."""
    return [figure.median for subjects in cases.values() for subject, pattern in subjects
            if subject == "brigade" and pattern.startswith(wanted)
            and (figure := best(subjects, pattern, peer)) is not None]


def gains(cases, backend, wanted=""):
    """How many times as long messages of the same MPI take as `backend`, by case and by put or get whose pattern begins
    as wanted."""
    found = []
    for subjects in cases.values():
        for (subject, pattern), figure in subjects.items():
            name, _, label = subject.partition(" ")
            messages = subjects.get((f"mpi {label}".strip(), two_sided(pattern)))
            if name == backend and messages and pattern.startswith(wanted):
                found.append(messages.median / figure.median)
    return found


def paper(name, size):
    """{(size, ranks, library, pattern): {nodes: speedup}}; nodes are SMP with two processes a PC, else non-SMP."""
    found = collections.defaultdict(dict)
    path = pathlib.Path(__file__).resolve().parent.parent / "studies" / "paper" / f"{name}.csv"
    with open(path, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            which = int(row[size]), int(row["ranks"]), row["library"], row["pattern"]
            found[which][row["nodes"]] = float(row["speedup"])
    return dict(found)


def sequential(lines, name):
    """{(case, rows): Figure} of one rank without any communication, wherever it was measured."""
    return {(key.case, key.rows): subjects["alone", "sequential"]
            for of_place in lines.values() for key, subjects in cases_of(of_place, name).items()
            if ("alone", "sequential") in subjects}


PAPER_HEADER = [f"paper: {library}" for library in LIBRARIES]


def paper_cells(known, key, pattern):
    """Returns the paper's figure of each library for this case, if any; small: with two processes a PC."""
    found = [known.get((key.rows, key.ranks, library, pattern), {}) for library in LIBRARIES]
    return [Cell(f"{cell['non-SMP']:g}" if "non-SMP" in cell else "", f"{cell['SMP']:g}" if "SMP" in cell else "")
            for cell in found]


def draw_speedups(cases, alone, known, wanted):
    """By number of ranks, of the cases of one size: what is measured of the `wanted` patterns, with intervals, and what
    each library of the paper reached. None where no rank ran alone."""
    one = next(iter(cases))
    base = alone.get((one.case, one.rows))
    if not base:
        return None
    figure, axes = plt.subplots(figsize=(6, 3.2))
    for who in contenders(cases.values()):
        points = sorted((key.ranks, ratio(base, subjects[who])) for key, subjects in cases.items() if who in subjects)
        if who.pattern not in wanted:
            continue
        speedups = [speedup for _, speedup in points]
        axes.errorbar([ranks for ranks, _ in points], [speedup.median for speedup in speedups],
                      [[speedup.median - speedup.lo for speedup in speedups],
                       [speedup.hi - speedup.median for speedup in speedups]],
                      fmt="s--" if who.pattern.endswith("send") else "o-", ms=3, lw=1.2, capsize=2, label=who.title,
                      color=COLOURS["brigade"] if who.subject == "brigade" else None)
    for library, mark in zip(LIBRARIES, "^vx"):
        for nodes, colour in (("non-SMP", BLACK), ("SMP", ORANGE)):
            points = sorted((ranks, cell[nodes]) for (size, ranks, of, pattern), cell in known.items()
                            if (size, of) == (one.rows, library) and nodes in cell and pattern == wanted[0])
            if points:
                axes.plot(*zip(*points), mark + ":", ms=5, lw=0.8, color=colour, label=f"paper: {library}, {nodes}")
    bytes_axis(axes)
    axes.xaxis.set_major_formatter(lambda ranks, _: f"{ranks:g}")
    axes.set_xlabel("ranks; of the paper " + wanted[0])
    axes.set_ylabel("speedup")
    axes.legend(frameon=False, fontsize=5, ncols=2)
    return plot(figure, f"Speedups: {one.case}, {one.rows:,}")


def with_speedups(parts, cases, alone, known, wanted):
    """The `parts`, {Key: one}, with a plot before those of each size."""
    found = []
    for size in dict.fromkeys((key.case, key.rows) for key in parts):
        of_size = {key: cases[key] for key in parts if (key.case, key.rows) == size}
        drawn = draw_speedups(of_size, alone, known, wanted)
        if drawn:
            found.append({"title": drawn["description"], "plot": drawn, "table": None})
        found += [parts[key] for key in of_size]
    return found


def section(title, claims, parts, found):
    return Section(title, "claims", {"claims": Table(["the paper says", "here", ""], claims), "parts": parts}, found)


def cases_of(lines, name):
    """{Key: {(subject, pattern): Figure}} of the cases whose names begin so."""
    return {key: subjects for key, subjects in collect(lines).items() if key.case.startswith(name)}
