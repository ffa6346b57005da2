"""Checks the JSON lines and the report that smoke_test.sh made: every field, every subject, every case."""

import html
import json
import pathlib
import re
import sys

from bench.report import cluster, measurements, style

FIELDS = {
    "case", "pattern", "transport", "ranks", "rows", "cols", "ld", "bytes", "chunk_bytes", "subject", "median_us",
    "least_us", "lo_us", "hi_us", "MBps", "copies_per_byte", "staging_peak_bytes", "versions",
}
PINGPONG = {f"pingpong {shape}": {"brigade", "shim", "stock", "mpi", "bare ring"}
            for shape in ("contiguous", "runs of 256 B", "runs of 4000 B")}
EVERYBODY = {"brigade", "shim", "stock", "plain", "mpi"}
SPREAD = {case: EVERYBODY for case in ("multi-broadcast", "multi-reduce", "broadcast", "reduce")}
SPREAD["small-broadcast"] = EVERYBODY | {"direct"}
SPREAD["all-reduce"] = EVERYBODY - {"plain"}
SPREAD["barrier"] = {"brigade", "mpi"}
GRID = {case: {"brigade", "mpi"} for case in SPREAD if case != "small-broadcast"}
# Brigade's ways on contiguous data.
ROOTED = {"free", "tree", "4-nomial tree", "ring", "fully connected", "two trees", "circulant"}
SHAPES = {"broadcast": ROOTED, "reduce": ROOTED, "barrier": {"barrier"},
          "all-reduce": ROOTED - {"two trees", "circulant"} | {"hypercube", "reduce-scatter + allgather"}}
for multi in ("multi-broadcast", "multi-reduce"):
    SHAPES[multi] = {multi, f"{multi}, ring", f"{multi}, circulant"}
CALLS = {"dgamx2d 1 x 1", "dgamx2d 1 x 1 with coordinates", "igamn2d 1 x 1", "igamn2d 1 x 1 with coordinates",
         "dgsum2d 1 x 1", "dgsum2d 32 x 1", "dgebs2d, dgebr2d 1 x 1", "dgebs2d, dgebr2d 64 x 32"}
EXCHANGE = "dgesd2d, dgerv2d 1 x 64 of leading dimension 500"


def calls(*scopes):
    names = {f"{call}, scope {scope}" for call in CALLS for scope in scopes} | {EXCHANGE}
    return {name: {"shim", "stock"} for name in names}


def check(path, expected_by_ranks):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for ranks, expected in expected_by_ranks.items():
        found = {}
        for line in lines:
            if line["ranks"] == ranks and not line["label"]:
                found.setdefault(line["case"], set()).add(line["subject"])
        assert found == expected, f"{path.name}, {ranks} ranks: {found}"
    for line in lines:
        assert FIELDS <= line.keys(), f"{path.name}: lacks {FIELDS - line.keys()}"
        assert line["verified"] is True
        assert line["machine"]["single_copy"] != "unknown", "no longer asked by the right name"
        assert 0 < line["least_us"] <= line["lo_us"] <= line["median_us"] <= line["hi_us"], line
        assert ("protocol" in line) == (line["subject"] == "brigade"), line
        if line["subject"] == "brigade" and line["case"] != "barrier":
            assert line["copies_per_byte"] <= 2, line  # at most one copy per side
            # Segments for one rank may do without, and short ones of each block.
            messages = max(1, line["segments"]) * (line["ranks"] if line["case"].startswith("multi-") else 1)
            is_for_one = line["ranks"] == 2 or line["case"].startswith("pingpong")
            needs_none = is_for_one or line["bytes"] <= 4096 * messages
            assert line["staging_peak_bytes"] > 0 or needs_none, line
        if "CMA off" in line["label"]:
            assert line["machine"]["single_copy"] == "none", line


def check_shapes(path):
    found = {}
    for line in map(json.loads, path.read_text().splitlines()):
        if line["subject"] == "brigade":
            found.setdefault(line["case"], set()).add(line["pattern"])
    assert found == SHAPES, f"{path.name}: {found}"


