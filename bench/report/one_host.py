"""The report's sections on one host."""

import collections
import re

import matplotlib.pyplot as plt

from bench.report.measurements import (
    OURS, Summary, Versus, best_of, best_tunings, by_default, collect, compare_scalapack, geometric_mean, is_worse,
    load, measure, ratio, select)
from bench.report.style import (
    COLOURS, NAMES, Section, Table, bytes_axis, draw_intervals, draw_lines, draw_ratios, format_bytes, plot,
    present, ratio_cell, svg_text, time_axis, time_cell)

SPREAD_TITLES = {
    "multi-broadcast": "Multi-broadcast: every rank's block to all",
    "multi-reduce": "Multi-reduce: block q summed at rank q",
    "broadcast": "Broadcast from one rank",
    "reduce": "Reduction to one rank",
    "all-reduce": "Reduction to all ranks",
    "gather": "Gather: every rank's block to one rank",
    "scatter": "Scatter: a block of one rank to every rank",
    "all-to-all": "All-to-all: a block from every rank to every rank",
    "scan": "Prefix sum",
    "exscan": "Prefix sum of the ranks before",
}


def ratio_column(name):
    return f"{NAMES[name]} / {NAMES['shim' if name.startswith('stock') else 'brigade']}"


# ---- ScaLAPACK -------------------------------------------------------------------------------------------------------


def scalapack_section(directory):
    comparisons = compare_scalapack(load(directory / "scalapack.jsonl"))
    if not comparisons:
        return None
    rows, bars = [], []
    by_routine, by_ranks = collections.defaultdict(list), collections.defaultdict(list)
    for routine, ranks, setting, stock, shim, f in comparisons:
        case = Versus(f"{routine}, {setting}", f)
        by_routine[f"ScaLAPACK {routine}"].append(case)
        by_ranks["ScaLAPACK, all on 2 ranks" if ranks == 2 else "ScaLAPACK, all on 4 and 8 ranks"].append(case)
        bars.append(case)
        rows.append([routine, setting, f.samples, f"{stock.median:.4f}", f"{shim.median:.4f}", ratio_cell(f)])
    figure, axes = plt.subplots(figsize=(8, 0.32 * len(bars) + 0.8))
    draw_intervals(axes, bars)
    axes.set_xlabel("time on the reference BLACS / time on the shim (above 1: the shim is faster)")
    table = Table(["routine", "setting", "pairs of launches", "reference BLACS, s", "Brigade, s",
                   "reference BLACS / Brigade"], rows)
    # Every case counts once in the overview.
    summaries = [Summary(what, {"stock": cases}, "ScaLAPACK") for what, cases in by_routine.items()]
    summaries += [Summary(what, {"stock": cases}) for what, cases in by_ranks.items()]
    return Section("ScaLAPACK", "scalapack", {
        "plot": plot(figure, "ScaLAPACK ratios"), "table": table, "tester": tester_table(directory)}, summaries)


def tester_table(directory):
    rows = []
    for subject in ("stock", "shim"):
        path = directory / f"xdlu-{subject}.txt"
        text = path.read_text(errors="replace") if path.exists() else ""
        counts = [re.search(pattern, text) for pattern in
                  (r"Finished\s+(\d+) tests", r"(\d+) tests completed and passed", r"(\d+) tests completed and failed")]
        rows.append([NAMES[subject]] + [match.group(1) if match else "no result" for match in counts])
    return Table(["BLACS", "tests", "passed", "failed"], rows)


# ---- ping-pong -------------------------------------------------------------------------------------------------------


def pingpong_by_shape(directory):
    """{shape: {bytes: {contender: Measured}}}"""
    by_shape = collections.defaultdict(dict)
    for key, contenders in measure(select(load(directory / "pingpong.jsonl"), ranks=2)).items():
        by_shape[key.case.removeprefix("pingpong ")][key.bytes] = contenders
    return by_shape


