"""The report's sections on the cluster. As a program: prints the tables of topologies of a folder of results."""

import argparse
import collections
import math
import statistics
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas

from bench.report.measurements import (
    OURS, Figure, Key, Summary, Versus, best_of, by_label, collect, compare_scalapack, folder, geometric_mean, load,
    pool, ratio, scaled, select)
from bench.report.style import (
    NAMES, Cell, Section, Table, bytes_axis, draw_lines, format_bytes, format_us, plot, ratio_axis, ratio_cell,
    time_cell, times_cell)

# Bytes that the busiest rank sends or receives on p ranks, in message lengths: a lower bound for its link.
SHARE = {
    "broadcast": lambda p: 1,
    "reduce": lambda p: 1,
    "multi-broadcast": lambda p: (p - 1) / p,
    "multi-reduce": lambda p: (p - 1) / p,
    "all-reduce": lambda p: 2 * (p - 1) / p,
    "gather": lambda p: (p - 1) / p,
    "scatter": lambda p: (p - 1) / p,
    "all-to-all": lambda p: (p - 1) / p,
    "scan": lambda p: 1,
    "exscan": lambda p: 1,
    "pingpong contiguous": lambda p: 1,
    "pingpong runs of 256 B": lambda p: 1,
}
# Names of topologies in tables, and the other contenders, in this order.
TOPOLOGIES = {"circulant": "circulant graph", "two trees": "two trees", "ring": "increasing ring",
              "tree": "binomial tree"}
CONTENDERS = [*TOPOLOGIES.values(), "free", "Open MPI", "Open MPI, tuned", "MPICH", "MPICH, tuned"]
TITLES = {"pingpong contiguous": "send, contiguous", "pingpong runs of 256 B": "send, in runs of 256 bytes"}


def bound_us(key, rate):
    """The time in which the busiest rank's bytes pass its link, at `rate` MB/s."""
    return key.bytes * SHARE[key.case](key.ranks) / rate


def capitalised(title):
    return title[0].upper() + title[1:]


# ---- times the bound -------------------------------------------------------------------------------------------------


class Peer(NamedTuple):
    """A peer's figure, and its ratio to Brigade's in the same launches."""

    name: str
    figure: Figure
    ratio: Figure


# Whose curve is drawn: the best of the peers that belong to it.
CURVES = {"stock": lambda subject: subject == "stock", "mpi": lambda subject: subject == "mpi",
          "best MPI": lambda subject: subject.startswith("mpi")}


def peers_by_case(lines):
    """{Key: {(subject, pattern): Peer}}; BLACS against the shim, others against the patterns."""
    peers = collections.defaultdict(dict)
    for _, cases in by_label(lines):
        for key, subjects in cases.items():
            best = best_of(subjects)
            for (subject, pattern), figure in subjects.items():
                if subject not in OURS:
                    ours = best["shim" if subject == "stock" and "shim" in best else "brigade"]
                    peers[key][subject, pattern] = Peer(f"{subject}: {pattern}", figure, ratio(figure, ours))
    return peers


def least(peers):
    """The peer that does best against Brigade, if any."""
    return min(peers, key=lambda peer: peer.ratio.median, default=None)


def bound_section(lines, rate):
    """Times the bound, by pattern and ranks, of everybody by size."""
    ours, peers = collect(lines[lines["subject"].isin(OURS)]), peers_by_case(lines)
    groups = collections.defaultdict(list)
    for key in ours:
        groups[key.case, key.ranks].append(key)
    parts, summaries = [], []
    for case, ranks in sorted(groups, key=lambda group: (list(SHARE).index(group[0]), group[1])):
        keys = sorted(groups[case, ranks], key=lambda key: key.bytes)
        title = f"{TITLES.get(case, case)}, {ranks} ranks"
        part, versus = bound_part(title, keys, ours, peers, rate)
        parts.append(part)
        summaries.append(Summary(f"cluster: {title}", versus, "Hosts with slow links"))
    return Section("Cluster: times the bound", "bound", {"parts": parts}, summaries)


