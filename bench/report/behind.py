"""Where peers are ahead of Brigade in a folder of results: behind.md and behind.html.

Users send the page with a complaint, so that it holds no name of a host, no path and no free text of theirs."""

import argparse
import json
import pathlib
import re
from typing import NamedTuple

from bench.report import style
from bench.report.measurements import (
    ENOUGH_SAMPLES, OURS, Figure, collect, compare_scalapack, folder, is_worse, load, ratio, select)
from bench.report.predictions import predict, question
from bench.report.style import NAMES, Cell, Table, format_bytes, format_us

# {title: (file, place)}: the place is a transport on this host, or the cluster.
MEASURED = {
    "Messages between 2 ranks": ("pingpong", "auto"),
    "Short BLACS calls": ("calls", "auto"),
    "Patterns, contiguous": ("grid", "auto"),
    "Panels and small broadcasts": ("spread", "auto"),
    "TCP between 2 processes": ("tcp", "tcp"),
    "Windows": ("windows", "auto"),
    "Slow hosts, messages": ("cluster_send", "cluster"),
    "Slow hosts, patterns": ("cluster_patterns", "cluster"),
    "Slow hosts, BLACS broadcasts in turn": ("cluster_ring", "cluster"),
}
SCALAPACK = {"ScaLAPACK": "scalapack", "Slow hosts, ScaLAPACK": "cluster_scalapack"}
# One-sided operations: a pattern is an operation, which is beside the same one of the peer. The model has none.
WINDOWS = "Windows"
# The others, such as bare rings, are limits.
PEERS = {"mpi": "brigade", "stock": "shim"}
# A measured time this many times the prediction, or its inverse, is a fault of the model.
WRONG = 2
# Values that reveal nothing of a user; of all other settings only the name is shown.
HARMLESS = re.compile(r"[0-9]+(\.[0-9]+)?[kKmMgG]?|on|off|auto|always|never|hint|strict|info|none|shm|tcp|mpi|sockets")


class Case(NamedTuple):
    """One case in which the best of the peers is ahead. `question`: of the model, or None."""

    title: str
    name: str
    bytes: int
    ranks: int
    peer: str
    ratio: Figure
    protocol: str
    us: float
    question: tuple


class Count(NamedTuple):
    """Of the cases of one title: how many were compared, are behind, and have too few samples."""

    cases: int
    behind: int
    undecided: int


def own_way(case, patterns):
    """Returns the pattern that Brigade selects by itself: topologies that a program has to name do not count."""
    wanted = (case, "free", "topology ' '", "Q x topology ' '")
    return next((pattern for pattern in wanted if pattern in patterns), patterns[0])


def _peer_name(peer, label, pattern):
    name = NAMES.get(f"{peer} {label}".strip()) or f"{NAMES[peer]}, {label}"
    return name if pattern.endswith("in a row") else f"{name} ({pattern})"


def _case_of(title, place, key, found, lines):
    figure, label, subject, pattern, way, us = found
    own = select(lines, case=key.case, ranks=key.ranks, rows=key.rows, cols=key.cols, bytes=key.bytes, label=label,
                 subject=PEERS[subject], pattern=way)
    own = own.to_dict("records")
    if title == WINDOWS:
        return Case(title, f"{key.case}: {way}", key.bytes, key.ranks, NAMES[subject], figure, "one-sided", us, None)
    known = [name for line in own if isinstance(line.get("protocol"), str) for name in line["protocol"].split(", ")]
    is_strided = key.cols > 1 and own[0]["ld"] > key.rows and " x " not in key.case
    return Case(title, key.case + (f", {key.rows} x {key.cols}" if is_strided else ""), key.bytes, key.ranks,
                _peer_name(subject, label, pattern), figure, ", ".join(dict.fromkeys(known)), us,
                question(place, own[0]))