def pingpong_section(directory):
    by_shape = pingpong_by_shape(directory)
    if not by_shape:
        return None
    names = present(contenders for sizes in by_shape.values() for contenders in sizes.values())
    peers = [name for name in names if name not in OURS]
    summaries, rows = [], []
    for shape, sizes in by_shape.items():
        versus = collections.defaultdict(list)
        for count, contenders in sorted(sizes.items()):
            for name in peers:
                if name in contenders:
                    versus[name].append(Versus(f"{format_bytes(count)}, {shape}", contenders[name].ratio))
            row = [shape, format_bytes(count)]
            row += [time_cell(contenders[n].figure) if n in contenders else "" for n in names]
            row += [ratio_cell(contenders[n].ratio) if n in contenders else "" for n in peers]
            contiguous = by_shape["contiguous"].get(count)
            row.append(f"{contiguous['brigade'].figure.median / contenders['brigade'].figure.median:.2f}"
                       if contiguous and shape != "contiguous" else "")
            rows.append(row)
        summaries.append(Summary(f"ping-pong, {shape}", versus, "Messages between 2 ranks"))
    header = ["layout", "message", *(f"{NAMES[n]}, µs" for n in names), *map(ratio_column, peers),
              "Brigade contiguous / Brigade"]
    return Section("Ping-pong, 2 ranks", "pingpong", {
        "plot": draw_pingpong(by_shape), "table": Table(header, rows)}, summaries)


def draw_pingpong(by_shape):
    """A column per layout: times above, ratios below."""
    figure, grid = plt.subplots(2, len(by_shape), figsize=(5 * len(by_shape), 7), squeeze=False, sharex="col")
    for (top, bottom), (shape, sizes) in zip(grid.T, by_shape.items()):
        times, ratios = collections.defaultdict(list), collections.defaultdict(list)
        for count, contenders in sizes.items():
            for name, (f, against_ours) in contenders.items():
                times[name].append((count, f))
                if against_ours:
                    ratios[name].append((count, against_ours))
        draw_lines(top, times)
        time_axis(top.yaxis)
        bytes_axis(top)
        top.set_title(shape)
        top.set_xlabel("")
        draw_ratios(bottom, ratios)
    grid[0][0].set_ylabel("one way, µs (less is better)")
    grid[1][0].set_ylabel("peer's time / Brigade's\n(above 1: Brigade is faster)")
    grid[0][0].legend(frameon=False)
    return plot(figure, "Ping-pong time and ratio by message size")


# ---- calls and patterns ----------------------------------------------------------------------------------------------


def calls_section(directory):
    """One row per call, one group of columns per number of ranks."""
    calls = collections.defaultdict(dict)
    for key, contenders in measure(load(directory / "calls.jsonl")).items():
        calls[key.case][key.ranks] = contenders
    if not calls:
        return None
    all_ranks = sorted({ranks for by_ranks in calls.values() for ranks in by_ranks})
    header = ["call"]
    for ranks in all_ranks:
        header += [f"Brigade, {ranks} ranks, µs", "reference BLACS, µs", "reference BLACS / Brigade"]
    rows, versus = [], collections.defaultdict(list)
    for call, by_ranks in calls.items():
        row = [call]
        for ranks in all_ranks:
            contenders = by_ranks.get(ranks, {})
            if {"shim", "stock"} <= contenders.keys():
                stock = contenders["stock"]
                row += [time_cell(contenders["shim"].figure), time_cell(stock.figure), ratio_cell(stock.ratio)]
                versus[ranks].append(Versus(f"{call}, {ranks} ranks", stock.ratio))
            else:
                row += ["", "", ""]
        rows.append(row)
    summaries = [Summary(f"BLACS calls, {ranks} ranks", {"stock": cases}, "Short BLACS calls")
                 for ranks, cases in versus.items()]
    return Section("BLACS calls", "calls", {"table": Table(header, rows)}, summaries)


