"""The page of ScaLAPACK's factorizations with our PBLAS, of lines that are made up."""

import json
import pathlib
import tempfile
import unittest

from bench.report import study


def line(products, seconds, pair=0, blacs="reference BLACS"):
    return {"case": "scalapack", "routine": "LU", "subject": "stock", "ranks": 4, "rows": 2, "cols": 2, "n": 2000,
            "nb": 64, "pair": pair, "seconds": [seconds], "median_s": seconds, "label": f"{blacs}, {products}"}


def page(*lines):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "study_factorizations_shm.jsonl"
        path.write_text("".join(json.dumps(of_line) + "\n" for of_line in lines), encoding="utf-8")
        return study.make_page("factorizations", pathlib.Path(folder)).replace("\n", "")


class Factorizations(unittest.TestCase):
    def test_launches_are_compared_within_a_round(self):
        text = page(line("off", 0.2), line("on", 0.1), line("off", 0.9, pair=1), line("on", 0.6, pair=1),
                    line("off", 0.3, pair=2), line("on", 0.1, pair=2))
        self.assertIn("300 <small>[200, 900]", text)
        self.assertIn("2.00 <small>[1.50, 3.00]", text)

    def test_a_round_whose_other_launch_failed_is_left_out(self):
        text = page(line("off", 0.2), line("off", 0.4, pair=1), line("auto", 0.5, pair=1), line("on", 0.5, pair=2))
        self.assertIn("0.80 <small>[0.80, 0.80]", text)
        self.assertEqual(text.count("0.80 <small>"), 1)

    def test_each_blacs_has_a_row(self):
        text = page(line("off", 0.2), line("off", 0.1, blacs="our BLACS"), line("on", 0.1, blacs="our BLACS"))
        self.assertIn("<td>reference BLACS</td>", text)
        self.assertIn("<td>our BLACS</td>", text)
        self.assertEqual(text.count("1.00 <small>"), 1)


if __name__ == "__main__":
    unittest.main()
