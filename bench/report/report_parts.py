"""What the report's sections are made of: figures with intervals, ratios, tables and plots."""

import collections
import html
import io
import json
import math
import re
import statistics

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

# One colour per contender, the same in every plot (Okabe and Ito: told apart by colour-blind eyes).
COLOURS = {
    "shim": "#56b4e9",
    "brigade": "#0072b2",
    "direct": "#009e73",
    "stock": "#d55e00",
    "plain": "#cc79a7",
    "mpi": "#666666",
    "bare ring": "#000000",
    "stock CMA off": "#e69f00",
    "mpi CMA off": "#aaaaaa",
    "mpi MPICH": "#b8a800",
    "best MPI": "#882255",
    "bare socket": "#000000",
}
NAMES = {
    "shim": "Brigade shim",
    "brigade": "Brigade patterns",
    "direct": "hand-written tree",
    "stock": "stock BLACS",
    "plain": "plain patterns",
    "mpi": "MPI",
    "mpi tuned": "MPI, tuned",
    "stock tuned": "stock BLACS, tuned MPI",
    "better MPI": "better of Open MPI's two",
    "bare ring": "bare ring",
    "stock CMA off": "stock BLACS, CMA off",
    "mpi CMA off": "MPI, CMA off",
    "mpi MPICH": "MPICH",
    "best MPI": "best of all MPIs and settings",
    "bare socket": "bare socket",
}
OURS = ("brigade", "shim")

# `samples`: of how many the interval is; of a ratio, the lesser number.
Figure = collections.namedtuple("Figure", "median lo hi samples")
# Below it an interval is the range, and decides nothing.
ENOUGH_SAMPLES = 6


def median_interval(samples):
    """Median and nonparametric 95 % interval; the range where there are too few samples. As statistics.h."""
    ordered = sorted(samples)
    n = len(ordered)
    rank, below = 0, 0.0
    while rank < n and below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    rank = max(rank, 1)
    return Figure(statistics.median(ordered), ordered[rank - 1], ordered[n - rank], n)


def pool(figures):
    """One figure from the same figure of several launches: the launches are the samples once they are enough."""
    if len(figures) >= ENOUGH_SAMPLES:
        return median_interval([f.median for f in figures])
    return Figure(statistics.median(f.median for f in figures), min(f.lo for f in figures), max(f.hi for f in figures),
                  sum(f.samples for f in figures))


def ratio(peer, ours):
    """How many times longer the peer takes; its interval at worst."""
    return Figure(peer.median / ours.median, peer.lo / ours.hi, peer.hi / ours.lo, min(peer.samples, ours.samples))


def is_better(ratio_figure):
    return ratio_figure.samples >= ENOUGH_SAMPLES and ratio_figure.lo > 1


def is_worse(ratio_figure):
    return ratio_figure.samples >= ENOUGH_SAMPLES and ratio_figure.hi < 1


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


Key = collections.namedtuple("Key", "case ranks rows cols bytes")


def collect(lines):
    """{Key: {(subject, pattern): Figure}}, launches pooled, cases in the order of their first line."""
    grouped = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        key = Key(*(line[field] for field in Key._fields))
        figure = Figure(line["median_us"], line["lo_us"], line["hi_us"], line["iterations"])
        grouped[key][line["subject"], line["pattern"]].append(figure)
    return {key: {who: pool(f) for who, f in subjects.items()} for key, subjects in grouped.items()}


def best_of(subjects):
    """{subject: Figure}: each contender by its fastest pattern."""
    best = {}
    for (subject, pattern), figure in subjects.items():
        if subject not in best or figure.median < best[subject].median:
            best[subject] = figure
    return best


def by_label(lines):
    """[(label, {Key: subjects})], the launches without a label first."""
    return [(label, collect(line for line in lines if line["label"] == label))
            for label in sorted({line["label"] for line in lines})]


# MPI with other settings, or stock BLACS on it, where it does best against Brigade in the same launch.
Tuned = collections.namedtuple("Tuned", "label pattern figure ratio")


def best_tunings(lines):
    """{Key: {peer: Tuned}} from the labelled launches."""
    best = collections.defaultdict(dict)
    for label, cases in by_label(lines):
        for key, subjects in cases.items():
            for (subject, pattern), figure in subjects.items():
                peer = subject.removesuffix(f" {label}")
                if subject == peer:
                    continue
                tuned = Tuned(label, pattern, figure, ratio(figure, best_of(subjects)["brigade"]))
                if peer not in best[key] or tuned.ratio.median < best[key][peer].ratio.median:
                    best[key][peer] = tuned
    return best


# `ratio`: to ours in the same launches; None for ours.
Measured = collections.namedtuple("Measured", "figure ratio")


