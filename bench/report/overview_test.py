"""The overview of the report, on invented summaries."""

import unittest

from bench.report import overview
from bench.report.measurements import Figure, Summary, Versus


def versus(case, median, spread=0.1, samples=9):
    return Versus(case, Figure(median, median - spread, median + spread, samples))


SUMMARIES = [
    Summary("ScaLAPACK LU", {"stock": [versus("LU", 1.5), versus("QR", 1.05)]}, "ScaLAPACK"),
    Summary("ScaLAPACK, all", {"stock": [versus("LU", 0.1)]}),  # counted elsewhere
    Summary("patterns", {"mpi": [versus("reduce", 0.8), versus("barrier", 3.0)],
                         "better MPI": [versus("reduce", 0.5), versus("barrier", 0.95)],
                         "bare ring": [versus("send", 0.2)]}, "Patterns"),
]


class Overview(unittest.TestCase):
    def test_answers_for_scalapack(self):
        found = overview.overview(SUMMARIES)["scalapack"]
        self.assertEqual((found["cases"], found["faster"], found["slower"]), (2, 1, 0))
        self.assertIsNone(overview.overview(SUMMARIES[2:])["scalapack"])

    def test_a_row_per_question(self):
        table = overview.overview(SUMMARIES)["questions"]
        rows = {row[0]: dict(zip(table.header[1:], row[1:])) for row in table.rows}
        self.assertEqual(list(rows), ["ScaLAPACK", "Patterns"])
        self.assertEqual(rows["ScaLAPACK"]["reference BLACS"].verdict, "better")
        self.assertEqual(rows["ScaLAPACK"]["MPI as it is"], "")
        self.assertNotIn("MPICH", table.header)
        self.assertEqual(rows["Patterns"]["MPI as it is"].verdict, "even")  # faster on the whole, not everywhere
        best = rows["Patterns"]["MPI, best of its settings"]
        self.assertEqual((best.text, best.note, best.verdict), ("0.69", "slower in 1 of 2", "worse"))

    def test_few_samples_are_not_coloured(self):
        self.assertEqual(overview.ratios_cell([versus("LU", 0.4, samples=5)]).verdict, "even")
        self.assertEqual(overview.ratios_cell([versus("LU", 0.4)]).verdict, "worse")

    def test_slower_cases_are_named_once_and_beyond_doubt(self):
        found = overview.overview(SUMMARIES)
        self.assertEqual((found["slower_count"], found["cases_count"]), (1, 4))
        ((what, case, peer, cell),) = found["slower"].rows
        self.assertEqual((what, case, peer, cell.text), ("Patterns", "reduce", "MPI, best of its settings", "0.50"))

    def test_every_line_is_in_the_summary(self):
        table = overview.summary_table(SUMMARIES)
        self.assertEqual([row[0] for row in table.rows], [summary.what for summary in SUMMARIES])
        self.assertIn("bare ring / Brigade", table.header)


if __name__ == "__main__":
    unittest.main()
