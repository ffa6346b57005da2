"""The page about our PBLAS, on invented lines."""

import json
import pathlib
import tempfile
import unittest

from bench.report import pblas, study
from bench.report.srumma_test import lines

SMALL = "matrix product, 2 x 2 ranks, k = 256"
HALF = "half product, 2 x 2 ranks"


def page(measured):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "study_pblas_shm.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in measured), encoding="utf-8")
        return study.make_page("pblas", pathlib.Path(folder)).replace("\n", "")


def small(n, stock, ours, drift=1.0):
    """`drift`: how much slower the launch of our PBLAS was as a whole."""
    return [*lines(SMALL, n, {("brigade", "diagonal"): 100.0, ("pdgemm", "pdgemm"): stock}),
            *lines(SMALL, n, {("brigade", "diagonal"): 100.0 * drift, ("pdgemm our PBLAS", "pdgemm"): ours * drift},
                   label="our PBLAS")]


class Pblas(unittest.TestCase):
    def test_a_product_is_judged_by_its_own_launches(self):
        self.assertIn("1.50 <small>", page(small(64, 150.0, 100.0, drift=2.0)))

    def test_the_least_size_is_that_from_which_on_nothing_is_slower(self):
        text = page([*small(64, 120.0, 100.0), *small(128, 90.0, 100.0), *small(192, 100.0, 100.0),
                     *small(256, 130.0, 100.0)])
        self.assertIn("beside pdgemm on reference BLACS our PBLAS gain</td><td>from n = 192 on", text)
        self.assertIn("gain</td><td>nowhere, or not up to the largest n", page(small(512, 90.0, 100.0)))

    def test_a_half_product_is_beside_the_whole_without_half_of_its_arithmetic(self):
        text = page(lines(HALF, 2000, {("brigade", "whole"): 700.0, ("pdsyrk", "pdsyrk"): 540.0,
                                       ("pdtrmm", "pdtrmm"): 660.0, ("alone", "dgemm"): 200.0}))
        self.assertIn("<td>100</td><td>600</td>", text)
        self.assertIn("0.90 <small>", text)
        self.assertIn("1.10 <small>", text)

    def test_a_half_product_of_ours_is_beside_the_others(self):
        def half(pdsyrk, drift, label=""):
            name = " ".join(["pdsyrk", label]).strip()
            return lines(HALF, 2000, {("brigade", "whole"): 700.0 * drift, (name, "pdsyrk"): pdsyrk * drift,
                                      ("pdtrmm", "pdtrmm"): 660.0, ("alone", "dgemm"): 200.0}, label=label)
        text = page([*half(900.0, 1.0), *half(600.0, 2.0, "our PBLAS")])
        self.assertIn("pdsyrk over that of our PBLAS", text)
        self.assertEqual(text.count("1.50 <small>"), 2)  # 900 of the least, 600, and of ours

    def test_it_says_nothing_of_what_was_not_measured(self):
        self.assertNotIn("Half products, shared memory", page(small(64, 150.0, 100.0)))
        self.assertEqual(pblas.half_section("shared memory", study.load(pathlib.Path("/none"))), [])


if __name__ == "__main__":
    unittest.main()