def check_one_sided(directory):
    """Checks the peers of operations of rank 0 on memory of rank 1, and of all ranks on memory of rank 0."""
    found = {}
    for line in map(json.loads, (directory / "one_sided.jsonl").read_text().splitlines()):
        if line["subject"] != "brigade":
            found.setdefault((line["case"].removeprefix("one-sided "), line["bytes"]), set()).add(line["pattern"])
    for operation, short in (("put", "store"), ("get", "load")):
        again = f"{operation} 64 times, flush"
        assert found[operation, 8] == {f"{operation}, flush", short, again}, found
        assert found[operation, 70000] == {f"{operation}, flush", "memcpy"}, found
    assert found["fetch and add of all", 8] == {"fetch and add of all 3 ranks"}, found


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
        assert {"dgsum2d", "wait", "copy in", "post send", "received"} <= inside, inside
    # A line per rank and the mean, each of parts of one whole.
    rows = (directory / "trace.txt").read_text().splitlines()[2:]
    assert len(rows) == 5, rows
    for row in rows:
        assert abs(sum(map(float, re.findall(r"[\d.]+(?=%)", row))) - 100) < 0.5, row
    picture = (directory / "trace.svg").read_text()
    assert "QR, n = 60" in picture and "rank 3" in picture and len(picture) < 300e3, len(picture)


def main():
    directory = pathlib.Path(sys.argv[1])
    check_one_sided(directory)
    check_trace(directory)
    explained = json.loads((directory / "explained.json").read_text())
    assert explained["predicted_us"] > 0 and explained["protocols"][0] == "posted buffer", explained
    check(directory / "pingpong.jsonl", {2: PINGPONG, 4: PINGPONG})
    check(directory / "spread.jsonl", {2: SPREAD, 4: SPREAD})
    check(directory / "grid.jsonl", {2: GRID, 4: GRID})
    check_shapes(directory / "grid.jsonl")
    check(directory / "calls.jsonl", {2: calls("All"), 4: calls("All", "Row", "Column")})
    scalapack = [json.loads(line) for line in (directory / "scalapack.jsonl").read_text().splitlines()]
    routines = {"LU", "Cholesky", "QR", "matrix product", "eigenvalues"}
    for subject in ("stock", "shim"):
        assert {line["routine"] for line in scalapack if line["subject"] == subject} == routines, subject
    medians = {(line["subject"], line["pair"]): line["median_s"] for line in scalapack if line["routine"] == "LU"}
    comparisons = measurements.compare_scalapack(measurements.load(directory / "scalapack.jsonl"))
    (lu,) = (c for c in comparisons if c.routine == "LU")
    assert lu.ratio[:4] == (medians["stock", 1] / medians["shim", 1],) * 3 + (1,), "not compared within the pair"
    assert style.ratio_cell(lu.ratio._replace(lo=2)).verdict == "even", "one sample decides nothing"
    picture = (directory / "picture.svg").read_text()
    assert picture.startswith("<svg") and "ScaLAPACK" in picture and "4000 B" in picture
    report = html.unescape((directory / "report.html").read_text())
    assert report.count("<svg") >= 7, "plots are missing"
    assert "mpi, tuned: forced" in report, "MPI with other settings is missing"
    for part in ("BLACS calls", "better of Open MPI's two", "reference BLACS, CMA off", "bare ring", "1 MiB</td>",
                 "ScaLAPACK, all on 2 ranks", "Computing on two processors at once"):
        assert part in report, f"the report lacks '{part}'"
    for part in ("best peer / Brigade", "mpi forced: MPI_Bcast", "MPI_Reduce_scatter_block", "carry 47.5 MB/s",
                 "send, in runs of 256 bytes", "Q n + Q - 2", "stock: topology", "runs / contiguous",
                 "Brigade / larger", "bare socket, spinning", "hidden", "2 x 2"):
        assert part in report, f"the report on the cluster lacks '{part}'"
    tables = cluster.topologies_tables(directory, str)
    assert len(tables) == 4, tables
    for title, (header, (row,)) in tables:
        lacking = {who for who, cell in zip(header, row) if cell == "-"} - {"Open MPI, tuned", "MPICH", "MPICH, tuned"}
        assert lacking == ({"two trees", "binomial tree"} if title.startswith("multi") else set()), (title, lacking)
        assert title in report.lower().replace("mb/s", "MB/s"), f"the report lacks '{title}'"
    assert not re.search("(src|href)=.http|@import", report.replace("http://www.w3.org", "")), "it needs a network"


main()
