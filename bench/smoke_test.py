"""Checks the JSON lines and the report that smoke_test.sh made: every field, every subject, every case."""

import json
import pathlib
import re
import sys

import make_report
import trace_picture

FIELDS = {
    "case", "pattern", "transport", "ranks", "rows", "cols", "ld", "bytes", "chunk_bytes", "subject", "median_us",
    "lo_us", "hi_us", "MBps", "copies_per_byte", "staging_peak_bytes", "versions",
}
PINGPONG = {f"pingpong {shape}": {"shim", "stock", "mpi"} for shape in ("contiguous", "runs of 256 B", "runs of 4000 B")}
EVERYBODY = {"brigade", "shim", "stock", "plain", "mpi"}
SPREAD = {case: EVERYBODY for case in ("multi-broadcast", "multi-reduce", "broadcast", "reduce")}
SPREAD["small-broadcast"] = EVERYBODY | {"direct"}


def check(path, expected):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for ranks in (2, 4):
        found = {}
        for line in lines:
            if line["ranks"] == ranks and not line["label"]:
                found.setdefault(line["case"], set()).add(line["subject"])
        assert found == expected, f"{path.name}, {ranks} ranks: {found}"
    for line in lines:
        assert FIELDS <= line.keys(), f"{path.name}: lacks {FIELDS - line.keys()}"
        assert line["verified"] is True
        assert line["machine"]["single_copy"] != "unknown", "no longer asked by the right name"
        assert 0 < line["lo_us"] <= line["median_us"] <= line["hi_us"], line
        if line["subject"] == "brigade":
            assert line["copies_per_byte"] <= 2, line  # at most one copy per side
            assert line["staging_peak_bytes"] > 0, line


def check_shares():
    """Of a call from 10 to 90 us, in which nested spans hide what is around them."""
    spans = [("call", 10, 90), ("wait", 20, 60), ("copy", 30, 40), ("combine", 40, 50), ("post", 60, 62)]
    events = [{"ph": "X", "cat": cat, "name": cat, "ts": begin, "dur": end - begin} for cat, begin, end in spans]
    events += [{"ph": "i", "cat": "message", "name": "sent", "ts": 35}]
    rank = trace_picture.Rank({"otherData": {"rank": 0}, "traceEvents": events})
    expected = {"outside BLACS": 20, "copy, combine": 20, "post send": 2, "wait": 20, "rest of BLACS": 38}
    found = {what: round(100 * share[0], 6) for what, share in rank.shares([0, 100]).items()}
    assert found == expected, found
    halves = rank.shares([0, 45, 100])
    assert [round(s * t, 6) for s, t in zip(halves["copy, combine"], (45, 55))] == [15, 5], halves


def check_trace(directory):
    parts = [json.loads((directory / f"trace.{rank}.json").read_text()) for rank in range(4)]
    merged = json.loads((directory / "trace.json").read_text())
    assert len(merged["traceEvents"]) == sum(len(part["traceEvents"]) for part in parts)
    assert {event["pid"] for event in merged["traceEvents"]} == set(range(4))
    (run,) = (line for line in map(json.loads, (directory / "traced.jsonl").read_text().splitlines())
              if line["routine"] == "QR")
    assert run["median_s"] == sorted(run["seconds"])[1]
    begin, end = run["median_began_s"] * 1e6, (run["median_began_s"] + run["median_s"]) * 1e6
    for part in parts:
        inside = {event["name"] for event in part["traceEvents"] if begin <= event.get("ts", 0) <= end}
        assert {"dgsum2d", "wait", "copy in", "post send", "sent", "receive posted", "received"} <= inside, inside
    # A line per rank and the mean, each of parts of one whole.
    rows = (directory / "trace.txt").read_text().splitlines()[2:]
    assert len(rows) == 5, rows
    for row in rows:
        assert abs(sum(map(float, re.findall(r"[\d.]+(?=%)", row))) - 100) < 0.5, row
    picture = (directory / "trace.svg").read_text()
    assert "QR, n = 60" in picture and "rank 3" in picture and len(picture) < 300e3, len(picture)


def main():
    # The same ranks as statistics_test.cc: both programs must mean the same by an interval.
    for n, rank in ((5, 1), (6, 1), (9, 2), (20, 6), (100, 40)):
        assert make_report.median_interval(range(1, n + 1)) == ((n + 1) / 2, rank, n + 1 - rank, n), n
    directory = pathlib.Path(sys.argv[1])
    check_shares()
    check_trace(directory)
    check(directory / "pingpong.jsonl", PINGPONG)
    check(directory / "spread.jsonl", SPREAD)
    scalapack = [json.loads(line) for line in (directory / "scalapack.jsonl").read_text().splitlines()]
    routines = {"LU", "Cholesky", "QR", "matrix product"}
    for subject in ("stock", "shim"):
        assert {line["routine"] for line in scalapack if line["subject"] == subject} == routines, subject
    medians = {(line["subject"], line["pair"]): line["median_s"] for line in scalapack if line["routine"] == "LU"}
    (lu,) = (c for c in make_report.compare_scalapack(scalapack) if c.routine == "LU")
    assert lu.ratio == (medians["stock", 1] / medians["shim", 1],) * 3 + (1,), "not compared within the pair"
    assert 'class="better"' not in make_report.ratio_cell(lu.ratio._replace(lo=2)), "one sample decides nothing"
    picture = (directory / "picture.svg").read_text()
    assert picture.startswith("<svg") and "ScaLAPACK" in picture and "4000 B" in picture
    report = (directory / "report.html").read_text()
    assert report.count("<svg") >= 7, "plots are missing"
    assert "mpi, tuned: forced" in report, "MPI with other settings is missing"
    assert not re.search("(src|href)=.http|@import", report.replace("http://www.w3.org", "")), "it needs a network"


main()
