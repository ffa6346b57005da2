#!/usr/bin/python3
"""Turns the JSON lines of a bench/run.sh directory into one self-contained HTML page: report.html beside them."""

import argparse
import collections
import html
import pathlib
import re

import matplotlib.pyplot as plt

import cluster_report
from report_parts import (
    best_of, best_tunings, bytes_axis, collect, COLOURS, compare_scalapack, details, draw_intervals, draw_lines, draw_ratios,
    format_bytes, format_figure, geometric_mean, is_better, is_worse, measure, Measured, median_interval, NAMES,
    OURS, ratio, ratio_cell, read_lines, Summary, svg, svg_text, table, time_axis)

SPREAD_TITLES = {
    "multi-broadcast": "Multi-broadcast: every rank's portion to all",
    "multi-reduce": "Multi-reduce: portion q summed at rank q",
    "broadcast": "Broadcast from one rank",
    "reduce": "Reduction to one rank",
    "all-reduce": "Reduction to all ranks",
}


# ---- sections ----------------------------------------------------------------------------------------------------

def pingpong_by_shape(lines):
    """{shape: {bytes: {contender: Measured}}}"""
    by_shape = collections.defaultdict(dict)
    for key, contenders in measure(lines).items():
        by_shape[key.case.removeprefix("pingpong ")][key.bytes] = contenders
    return by_shape


def present(contenders_of_cases):
    """The contenders that occur, in the order of NAMES."""
    occurring = {name for contenders in contenders_of_cases for name in contenders}
    return [name for name in NAMES if name in occurring]


def ratio_columns(names):
    return [f"{NAMES[name]} / {NAMES['shim' if name.startswith('stock') else 'brigade']}" for name in names]


def pingpong_section(lines):
    by_shape = pingpong_by_shape(lines)
    names = present(contenders for sizes in by_shape.values() for contenders in sizes.values())
    peers = [name for name in names if name not in OURS]
    figure, grid = plt.subplots(2, len(by_shape), figsize=(5 * len(by_shape), 7), squeeze=False, sharex="col")
    summaries, rows = [], []
    for column, (shape, sizes) in enumerate(by_shape.items()):
        times = collections.defaultdict(list)
        ratios = collections.defaultdict(list)
        for count, contenders in sorted(sizes.items()):
            for name, (f, against_ours) in contenders.items():
                times[name].append((count, f))
                if against_ours:
                    ratios[name].append((count, against_ours))
            row = [shape, format_bytes(count)]
            row += [format_figure(contenders[n].figure) if n in contenders else "" for n in names]
            row += [ratio_cell(contenders[n].ratio) if n in contenders else "" for n in peers]
            contiguous = by_shape["contiguous"].get(count)
            row.append(f"{contiguous['brigade'].figure.median / contenders['brigade'].figure.median:.2f}"
                       if contiguous and shape != "contiguous" else "")
            rows.append(row)
        top, bottom = grid[0][column], grid[1][column]
        draw_lines(top, times)
        time_axis(top.yaxis)
        top.set_title(shape)
        bytes_axis(top)
        top.set_xlabel("")
        draw_ratios(bottom, ratios)
        summaries.append(Summary(f"ping-pong, {shape}", {n: [r for _, r in points] for n, points in ratios.items()}))
    grid[0][0].set_ylabel("one way, µs (less is better)")
    grid[1][0].set_ylabel("peer's time / ours\n(above 1: ours is faster)")
    grid[0][0].legend(frameon=False)
    body = svg(figure, "Ping-pong time and ratio by message size")
    header = ["layout", "message"] + [f"{NAMES[n]}, µs" for n in names] + ratio_columns(peers)
    header.append("Brigade contiguous / Brigade")
    body += details("All sizes", table(header, rows))
    return body, summaries


