"""Checks the JSON lines and the report that smoke_test.sh made: every field, every subject, every case."""

import json
import pathlib
import re
import sys

import cluster_report
import make_report
import run_cluster
import trace_picture

FIELDS = {
    "case", "pattern", "transport", "ranks", "rows", "cols", "ld", "bytes", "chunk_bytes", "subject", "median_us",
    "lo_us", "hi_us", "MBps", "copies_per_byte", "staging_peak_bytes", "versions",
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
SHAPES = {"broadcast": ROOTED, "reduce": ROOTED, "all-reduce": ROOTED - {"two trees", "circulant"} | {"hypercube", "dealt"},
          "barrier": {"barrier"}}
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
        assert 0 < line["lo_us"] <= line["median_us"] <= line["hi_us"], line
        if line["subject"] == "brigade" and line["case"] != "barrier":
            assert line["copies_per_byte"] <= 2, line  # at most one copy per side
            # Short messages may do without.
            assert line["staging_peak_bytes"] > 0 or line["bytes"] < 4096, line
        if "CMA off" in line["label"]:
            assert line["machine"]["single_copy"] == "none", line


def check_shapes(path):
    found = {}
    for line in map(json.loads, path.read_text().splitlines()):
        if line["subject"] == "brigade":
            found.setdefault(line["case"], set()).add(line["pattern"])
    assert found == SHAPES, f"{path.name}: {found}"


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
        assert {"dgsum2d", "wait", "copy in", "post send", "received"} <= inside, inside
    # A line per rank and the mean, each of parts of one whole.
    rows = (directory / "trace.txt").read_text().splitlines()[2:]
    assert len(rows) == 5, rows
    for row in rows:
        assert abs(sum(map(float, re.findall(r"[\d.]+(?=%)", row))) - 100) < 0.5, row
    picture = (directory / "trace.svg").read_text()
    assert "QR, n = 60" in picture and "rank 3" in picture and len(picture) < 300e3, len(picture)


def check_bounds():
    """Of lines that are made up: 4 ranks, a link of 50 MB/s."""
    common = {"ranks": 4, "rows": 1, "cols": 1, "bytes": 100_000, "label": "", "iterations": 9, "case": "all-reduce"}
    lines = [{**common, "subject": subject, "pattern": "some", "median_us": us, "lo_us": us, "hi_us": us}
             for subject, us in (("brigade", 3300.0), ("mpi", 6000.0))]
    # 2 x 3/4 of 100 kB take 3 ms.
    body, (summary,) = cluster_report.bound_section(lines, 50.0)
    assert "1.1 <small>[1.1, 1.1]" in body and "2 <small>[2, 2]" in body, body
    assert round(summary.ratios["best MPI"][0].median, 3) == 1.818, summary
    parts = (("transfer", 100.0), ("computation", 90.0), ("both", 110.0))
    body = cluster_report.overlap_section([{**common, "case": "overlap send", "subject": "brigade", "pattern": part,
                                            "median_us": us, "lo_us": us, "hi_us": us} for part, us in parts])
    assert "<b>80%</b>" in body, body
    # Three broadcasts of two chunks each: 3 x 2 + 3 - 2 times 1 ms.
    ring = [{**common, "ranks": 3, "bytes": 300_000, "pieces": 6, "subject": "brigade", "pattern": "ring",
             "median_us": 8400.0, "lo_us": 8400.0, "hi_us": 8400.0}]
    assert "1.2 <small>[1.2, 1.2]" in cluster_report.ring_section(ring, 50.0)


def check_topologies(directory):
    """Of lines that are made up: 5 ranks, links of 50 and 12.5 MB/s, each measured with a disturbance."""
    directory.mkdir(exist_ok=True)

    def write(name, lines):
        (directory / f"cluster{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    write("", [{"hosts": 5, "rate": rate, "payload_MBps": payload} for rate, payload in
               (("400mbit", 49.0), ("400mbit", 50.0), ("100mbit", 12.5), ("100mbit", 12.0))])

    def line(case, label, subject, pattern, us, count=100_000):
        return {"case": case, "ranks": 5, "rows": 1, "cols": 5, "bytes": count, "label": label, "iterations": 4,
                "subject": f"{subject} {label}".strip() if subject == "mpi" else subject, "pattern": pattern,
                "median_us": us, "lo_us": us, "hi_us": us}

    # 100 kB take 2 ms, and four fifths of them 1.6 ms.
    write("_topologies_400mbit", [
        line("multi-reduce", "", "brigade", "multi-reduce", 1600.0),
        line("multi-reduce", "", "brigade", "multi-reduce, ring", 1680.0),
        line("multi-reduce", "", "brigade", "multi-reduce, circulant", 2400.0),
        line("multi-reduce", "", "mpi", "MPI_Reduce_scatter", 3200.0),
        line("multi-reduce", "", "mpi", "MPI_Reduce_scatter_block", 4000.0),
        line("broadcast", "", "brigade", "ring", 20971.52, 1 << 20),  # a longer one, first
        *(line("broadcast", label, "brigade", pattern, us) for label in ("", "MPICH 5") for pattern, us in
          (("free", 2020.0), ("tree", 6000.0), ("ring", 2400.0), ("two trees", 2800.0), ("circulant", 2200.0))),
        line("broadcast", "", "mpi", "MPI_Bcast", 9000.0),
        line("broadcast", "pipeline 16K", "mpi", "MPI_Bcast", 3000.0),
        line("broadcast", "pipeline 8K", "mpi", "MPI_Bcast", 2600.0),
        line("broadcast", "MPICH 5", "mpi", "MPI_Bcast", 5000.0),
        line("broadcast", "MPICH 5, rings", "mpi", "MPI_Bcast", 4600.0)])
    write("_topologies_100mbit", [line("broadcast", "", "brigade", "circulant", 8800.0)])
    tables = cluster_report.topologies_tables(directory, "*{}".format)
    assert [title for title, _, _ in tables] == [
        "broadcast, links of 400mbit (50.0 MB/s)", "multi-reduce, links of 400mbit (50.0 MB/s)",
        "broadcast, links of 100mbit (12.5 MB/s)"], tables
    _, header, cells = tables[0]
    assert dict(zip(header, cells[0])) == {
        "ranks": "5", "message": "97.7 KiB", "bound, µs": "2000", "circulant graph": "*1.10", "two trees": "1.40",
        "ring (chain)": "1.20", "binomial tree": "3.00", "free": "1.01", "Open MPI": "4.50", "Open MPI, tuned": "1.30",
        "MPICH": "2.50", "MPICH, tuned": "2.30"}, cells
    assert [row[1] for row in cells] == ["97.7 KiB", "1 MiB"] and cells[1][5] == "*1.00", cells
    assert tables[1][2] == [["5", "97.7 KiB", "1600", "1.50", "-", "*1.05", "-", "1.00", "2.00", "-", "-", "-"]], tables[1]
    assert tables[2][2][0][2:5] == ["8000", "*1.10", "-"], tables[2]
    lines = cluster_report.topologies_text(directory).splitlines()
    at = lines.index("broadcast, links of 400mbit (50.0 MB/s)")
    assert [len(line) for line in lines[at + 1:at + 4]] == [len(lines[at + 1])] * 3, lines[at:at + 4]
    assert "97.7 KiB       2000            *1.10       1.40" in lines[at + 2], lines[at + 2]
    ((title, body, summaries),) = cluster_report.sections(directory)
    assert title == "Cluster: topologies" and not summaries
    assert "<td><b>1.10</b></td><td>1.40</td>" in body and "Multi-reduce, links of 400mbit" in body, body
    assert "400mbit both ways, which carry 50.0" in body and "100mbit both ways, which carry 12.5" in body, body


