"""Figures, intervals and ratios, of lines that are made up."""

import argparse
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import pandas

from bench.report import measurements, one_host
from bench.report.measurements import Figure, Key


def line(subject, median, label="", pattern="some", **more):
    return {"case": "reduce", "ranks": 4, "rows": 8, "cols": 4, "bytes": 256, "label": label, "subject": subject,
            "pattern": pattern, "median_us": median, "lo_us": median - 1, "hi_us": median + 1, "iterations": 9, **more}


KEY = Key("reduce", 4, 8, 4, 256)


class Intervals(unittest.TestCase):
    def test_ranks_are_those_of_the_program(self):
        # As in statistics_test.cc: both must mean the same by an interval.
        for n, rank in ((5, 1), (6, 1), (9, 2), (20, 6), (100, 40)):
            self.assertEqual(measurements.median_interval(range(1, n + 1)), Figure((n + 1) / 2, rank, n + 1 - rank, n))

    def test_few_launches_pool_their_intervals(self):
        self.assertEqual(measurements.pool([Figure(2, 1, 3, 9, 1), Figure(4, 3, 6, 9, 0.5)]), Figure(3, 1, 6, 18, 0.5))

    def test_enough_launches_are_the_samples(self):
        self.assertEqual(measurements.pool([Figure(m, 0, 99, 9, m / 2) for m in range(1, 7)]),
                         Figure(3.5, 1, 6, 6, 0.5))

    def test_ratio_takes_the_worst_ends(self):
        self.assertEqual(measurements.ratio(Figure(6, 4, 8, 9), Figure(3, 2, 4, 7)), Figure(2, 1, 4, 7))

    def test_few_samples_decide_nothing(self):
        self.assertTrue(measurements.is_better(Figure(3, 2, 4, 6)))
        self.assertFalse(measurements.is_better(Figure(3, 2, 4, 5)))
        self.assertTrue(measurements.is_worse(Figure(0.5, 0.4, 0.6, 6)))
        self.assertFalse(measurements.is_worse(Figure(0.5, 0.4, 1.1, 6)))


class Lines(unittest.TestCase):
    def test_loads_what_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "some.jsonl"
            self.assertEqual(len(measurements.load(path)), 0)
            path.write_text(json.dumps(line("mpi", 3.0, label="400")) + "\n" + json.dumps(line("mpi", 0.1)) + "\n")
            lines = measurements.load(path)
            self.assertEqual(list(lines["label"]), ["400", ""])
            self.assertEqual(list(lines["median_us"]), [3.0, 0.1])
            self.assertEqual(len(measurements.select(lines, label="400", subject="mpi")), 1)

    def test_a_folder_that_is_missing_is_named(self):
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "/nowhere is no folder"):
            measurements.folder("/nowhere")

    def test_lines_that_are_cut_are_left_out(self):
        whole = json.dumps(line("mpi", 3.0))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "some.jsonl"
            path.write_text(f"{whole}\n{whole[:40]}{whole}\n{whole}\n{whole[:-1]}")
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                lines = measurements.load(path)
            self.assertEqual(len(lines), 2)
            self.assertIn("some.jsonl:2: left out", said.getvalue())
            self.assertIn("some.jsonl:4: left out", said.getvalue())
            path.write_text(whole[:40])
            with contextlib.redirect_stderr(said):
                self.assertEqual(len(measurements.load(path)), 0)

    def test_fastest_pattern_counts_against_ours_in_the_same_launch(self):
        lines = pandas.DataFrame([
            line("brigade", 10.0), line("brigade", 20.0, pattern="other"), line("shim", 5.0), line("stock", 20.0),
            line("mpi", 30.0), line("mpi", 40.0, pattern="slow"),
            line("brigade", 15.0, label="off"), line("mpi off", 45.0, label="off")])
        measured = measurements.measure(lines)[KEY]
        self.assertEqual(measured["brigade"].figure.median, 10)
        self.assertIsNone(measured["brigade"].ratio)
        ratios = {name: m.ratio.median for name, m in measured.items() if m.ratio}
        self.assertEqual(ratios, {"stock": 4, "mpi": 3, "mpi off": 3})

    def test_ours_is_by_default_though_another_topology_is_faster(self):
        lines = pandas.DataFrame([
            line("brigade", 10.0, pattern="ring"), line("brigade", 20.0, pattern="free"), line("mpi", 30.0),
            line("mpi", 40.0, pattern="slow")])
        subjects = measurements.collect(lines)[KEY]
        usual = measurements.by_default("reduce", subjects)
        self.assertEqual({name: f.median for name, f in usual.items()}, {"brigade": 20, "mpi": 30})
        (rows, versus) = one_host.spread_rows({KEY: subjects}, {})
        self.assertEqual([row[1:3] for row in rows], [["brigade", "free"], ["mpi", "some"], ["mpi", "slow"]])
        self.assertEqual([v.ratio.median for v in versus["mpi"]], [1.5])
        tuned = measurements.Tuned("a", "some", Figure(30, 29, 31, 9), Figure(3, 2, 4, 9))
        (rows, versus) = one_host.spread_rows({KEY: subjects}, {KEY: {"mpi": tuned}})
        self.assertEqual([row[1:3] for row in rows[:2]], [["brigade", "ring"], ["brigade", "free"]])
        self.assertEqual([v.ratio.median for v in versus["mpi tuned"]], [3])

    def test_a_case_that_lacks_ours_is_left_out(self):
        lines = pandas.DataFrame([line("mpi", 30.0), line("stock", 20.0), line("mpi off", 40.0, label="off")])
        self.assertEqual(measurements.measure(lines), {})
        self.assertEqual(measurements.best_tunings(lines), {})
        # The launch without a label has failed.
        lines = pandas.DataFrame([line("brigade", 10.0, label="off"), line("mpi off", 40.0, label="off")])
        self.assertEqual(measurements.measure(lines), {})
        self.assertEqual(list(measurements.best_tunings(lines)), [KEY])

    def test_tuned_is_the_setting_that_does_best_against_ours(self):
        lines = pandas.DataFrame([
            line("brigade", 10.0, label="a"), line("mpi a", 20.0, label="a"),
            line("brigade", 20.0, label="b"), line("mpi b", 30.0, label="b")])
        tuned = measurements.best_tunings(lines)[KEY]["mpi"]
        self.assertEqual((tuned.label, tuned.ratio.median), ("b", 1.5))

    def test_scalapack_is_compared_within_pairs(self):
        common = {"routine": "LU", "ranks": 4, "rows": 2, "cols": 2, "n": 100, "nb": 8}
        launches = (0, "stock", 9.0), (1, "shim", 2.0), (1, "stock", 3.0)
        lines = pandas.DataFrame([{**common, "pair": pair, "subject": subject, "median_s": seconds}
                                  for pair, subject, seconds in launches])
        (lu,) = measurements.compare_scalapack(lines)
        self.assertEqual(lu.ratio, Figure(1.5, 1.5, 1.5, 1))
        self.assertEqual(lu.setting, "2 x 2 ranks, n = 100, nb = 8")
        self.assertEqual(measurements.compare_scalapack(lines[lines["pair"] == 0]), [])


if __name__ == "__main__":
    unittest.main()
