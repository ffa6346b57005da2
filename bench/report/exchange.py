"""The sections of the exchange study: Tables 1 to 4 of the MPI/SX paper, and single operations."""

import collections
import csv
import pathlib
import re
from typing import NamedTuple

from bench.report.measurements import Figure, Summary, Versus, by_label, ratio
from bench.report.style import (
    Cell, Section, Table, bytes_axis, draw_lines, format_bytes, format_us, plot, plt, ratio_cell, time_axis, time_cell)

TITLE = "One-sided communication as the MPI/SX paper measures it"
PAPER = """On the SX-5, whose nodes share memory, a put or get between fences cost about 100 us of synchronisation on 8
ranks, however many neighbours there were; start and complete cost less with one neighbour and more with eight; locks
cost less than fences with one neighbour and the most with eight, one after the other. With 8 neighbours in shared
memory puts between fences overtook sends and receives slightly above 64 KiB a block; with one neighbour they did not up
to 4 MiB. A put of blocks with gaps into a private window took 31 to 38 us less if the target had kept the datatype than
if the datatype was sent each time; with a long description it took 217 to 250 us less."""
METHOD = """The paper gives the fastest of 25 epochs, these tables the median and, behind it, the fastest.
Synchronisation alone is the mean of 25 epochs in a row, since ranks that share processors start one by one. Peers are
the MPIs that were found, each compared within its own launches; the table shows the one that does best. Small figures
are the peer's time over Brigade's. Over TCP on this host puts and gets go by messages over it, as do those of Open MPI
(osc/pt2pt)."""
VARIANTS = ("put, fence", "get, fence", "put, post, start", "get, post, start", "put, lock", "get, lock")
TWO_SIDED = "send, receive"
SENDRECV = "sendrecv"
TYPED = ("put", "put, cached", "put, uncached")
NOTIFIED = "put with notification"
BARE = ("store", "load", "memcpy")
_DATA = pathlib.Path(__file__).resolve().parent.parent / "studies" / "paper"


class Peer(NamedTuple):
    """The subject that does best against ours in one launch."""

    name: str
    figure: Figure
    ratio: Figure


class Exchange(NamedTuple):
    """One table of the paper."""

    ranks: int
    neighbours: int
    memory: str


def paper():
    """{(Exchange, block bytes, pattern): us}"""
    with open(_DATA / "exchange.csv", encoding="utf-8", newline="") as lines:
        return {(Exchange(int(row["ranks"]), int(row["neighbours"]), row["memory"]), int(row["block_bytes"]),
                 row["pattern"]): float(row["us"]) for row in csv.DictReader(lines)}


def typed_paper():
    """{(datatype, block bytes, pattern): us}"""
    with open(_DATA / "typed.csv", encoding="utf-8", newline="") as lines:
        return {(row["datatype"], int(row["block_bytes"]), row["pattern"]): float(row["us"])
                for row in csv.DictReader(lines)}


def compare(lines):
    """({Key: {pattern: Figure}}, {Key: {pattern: Peer}}): ours, and the best peer's."""
    ours, peers = collections.defaultdict(dict), collections.defaultdict(dict)
    for label, cases in by_label(lines):
        for key, subjects in cases.items():
            for (subject, pattern), figure in subjects.items():
                if subject == "brigade":
                    if not label:
                        ours[key][pattern] = figure
                    continue
                versus = ratio(figure, subjects["brigade", ours_beside(key, pattern)])
                known = peers[key].get(pattern)
                if known is None or versus.median < known.ratio.median:
                    peers[key][pattern] = Peer(subject, figure, versus)
    return ours, peers


def ours_beside(key, pattern):
    """Returns our pattern for the comparison with a peer's. Two-sided: puts between fences, of a kept datatype, or with
    notification. Bare memory: the operation that could be no faster. All others: the equal pattern."""
    if pattern in BARE:
        return f"{key.case.removeprefix('one-sided ')}, flush"
    if pattern == SENDRECV:
        return "put, fence"
    if pattern != TWO_SIDED:
        return pattern
    if key.case.endswith(NOTIFIED):
        return NOTIFIED
    return "put, cached" if datatype_of(key) else "put, fence"