def check_pieces(directory):
    """What a plain run measures must stay brief."""
    def pieces(*arguments):
        sys.argv = ["run_cluster.py", "--output", str(directory), *arguments]
        return run_cluster.parse_arguments().only

    everything = list(run_cluster.PIECES)
    assert pieces() == [piece for piece in everything if piece != "topologies"], pieces()
    assert pieces("--full") == everything and "topologies" in everything
    assert pieces("--only", "topologies,ring") == ["topologies", "ring"]


def main():
    # The same ranks as statistics_test.cc: both programs must mean the same by an interval.
    for n, rank in ((5, 1), (6, 1), (9, 2), (20, 6), (100, 40)):
        assert make_report.median_interval(range(1, n + 1)) == ((n + 1) / 2, rank, n + 1 - rank, n), n
    directory = pathlib.Path(sys.argv[1])
    check_shares()
    check_bounds()
    check_topologies(directory / "topologies")
    check_pieces(directory / "topologies")
    check_trace(directory)
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
    (lu,) = (c for c in make_report.compare_scalapack(scalapack) if c.routine == "LU")
    assert lu.ratio == (medians["stock", 1] / medians["shim", 1],) * 3 + (1,), "not compared within the pair"
    assert 'class="better"' not in make_report.ratio_cell(lu.ratio._replace(lo=2)), "one sample decides nothing"
    picture = (directory / "picture.svg").read_text()
    assert picture.startswith("<svg") and "ScaLAPACK" in picture and "4000 B" in picture
    report = (directory / "report.html").read_text()
    assert report.count("<svg") >= 7, "plots are missing"
    assert "mpi, tuned: forced" in report, "MPI with other settings is missing"
    for part in ("BLACS calls", "better of Open MPI's two", "stock BLACS, CMA off", "bare ring", "1 MiB</td>",
                 "ScaLAPACK, all on 2 ranks", "computing on two processors at once"):
        assert part in report, f"the report lacks '{part}'"
    for part in ("best peer / Brigade", "mpi forced: MPI_Bcast", "MPI_Reduce_scatter_block", "send, in runs of 256 bytes",
                 "Q n + Q - 2", "stock: topology", "runs / contiguous", "shim / larger", "bare socket, spinning", "hidden",
                 "carry 47.5 MB/s"):
        assert part in report, f"the report on the cluster lacks '{part}'"
    tables = cluster_report.topologies_tables(directory, str)
    assert len(tables) == 4, tables
    for title, header, (row,) in tables:
        lacking = {who for who, cell in zip(header, row) if cell == "-"} - {"Open MPI, tuned", "MPICH", "MPICH, tuned"}
        assert lacking == ({"two trees", "binomial tree"} if title.startswith("multi") else set()), (title, lacking)
        assert title in report.lower().replace("mb/s", "MB/s"), f"the report lacks '{title}'"
    assert not re.search("(src|href)=.http|@import", report.replace("http://www.w3.org", "")), "it needs a network"


main()
