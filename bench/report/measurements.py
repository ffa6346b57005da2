"""Loads JSON lines, and makes figures with intervals and ratios of them."""

import argparse
import collections
import io
import json
import math
import pathlib
import statistics
import sys
from typing import NamedTuple

import pandas

OURS = ("brigade", "shim")
# With fewer samples an interval is the range, and decides nothing.
ENOUGH_SAMPLES = 6


class Figure(NamedTuple):
    """`samples`: of how many the interval is; of a ratio, the lesser number. `least`: of all, where it is known."""

    median: float
    lo: float
    hi: float
    samples: int
    least: float = math.nan


class Key(NamedTuple):
    """Properties that are equal for all compared subjects."""

    case: str
    ranks: int
    rows: int
    cols: int
    bytes: int


class Measured(NamedTuple):
    """`ratio`: to ours in the same launches; None for ours."""

    figure: Figure
    ratio: Figure


class Tuned(NamedTuple):
    """MPI with other settings, or the reference BLACS on it, where it does best against Brigade in the same launch."""

    label: str
    pattern: str
    figure: Figure
    ratio: Figure


class Comparison(NamedTuple):
    """A ScaLAPACK routine on the reference BLACS and on the shim."""

    routine: str
    ranks: int
    setting: str
    stock: Figure
    shim: Figure
    ratio: Figure


class Versus(NamedTuple):
    """One case in which a peer's time is compared with ours."""

    case: str
    ratio: Figure


class Summary(NamedTuple):
    """One line of the summary. `ratios`: {peer: [Versus]}; `question`: where it counts in the overview."""

    what: str
    ratios: dict
    question: str = ""


# ---- figures ---------------------------------------------------------------------------------------------------------


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
    least = min(f.least for f in figures)
    if len(figures) >= ENOUGH_SAMPLES:
        return median_interval([f.median for f in figures])._replace(least=least)
    return Figure(statistics.median(f.median for f in figures), min(f.lo for f in figures), max(f.hi for f in figures),
                  sum(f.samples for f in figures), least)


def ratio(peer, ours):
    """How many times longer the peer takes; its interval at worst."""
    return Figure(peer.median / ours.median, peer.lo / ours.hi, peer.hi / ours.lo, min(peer.samples, ours.samples))


def scaled(figure, unit):
    return Figure(figure.median / unit, figure.lo / unit, figure.hi / unit, figure.samples)


def is_better(ratio_figure):
    return ratio_figure.samples >= ENOUGH_SAMPLES and ratio_figure.lo > 1


def is_worse(ratio_figure):
    return ratio_figure.samples >= ENOUGH_SAMPLES and ratio_figure.hi < 1


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


# ---- lines -----------------------------------------------------------------------------------------------------------


def folder(text):
    """For argparse."""
    path = pathlib.Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder")
    return path


def _whole_lines(path):
    """The text of a file, without lines that a full disk or a kill has cut; prints where on stderr."""
    whole = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        try:
            if not line.strip() or isinstance(json.loads(line), dict):
                whole.append(line)
                continue
        except ValueError:
            pass
        print(f"{path}:{number}: left out, since it is no whole line of JSON", file=sys.stderr)
    return "\n".join(whole)


def load(path):
    """A row per line; no rows where there is no such file."""
    text = _whole_lines(path) if path.exists() else ""
    if not text.strip():
        return pandas.DataFrame()
    return pandas.read_json(io.StringIO(text), lines=True, convert_dates=False, dtype=False, precise_float=True)


def load_all(paths):
    return pandas.concat([load(path) for path in paths], ignore_index=True)


def select(lines, **wanted):
    """The rows whose fields are as wanted."""
    for field, value in wanted.items():
        if len(lines):
            lines = lines[lines[field] == value]
    return lines


def _figures(lines):
    rows = lines.reindex(columns=["median_us", "lo_us", "hi_us", "iterations", "least_us"])
    return [Figure(*row) for row in rows.itertuples(index=False)]


def collect(lines):
    """{Key: {(subject, pattern): Figure}}, launches pooled, cases in the order of their first line."""
    cases = collections.defaultdict(dict)
    if len(lines):
        for (*key, subject, pattern), group in lines.groupby([*Key._fields, "subject", "pattern"], sort=False):
            cases[Key(*key)][subject, pattern] = pool(_figures(group))
    return dict(cases)


def best_of(subjects):
    """{subject: Figure}: each contender by its fastest pattern."""
    best = {}
    for (subject, _), figure in subjects.items():
        if subject not in best or figure.median < best[subject].median:
            best[subject] = figure
    return best


def by_default(case, subjects):
    """The same, but Brigade with the topology that it selects by itself, if that was measured."""
    best = best_of(subjects)
    for pattern in "free", case:  # as bench/cases calls it, for one root and for many
        if ("brigade", pattern) in subjects:
            best["brigade"] = subjects["brigade", pattern]
    return best


def by_label(lines):
    """[(label, {Key: subjects})], the launches without a label first."""
    if not len(lines):
        return []
    return [(label, collect(group)) for label, group in lines.groupby("label")]


def best_tunings(lines):
    """{Key: {peer: Tuned}} from the labelled launches."""
    best = collections.defaultdict(dict)
    for label, cases in by_label(lines):
        for key, subjects in cases.items():
            for (subject, pattern), figure in subjects.items():
                peer = subject.removesuffix(f" {label}")
                ours = best_of(subjects).get("brigade")
                if subject == peer or ours is None:
                    continue
                tuned = Tuned(label, pattern, figure, ratio(figure, ours))
                if peer not in best[key] or tuned.ratio.median < best[key][peer].ratio.median:
                    best[key][peer] = tuned
    return best


def measure(lines):
    """{Key: {contender: Measured}}, each by its fastest pattern: BLACS against the shim, others against the patterns.

    Ours is what it is in the launches without a label. A case that these lack, for example since they failed, is left
    out."""
    measured = collections.defaultdict(dict)
    for label, cases in by_label(lines):
        for key, subjects in cases.items():
            best = best_of(subjects)
            for name, figure in best.items():
                if name not in OURS:
                    ours = best.get("shim" if name.startswith("stock") else "brigade")
                    if ours:  # else the launch ended within the case
                        measured[key][name] = Measured(figure, ratio(figure, ours))
                elif not label:
                    measured[key][name] = Measured(figure, None)
    return {key: contenders for key, contenders in measured.items() if any(name in OURS for name in contenders)}


def compare_scalapack(lines):
    """[Comparison]: launches are made in pairs and compared within each; one whose partner failed is left out."""
    if not len(lines):
        return []
    comparisons = []
    problem = ["routine", "ranks", "rows", "cols", "n", "nb"]
    for (routine, ranks, rows, cols, n, nb), group in lines.groupby(problem, sort=False):
        pairs = group.pivot_table(index="pair", columns="subject", values="median_s", aggfunc="last", sort=False)
        if not {"stock", "shim"} <= set(pairs.columns):
            continue
        pairs = pairs.dropna(subset=["stock", "shim"])
        if len(pairs):
            comparisons.append(Comparison(routine, ranks, f"{rows} x {cols} ranks, n = {n}, nb = {nb}",
                                          median_interval(pairs["stock"]), median_interval(pairs["shim"]),
                                          median_interval(pairs["stock"] / pairs["shim"])))
    return comparisons