def calls_section(lines):
    """One row per call, one group of columns per number of ranks."""
    calls = collections.defaultdict(dict)
    for key, contenders in measure(lines).items():
        calls[key.case][key.ranks] = contenders
    all_ranks = sorted({line["ranks"] for line in lines})
    header = ["call"]
    for ranks in all_ranks:
        header += [f"shim, {ranks} ranks, µs", "stock, µs", "stock / shim"]
    rows = []
    ratios = collections.defaultdict(list)
    for call, by_ranks in calls.items():
        row = [html.escape(call)]
        for ranks in all_ranks:
            contenders = by_ranks.get(ranks, {})
            if {"shim", "stock"} <= contenders.keys():
                stock = contenders["stock"]
                row += [format_figure(contenders["shim"].figure), format_figure(stock.figure), ratio_cell(stock.ratio)]
                ratios[ranks].append(stock.ratio)
            else:
                row += ["", "", ""]
        rows.append(row)
    return table(header, rows), [Summary(f"BLACS calls, {ranks} ranks", {"stock": r}) for ranks, r in ratios.items()]


def grid_section(lines):
    """Patterns beside collectives, and beside the better of Open MPI's two settings."""
    rows, better = [], []
    by_ranks = collections.defaultdict(lambda: collections.defaultdict(list))
    peers = ["mpi", "mpi CMA off", "mpi MPICH"]
    for key, contenders in measure(lines).items():
        row = [key.case, key.ranks, format_bytes(key.bytes) if key.bytes else "",
               format_figure(contenders["brigade"].figure)]
        for peer in peers:
            if peer in contenders:
                row += [format_figure(contenders[peer].figure), ratio_cell(contenders[peer].ratio)]
                by_ranks[key.ranks][peer].append(contenders[peer].ratio)
            else:
                row += ["", ""]
        open_mpi = [contenders[peer].ratio for peer in peers[:2] if peer in contenders]
        better.append(min(open_mpi, key=lambda r: r.median))
        by_ranks[key.ranks]["better MPI"].append(better[-1])
        rows.append(row + [ratio_cell(better[-1])])
    header = ["pattern", "ranks", "message", "Brigade, µs"]
    for peer in peers:
        header += [f"{NAMES[peer]}, µs", f"{NAMES[peer]} / Brigade"]
    body = ("<p>Contiguous data, in place; a message is what all ranks have together. "
            "Better of Open MPI's two settings over Brigade, geometric mean over the whole grid: "
            f"<b>{geometric_mean([r.median for r in better]):.2f}</b>, "
            f"worst {min(r.median for r in better):.2f}, slower beyond the interval in "
            f"{sum(map(is_worse, better))} of {len(better)}.</p>")
    body += table(header + ["better of Open MPI's / Brigade"], rows)
    return body, [Summary(f"all patterns, contiguous, {ranks} ranks", r) for ranks, r in sorted(by_ranks.items())]


def memory_section(lines):
    rows = [[format_bytes(line["bytes"]), format_bytes(line["staging_peak_bytes"]), line["overflow_pieces"],
             f"{line['copies_per_byte'] / 2:.2f}"] for line in lines if line["subject"] == "brigade"]
    return table(["message", "staging memory at most, per rank", "pieces in overflow memory", "copies per side"], rows)


