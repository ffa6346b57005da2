"""The report's sections on the cluster, from what run_cluster.py has measured."""

import collections
import html
import math
import statistics

import matplotlib.pyplot as plt

from report_parts import (
    best_of, by_label, bytes_axis, collect, compare_scalapack, details, draw_lines, Figure, format_bytes,
    format_figure, format_us, geometric_mean, NAMES, pool, ratio, ratio_axis, ratio_cell, read_lines, Summary, svg,
    table)

# What the busiest rank sends or receives, in message lengths, on p ranks: no less can pass its link.
SHARE = {
    "broadcast": lambda p: 1,
    "reduce": lambda p: 1,
    "multi-broadcast": lambda p: (p - 1) / p,
    "multi-reduce": lambda p: (p - 1) / p,
    "all-reduce": lambda p: 2 * (p - 1) / p,
    "pingpong contiguous": lambda p: 1,
    "pingpong runs of 256 B": lambda p: 1,
}
# What a topology is called in its table, and who else is there, in this order.
TOPOLOGIES = {"circulant": "circulant graph", "two trees": "two trees", "ring": "ring (chain)", "tree": "binomial tree"}
CONTENDERS = [*TOPOLOGIES.values(), "free", "Open MPI", "Open MPI, tuned", "MPICH", "MPICH, tuned"]
TITLES = {"pingpong contiguous": "send, contiguous", "pingpong runs of 256 B": "send, in runs of 256 bytes"}


def bound_us(key, rate):
    """The time in which the busiest rank's bytes pass its link, at `rate` MB/s."""
    return key.bytes * SHARE[key.case](key.ranks) / rate


def scaled(figure, unit):
    return Figure(figure.median / unit, figure.lo / unit, figure.hi / unit, figure.samples)


def format_times(figure):
    return f"{figure.median:.3g} <small>[{figure.lo:.3g}, {figure.hi:.3g}]</small>"


def is_peer(subject):
    return subject not in ("brigade", "shim")


# A peer's figure, and its ratio to Brigade's in the same launches.
Versus = collections.namedtuple("Versus", "name figure ratio")


def peers_by_case(lines):
    """{Key: {(subject, pattern): Versus}}; BLACS against the shim, others against the patterns."""
    peers = collections.defaultdict(dict)
    for _, cases in by_label(lines):
        for key, subjects in cases.items():
            best = best_of(subjects)
            for (subject, pattern), figure in subjects.items():
                if is_peer(subject):
                    ours = best["shim" if subject == "stock" and "shim" in best else "brigade"]
                    peers[key][subject, pattern] = Versus(f"{subject}: {pattern}", figure, ratio(figure, ours))
    return peers


def bound_section(lines, rate):
    """Times the bound, by pattern and ranks, of everybody by size."""
    ours = collect(line for line in lines if not is_peer(line["subject"]))
    peers = peers_by_case(lines)
    groups = collections.defaultdict(list)
    for key in ours:
        groups[key.case, key.ranks].append(key)
    body, summaries = "", []
    for case, ranks in sorted(groups, key=lambda group: (list(SHARE).index(group[0]), group[1])):
        keys = sorted(groups[case, ranks], key=lambda key: key.bytes)
        units = {key: bound_us(key, rate) for key in keys}
        rows = collections.defaultdict(dict)  # {who: {Key: cell}}
        series = collections.defaultdict(list)
        ratios = collections.defaultdict(list)
        verdicts, names = ["<b>best peer / Brigade</b>"], ["best peer"]
        for key in keys:
            for (subject, pattern), figure in ours[key].items():
                rows[f"<b>{NAMES[subject]}</b>, {html.escape(pattern)}"][key] = format_times(scaled(figure, units[key]))
            series["brigade"].append((key.bytes, scaled(best_of(ours[key])["brigade"], units[key])))
            for peer in peers[key].values():
                rows[html.escape(peer.name)][key] = format_times(scaled(peer.figure, units[key]))
            for name, wanted in (("stock", lambda s: s == "stock"), ("mpi", lambda s: s == "mpi"),
                                 ("best MPI", lambda s: s.startswith("mpi"))):
                candidates = [peer for (subject, _), peer in peers[key].items() if wanted(subject)]
                if candidates:
                    best = min(candidates, key=lambda peer: peer.ratio.median)
                    series[name].append((key.bytes, scaled(best.figure, units[key])))
                    ratios[name].append(best.ratio)
            best = min(peers[key].values(), key=lambda peer: peer.ratio.median, default=None)
            verdicts.append(ratio_cell(best.ratio) if best else "")
            names.append(html.escape(best.name) if best else "")
        title = f"{TITLES.get(case, case)}, {ranks} ranks"
        figure, axes = plt.subplots(figsize=(5, 2.8))
        draw_lines(axes, series)
        axes.axhline(1, color="black", lw=0.8)
        axes.set_yscale("log")
        ratio_axis(axes.yaxis)
        bytes_axis(axes)
        axes.set_ylabel("times the bound")
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        header = ["times the bound"] + [format_bytes(key.bytes) for key in keys]
        everybody = [[who] + [cells.get(key, "") for key in keys] for who, cells in rows.items()]
        mine = [row for row in everybody if row[0].startswith("<b>")]
        body += f"<h3>{title[0].upper() + title[1:]}</h3>" + svg(figure, title)
        body += table(header, mine[:1] + [names, verdicts]) + details("Everybody", table(header, everybody))
        summaries.append(Summary(f"cluster: {title}", ratios))
    return body, summaries