def compare(title, place, lines):
    """Returns the cases that are behind, each beside the peer that is furthest ahead, and the Count."""
    best, undecided = {}, set()
    for label, group in lines.groupby("label"):
        for key, subjects in collect(group).items():
            for (name, pattern), figure in subjects.items():
                subject = name.removesuffix(f" {label}")
                patterns = [ours for who, ours in subjects if who == PEERS.get(subject)]
                if title == WINDOWS:
                    patterns = [ours for ours in patterns if ours == pattern]
                if not patterns:
                    continue
                way = own_way(key.case, patterns)
                slot = key, way if title == WINDOWS else ""
                ours = subjects[PEERS[subject], way]
                found = ratio(figure, ours), label, subject, pattern, way, ours.median
                if found[0].samples < ENOUGH_SAMPLES:
                    undecided.add(slot)
                elif slot not in best or (is_worse(found[0]), -found[0].median) > (
                        is_worse(best[slot][0]), -best[slot][0].median):
                    best[slot] = found
    behind = [_case_of(title, place, key, found, lines) for (key, _), found in best.items() if is_worse(found[0])]
    return behind, Count(len(best.keys() | undecided), len(behind), len(undecided - best.keys()))


def compare_routines(title, lines):
    """Compares ScaLAPACK's routines. They are whole programs, which the model does not predict."""
    found = compare_scalapack(lines)
    behind = [Case(title, f"{c.routine}, {c.setting}", 0, c.ranks, NAMES["stock"], c.ratio, "", c.shim.median * 1e6,
                   None) for c in found if is_worse(c.ratio)]
    return behind, Count(len(found), len(behind), sum(c.ratio.samples < ENOUGH_SAMPLES for c in found))


# ---- what it was measured on -----------------------------------------------------------------------------------------


def machine(lines):
    """Returns what the lines say of machine and versions, or None."""
    lines = [line for line in lines if isinstance(line.get("machine"), dict)]
    if not lines:
        return None
    first = lines[0]["machine"]
    # Of "Open MPI v5.0, package: Open MPI user@host", what is before the comma.
    mpis = sorted({f"{line['versions']['mpi'].split(',')[0]} (single copies: {line['machine']['single_copy']})"
                   for line in lines})
    stock = sorted({pathlib.PurePath(line["versions"]["stock"]).name for line in lines} - {""})
    transports = sorted({line["transport"] for line in lines if line["subject"] in OURS})
    together = max(line["machine"]["together_over_alone"] for line in lines)
    return Table(["", ""], [
        ["processor", f"{first['cpu']}, {first['cores']} processors"], ["system", first["kernel"]],
        ["Brigade", lines[0]["versions"]["brigade"]], ["transports", ", ".join(transports)],
        ["MPI", "; ".join(mpis)], ["reference BLACS", ", ".join(stock)],
        ["computing on two processors at once, over on one", f"{together:.2f} times"]])


def settings(given):
    """Returns names and values, without values that may name a host, a user or a path."""
    return {name: value if HARMLESS.fullmatch(value) else "(set)" for name, value in sorted(given.items())}


def _ends(part):
    """Names the two memories of a copy or an add, or the memory."""
    return f"{', '.join(part['from'])} to {', '.join(part['to'])}" if "from" in part else part.get("name", "")


def calibration(description, path=""):
    """[(name, value)] of the quantities of a machine's file, without those that are zero or have no limit."""
    if isinstance(description, list):
        return [row for part in description if isinstance(part, dict)
                for row in calibration(part, f"{path} {_ends(part)}")]
    if not isinstance(description, dict):
        return []
    if "unit" not in description:
        return [row for name, part in description.items() for row in calibration(part, f"{path} {name}".strip())]
    unit = "" if description["unit"] == "count" else f" {description['unit']}"
    if "by_run_bytes" in description:
        return [(path, ", ".join(f"{rate:.0f}{unit} in runs of {run:.0f} B"
                                 for run, rate in description["by_run_bytes"]))]
    value = description["value"]
    return [] if value in (0, "unlimited") else [(path, f"{value:.6g}{unit}")]


# ---- the page --------------------------------------------------------------------------------------------------------


