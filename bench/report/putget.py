"""The pages of the put/get study: programs by messages, by puts or gets, and with early puts or gets."""

import collections
import csv
import pathlib
from typing import NamedTuple

from bench.report.li import section
from bench.report.measurements import Figure, Summary, Versus, by_label, geometric_mean, ratio
from bench.report.style import GREEN, ORANGE, Section, Table, bytes_axis, format_us, plot, plt, ratio_cell, time_cell

METHOD = """A launch has Brigade's windows, those of one MPI where it makes any, and its messages, all with the same
source. A peer counts with the launch in which it does best against Brigade there, and is named with how it communicates
there; its messages count in the faster of their orders. A gain is the time of messages over that of windows, less one.
Where ranks outnumber processors they share them, and waiting costs others their time. Over TCP on this host Brigade's
puts and gets go by messages over it, and so do those on the windows of Open MPI 4 (osc/pt2pt) and MPICH 5; those of
Open MPI 5 are memory there that all ranks map, and are left out. On simulated machines a put is a control message with
the place of the data, and the data: two messages where a send is one. Over slow links, with 12 us for a message on
either side, that is more than blocking puts gain."""
# The comparisons of the paper, in our terms: numerator and denominator of a ratio of times.
COMPARISONS = {"blocking_over_mpi": ("messages", "blocking"), "nonblocking_over_mpi": ("messages", "ahead"),
               "nonblocking_over_blocking": ("blocking", "ahead"), "rma_over_mpi": ("messages", "ahead")}
PEERS = {"messages": "MPI's messages", "windows": "MPI's windows"}
_DATA = pathlib.Path(__file__).resolve().parent.parent / "studies" / "paper" / "putget.csv"


class Peer(NamedTuple):
    """The MPI that does best against ours in the same launch, and how it communicates there."""

    mpi: str
    pattern: str
    figure: Figure
    ratio: Figure

    @property
    def name(self):
        return f"{self.mpi}: {self.pattern}"