def bound_part(title, keys, ours, peers, rate):
    """Returns a template's data of one pattern on one number of ranks, and {curve: [Versus]}."""
    own_rows, peer_rows = collections.defaultdict(dict), collections.defaultdict(dict)  # {who: {Key: cell}}
    series, versus = collections.defaultdict(list), collections.defaultdict(list)
    names, verdicts = ["best peer"], [Cell("best peer / Brigade", bold=True)]
    for key in keys:
        unit = bound_us(key, rate)
        for (subject, pattern), figure in ours[key].items():
            own_rows[f"{NAMES[subject]}, {pattern}"][key] = times_cell(scaled(figure, unit))
        series["brigade"].append((key.bytes, scaled(best_of(ours[key])["brigade"], unit)))
        for peer in peers[key].values():
            peer_rows[peer.name][key] = times_cell(scaled(peer.figure, unit))
        for curve, belongs in CURVES.items():
            if best := least(peer for (subject, _), peer in peers[key].items() if belongs(subject)):
                series[curve].append((key.bytes, scaled(best.figure, unit)))
                versus[curve].append(Versus(f"{title}, {format_bytes(key.bytes)}", best.ratio))
        best = least(peers[key].values())
        names.append(best.name if best else "")
        verdicts.append(ratio_cell(best.ratio) if best else "")
    mine = [[Cell(who, bold=True), *(cells.get(key, "") for key in keys)] for who, cells in own_rows.items()]
    others = [[who, *(cells.get(key, "") for key in keys)] for who, cells in peer_rows.items()]
    header = ["times the bound", *(format_bytes(key.bytes) for key in keys)]
    return {"title": capitalised(title), "plot": draw_bound(title, series),
            "table": Table(header, [*mine[:1], names, verdicts]), "everybody": Table(header, mine + others)}, versus


def draw_bound(title, series):
    figure, axes = plt.subplots(figsize=(5, 2.8))
    draw_lines(axes, series)
    axes.axhline(1, color="black", lw=0.8)
    ratio_axis(axes.yaxis)
    bytes_axis(axes)
    axes.set_ylabel("times the bound")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return plot(figure, title)


# ---- topologies ------------------------------------------------------------------------------------------------------


def contender(case, subject, pattern):
    """Its column in the tables of topologies."""
    if subject == "brigade":
        # The multi forms' patterns begin with what they are.
        return TOPOLOGIES.get(pattern.removeprefix(f"{case}, "), "free")
    label = subject.removeprefix("mpi").strip()
    mpi = "MPICH" if label.startswith("MPICH") else "Open MPI"
    return mpi if label in ("", "MPICH 5") else f"{mpi}, tuned"


class TopologyRow(NamedTuple):
    """The bound in microseconds, {contender: median time over it}, and which of our topologies is the best."""

    key: Key
    bound: float
    times: dict
    best: str


def topologies_by_case(lines, rate):
    """{case: [TopologyRow]}, of each contender its fastest setting."""
    by_case = {case: [] for case in SHARE}
    for key, subjects in sorted(collect(lines).items(), key=lambda item: (item[0].ranks, item[0].bytes)):
        bound, times = bound_us(key, rate), {}
        for (subject, pattern), figure in subjects.items():
            who = contender(key.case, subject, pattern)
            times[who] = min(figure.median / bound, times.get(who, math.inf))
        best = min(TOPOLOGIES.values(), key=lambda who: times.get(who, math.inf))
        by_case[key.case].append(TopologyRow(key, bound, times, best))
    return {case: rows for case, rows in by_case.items() if rows}


def topologies_tables(directory, emphasis):
    """[(title, Table)], of every rate and case; `emphasis` makes the best of our topologies stand out."""
    tables = []
    for rate, payload in payload_rates(directory).items():
        lines = load(directory / f"cluster_topologies_{rate}.jsonl")
        for case, rows in topologies_by_case(lines, payload).items():
            cells = []
            for row in rows:
                times = {who: f"{time:.2f}" for who, time in row.times.items()}
                times[row.best] = emphasis(times[row.best])
                cells.append([str(row.key.ranks), format_bytes(row.key.bytes), format_us(row.bound),
                              *(times.get(who, "-") for who in CONTENDERS)])
            header = ["ranks", "message", "bound, µs", *CONTENDERS]
            tables.append((f"{case}, links of {rate} ({payload:.1f} MB/s)", Table(header, cells)))
    return tables


def topologies_section(directory):
    tables = topologies_tables(directory, lambda text: Cell(text, bold=True))
    return Section("Cluster: topologies", "topologies", {
        "parts": [{"title": capitalised(title), "table": table} for title, table in tables]})


def topologies_text(directory):
    """The tables of topologies for a terminal."""
    text = "Times the bound; *: the best of our topologies\n"
    for title, table in topologies_tables(directory, "*{}".format):
        frame = pandas.DataFrame(table.rows, columns=table.header)
        text += f"\n{title}\n{frame.to_string(index=False)}\n"
    return text


# ---- hosts of several ranks ------------------------------------------------------------------------------------------