def exchange_of(key):
    """Returns the exchange that the case's name describes, or None."""
    match = re.fullmatch(r"exchange with (\d+) neighbours?, (shared|private)", key.case)
    return Exchange(key.ranks, int(match[1]), match[2]) if match else None


def datatype_of(key):
    match = re.fullmatch(r"typed exchange, (\w+)", key.case)
    return match and match[1]


def block_of(key):
    return key.bytes // max(key.cols, 1)


def both_cell(figure):
    """Median, with its interval, and fastest."""
    return time_cell(figure)._replace(text=f"{format_us(figure.median)}, {format_us(figure.least)}")


def summary(what, peers, keys, patterns, peer="best MPI"):
    versus = [Versus(f"{key.case}, {format_bytes(block_of(key))}, {pattern}", peers[key][pattern].ratio)
              for key in keys for pattern in patterns if pattern in peers[key]]
    return Summary(what, {peer: versus} if versus else {})


def synchronisation_section(place, ours, peers):
    known = paper()
    keys = [key for key in ours if exchange_of(key) and not key.bytes]
    rows = []
    for key in keys:
        exchange = exchange_of(key)
        for how in ("fence", "post, start", "lock"):
            if f"put, {how}" not in ours[key]:
                continue
            peer = peers[key].get(f"put, {how}")
            us = known.get((exchange, 0, how))
            rows.append([exchange.memory, exchange.ranks, exchange.neighbours, how, both_cell(ours[key][f"put, {how}"]),
                         both_cell(peer.figure) if peer else "", ratio_cell(peer.ratio) if peer else "",
                         f"{us:g}" if us else ""])
    table = Table(["windows", "ranks", "neighbours", "synchronisation", "Brigade, us", "best MPI, us", "ratio",
                   "paper, us"], rows)
    patterns = [pattern for pattern in VARIANTS if pattern.startswith("put")]
    return Section(f"Synchronisation alone, {place} (Table 1)", "plain", {"table": table},
                   [summary(f"{place}: synchronisation alone", peers, keys, patterns)])


def block_row(key, ours, peers, known):
    cells = [format_bytes(block_of(key))]
    for pattern in VARIANTS:
        figure, peer = ours[key].get(pattern), peers[key].get(pattern)
        cells.append(Cell(both_cell(figure).text, f"{peer.ratio.median:.2f}" if peer else "",
                          ratio_cell(peer.ratio).verdict if peer else "") if figure else "")
    two_sided = peers[key].get(TWO_SIDED)
    cells += [Cell(both_cell(two_sided.figure).text, f"{two_sided.ratio.median:.2f}",
                   ratio_cell(two_sided.ratio).verdict) if two_sided else ""]
    for pattern in ("put, fence", TWO_SIDED):
        us = known.get((exchange_of(key), block_of(key), pattern))
        cells.append(f"{us:g}" if us else "")
    return cells


def draw(keys, ours, peers, title):
    """Puts between fences, of both, and sends and receives."""
    figure, axes = plt.subplots(figsize=(6, 3.2))
    series = {"brigade": [(block_of(key), ours[key]["put, fence"]) for key in keys]}
    for name, pattern in (("mpi", "put, fence"), ("best MPI", TWO_SIDED)):
        points = [(block_of(key), peers[key][pattern].figure) for key in keys if pattern in peers[key]]
        if points:
            series[name] = points
    names = {"brigade": "Brigade, put between fences", "mpi": "best MPI, put between fences",
             "best MPI": "best MPI, send and receive"}
    draw_lines(axes, series)
    for line in axes.get_lines():
        line.set_label(names[list(series)[axes.get_lines().index(line)]])
    bytes_axis(axes)
    axes.set_xlabel("block")
    time_axis(axes.yaxis)
    axes.set_ylabel("us")
    axes.legend(frameon=False)
    return plot(figure, title)


