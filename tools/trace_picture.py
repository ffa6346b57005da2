#!/usr/bin/env python3
"""Shows where the time of a job went, from what its ranks wrote for BRIGADE_TRACE=FILE.

Prints each rank's shares of start-up, computing, copying, posting, waiting and the rest of BLACS. Draws them over time,
and a stretch in the middle in full.

    mpirun -n 4 -x LD_PRELOAD=... -x BRIGADE_TRACE=lu.json ./my_program
    %(prog)s lu.json --picture lu.svg
"""

import argparse
import collections
import json
import math
import pathlib
import sys

import merge_trace

# numpy and matplotlib are imported where they are used: the manual page is made of --help, on machines without them.

# States of a rank, each with its colour (Okabe and Ito: safe for colour-blind readers).
COLOURS = {
    "outside BLACS": "#009e73",
    "start-up": "#56b4e9",
    "copy, combine": "#0072b2",
    "post send": "#d55e00",
    "wait": "#e69f00",
    "rest of BLACS": "#cc79a7",
}
# Categories of trace events; any other moment is outside.
MEANING = {"copy": "copy, combine", "combine": "copy, combine", "post": "post send", "wait": "wait",
           "call": "rest of BLACS"}
# Calls that make a grid; the first of them starts the library. All that happens in them is start-up.
START_UP = ("blacs_gridinit", "blacs_gridmap")
BINS = 200
# Spans are drawn as pixels, also in an SVG: thousands of shapes would make a large file.
DPI = 110

Span = collections.namedtuple("Span", "begin end what")  # us


def innermost(spans):
    """Cuts nested spans into a sequence of spans, each of what was going on inside everything else."""
    pieces, stack, now = [], [], 0

    def go_on_until(time):
        nonlocal now
        if stack and time > now:
            pieces.append(Span(now, time, stack[-1].what))
        now = max(now, time)

    for span in sorted(spans, key=lambda s: (s.begin, -s.end)):
        while stack and stack[-1].end <= span.begin:
            go_on_until(stack[-1].end)
            stack.pop()
        go_on_until(span.begin)
        stack.append(span)
    while stack:
        go_on_until(stack[-1].end)
        stack.pop()
    return pieces


class Rank:
    def __init__(self, trace):
        self.number = trace["otherData"]["rank"]
        events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        self.calls = [Span(e["ts"], e["ts"] + e["dur"], e["name"]) for e in events if e["cat"] == "call"]
        starts = [call for call in self.calls if call.what in START_UP]
        self.pieces = innermost(
            [Span(start.begin, start.end, "start-up") for start in starts] +
            [Span(e["ts"], e["ts"] + e["dur"], MEANING[e["cat"]]) for e in events
             if not any(start.begin <= e["ts"] < start.end for start in starts)])

    def shares(self, edges):
        """{what: share of each interval between the edges}."""
        import numpy
        shares = {}
        for what in COLOURS:
            pieces = [p for p in self.pieces if p.what == what]
            if not pieces:
                shares[what] = numpy.zeros(len(edges) - 1)
                continue
            # Time spent on it until then, at every moment when that begins or ceases to grow.
            moments = numpy.array([[p.begin, p.end] for p in pieces])
            spent = numpy.cumsum(moments[:, 1] - moments[:, 0])
            spent = numpy.stack([numpy.concatenate([[0], spent[:-1]]), spent], axis=1)
            shares[what] = numpy.diff(numpy.interp(edges, moments.ravel(), spent.ravel())) / numpy.diff(edges)
        shares["outside BLACS"] = 1 - sum(shares.values())
        return shares


def shares_table(ranks, window):
    rows = [[f"{rank.shares(window)[what][0]:.1%}" for what in COLOURS] for rank in ranks]
    mean = [sum(rank.shares(window)[what][0] for rank in ranks) / len(ranks) for what in COLOURS]
    return [f"rank {rank.number}" for rank in ranks] + ["mean"], rows + [[f"{share:.1%}" for share in mean]]