def patterns_section(directory):
    """Patterns beside collectives, and beside the better of Open MPI's two settings."""
    measured = measure(load(directory / "grid.jsonl"))
    rows, better = [], []
    by_ranks = collections.defaultdict(lambda: collections.defaultdict(list))
    peers = [name for name in present(measured.values()) if name not in OURS]
    for key, contenders in measured.items():
        settings = [contenders[peer].ratio for peer in ("mpi", "mpi CMA off") if peer in contenders]
        if not settings:  # a full disk has cut the case
            continue
        size = format_bytes(key.bytes) if key.bytes else ""
        case = f"{key.case} {size}".strip() + f", {key.ranks} ranks"
        row = [key.case, key.ranks, size, time_cell(contenders["brigade"].figure)]
        for peer in peers:
            if peer in contenders:
                row += [time_cell(contenders[peer].figure), ratio_cell(contenders[peer].ratio)]
                by_ranks[key.ranks][peer].append(Versus(case, contenders[peer].ratio))
            else:
                row += ["", ""]
        better.append(min(settings, key=lambda r: r.median))
        by_ranks[key.ranks]["better MPI"].append(Versus(case, better[-1]))
        rows.append([*row, ratio_cell(better[-1])])
    if not rows:
        return None
    header = ["pattern", "ranks", "message", "Brigade, µs"]
    for peer in peers:
        header += [f"{NAMES[peer]}, µs", f"{NAMES[peer]} / Brigade"]
    medians = [r.median for r in better]
    return Section("Patterns and collectives", "patterns", {
        "mean": geometric_mean(medians), "worst": min(medians), "slower": sum(map(is_worse, better)),
        "cases": len(better), "table": Table([*header, "better of Open MPI's / Brigade"], rows),
    }, [Summary(f"all patterns, contiguous, {ranks} ranks", versus, "Patterns, contiguous")
        for ranks, versus in sorted(by_ranks.items())])


# ---- spread ----------------------------------------------------------------------------------------------------------


def spread_section(directory):
    lines = load(directory / "spread.jsonl")
    tunings = best_tunings(lines)
    groups = collections.defaultdict(dict)
    for key, subjects in collect(select(lines, label="")).items():
        if key.case in SPREAD_TITLES and "brigade" in best_of(subjects):
            groups[key.case, key.ranks][key] = subjects
    if not groups:
        return None
    parts, summaries = [], []
    for (case, ranks), sizes in groups.items():
        title = f"{SPREAD_TITLES[case]}, {ranks} ranks"
        rows, versus = spread_rows(sizes, tunings)
        parts.append({"title": title, "plot": draw_spread(title, sizes), "table": Table(
            ["M x N", "who", "how", "µs", "its time / Brigade's by default (tuned: Brigade's best) in the same launch"],
            rows)})
        summaries.append(Summary(f"{case}, {ranks} ranks", versus, "Patterns, strided panels"))
    return Section("Spread", "spread", {"parts": parts}, summaries)


def spread_rows(sizes, tunings):
    """Contenders, fastest first; and {contender: [Versus]}. Brigade by default; beside tuned peers its best, too."""
    rows, versus = [], collections.defaultdict(list)
    for key, subjects in sizes.items():
        size, usual = f"{key.rows} x {key.cols}", by_default(key.case, subjects)
        case = f"{key.case} {size}, {key.ranks} ranks"
        ours = [usual["brigade"], *([best_of(subjects)["brigade"]] if key in tunings else [])]
        for (subject, pattern), f in sorted(subjects.items(), key=lambda item: item[1].median):
            if subject == "brigade" and f not in ours:
                continue
            cell = ratio_cell(ratio(f, usual["brigade"])) if subject != "brigade" else ""
            rows.append([size, subject, pattern, time_cell(f), cell])
        for name, f in usual.items():
            if name != "brigade":
                versus[name].append(Versus(case, ratio(f, usual["brigade"])))
        for peer, tuned in tunings.get(key, {}).items():
            rows.append([size, f"{peer}, tuned: {tuned.label} (another launch)", tuned.pattern, time_cell(tuned.figure),
                         ratio_cell(tuned.ratio)])
            versus[f"{peer} tuned"].append(Versus(case, tuned.ratio))
    return rows, versus