def blocks_section(place, ours, peers):
    known = paper()
    groups = collections.defaultdict(list)
    for key in ours:
        if exchange_of(key) and key.bytes:
            groups[exchange_of(key)].append(key)
    parts = []
    for exchange, keys in groups.items():
        keys.sort(key=block_of)
        title = (f"{exchange.memory} windows, {exchange.neighbours} of {exchange.ranks} ranks as neighbours")
        header = ["block", *VARIANTS, f"MPI's {TWO_SIDED}", "paper: put, fence", f"paper: {TWO_SIDED}"]
        parts.append({"title": title, "plot": draw(keys, ours, peers, title),
                      "table": Table(header, [block_row(key, ours, peers, known) for key in keys])})
    keys = [key for group in groups.values() for key in group]
    return Section(f"Exchange of blocks, {place} (Tables 2 and 3)", "exchange", {"parts": parts}, [
        summary(f"{place}: exchange beside MPI's windows", peers, keys, VARIANTS),
        summary(f"{place}: put between fences beside MPI's send and receive", peers, keys, [TWO_SIDED])])


def typed_section(place, ours, peers):
    known = typed_paper()
    keys = sorted((key for key in ours if datatype_of(key)), key=lambda key: (datatype_of(key), key.ranks, key.bytes))
    rows = []
    for key in keys:
        row = [datatype_of(key), key.ranks, format_bytes(key.bytes), *(both_cell(ours[key][how]) for how in TYPED)]
        for pattern in ("put", TWO_SIDED):
            peer = peers[key].get(pattern)
            row += [both_cell(peer.figure) if peer else "", ratio_cell(peer.ratio) if peer else ""]
        for pattern in (*TYPED[1:], TWO_SIDED):
            us = known.get((datatype_of(key), key.bytes, pattern)) if key.ranks == 8 else None
            row.append(f"{us:g}" if us else "")
        rows.append(row)
    table = Table(["datatype", "ranks", "block", *(f"Brigade, {how}" for how in TYPED), "best MPI, put", "ratio",
                   f"best MPI, {TWO_SIDED}", "ratio", *(f"paper: {how}" for how in (*TYPED[1:], TWO_SIDED))], rows)
    return Section(f"Blocks with gaps, {place} (Table 4)", "plain", {"table": table}, [
        summary(f"{place}: typed blocks beside MPI's windows", peers, keys, ["put"]),
        summary(f"{place}: typed blocks beside MPI's send and receive", peers, keys, [TWO_SIDED])])


def operations_section(place, ours, peers):
    keys = [key for key in ours if key.case.startswith("one-sided ")]
    rows = []
    for key in sorted(keys, key=lambda key: (key.case, key.bytes)):
        others = [pattern for pattern in peers[key] if pattern not in ours[key]]
        for pattern in (*ours[key], *others):
            peer = peers[key].get(pattern)
            figure = ours[key][ours_beside(key, pattern)]
            name = f"{ours_beside(key, pattern)}, beside {pattern}" if pattern in others else pattern
            rows.append([name, format_bytes(key.bytes), both_cell(figure), peer.name if peer else "",
                         both_cell(peer.figure) if peer else "", ratio_cell(peer.ratio) if peer else ""])
    table = Table(["operation", "bytes", "Brigade, us", "best peer", "its us", "ratio"], rows)
    patterns = sorted({pattern for key in keys for pattern in ours[key]})
    summaries = [
        summary(f"{place}: single operations", peers, keys, patterns),
        summary(f"{place}: {NOTIFIED}, beside MPI's send and receive", peers, keys, [TWO_SIDED]),
        summary(f"{place}: put and get beside memcpy", peers, keys, ["memcpy"], "bare memory")]
    return Section(f"Single operations, {place}", "plain", {"table": table}, [one for one in summaries if one.ratios])


def sections(place, lines, _):
    ours, peers = compare(lines)
    makers = (synchronisation_section, blocks_section, typed_section, operations_section)
    made = [make(place, ours, peers) for make in makers]
    return [section for section in made if section.data.get("parts") or section.data.get("table", ((), ()))[1]]