def draw_shares(axes, ranks, window):
    """A band per rank, each with the shares stacked."""
    import numpy
    edges = numpy.linspace(*window, BINS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    times_ms = (numpy.concatenate([[window[0]], middles, [window[1]]]) - window[0]) / 1000
    for place, rank in enumerate(ranks):
        shares = rank.shares(edges)
        bounds = numpy.cumsum([shares[what] for what in COLOURS], axis=0)
        # Each from the band's edge on, the next over it: half as many points as the differences have.
        for what, bound in reversed(list(zip(COLOURS, bounds))):
            outline = numpy.concatenate([[place], place + 0.85 * bound, [place]])
            axes.fill(times_ms, outline, color=COLOURS[what], linewidth=0, rasterized=True)


def draw_spans(axes, ranks, window, zoom):
    """A bar of what a rank does; below it a line for each BLACS call."""

    def milliseconds(spans):
        for s in spans:
            begin, end = max(s.begin, zoom[0]), min(s.end, zoom[1])
            if begin < end:
                yield (begin - window[0]) / 1000, (end - begin) / 1000, s.what

    def draw_bars(spans, top, height, colour):
        axes.broken_barh([(begin, length) for begin, length, _ in milliseconds(spans)], (top, height), color=colour,
                         linewidth=0, rasterized=True)

    for place, rank in enumerate(ranks):
        draw_bars([Span(*zoom, "")], place, 0.6, COLOURS["outside BLACS"])
        for what, colour in COLOURS.items():
            draw_bars([p for p in rank.pieces if p.what == what], place, 0.6, colour)
        draw_bars(rank.calls, place + 0.64, 0.04, "#222222")
        for begin, length, name in milliseconds(rank.calls):
            if length > 0.05 * (zoom[1] - zoom[0]) / 1000:  # where its name has room
                axes.text(begin, place + 0.7, name, fontsize=6, verticalalignment="top")


def picture(ranks, window, zoom, title):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none",
                         "font.family": "sans-serif", "svg.hashsalt": "trace"})
    figure, (whole, part, table) = plt.subplots(3, figsize=(11, 1.6 + 1.4 * len(ranks)),
                                                height_ratios=[len(ranks), 1.3 * len(ranks), 1 + 0.5 * len(ranks)])
    draw_shares(whole, ranks, window)
    whole.set_title(title, loc="left")
    whole.axvspan(*((time - window[0]) / 1000 for time in zoom), facecolor="none", edgecolor="#222222")
    whole.legend([plt.Rectangle((0, 0), 1, 1, color=colour) for colour in COLOURS.values()], COLOURS, ncol=len(COLOURS),
                 loc="lower right", bbox_to_anchor=(1, 1), frameon=False)
    whole.set_xlim(0, (window[1] - window[0]) / 1000)
    draw_spans(part, ranks, window, zoom)
    part.set_xlim(*((time - window[0]) / 1000 for time in zoom))
    part.set_ylim(0, len(ranks))
    whole.set_xlabel("ms. Below, what the frame shows, in full; a line under each BLACS call")
    for axes in (whole, part):
        axes.set_yticks([place + 0.4 for place in range(len(ranks))], [f"rank {rank.number}" for rank in ranks])
        axes.invert_yaxis()
    names, cells = shares_table(ranks, window)
    table.axis("off")
    table.table(cells, rowLabels=names, colLabels=list(COLOURS), loc="center", edges="horizontal")
    figure.tight_layout()
    return figure


def run_of(path, routine):
    """Where scalapack_timing says that the median run of `routine` was, in us, and what it was."""
    try:
        for line in map(json.loads, reversed(path.read_text().splitlines())):  # the last job's
            if line["routine"] == routine:
                begin = line["median_began_s"] * 1e6
                title = (f"{routine}, n = {line['n']}, nb = {line['nb']}, {line['rows']} x {line['cols']} grid: "
                         f"{line['median_s'] * 1e3:.1f} ms")
                return (begin, begin + line["median_s"] * 1e6), title
    except (ValueError, KeyError, TypeError):
        sys.exit(f"{path} is not what scalapack_timing --json wrote")
    sys.exit(f"{path} has no line of {routine}")


def milliseconds_of_stretch(text):
    try:
        length = float(text)
    except ValueError:
        length = 0
    if not 0 < length < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of milliseconds above 0")
    return length


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", type=pathlib.Path, help="as given to BRIGADE_TRACE")
    parser.add_argument("--picture", metavar="FILE", type=pathlib.Path, help="draw it: .svg or .png")
    parser.add_argument("--timing", metavar="JSONL", type=pathlib.Path,
                        help="the output of scalapack_timing --json in the traced job: show only the median run of one "
                        "routine")
    parser.add_argument("--routine", default="LU", help="which one; default: %(default)s")
    parser.add_argument("--zoom", metavar="MS", type=milliseconds_of_stretch, default=2,
                        help="length of the stretch drawn in full; default: %(default)s")
    args = parser.parse_args()
    if args.picture and args.picture.suffix not in (".svg", ".png"):
        parser.error(f"--picture: {args.picture} is neither .svg nor .png")

    ranks = [Rank(trace) for trace in merge_trace.load_parts(args.file)]
    calls = [call for rank in ranks for call in rank.calls]
    if not calls:
        sys.exit(f"{args.file}: no rank called the BLACS")
    window, title = (min(c.begin for c in calls), max(c.end for c in calls)), args.file.name
    if args.timing:
        window, title = run_of(args.timing, args.routine)
    middle, half = sum(window) / 2, min(args.zoom * 1000, window[1] - window[0]) / 2

    names, cells = shares_table(ranks, window)
    print(title)
    print(" " * 10, *(f"{what:>15}" for what in COLOURS))
    for name, row in zip(names, cells):
        print(f"{name:10}", *(f"{cell:>15}" for cell in row))
    if args.picture:
        figure = picture(ranks, window, (middle - half, middle + half), title)
        figure.savefig(args.picture, dpi=DPI, metadata={"Date": None} if args.picture.suffix == ".svg" else {})


if __name__ == "__main__":
    merge_trace.run(main)