def contender(case, subject, pattern):
    """Its column in the tables of topologies."""
    if subject == "brigade":
        # The multi forms' patterns begin with what they are.
        return TOPOLOGIES.get(pattern.removeprefix(f"{case}, "), "free")
    label = subject.removeprefix("mpi").strip()
    mpi = "MPICH" if label.startswith("MPICH") else "Open MPI"
    return mpi if label in ("", "MPICH 5") else f"{mpi}, tuned"


# One row: the bound in microseconds, {contender: median time over it}, and which of our topologies is the best.
Row = collections.namedtuple("Row", "key bound times best")


def topologies_by_case(lines, rate):
    """{case: [Row]}, of each contender its fastest setting."""
    by_case = {case: [] for case in SHARE}
    for key, subjects in sorted(collect(lines).items(), key=lambda item: (item[0].ranks, item[0].bytes)):
        bound, times = bound_us(key, rate), {}
        for (subject, pattern), figure in subjects.items():
            who = contender(key.case, subject, pattern)
            times[who] = min(figure.median / bound, times.get(who, math.inf))
        best = min(TOPOLOGIES.values(), key=lambda who: times.get(who, math.inf))
        by_case[key.case].append(Row(key, bound, times, best))
    return {case: rows for case, rows in by_case.items() if rows}


def topologies_tables(directory, emphasis):
    """[(title, header, cells)], of every rate and case; `emphasis` makes the best of our topologies stand out."""
    tables = []
    for rate, payload in payload_rates(directory).items():
        lines = read_lines(directory / f"cluster_topologies_{rate}.jsonl")
        for case, rows in topologies_by_case(lines, payload).items():
            cells = []
            for row in rows:
                times = {who: f"{time:.2f}" for who, time in row.times.items()}
                times[row.best] = emphasis(times[row.best])
                cells.append([str(row.key.ranks), format_bytes(row.key.bytes), format_us(row.bound),
                              *(times.get(who, "-") for who in CONTENDERS)])
            header = ["ranks", "message", "bound, µs", *CONTENDERS]
            tables.append((f"{case}, links of {rate} ({payload:.1f} MB/s)", header, cells))
    return tables


def topologies_section(directory):
    body = ("<p>Medians, times the bound; bold: the best of our topologies. <i>Free</i> is what the library takes by itself, "
            "<i>tuned</i> the fastest of an MPI's settings. The multi forms have no trees.</p>")
    for title, header, cells in topologies_tables(directory, "<b>{}</b>".format):
        body += f"<h3>{html.escape(title[0].upper() + title[1:])}</h3>" + table(header, cells)
    return body


def topologies_text(directory):
    """The tables of topologies for a terminal."""
    text = "Times the bound; *: the best of our topologies\n"
    for title, header, cells in topologies_tables(directory, "*{}".format):
        widths = [max(map(len, column)) for column in zip(header, *cells)]
        rows = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in (header, *cells)]
        text += "\n".join(["", title, *rows, ""])
    return text