def measure(lines):
    """{Key: {contender: Measured}}, each by its fastest pattern: BLACS against the shim, others against the patterns.

    Ours is what it is in the launches without a label."""
    measured = collections.defaultdict(dict)
    for label, cases in by_label(lines):
        for key, subjects in cases.items():
            best = best_of(subjects)
            for name, figure in best.items():
                if name not in OURS:
                    ours = best["shim" if name.startswith("stock") else "brigade"]
                    measured[key][name] = Measured(figure, ratio(figure, ours))
                elif not label:
                    measured[key][name] = Measured(figure, None)
    return measured


Comparison = collections.namedtuple("Comparison", "routine ranks setting stock shim ratio")


def compare_scalapack(lines):
    """Launches are made in pairs and compared within each; one whose partner failed is left out."""
    seconds = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in lines:
        setting = f"{line['rows']} x {line['cols']} ranks, n = {line['n']}, nb = {line['nb']}"
        seconds[line["routine"], line["ranks"], setting][line["pair"]][line["subject"]] = line["median_s"]
    comparisons = []
    for (routine, ranks, setting), pairs in seconds.items():
        whole = [pair for pair in pairs.values() if pair.keys() == {"stock", "shim"}]
        if whole:
            stock, shim = (median_interval([pair[name] for pair in whole]) for name in ("stock", "shim"))
            ratios = median_interval([pair["stock"] / pair["shim"] for pair in whole])
            comparisons.append(Comparison(routine, ranks, setting, stock, shim, ratios))
    return comparisons


# One line of the summary: what, how many cases, and per peer the ratios of all cases.
Summary = collections.namedtuple("Summary", "what ratios")


# ---- text and plots ----------------------------------------------------------------------------------------------


def format_bytes(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def format_us(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def format_figure(figure):
    return f"{format_us(figure.median)} <small>[{format_us(figure.lo)}, {format_us(figure.hi)}]</small>"


def ratio_cell(figure):
    """Green where Brigade is faster beyond doubt, red where it is slower, plain where that is open."""
    verdict = "better" if is_better(figure) else "worse" if is_worse(figure) else "even"
    return f'<td class="{verdict}">{figure.median:.2f} <small>[{figure.lo:.2f}, {figure.hi:.2f}]</small></td>'


def table(header, rows):
    """`rows`: lists of cells; a cell that is not yet a <td> becomes one."""
    out = ["<table><tr>" + "".join(f"<th>{h}</th>" for h in header) + "</tr>"]
    for row in rows:
        cells = [c if str(c).startswith("<td") else f"<td>{c}</td>" for c in row]
        out.append("<tr>" + "".join(cells) + "</tr>")
    return "".join(out) + "</table>"


def details(summary, body):
    return f"<details><summary>{summary}</summary>{body}</details>"


def svg_text(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    plt.close(figure)
    text = re.sub("<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)
    return text[text.index("<svg"):]


def svg(figure, description):
    return f'<figure role="img" aria-label="{html.escape(description)}">{svg_text(figure)}</figure>'


def bytes_axis(axes):
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: format_bytes(int(v))))
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(base=2, numticks=6))
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlabel("message")
    axes.grid(True, which="major", alpha=0.25)


def time_axis(axis):
    axis.axes.set_yscale("log")
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5), numticks=8))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f"{v:,.6g}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def ratio_axis(axis):
    """Logarithmic, so that twice as fast and half as fast are equally far from 1."""
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f"{v:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axis.set_major_locator(matplotlib.ticker.FixedLocator([0.25, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 16]))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def draw_lines(axes, series):
    """`series`: {contender: [(bytes, Figure)]}, with the interval as a band."""
    for name, points in series.items():
        points.sort(key=lambda point: point[0])
        x = [p[0] for p in points]
        colour = COLOURS[name]
        axes.plot(x, [p[1].median for p in points], "o-", ms=3, lw=1.4, color=colour, label=NAMES[name])
        axes.fill_between(x, [p[1].lo for p in points], [p[1].hi for p in points], color=colour, alpha=0.2, lw=0)


def draw_intervals(axes, named):
    """`named`: [(name, Figure)], one row each, of ratios."""
    for y, (_, f) in enumerate(named):
        axes.errorbar(f.median, y, xerr=[[f.median - f.lo], [f.hi - f.median]], fmt="o", ms=5, capsize=3,
                      color=COLOURS["stock"])
    axes.axvline(1, color="black", lw=0.8)
    axes.set_yticks(range(len(named)), [name for name, _ in named])
    axes.invert_yaxis()
    axes.grid(True, axis="x", alpha=0.25)


def draw_ratios(axes, series):
    draw_lines(axes, series)
    axes.axhline(1, color="black", lw=0.8)
    axes.set_yscale("log")
    ratio_axis(axes.yaxis)
    bytes_axis(axes)