def gathers_section(directory, rate):
    """Of each contender its time, its time over the bound, and over Brigade's with a free topology.

    The bound is the time in which the blocks of other hosts pass the link of the root's host."""
    rows, summaries = [], []
    for path in sorted(directory.glob("cluster_gathers_*.jsonl")):
        per_host = int(path.stem.rsplit("_", 1)[1])
        lines = load(path)
        named = (lines["subject"] == "brigade") & (lines["pattern"] != "free")
        ours, peers = collect(lines[lines["subject"] == "brigade"]), peers_by_case(lines[~named])
        versus = []
        for key in sorted(ours, key=lambda key: (key.case, key.bytes)):
            hosts = key.ranks // per_host
            unit = bound_us(key._replace(ranks=hosts), rate)
            free = ours[key]["brigade", "free"]
            everybody = [(f"{NAMES[subject]}, {pattern}", figure, ratio(figure, free))
                         for (subject, pattern), figure in ours[key].items()] + list(peers[key].values())
            what = [key.case, f"{hosts} x {per_host}", format_bytes(key.bytes / key.ranks)]
            rows += [[*what, name, time_cell(figure), times_cell(scaled(figure, unit)), ratio_cell(over_free)]
                     for name, figure, over_free in everybody]
            if best := least(peers[key].values()):
                versus.append(Versus(f"{key.case}, {hosts} hosts of {per_host}, {what[-1]}", best.ratio))
        summaries.append(Summary(f"cluster: gather and scatter, {per_host} ranks on a host", {"best MPI": versus},
                                 "Hosts with slow links"))
    header = ["pattern", "hosts x ranks", "each block", "who", "µs", "times the bound", "its time / Brigade, free"]
    return Section("Cluster: gathers and scatters on hosts of several ranks", "plain", {"table": Table(header, rows)},
                   summaries)


# ---- the other parts -------------------------------------------------------------------------------------------------


