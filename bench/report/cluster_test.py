"""The cluster's sections, on invented lines."""

import json
import pathlib
import tempfile
import unittest

import pandas

from bench.driver import cluster_job
from bench.report import __main__ as report
from bench.report import cluster, one_host, style
from bench.report.measurements import Key

COMMON = {"ranks": 4, "rows": 1, "cols": 1, "bytes": 100_000, "label": "", "iterations": 9, "case": "all-reduce"}


def line(subject, pattern, us, **more):
    return {**COMMON, "subject": subject, "pattern": pattern, "median_us": us, "lo_us": us, "hi_us": us, **more}


class Sections(unittest.TestCase):
    """A link of 50 MB/s."""

    def test_times_the_bound(self):
        # 2 x 3/4 of 100 kB take 3 ms.
        section = cluster.bound_section(pandas.DataFrame([line("brigade", "some", 3300.0), line("mpi", "any", 6000.0)]),
                                        50.0)
        text = style.render_section(section)
        self.assertIn("1.1 <small>[1.1, 1.1]", text)
        self.assertIn("2 <small>[2, 2]", text)
        (summary,) = section.summaries
        self.assertEqual(round(summary.ratios["best MPI"][0].ratio.median, 3), 1.818)

    def test_every_pattern_of_the_job_has_a_bound(self):
        # 100 kB take 2 ms; a block stays where it is.
        bounds = {case: cluster.bound_us(Key(case, 4, 1, 1, 100_000), 50.0) for case in cluster_job.PATTERNS.split(",")}
        self.assertEqual(bounds, {
            **dict.fromkeys(("broadcast", "reduce", "scan", "exscan"), 2000.0), "all-reduce": 3000.0,
            **dict.fromkeys(("multi-broadcast", "multi-reduce", "gather", "scatter", "all-to-all"), 1500.0)})

    def test_overlap(self):
        parts = (("transfer", 100.0), ("computation", 90.0), ("both", 110.0))
        lines = pandas.DataFrame([line("brigade", part, us, case="overlap send") for part, us in parts])
        self.assertIn("<b>80%</b>", style.render_section(cluster.overlap_section(lines)))

    def test_ring(self):
        # Three broadcasts of two chunks each: 3 x 2 + 3 - 2 times 1 ms.
        lines = pandas.DataFrame([line("brigade", "ring", 8400.0, ranks=3, bytes=300_000, segments=6)])
        self.assertIn("1.2 <small>[1.2, 1.2]", style.render_section(cluster.ring_section(lines, 50.0)))

    def test_cases_that_are_cut_are_left_out(self):
        cut = pandas.DataFrame([line("brigade", "free", 9.0, segments=6), line("brigade", "transfer", 9.0)])
        self.assertEqual(cluster.ring_section(cut, 50.0).data["table"].rows, [])
        self.assertEqual(cluster.overlap_section(cut).data["table"].rows, [])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "grid.jsonl"
            lines = [json.dumps(line(subject, "any", 9.0)) for subject in ("brigade", "mpi", "brigade")]
            path.write_text(lines[0])
            self.assertIsNone(one_host.patterns_section(path.parent))
            path.write_text("\n".join(lines[:2] + [lines[2].replace("all-reduce", "scan")]))
            self.assertEqual(one_host.patterns_section(path.parent).data["cases"], 1)

    def test_patterns_are_beside_every_mpi(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "grid.jsonl"
            path.write_text("\n".join(json.dumps(line(subject, "any", 9.0, label=label)) for label, subject in (
                ("", "brigade"), ("", "mpi"), ("Intel MPI", "brigade"), ("Intel MPI", "mpi Intel MPI"))))
            header = one_host.patterns_section(path.parent).data["table"].header
            self.assertIn("Intel MPI / Brigade", header)


class Gathers(unittest.TestCase):
    """Two hosts of two ranks, and a link of 50 MB/s, which half of all blocks pass."""

    def test_contenders_are_beside_the_free_choice(self):
        with tempfile.TemporaryDirectory() as folder:
            directory = pathlib.Path(folder)
            lines = [line("brigade", "free", 2000.0, case="gather"), line("brigade", "tree", 1500.0, case="gather"),
                     line("mpi", "MPI_Gather", 3000.0, case="gather"),
                     line("brigade", "free", 1000.0, case="gather", label="tuned"),
                     line("mpi tuned", "MPI_Gather", 900.0, case="gather", label="tuned")]
            (directory / "cluster_gathers_2.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
            section = cluster.gathers_section(directory, 50.0)
        rows = [row[:4] for row in section.data["table"].rows]
        self.assertEqual(rows, [["gather", "2 x 2", "24.4 KiB", who] for who in (
            "Brigade patterns, free", "Brigade patterns, tree", "mpi: MPI_Gather", "mpi tuned: MPI_Gather")])
        (summary,) = section.summaries
        (best,) = summary.ratios["best MPI"]
        self.assertEqual((best.case, best.ratio.median), ("gather, 2 hosts of 2, 24.4 KiB", 0.9))
        self.assertIn("1.5 <small>", style.render_section(section))


def topology(case, label, subject, pattern, us, count=100_000):
    subject = f"{subject} {label}".strip() if subject == "mpi" else subject
    return line(subject, pattern, us, case=case, ranks=5, cols=5, bytes=count, label=label, iterations=4)


# 100 kB take 2 ms, and four fifths of them 1.6 ms.
AT_400MBIT = [
    topology("multi-reduce", "", "brigade", "multi-reduce", 1600.0),
    topology("multi-reduce", "", "brigade", "multi-reduce, ring", 1680.0),
    topology("multi-reduce", "", "brigade", "multi-reduce, circulant", 2400.0),
    topology("multi-reduce", "", "mpi", "MPI_Reduce_scatter", 3200.0),
    topology("multi-reduce", "", "mpi", "MPI_Reduce_scatter_block", 4000.0),
    topology("broadcast", "", "brigade", "ring", 20971.52, 1 << 20),  # a longer one, first
    *(topology("broadcast", label, "brigade", pattern, us) for label in ("", "MPICH 5") for pattern, us in
      (("free", 2020.0), ("tree", 6000.0), ("ring", 2400.0), ("two trees", 2800.0), ("circulant", 2200.0))),
    topology("broadcast", "", "mpi", "MPI_Bcast", 9000.0),
    topology("broadcast", "pipeline 16K", "mpi", "MPI_Bcast", 3000.0),
    topology("broadcast", "pipeline 8K", "mpi", "MPI_Bcast", 2600.0),
    topology("broadcast", "MPICH 5", "mpi", "MPI_Bcast", 5000.0),
    topology("broadcast", "MPICH 5, rings", "mpi", "MPI_Bcast", 4600.0)]


class Topologies(unittest.TestCase):
    """5 ranks, links of 50 and 12.5 MB/s, each measured with a disturbance."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)
        self.write("", [{"hosts": 5, "rate": rate, "payload_MBps": payload} for rate, payload in
                        (("400mbit", 49.0), ("400mbit", 50.0), ("100mbit", 12.5), ("100mbit", 12.0))])
        self.write("_topologies_400mbit", AT_400MBIT)
        self.write("_topologies_100mbit", [topology("broadcast", "", "brigade", "circulant", 8800.0)])

    def write(self, name, lines):
        (self.directory / f"cluster{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def test_tables(self):
        tables = cluster.topologies_tables(self.directory, "*{}".format)
        self.assertEqual([title for title, _ in tables], [
            "broadcast, links of 400mbit (50.0 MB/s)", "multi-reduce, links of 400mbit (50.0 MB/s)",
            "broadcast, links of 100mbit (12.5 MB/s)"])
        header, cells = tables[0][1]
        self.assertEqual(dict(zip(header, cells[0])), {
            "ranks": "5", "message": "97.7 KiB", "bound, µs": "2000", "circulant graph": "*1.10", "two trees": "1.40",
            "increasing ring": "1.20", "binomial tree": "3.00", "free": "1.01", "Open MPI": "4.50",
            "Open MPI, tuned": "1.30", "MPICH": "2.50", "MPICH, tuned": "2.30"})
        self.assertEqual([row[1] for row in cells], ["97.7 KiB", "1 MiB"])
        self.assertEqual(cells[1][5], "*1.00")
        self.assertEqual(tables[1][1].rows, [["5", "97.7 KiB", "1600", "1.50", "-", "*1.05", "-", "1.00", "2.00", "-",
                                              "-", "-"]])
        self.assertEqual(tables[2][1].rows[0][2:5], ["8000", "*1.10", "-"])

    def test_terminal(self):
        lines = cluster.topologies_text(self.directory).splitlines()
        at = lines.index("broadcast, links of 400mbit (50.0 MB/s)")
        self.assertEqual(len({len(line) for line in lines[at + 1:at + 4]}), 1, "columns are not aligned")
        self.assertEqual(lines[at + 2].split()[:6], ["5", "97.7", "KiB", "2000", "*1.10", "1.40"])

    def test_section(self):
        (section,) = cluster.sections(self.directory)
        self.assertEqual(section.title, "Cluster: topologies")
        self.assertFalse(section.summaries)
        text = style.render_section(section)
        self.assertIn("<td><b>1.10</b></td><td>1.40</td>", text)
        self.assertIn("Multi-reduce, links of 400mbit", text)
        links = cluster.about_links(self.directory)["links"]
        self.assertEqual([(link["rate"], link["most"], link["measured"]) for link in links],
                         [("400mbit", 50.0, "49.0, 50.0"), ("100mbit", 12.5, "12.5, 12.0")])

    def test_page_says_once_what_the_links_are(self):
        self.write("_loopback", [line("brigade", "send", 9.0, transport="tcp", cpu_us=9.0)])
        overlap = [line("brigade", part, 9.0, case="overlap send") for part in ("transfer", "computation", "both")]
        self.write("_overlap", overlap)
        page = report.make_page(self.directory)
        self.assertEqual(page.count("<h2>The cluster</h2>"), 1)
        self.assertIn("links of 400mbit both ways, which carry 50.0 MB/s", page)
        self.assertNotIn("Is it faster", page, "nothing was compared")


if __name__ == "__main__":
    unittest.main()