def cases_table(cases, predictions):
    """Returns the table, and how many predictions in it are wrong."""
    rows, wrong = [], 0
    for case in sorted(cases, key=lambda case: case.ratio.median):
        prediction = predictions.get(case.question)
        protocol = case.protocol or (" or ".join(prediction.protocols) if prediction else "that of each call")
        figure = Cell(f"{case.ratio.median:.2f}", f"[{case.ratio.lo:.2f}, {case.ratio.hi:.2f}]", "worse")
        row = [case.title, case.name, format_bytes(case.bytes) if case.bytes else "", case.ranks, case.peer, figure,
               protocol, "", format_us(case.us), ""]
        if prediction:
            quotient = case.us / prediction.us
            is_wrong = not 1 / WRONG <= quotient <= WRONG
            wrong += is_wrong
            row[7] = format_us(prediction.us)
            row[9] = Cell(f"{quotient:.3g}", "wrong" if is_wrong else "", "worse" if is_wrong else "", is_wrong)
        rows.append(row)
    return Table(["what", "case", "bytes", "ranks", "peer", "its time / Brigade's", "protocol", "predicted, µs",
                  "measured, µs", "measured / predicted"], rows), wrong


def read(directory):
    """Returns the cases that are behind, {title: Count}, and all lines."""
    behind, counts, lines = [], {}, []
    for title, (name, place) in MEASURED.items():
        file = load(directory / f"{name}.jsonl")
        if len(file):
            found, counts[title] = compare(title, place, file)
            behind += found
            lines += file.to_dict("records")
    for title, name in SCALAPACK.items():
        file = load(directory / f"{name}.jsonl")
        if len(file):
            found, counts[title] = compare_routines(title, select(file, label="") if "label" in file else file)
            behind += found
    return behind, counts, lines


def _text(cases, behind, wrong):
    if not behind:
        return f"In none of {cases} cases is a peer ahead beyond the interval."
    return (
        f"In {behind} of {cases} cases a peer is ahead beyond the interval. Each case is beside the peer that is "
        "furthest ahead. Times are medians. The interval of a ratio combines the worst ends of both 95 % intervals, or "
        "is that of pairs of launches (ScaLAPACK). Brigade's time is that of its own choice, without a named topology. "
        "The cost model predicts from the calibration below. A prediction is marked as wrong if the measured time is "
        f"more than {WRONG} times as long, or less than 1 / {WRONG} of it, which is a fault of the model. Wrong "
        f"predictions here: {wrong}.")


def page(directory, bench=None):
    """Returns the data of the templates."""
    behind, counts, lines = read(directory)
    predictions = predict(directory, list(dict.fromkeys(case.question for case in behind if case.question)), bench)
    about = directory / "behind.json"
    given = json.loads(about.read_text()) if about.exists() else {"settings": {}, "left_out": []}
    table, wrong = cases_table(behind, predictions)
    every = [*MEASURED, *SCALAPACK]
    machines = {path.stem.removeprefix("machine_").replace("_", ", ") + (" ranks" if path.stem[-1].isdigit() else ""):
                Table(["quantity", "value"], calibration(json.loads(path.read_text())))
                for path in sorted(directory.glob("machine_*.json"))}
    return {
        "machine": machine(lines), "settings": settings(given["settings"]), "left_out": given["left_out"],
        "counts": Table(["what", "cases", "behind", "too few samples"],
                        [[title, *(counts[title] if title in counts else ("not measured", "", ""))]
                         for title in every]),
        "behind": table, "text": _text(sum(count.cases for count in counts.values()), len(behind), wrong),
        "machines": machines,
    }


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.behind", description=__doc__)
    parser.add_argument("directory", type=folder, help="where the JSON lines are")
    parser.add_argument("--bench", metavar="PROGRAM", help="brigade_bench, for predictions that the folder lacks")
    arguments = parser.parse_args()
    data = page(arguments.directory, arguments.bench)
    for form in ("md", "html"):
        text = style.render(f"behind.{form}.j2", **data)
        (arguments.directory / f"behind.{form}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