class Study:
    """One program."""

    def __init__(self, title, paper, why, benchmark, messages, blocking):
        self.TITLE = title  # pylint: disable=invalid-name
        self.PAPER = paper  # pylint: disable=invalid-name
        self.METHOD = f"{why} {METHOD}"  # pylint: disable=invalid-name
        self.benchmark = benchmark  # in the table of the paper
        self.ways = {"messages": messages, "blocking": blocking, "ahead": f"nb{blocking}"}  # {way: pattern}

    def sections(self, place, lines, _):
        cases = compare(self.ways, lines)
        blocking, ahead = self.ways["blocking"], self.ways["ahead"]
        header = ["case", "ranks", f"{blocking}, us", f"{ahead}, us"]
        for peer in PEERS.values():
            header += [f"{peer}, us", f"over {blocking}", f"over {ahead}", "which"]
        table = Table(header, [self.row(key, found) for key, found in cases.items()])
        return [section(f"{self.benchmark.replace('_', ' ')}, {place}", self.claims(cases),
                        [{"title": "All cases", "plot": self.draw(cases), "table": table}], summaries(place, cases))]

    def draw(self, cases):
        """By number of ranks, what is gained over the best MPI's messages, with intervals, and what the paper gained.
        None where there are no messages."""
        gains = collections.defaultdict(dict)  # {(case, way): {ranks: Figure}}
        for key, found in cases.items():
            for way in ("blocking", "ahead"):
                if ("messages", way) in found:
                    gains[name_of(key), way][key.ranks] = found["messages", way].ratio
        if not gains:
            return None
        figure, axes = plt.subplots(figsize=(6, 3.2))
        colours = {name: f"C{number}" for number, name in enumerate(dict.fromkeys(name for name, _ in gains))}
        for (name, way), by_ranks in gains.items():
            ranks = sorted(by_ranks)
            middle, low, high = ([100 * value - 100 for value in values] for values in zip(
                *((by_ranks[r].median, by_ranks[r].lo, by_ranks[r].hi) for r in ranks)))
            axes.errorbar(ranks, middle, [[m - one for m, one in zip(middle, low)],
                                          [one - m for m, one in zip(middle, high)]],
                          fmt="o-" if way == "blocking" else "s--", ms=3, lw=1.2, capsize=2, color=colours[name],
                          label=f"{name}, {self.ways[way]}")
        for line in self.of_paper(cases):
            slower, faster = COMPARISONS[line["comparison"]]
            if slower == "messages":
                style = {"color": GREEN if faster == "ahead" else ORANGE, "label": f"paper: {what_is_said(line)}"}
                if line["high"]:
                    axes.axhspan(float(line["low"]), float(line["high"]), alpha=0.2, lw=0, **style)
                else:
                    axes.axhline(float(line["low"]), ls=":", lw=1.2, **style)
        axes.axhline(0, color="black", lw=0.8)
        bytes_axis(axes)
        axes.xaxis.set_major_formatter(lambda ranks, _: f"{ranks:g}")
        axes.set_xlabel("ranks")
        axes.set_ylabel("gain over MPI's messages, %")
        axes.legend(frameon=False, fontsize=5, ncols=2)
        return plot(figure, f"Gains over the best MPI's messages, {self.benchmark.replace('_', ' ')}")

    def of_paper(self, cases):
        """The lines of the paper's table on this program, but for classes that none of the cases is of."""
        return [line for line in paper() if line["benchmark"] == self.benchmark
                and (not line["class"] or any(key.case.endswith(f"class {line['class']}") for key in cases))]

    def simulated_sections(self, lines):
        """None where nothing was simulated."""
        if not len(lines):
            return []
        ways = [f"{way}_us" for way in self.ways]
        messages, *others = self.ways.values()
        header = ["machine", "ranks", "case", "of a rank, Gflop/s",
                  *(f"{pattern}, us" for pattern in self.ways.values()), *(f"{messages} / {other}" for other in others)]
        rows = []
        for line in lines.to_dict("records"):
            messages, *others = (line[way] for way in ways)
            rows.append([line["machine"], line["ranks"], line["case"], f"{line['gflops']:g}",
                         *(format_us(line[way]) for way in ways), *(f"{messages / other:.2f}" for other in others)])
        unit = "product" if self.benchmark == "SUMMA" else "iteration"
        return [Section(f"Simulated machines, one {unit}, all variants by Brigade", "plain",
                        {"table": Table(header, rows)})]

    def row(self, key, found):
        cells = [name_of(key), key.ranks]
        cells += [time_cell(found[way]) if way in found else "" for way in ("blocking", "ahead")]
        for peer in PEERS:
            best = {way: found[peer, way] for way in ("blocking", "ahead") if (peer, way) in found}
            cells.append(format_us(next(iter(best.values())).figure.median) if best else "")
            cells += [ratio_cell(best[way].ratio) if way in best else "" for way in ("blocking", "ahead")]
            cells.append(" / ".join(dict.fromkeys(one.name for one in best.values())))
        return cells

    def claims(self, cases):
        """A row per line of the paper's table."""
        rows = []
        for line in paper():
            if line["benchmark"] != self.benchmark:
                continue
            slower, faster = COMPARISONS[line["comparison"]]
            gains = []
            for key, found in cases.items():
                if line["class"] and not key.case.endswith(f"class {line['class']}"):
                    continue
                if slower == "messages" and (slower, faster) in found:
                    gains.append(found[slower, faster].ratio.median)
                elif slower in found and faster in found:
                    gains.append(ratio(found[slower], found[faster]).median)
            here = f"{100 * min(gains) - 100:.0f} to {100 * max(gains) - 100:.0f} %" if gains else "not measured"
            agrees = 100 * geometric_mean(gains) - 100 >= float(line["low"]) if gains else None
            rows.append([what_is_said(line), here, {None: "", True: "as there", False: "less"}[agrees]])
        return rows


