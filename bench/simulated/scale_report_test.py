"""The report of the simulated scale: every cell is in it, and what is by the closed form is marked."""

import json
import pathlib
import re
import sys
import unittest

from bench.report import scale

FOLDER = pathlib.Path(sys.argv.pop())


class ScaleReport(unittest.TestCase):
    def setUp(self):
        self.cells = scale.read([FOLDER / f"{p}.jsonl" for p in scale.PATTERNS])
        self.text = (FOLDER / "scale.txt").read_text(encoding="utf-8")
        self.summary = json.loads((FOLDER / "summary.json").read_text(encoding="utf-8"))

    def test_every_cell_is_there_once(self):
        found = [(c["pattern"], c["ranks"], scale.size_class(c)) for c in self.cells]
        expected = [(p, r, s) for p in scale.PATTERNS for r in (8, 16, 32, 64, 128) for s in scale.SIZES]
        self.assertEqual(sorted(found), sorted(expected))
        self.assertEqual(len(re.findall(r"^ +(?:8|16|32|64|128)  ", self.text, re.MULTILINE)), len(expected))

    def test_closed_forms_are_marked(self):
        formed = sum(not scale.time_us(c[who])[1] for c in self.cells for who in scale.OWN)
        self.assertGreater(formed, 0)
        self.assertEqual(len(re.findall(r" ~\d", self.text)), formed)

    def test_by_name_short_blocks_take_the_circulant_graph(self):
        named = [c["brigade_named"]["algorithm"] for c in self.cells
                 if c["pattern"].startswith("multi") and scale.size_class(c) == 8]
        self.assertEqual(set(named), {"circulant graph"})

    def test_ratios_are_peer_over_ours(self):
        cell = next(c for c in self.cells if (c["pattern"], c["ranks"], c["bytes"]) == ("broadcast", 8, 1 << 20))
        self.assertEqual(cell["open_mpi"]["algorithm"], "linear")
        self.assertAlmostEqual(scale.ratio(cell, "brigade"),
                               cell["open_mpi"]["simulated_us"] / cell["brigade"]["simulated_us"])
        self.assertGreater(scale.ratio(cell, "brigade"), 5)

    # Figures are the same everywhere: what docs/results/scale.md says may be asserted.
    def test_closed_form_is_as_near_as_documented(self):
        for pattern in scale.PATTERNS:
            form = self.summary[pattern]["closed_form"]
            self.assertGreaterEqual(form["compared"], 10, pattern)
            self.assertLessEqual(form["median"], LIMIT_MEDIAN, pattern)
            self.assertLessEqual(form["worst"], LIMIT_WORST, pattern)

    def test_plot_is_a_picture(self):
        self.assertIn("<svg", (FOLDER / "scale.svg").read_text(encoding="utf-8"))


LIMIT_MEDIAN = 0.02
LIMIT_WORST = 0.13

if __name__ == "__main__":
    unittest.main()