def draw_spread(title, sizes):
    bests = {key: by_default(key.case, subjects) for key, subjects in sizes.items()}
    figure, (row,) = plt.subplots(1, len(sizes), figsize=(3.4 * len(sizes), 2.4), squeeze=False, sharey=True)
    order = present(bests.values())
    for axes, (key, best) in zip(row, bests.items()):
        for y, name in enumerate(order):
            if name in best:
                f = best[name]
                axes.barh(y, f.median, color=COLOURS[name], xerr=[[f.median - f.lo], [f.hi - f.median]],
                          error_kw={"lw": 1, "capsize": 2})
        axes.set_yticks(range(len(order)), [NAMES[n] for n in order])
        axes.set_title(f"{key.rows} x {key.cols}")
        axes.set_xlabel("µs (less is better)")
        axes.grid(True, axis="x", alpha=0.25)
        axes.set_axisbelow(True)
    row[0].invert_yaxis()
    return plot(figure, title)


# ---- small broadcasts, memory ----------------------------------------------------------------------------------------


def small_section(directory):
    by_ranks = collections.defaultdict(lambda: collections.defaultdict(list))
    rows = []
    lines = load(directory / "spread.jsonl")
    for key, subjects in collect(select(lines, label="", case="small-broadcast")).items():
        for name, f in best_of(subjects).items():
            by_ranks[key.ranks][name].append((key.bytes, f))
        tree, direct = subjects.get(("brigade", "tree")), subjects.get(("direct", "tree"))
        if tree and direct:
            rows.append([key.ranks, format_bytes(key.bytes), time_cell(tree), time_cell(direct),
                         ratio_cell(ratio(direct, tree))])
    if not by_ranks:
        return None
    figure, (row,) = plt.subplots(1, len(by_ranks), figsize=(4.6 * len(by_ranks), 3.2), squeeze=False)
    for axes, (ranks, series) in zip(row, by_ranks.items()):
        draw_lines(axes, series)
        time_axis(axes.yaxis)
        bytes_axis(axes)
        axes.set_title(f"{ranks} ranks")
    row[0].set_ylabel("µs (less is better)")
    row[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return Section("Small broadcasts", "small", {
        "plot": plot(figure, "Small broadcast by message size"),
        "table": Table(["ranks", "message", "Brigade tree, µs", "by hand, µs", "by hand / Brigade"], rows)})


def memory_section(directory):
    lines = select(load(directory / "memory.jsonl"), subject="brigade")
    if not len(lines):
        return None
    rows = [[format_bytes(line.bytes), format_bytes(line.staging_peak_bytes), line.overflow_segments,
             f"{line.copies_per_byte / 2:.2f}"] for line in lines.itertuples()]
    return Section("Staging memory by message size", "memory", {"table": Table(
        ["message", "staging memory at most, per rank", "segments in overflow memory", "copies per side"], rows)})


def sections(directory):
    """Returns the existing sections of those that the report shows first."""
    made = [section(directory) for section in (scalapack_section, pingpong_section, calls_section, patterns_section,
                                               spread_section, small_section)]
    return [section for section in made if section]


# ---- the picture of the project's README -----------------------------------------------------------------------------


def picture(directory):
    """Peers' times over ours, on white so that it can be read on any page."""
    by_shape = pingpong_by_shape(directory)
    comparisons = compare_scalapack(load(directory / "scalapack.jsonl"))
    columns = len(by_shape) + bool(comparisons)
    figure, (row,) = plt.subplots(1, columns, figsize=(3.1 * columns, 2.8), squeeze=False, layout="constrained")
    figure.patch.set_facecolor("white")
    for axes, (shape, sizes) in zip(row, by_shape.items()):
        ratios = collections.defaultdict(list)
        for count, contenders in sizes.items():
            for name in ("stock", "mpi", "mpi CMA off"):
                if name in contenders:
                    ratios[name].append((count, contenders[name].ratio))
        draw_ratios(axes, ratios)
        axes.set_title(f"ping-pong, {shape}")
    row[0].set_ylabel("peer's time / Brigade's\n(above 1: Brigade is faster)")
    row[0].legend(frameon=False)
    if comparisons:
        axes = row[-1]
        draw_intervals(axes, [(f"{c.routine}, {c.setting.split(',')[0]}", c.ratio) for c in comparisons])
        axes.set_title("ScaLAPACK")
        axes.set_xlabel("time of the reference BLACS / Brigade's")
    return svg_text(figure)