def ring_section(lines, rate):
    """Q broadcasts of n chunks each, against Q n + Q - 2 chunk times."""
    pieces = {(line["ranks"], line["bytes"]): line["pieces"] // line["ranks"] for line in lines
              if (line["subject"], line["pattern"]) == ("brigade", "ring")}
    rows = []
    for key, subjects in collect(lines).items():
        n = pieces[key.ranks, key.bytes]
        unit = key.bytes / key.ranks / n / rate * (key.ranks * n + key.ranks - 2)
        for (subject, pattern), figure in subjects.items():
            rows.append([key.ranks, format_bytes(key.bytes / key.ranks), n, html.escape(f"{subject}: {pattern}"),
                         format_figure(figure), format_times(scaled(figure, unit))])
    return table(["ranks Q", "each message", "chunks n", "who", "all Q, µs", "times (Q n + Q - 2) chunks"], rows)


def strided_section(spread, pingpong):
    """Panels in short runs against the same bytes in one piece."""
    figures = collections.defaultdict(dict)
    for key, subjects in collect(line for line in spread + pingpong if line["subject"] == "brigade").items():
        is_strided = key.rows == 32
        case = "send" if key.case.startswith("pingpong") else key.case
        pattern = next(pattern for _, pattern in subjects if not pattern.startswith("Q x"))
        figures[case, key.ranks, key.bytes][is_strided] = subjects["brigade", pattern]
    rows = [[case, ranks, format_bytes(count), format_figure(pair[False]), format_figure(pair[True]),
             format_times(ratio(pair[True], pair[False]))]
            for (case, ranks, count), pair in figures.items() if len(pair) == 2]
    return table(["pattern", "ranks", "message", "contiguous, µs", "in runs of 256 bytes, µs", "runs / contiguous"], rows)


def scalapack_section(lines, rate):
    """Stock and shim, and how far they are from computation and transfer at their fastest."""
    alone, link = collections.defaultdict(list), collections.defaultdict(list)
    over_links = [line for line in lines if not line["label"]]
    for line in lines:
        key = line["routine"], f"{line['rows']} x {line['cols']} ranks, n = {line['n']}, nb = {line['nb']}"
        if line["label"]:
            alone[key].append(line["median_s"])
        elif line["subject"] == "shim":
            link[key].append(line["link_bytes"] / rate * 1e-6)
    rows, ratios = [], []
    for comparison in compare_scalapack(over_links):
        key = comparison.routine, comparison.setting
        row = [*key, comparison.ratio.samples, f"{comparison.stock.median:.3f}", f"{comparison.shim.median:.3f}",
               ratio_cell(comparison.ratio)]
        ratios.append(comparison.ratio)
        if alone[key]:
            least = statistics.median(alone[key]), statistics.median(link[key])
            row += [f"{seconds:.3f}" for seconds in least]
            row += [f"{figure.median / max(least):.2f}" for figure in (comparison.stock, comparison.shim)]
        rows.append(row)
    header = ["routine", "setting", "pairs", "stock, s", "shim, s", "stock / shim", "computation, s", "link, s",
              "stock / larger", "shim / larger"]
    body = ("<p><i>Computation</i> is the same program on as many ranks of one host, on the shim over shared memory: all "
            "hosts share this machine's processors. <i>Link</i> is what the shim sends over the busier direction of the "
            "busiest host's link, at the measured rate. No run can be faster than the larger of the two.</p>")
    if ratios:
        body += (f"<p>Stock over shim, geometric mean: <b>{geometric_mean([r.median for r in ratios]):.2f}</b>, "
                 f"worst {min(r.median for r in ratios):.2f}.</p>")
    return body + table(header, rows), [Summary("cluster: ScaLAPACK", {"stock": ratios})] if ratios else []