def spread_section(cases, tunings):
    body, summaries = "", []
    groups = collections.defaultdict(dict)
    for key, subjects in cases.items():
        groups[key.case, key.ranks][key] = subjects
    for (case, ranks), sizes in groups.items():
        bests = {key: best_of(subjects) for key, subjects in sizes.items()}
        figure, row = plt.subplots(1, len(sizes), figsize=(3.4 * len(sizes), 2.4), squeeze=False, sharey=True)
        order = [n for n in NAMES if any(n in best for best in bests.values())]
        for axes, (key, best) in zip(row[0], bests.items()):
            for y, name in enumerate(order):
                if name not in best:
                    continue
                f = best[name]
                axes.barh(y, f.median, color=COLOURS[name],
                          xerr=[[f.median - f.lo], [f.hi - f.median]], error_kw={"lw": 1, "capsize": 2})
            axes.set_yticks(range(len(order)), [NAMES[n] for n in order])
            axes.set_title(f"{key.rows} x {key.cols}")
            axes.set_xlabel("µs (less is better)")
            axes.grid(True, axis="x", alpha=0.25)
            axes.set_axisbelow(True)
        row[0][0].invert_yaxis()
        title = f"{SPREAD_TITLES[case]}, {ranks} ranks"
        body += f"<h3>{title}</h3>" + svg(figure, title)
        rows = []
        ratios = collections.defaultdict(list)
        for key, subjects in sizes.items():
            size, ours = f"{key.rows} x {key.cols}", bests[key]["brigade"]
            for (subject, pattern), f in sorted(subjects.items(), key=lambda item: item[1].median):
                versus = ratio_cell(ratio(f, ours)) if subject != "brigade" else ""
                rows.append([size, subject, html.escape(pattern), format_figure(f), versus])
            for name, f in bests[key].items():
                if name != "brigade":
                    ratios[name].append(ratio(f, ours))
            for peer, tuned in tunings.get(key, {}).items():
                rows.append([size, f"{peer}, tuned: {tuned.label} (another launch)", html.escape(tuned.pattern),
                             format_figure(tuned.figure), ratio_cell(tuned.ratio)])
                ratios[f"{peer} tuned"].append(tuned.ratio)
        body += details("All contenders, fastest first",
                        table(["M x N", "who", "how", "µs", "its time / Brigade's best in the same launch"], rows))
        summaries.append(Summary(f"{case}, {ranks} ranks", ratios))
    return body, summaries