def ring_section(lines, rate):
    """Q broadcasts of n chunks each, against Q n + Q - 2 chunk times."""
    ours = select(lines, subject="brigade", pattern="ring")
    chunks = {(line.ranks, line.bytes): line.segments // line.ranks for line in ours.itertuples()}
    rows = []
    for key, subjects in collect(lines).items():
        if (key.ranks, key.bytes) not in chunks:  # a full disk has cut the case
            continue
        n = chunks[key.ranks, key.bytes]
        unit = key.bytes / key.ranks / n / rate * (key.ranks * n + key.ranks - 2)
        for (subject, pattern), figure in subjects.items():
            rows.append([key.ranks, format_bytes(key.bytes / key.ranks), int(n), f"{subject}: {pattern}",
                         time_cell(figure), times_cell(scaled(figure, unit))])
    return Section("Cluster: broadcasts from every rank in turn", "plain", {"table": Table(
        ["ranks Q", "each message", "chunks n", "who", "all Q, µs", "times (Q n + Q - 2) chunks"], rows)})


def strided_section(lines):
    """Panels in short runs against the same bytes, contiguous."""
    figures = collections.defaultdict(dict)
    for key, subjects in collect(select(lines, subject="brigade")).items():
        case = "send" if key.case.startswith("pingpong") else key.case
        pattern = next(pattern for _, pattern in subjects if not pattern.startswith("Q x"))
        figures[case, key.ranks, key.bytes][key.rows == 32] = subjects["brigade", pattern]
    rows = [[case, ranks, format_bytes(count), time_cell(pair[False]), time_cell(pair[True]),
             times_cell(ratio(pair[True], pair[False]))]
            for (case, ranks, count), pair in figures.items() if len(pair) == 2]
    return Section("Cluster: strided data", "plain", {"table": Table(
        ["pattern", "ranks", "message", "contiguous, µs", "in runs of 256 bytes, µs", "runs / contiguous"], rows)})


def scalapack_section(lines, rate):
    """Stock and shim, and how far they are from computation and transfer at their fastest."""
    alone, link = collections.defaultdict(list), collections.defaultdict(list)
    for line in lines.itertuples():
        key = line.routine, f"{line.rows} x {line.cols} ranks, n = {line.n}, nb = {line.nb}"
        if line.label:
            alone[key].append(line.median_s)
        elif line.subject == "shim":
            link[key].append(line.link_bytes / rate * 1e-6)
    rows, versus = [], []
    for comparison in compare_scalapack(select(lines, label="")):
        key = comparison.routine, comparison.setting
        row = [*key, comparison.ratio.samples, f"{comparison.stock.median:.3f}", f"{comparison.shim.median:.3f}",
               ratio_cell(comparison.ratio)]
        versus.append(Versus(f"{comparison.routine}, {comparison.setting}", comparison.ratio))
        if alone[key]:
            parts = statistics.median(alone[key]), statistics.median(link[key])
            row += [f"{seconds:.3f}" for seconds in parts]
            row += [f"{figure.median / max(parts):.2f}" for figure in (comparison.stock, comparison.shim)]
        rows.append(row)
    header = ["routine", "setting", "pairs", "reference BLACS, s", "Brigade, s", "reference BLACS / Brigade",
              "computation, s", "link, s", "reference BLACS / larger", "Brigade / larger"]
    medians = [case.ratio.median for case in versus]
    return Section("Cluster: ScaLAPACK", "cluster_scalapack", {
        "mean": geometric_mean(medians) if medians else None, "worst": min(medians, default=None),
        "table": Table(header, rows)},
        [Summary("cluster: ScaLAPACK", {"stock": versus}, "ScaLAPACK, slow links")] if versus else [])


def loopback_section(lines):
    """Time and processor time of everybody by size, and Brigade against the best."""
    figures = collections.defaultdict(lambda: collections.defaultdict(list))
    cpu = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines.itertuples():
        subject = f"Brigade {line.transport}" if line.subject == "brigade" else line.subject
        if line.subject == "bare socket":
            subject += f", {line.pattern}"
        figures[subject][line.bytes].append(Figure(line.median_us, line.lo_us, line.hi_us, line.iterations))
        cpu[subject][line.bytes].append(line.cpu_us * 1e3 / line.bytes)
    pooled = {subject: {size: pool(f) for size, f in by_size.items()} for subject, by_size in figures.items()}
    names = sorted(pooled)

    def best(prefix, size):
        return min((pooled[name][size] for name in names if name.startswith(prefix) and size in pooled[name]),
                   key=lambda figure: figure.median, default=None)

    rows, cpu_rows = [], []
    for size in sorted(lines["bytes"].unique()):
        row = [format_bytes(size), *(time_cell(pooled[name][size]) if size in pooled[name] else "" for name in names)]
        for peer in ("mpi", "bare socket"):
            figure = best(peer, size)
            row.append(ratio_cell(ratio(figure, best("Brigade", size))) if figure else "")
        rows.append(row)
        cpu_rows.append([format_bytes(size), *(
            format_us(statistics.median(cpu[name][size])) if cpu[name][size] else "" for name in names)])
    header = ["message", *names]
    return Section("TCP within a host, 2 ranks", "loopback", {
        "times": Table([*header, "best MPI / Brigade", "bare socket / Brigade"], rows), "cpu": Table(header, cpu_rows)})


def overlap_section(lines):
    """Returns the section about the part of a transfer that computation hides."""
    rows = []
    for key, subjects in collect(lines).items():
        for name in dict.fromkeys(subject for subject, _ in subjects):
            parts = [subjects[name, part] for part in ("transfer", "computation", "both") if (name, part) in subjects]
            if len(parts) < 3:  # a full disk has cut the case
                continue
            transfer, computation, both = (part.median for part in parts)
            hidden = min(max(1 - (both - computation) / transfer, 0), 1)
            rows.append([key.case.removeprefix("overlap "), key.ranks, format_bytes(key.bytes), name,
                         *map(time_cell, parts), Cell(f"{hidden:.0%}", bold=True)])
    return Section("Cluster: overlap with computation", "plain", {"table": Table(
        ["what", "ranks", "message", "who", "transfer, µs", "computation, µs", "both, µs", "hidden"], rows)})


# ---- all of it -------------------------------------------------------------------------------------------------------


def payload_rates(directory):
    """{rate of the links: MB/s of payload}. Disturbances only lower it: the highest counts."""
    lines = load(directory / "cluster.jsonl")
    return dict(lines.groupby("rate", sort=False)["payload_MBps"].max()) if len(lines) else {}


def about_links(directory):
    """Returns the first section's data about links."""
    lines = load(directory / "cluster.jsonl")
    return {"hosts": lines["hosts"][0], "links": [
        {"rate": rate, "most": group.max(), "measured": ", ".join(map(str, group))}
        for rate, group in lines.groupby("rate", sort=False)["payload_MBps"]]}


def sections(directory):
    """Of what there is."""
    payload = payload_rates(directory)
    if not payload:
        return []
    rate = next(iter(payload.values()))  # only topologies may be of several
    files = {name: load(directory / f"cluster_{name}.jsonl")
             for name in ("patterns", "send", "ring", "strided", "scalapack", "loopback", "overlap")}
    made = []
    if len(files["patterns"]) or len(files["send"]):
        made.append(bound_section(pandas.concat([files["patterns"], files["send"]], ignore_index=True), rate))
    if len(files["ring"]):
        made.append(ring_section(files["ring"], rate))
    if len(files["strided"]) or len(files["send"]):
        made.append(strided_section(pandas.concat([files["strided"], files["send"]], ignore_index=True)))
    if len(files["scalapack"]):
        made.append(scalapack_section(files["scalapack"], rate))
    if len(files["overlap"]):
        made.append(overlap_section(files["overlap"]))
    if len(files["loopback"]):
        made.append(loopback_section(files["loopback"]))
    if list(directory.glob("cluster_topologies_*.jsonl")):
        made.append(topologies_section(directory))
    if list(directory.glob("cluster_gathers_*.jsonl")):
        made.append(gathers_section(directory, rate))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=folder, help="where the JSON lines are")
    print(topologies_text(parser.parse_args().directory))


if __name__ == "__main__":
    main()