def loopback_section(lines):
    """Time and processor time of everybody by size, and Brigade against the best."""
    figures = collections.defaultdict(lambda: collections.defaultdict(list))
    cpu = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        subject = f"Brigade {line['transport']}" if line["subject"] == "brigade" else line["subject"]
        if line["subject"] == "bare socket":
            subject += f", {line['pattern']}"
        figure = Figure(line["median_us"], line["lo_us"], line["hi_us"], line["iterations"])
        figures[subject][line["bytes"]].append(figure)
        cpu[subject][line["bytes"]].append(line["cpu_us"] * 1e3 / line["bytes"])
    sizes = sorted({line["bytes"] for line in lines})
    pooled = {subject: {size: pool(f) for size, f in by_size.items()} for subject, by_size in figures.items()}
    names = sorted(pooled)

    def best(prefix, size):
        return min((pooled[name][size] for name in names if name.startswith(prefix) and size in pooled[name]),
                   key=lambda figure: figure.median, default=None)

    header = ["message"] + names + ["best MPI / Brigade", "bare socket / Brigade"]
    rows, cpu_rows = [], []
    for size in sizes:
        row = [format_bytes(size)]
        row += [format_figure(pooled[name][size]) if size in pooled[name] else "" for name in names]
        ours = best("Brigade", size)
        for peer in ("mpi", "bare socket"):
            figure = best(peer, size)
            row.append(ratio_cell(ratio(figure, ours)) if figure else "")
        rows.append(row)
        cpu_rows.append([format_bytes(size)] + [
            format_us(statistics.median(cpu[name][size])) if cpu[name][size] else "" for name in names])
    return ("<p>One way, µs. The ratios are to the faster of Brigade's transports.</p>" + table(header, rows) +
            "<p>Processor time of both ranks, seconds per gigabyte:</p>" + table(["message"] + names, cpu_rows))


def overlap_section(lines):
    """What of a transfer is hidden behind computation."""
    rows = []
    for key, subjects in collect(lines).items():
        for name in dict.fromkeys(subject for subject, _ in subjects):
            parts = [subjects[name, part] for part in ("transfer", "computation", "both")]
            transfer, computation, both = (part.median for part in parts)
            hidden = min(max(1 - (both - computation) / transfer, 0), 1)
            rows.append([key.case.removeprefix("overlap "), key.ranks, format_bytes(key.bytes), name,
                         *map(format_figure, parts), f"<b>{hidden:.0%}</b>"])
    return table(["what", "ranks", "message", "who", "transfer, µs", "computation, µs", "both, µs", "hidden"], rows)


def payload_rates(directory):
    """{rate of the links: MB/s of payload}. Disturbances only lower it: the highest counts."""
    payload = {}
    for line in read_lines(directory / "cluster.jsonl"):
        payload[line["rate"]] = max(line["payload_MBps"], payload.get(line["rate"], 0))
    return payload


def sections(directory):
    """[(title, HTML, [Summary])], of what there is."""
    def lines_of(name):
        return read_lines(directory / f"cluster_{name}.jsonl")

    clusters = read_lines(directory / "cluster.jsonl")
    if not clusters:
        return []
    payload = payload_rates(directory)
    rate = payload[clusters[0]["rate"]]  # only topologies may be of several
    measured = collections.defaultdict(list)
    for line in clusters:
        measured[line["rate"]].append(str(line["payload_MBps"]))
    links = "; ".join(f"links of {html.escape(name)} both ways, which carry {most:.1f} MB/s of payload "
                      f"(measured: {', '.join(measured[name])})" for name, most in payload.items())
    about = (f"<p>{clusters[0]['hosts']} hosts, {links}. The <i>bound</i> is the time in which "
             "the busiest rank's bytes pass its link at that rate, sending and receiving at once; below some 64 KiB the "
             "links' token buckets let everybody beat it. Every MPI, and every setting, has launches of its own, in "
             "which Brigade, without settings, competes with it.</p>")
    made = []
    patterns, pingpong, ring, strided, scalapack, loopback, overlap = map(
        lines_of, ("patterns", "send", "ring", "strided", "scalapack", "loopback", "overlap"))
    if patterns or pingpong:
        body, summaries = bound_section(patterns + pingpong, rate)
        made.append(("Cluster: times the bound", body, summaries))
    if ring:
        made.append(("Cluster: broadcasts from every rank in turn", ring_section(ring, rate), []))
    if strided or pingpong:
        made.append(("Cluster: strided data", strided_section(strided, pingpong), []))
    if scalapack:
        made.append(("Cluster: ScaLAPACK", *scalapack_section(scalapack, rate)))
    if overlap:
        made.append(("Cluster: overlap with computation", overlap_section(overlap), []))
    if loopback:
        made.append(("TCP within a host, 2 ranks", loopback_section(loopback), []))
    if list(directory.glob("cluster_topologies_*.jsonl")):
        made.append(("Cluster: topologies", topologies_section(directory), []))
    if made:
        title, body, summaries = made[0]
        made[0] = title, about + body, summaries
    return made