def small_section(cases):
    by_ranks = collections.defaultdict(lambda: collections.defaultdict(list))
    rows = []
    for key, subjects in cases.items():
        best = best_of(subjects)
        for name, f in best.items():
            by_ranks[key.ranks][name].append((key.bytes, f))
        tree = subjects.get(("brigade", "tree"))
        direct = subjects.get(("direct", "tree"))
        if tree and direct:
            rows.append([key.ranks, format_bytes(key.bytes), format_figure(tree), format_figure(direct),
                         ratio_cell(ratio(direct, tree))])
    figure, row = plt.subplots(1, len(by_ranks), figsize=(4.6 * len(by_ranks), 3.2), squeeze=False)
    for axes, (ranks, series) in zip(row[0], by_ranks.items()):
        draw_lines(axes, series)
        time_axis(axes.yaxis)
        bytes_axis(axes)
        axes.set_title(f"{ranks} ranks")
    row[0][0].set_ylabel("µs (less is better)")
    row[0][-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    body = svg(figure, "Small broadcast by message size")
    body += details("What the engine adds to the same tree written by hand",
                    table(["ranks", "message", "Brigade tree, µs", "by hand, µs", "by hand / Brigade"], rows))
    return body


def scalapack_section(comparisons):
    rows, bars = [], []
    summary = collections.defaultdict(list)
    for routine, ranks, setting, stock, shim, f in comparisons:
        summary[f"ScaLAPACK {routine}"].append(f)
        summary["ScaLAPACK, all on 2 ranks" if ranks == 2 else "ScaLAPACK, all on 4 and 8 ranks"].append(f)
        bars.append((f"{routine}, {setting}", f))
        rows.append([routine, setting, f.samples, f"{stock.median:.4f}", f"{shim.median:.4f}", ratio_cell(f)])
    figure, axes = plt.subplots(figsize=(8, 0.32 * len(bars) + 0.8))
    draw_intervals(axes, bars)
    axes.set_xlabel("time on stock BLACS / time on the shim (above 1: the shim is faster)")
    header = ["routine", "setting", "pairs of launches", "stock, s", "shim, s", "stock / shim"]
    return svg(figure, "ScaLAPACK ratios") + table(header, rows), [
        Summary(what, {"stock": ratios}) for what, ratios in summary.items()]


def tester_section(directory):
    rows = []
    for subject in ("stock", "shim"):
        path = directory / f"xdlu-{subject}.txt"
        text = path.read_text() if path.exists() else ""
        counts = [re.search(pattern, text) for pattern in
                  (r"Finished\s+(\d+) tests", r"(\d+) tests completed and passed", r"(\d+) tests completed and failed")]
        rows.append([NAMES[subject]] + [match.group(1) if match else "no result" for match in counts])
    return table(["BLACS", "tests", "passed", "failed"], rows)


def summary_table(summaries):
    peers = [name for name in present(summary.ratios for summary in summaries) if name not in OURS]
    rows = []
    for summary in summaries:
        row = [html.escape(summary.what), max((len(r) for r in summary.ratios.values()), default=0)]
        for peer in peers:
            ratios = summary.ratios.get(peer)
            if not ratios:
                row.append("")
                continue
            worst = min(ratios, key=lambda r: r.median)
            slower = sum(map(is_worse, ratios))
            verdict = "worse" if slower else "better" if all(map(is_better, ratios)) else "even"
            cell = f"<b>{geometric_mean([r.median for r in ratios]):.2f}</b>"
            if len(ratios) > 1:
                cell += f" <small>worst {worst.median:.2f}; slower in {slower}</small>"
            else:
                cell += f" <small>[{worst.lo:.2f}, {worst.hi:.2f}]</small>"
            row.append(f'<td class="{verdict}">{cell}</td>')
        rows.append(row)
    return table(["what", "cases"] + [f"{NAMES[p]} / Brigade" for p in peers], rows)


def picture(pingpong, comparisons):
    """The figures of README: peers' times over ours, on white so that it can be read on any page."""
    by_shape = pingpong_by_shape(pingpong)
    columns = len(by_shape) + bool(comparisons)
    figure, row = plt.subplots(1, columns, figsize=(3.1 * columns, 2.8), squeeze=False, layout="constrained")
    figure.patch.set_facecolor("white")
    for axes, (shape, sizes) in zip(row[0], by_shape.items()):
        ratios = collections.defaultdict(list)
        for count, contenders in sorted(sizes.items()):
            for name in ("stock", "mpi", "mpi CMA off"):
                if name in contenders:
                    ratios[name].append((count, contenders[name].ratio))
        draw_ratios(axes, ratios)
        axes.set_title(f"ping-pong, {shape}")
    row[0][0].set_ylabel("peer's time / ours\n(above 1: ours is faster)")
    row[0][0].legend(frameon=False)
    if comparisons:
        axes = row[0][-1]
        draw_intervals(axes, [(f"{c.routine}, {c.setting.split(',')[0]}", c.ratio) for c in comparisons])
        axes.set_title("ScaLAPACK")
        axes.set_xlabel("stock's time / shim's")
    return svg_text(figure)


STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; } h3 { margin: 1.5rem 0 0; }
table { border-collapse: collapse; margin: .7rem 0; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid #e5e5e5; } th { font-weight: 600; }
small { color: #666; } .better { background: #e2f3e7; } .worse { background: #fbe3dd; }
.warning { background: #fff3cd; border-left: 4px solid #e0a800; padding: .5rem 1rem; }
figure { margin: .5rem 0; } svg { max-width: 100%; height: auto; } summary { cursor: pointer; color: #0072b2; }
pre { background: #f6f6f6; padding: .7rem; overflow-x: auto; font-size: 12px; }
"""


def machine_text(lines):
    """What the lines say of the machine, once; and a warning if it was not itself."""
    if not lines:
        return ""
    machine, versions = lines[0]["machine"], lines[0]["versions"]
    transport = next(line["transport"] for line in lines if line["subject"] in OURS)
    mpis = sorted({f"{line['versions']['mpi']} (single-copy mechanism: {line['machine']['single_copy']})"
                   for line in lines})
    ratios = [line["machine"]["together_over_alone"] for line in lines]
    text = (f"<p>{html.escape(machine['cpu'])}, {machine['cores']} cores, {html.escape(machine['kernel'])}<br>"
            f"Brigade {html.escape(versions['brigade'])} over transport {html.escape(transport)}; "
            f"{html.escape(', '.join(mpis))}; {html.escape(versions['stock'])}<br>"
            f"computing on two processors at once took {min(ratios):.2f} to {max(ratios):.2f} times as long as on one"
            "</p>")
    if max(ratios) >= 1.5:
        text += ('<p class="warning">Near 2, two virtual processors are one core, or something else was running. '
                 "Times of several ranks are worse than this machine's best; ratios suffer less.</p>")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path, help="where the JSON lines are")
    parser.add_argument("--picture", metavar="FILE", type=pathlib.Path,
                        help="also write ping-pong and ScaLAPACK ratios as one small SVG")
    args = parser.parse_args()
    directory = args.directory

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                         "svg.fonttype": "none", "font.family": "sans-serif"})
    pingpong = [line for line in read_lines(directory / "pingpong.jsonl") if line["ranks"] == 2]
    spread = read_lines(directory / "spread.jsonl")
    cases = collect(line for line in spread if not line["label"])
    small = {key: subjects for key, subjects in cases.items() if key.case == "small-broadcast"}
    large = {key: subjects for key, subjects in cases.items() if key.case in SPREAD_TITLES}
    calls, patterns, memory = (read_lines(directory / f"{name}.jsonl") for name in ("calls", "grid", "memory"))

    sections, summaries = [], []
    comparisons = compare_scalapack(read_lines(directory / "scalapack.jsonl"))
    if comparisons:
        body, lines = scalapack_section(comparisons)
        sections.append(("ScaLAPACK", body + "<h3>Its LU tester, 4 ranks</h3>" + tester_section(directory)))
        summaries += lines
    if pingpong:
        body, lines = pingpong_section(pingpong)
        sections.append(("Ping-pong, 2 ranks", body))
        summaries += lines
    if calls:
        body, lines = calls_section(calls)
        sections.append(("BLACS calls", body))
        summaries += lines
    if patterns:
        body, lines = grid_section(patterns)
        sections.append(("Patterns and collectives", body))
        summaries += lines
    if large:
        body, lines = spread_section(large, best_tunings(spread))
        note = ("<p>M x N doubles on a 1 x Q grid. Bars show each contender by its fastest pattern or topology; "
                "whiskers are 95 % intervals.</p>")
        sections.append(("Spread", note + body))
        summaries += lines
    if small:
        sections.append(("Small broadcasts", small_section(small)))
    for title, body, lines in cluster_report.sections(directory):
        sections.append((title, body))
        summaries += lines
    if memory:
        sections.append(("Staging memory by message size", memory_section(memory)))

    commands = directory / "commands.txt"
    method = ("<p>Every contender is verified before it is timed. Contenders take turns in random order within each "
              "iteration of one process (ScaLAPACK: in alternating launches); an iteration counts with its slowest "
              "rank; figures are medians with nonparametric 95&nbsp;% intervals, or the range below six samples. "
              "Ratios are the peer's time over "
              "Brigade's: <span class='better'>green</span> where Brigade is faster beyond the interval, "
              "<span class='worse'>red</span> where it is slower. Their intervals combine the worst ends of both. "
              "More: bench/README.md.</p>")
    if commands.exists():
        method += details("Commands", f"<pre>{html.escape(commands.read_text())}</pre>")

    page = ["<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>Brigade beside its peers</title>",
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            f"<style>{STYLE}</style><h1>Brigade beside its peers</h1>",
            machine_text(pingpong + calls + patterns + spread or read_lines(directory / "cluster_patterns.jsonl")),
            "<h2>At a glance</h2><p>How many times longer the peer takes, geometric mean over the cases: "
            "above 1, Brigade is faster.</p>", summary_table(summaries)]
    page += [f"<h2>{title}</h2>{body}" for title, body in sections]
    page.append(f"<h2>Method</h2>{method}</html>")
    (directory / "report.html").write_text("".join(page))
    if args.picture and pingpong:
        args.picture.write_text(picture(pingpong, comparisons))


if __name__ == "__main__":
    main()