def paper():
    """The lines of the paper's table of improvements."""
    with open(_DATA, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def what_is_said(line):
    """Of a line of the paper's table."""
    text = f"{line['comparison'].replace('_', ' ')}{', class ' + line['class'] if line['class'] else ''}: "
    return text + (f"{line['low']} to {line['high']} %" if line["high"] else f"more than {line['low']} %")


def name_of(key):
    return key.case if key.case.startswith("NAS") else f"{key.case}, {key.rows}"


def compare(ways, lines):
    """{Key: found}: found[way] is ours without a label; found[peer, way] is the Peer among MPI's "messages" or
    "windows"; messages count in their faster order."""
    cases = collections.defaultdict(dict)
    messages = (ways["messages"], f"nb{ways['messages']}")
    for label, of_label in by_label(lines):
        name = label or lines[lines["label"] == ""]["versions"].iloc[0]["mpi"]
        for key, subjects in of_label.items():
            mpi = f"mpi {label}".strip()
            for way in ("blocking", "ahead"):
                ours = subjects.get(("brigade", ways[way]))
                if ours is None:
                    continue
                if not label:
                    cases[key][way] = ours
                for peer, patterns in (("messages", messages), ("windows", (ways[way],))):
                    for pattern in patterns:
                        figure = subjects.get((mpi, pattern))
                        known = cases[key].get((peer, way))
                        if figure and (known is None or ratio(figure, ours).median < known.ratio.median):
                            cases[key][peer, way] = Peer(name, pattern, figure, ratio(figure, ours))
    return dict(cases)


def summaries(place, cases):
    """With whose figures are behind each mean, and behind how many."""
    lines = []
    for peer, what in PEERS.items():
        for way in ("blocking", "ahead"):
            best = {key: found[peer, way] for key, found in cases.items() if (peer, way) in found}
            if not best:
                continue
            versus = [Versus(f"{name_of(key)}, {key.ranks} ranks", one.ratio) for key, one in best.items()]
            names = ", ".join(f"{name} in {count}" for name, count
                              in collections.Counter(one.name for one in best.values()).most_common())
            lines.append(Summary(f"{place}: {way} beside {what} ({names})", {"best MPI": versus}))
    return lines


STUDIES = {
    "cg": Study("NAS CG as the ARMCI paper measures it", """Blocking puts replaced sends and receives; non-blocking, a
vector went in two halves, one exchanged while the other was summed. On 128 processors over Myrinet that gained more
than 10 % over MPI.""", """Halves go ahead by messages as well as by puts, so MPI may gain by that, too. A put with
notification and a message are then much the same: one segment over a link, one copy in shared memory. The difference
is that ranks that wait for MPI poll.""", "NAS_CG", "send", "put"),
    "mg": Study("NAS MG as the ARMCI paper measures it", """Puts with notification replaced sends and receives, and
gained 7 to 37 %. Two sets of buffers, and the next dimension's transfer issued before this one was worked on, brought
that to 28 to 46 %.""", """A face is short, and an MPI of today sends a short message without asking its receiver, as a
put is sent. So there is little to gain but where ranks share processors: a put arrives although its target
computes.""", "NAS_MG", "send", "put"),
    "summa": Study("SUMMA as the ARMCI paper measures it", """Gets of chunks that a process needs next, while it
multiplied, replaced broadcasts and gained 10 to 25 %.""", """A broadcast waits for whoever of its row or column comes
last, a get for nobody but the link. So gets gain most on hosts with slow links, and where ranks share
processors.""", "SUMMA", "broadcast", "get"),
    "md": Study("Molecular dynamics as the ARMCI paper measures it", """Tasks from a shared counter balance the load,
where the decomposition by messages is fixed. That gained more than 40 % in some cases; non-blocking gets added
little.""", """Without a cutoff the work of all pairs is known in advance, so an even division by messages loses little:
what makes the load uneven here is the system, where ranks outnumber processors. A task costs a number, two gets and
two sums, and over slow links each waits for a rank that computes.""", "LJ_MD", "fold", "get"),
}
