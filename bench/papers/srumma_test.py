"""The SRUMMA paper's tables: every figure of it, and parsers on stored lines."""

import unittest

from bench.papers import contract, srumma

SIMULATED = [{"machine": "elan4_cluster", "case": way, "ranks": 64, "rows": 8000, "block": 1000, "gflops": 5.57,
              "compute_us": 90.0, "us": us, "contention": 1}
             for way, us in (("diagonal", 100.0), ("diagonal, blocking", 200.0), ("pdgemm", 130.0))]
MEASURED = [{"case": "matrix product, 2 x 2 ranks", "rows": 8000, "ranks": 4, "subject": subject, "pattern": pattern,
             "median_us": us} for (subject, pattern), us in {
                 ("brigade", "diagonal"): 1e6, ("brigade", "blocking"): 2e6, ("pdgemm", "pdgemm"): 1.5e6,
                 ("alone", "dgemm"): 0.5e6}.items()]
GETS = [{"case": "get, delay, wait; the target sleeps", "rows": 1024, "ranks": 2, "subject": "brigade",
         "pattern": f"delay {delay} %", "median_us": us}
        for delay, us in ((0, 100.0), (25, 104.0), (50, 130.0), (75, 104.0))]


def cells(name):
    (table,) = (table for table in srumma.TABLES if table.name == name)
    return {(cell.row, cell.column): cell for cell in table.cells}


class Cells(unittest.TestCase):
    def test_every_figure_is_there(self):
        orders, sides = len(srumma.ORDERS), len(srumma.SIDES)
        self.assertEqual({table.name: len(table.cells) for table in srumma.TABLES}, {
            "Figure 2a": 6 * 4, "Figure 2b": 6 * 2, "Figure 4": 6 * 2, "Figure 8": orders * sides * 4 * 2,
            "Figure 9": 2, "Figure 10": orders * sides * 5, "Figure 11": 7, "Figure 12": orders * 5 * 2,
            "Sentences": 7})

    def test_paper_is_the_paper(self):
        large = cells("Figure 11")
        self.assertEqual([cell.paper for cell in large.values()], [9.7, 88.2, 92.9, 8, 74, 10.3, 92.9])
        self.assertEqual([cell.paper for cell in cells("Sentences").values()], [20, 60, 90, 13, 850, 3, 0.5])

    def test_the_get_that_the_latency_follows_from_is_not_held_out(self):
        self.assertFalse(cells("Sentences")["a get of 8 KB, us", "Elan4"].held_out)

    def test_most_cases_are_half_of_them(self):
        (finding,) = (finding for finding in srumma.FINDINGS if "most of these cases" in finding.text)
        for slow, holds in ((7, True), (5, False)):
            numbers = iter([1.3, 1] * slow + [1.1, 1] * (12 - slow))
            self.assertEqual(finding.holds(lambda *key, n=numbers: next(n)), holds)

    def test_chunks_divide_blocks(self):
        for n in srumma.ORDERS:
            for side in srumma.SIDES:
                self.assertEqual((n % side, n // side % srumma.WIDTH), (0, 0), (n, side))
        self.assertEqual((srumma.LARGEST % srumma.LARGEST_SIDE, srumma.LARGEST // srumma.LARGEST_SIDE
                          % srumma.LARGEST_CHUNK), (0, 0))


class Values(unittest.TestCase):
    def test_rates(self):
        key = "n = 8000, p = 64"
        self.assertAlmostEqual(cells("Figure 12")[key, "pdgemm"].simulated.take(SIMULATED), 2 * 8000**3 / 130 / 1e3)
        self.assertAlmostEqual(cells("Figure 12")["n = 8000, p = 4", "SRUMMA"].here.take(MEASURED), 1024.0)
        self.assertEqual(cells("Figure 12")[key, "SRUMMA"].here, contract.TOO_MANY_RANKS)

    def test_sentences(self):
        sentences = cells("Sentences")
        least = sentences["SRUMMA over pdgemm, n to 8000, %", "least"]
        self.assertAlmostEqual(least.simulated.take(SIMULATED), 30)
        self.assertAlmostEqual(least.here.take(MEASURED), 50)
        overlap = sentences["communication of a product that overlaps, n = 8000, %", "more than"]
        self.assertAlmostEqual(overlap.simulated.take(SIMULATED), 100 * 100 / 110)
        self.assertAlmostEqual(overlap.here.take(MEASURED), 100 / 1.5)

    def test_a_longer_time_ends_the_overlap(self):
        self.assertEqual(srumma.overlap(GETS, 8192, "sleeps"), 25)
        self.assertIsNone(srumma.overlap(GETS, 8192, "computes"))


if __name__ == "__main__":
    unittest.main()
