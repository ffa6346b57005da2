"""The model's report, on invented lines."""

import json
import pathlib
import subprocess
import tempfile
import unittest


def line(way, us, predicted=None, **more):
    record = {"case": "broadcast", "ranks": 4, "bytes": 65536, "pattern": way, "median_us": us, **more}
    return {**record, **({} if predicted is None else {"predicted_us": predicted})}


def report(directory, lines):
    path = directory / "model_made_up.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    summary = directory / "summary.json"
    result = subprocess.run(["/usr/bin/python3", "-m", "bench.report.model", path, "--plot", directory / "plot.svg",
                             "--summary", summary], capture_output=True, text=True)
    return result, json.loads(summary.read_text()) if result.returncode == 0 else None


# The first measurement picks the ring, which the tree that was chosen beats in the second; the second picks the tree
# itself. Of the short ones the ring is the best both times: what was chosen takes a half longer and then a tenth, free
# a quarter and then three quarters.
FIRST = [line("increasing ring", 100.0, 110.0), line("binomial tree", 120.0, 90.0, chosen=True),
         line("two trees", 200.0, 50.0), line("free", 150.0),
         line("increasing ring", 100.0, 110.0, bytes=8), line("binomial tree", 150.0, 140.0, bytes=8, chosen=True),
         line("free", 125.0, bytes=8)]
SECOND = [line("increasing ring", 120.0, 110.0), line("binomial tree", 80.0, 90.0, chosen=True),
          line("two trees", 200.0, 50.0), line("free", 150.0),
          line("increasing ring", 100.0, 110.0, bytes=8), line("binomial tree", 110.0, 140.0, bytes=8, chosen=True),
          line("free", 175.0, bytes=8)]
UNFINISHED = [line("increasing ring", 1.0, 1.0, bytes=1024)]
LONG, SHORT = "16 KiB and more", "below 16 KiB"


class ModelReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name)

    def test_follows_from_the_lines(self):
        result, summary = report(self.directory, FIRST + SECOND + UNFINISHED)
        self.assertEqual(result.returncode, 0, result.stderr)
        entry = summary["made_up"]
        self.assertEqual(entry["ranks"], [4])
        self.assertEqual(entry["regret"][LONG]["median"], 0)
        self.assertAlmostEqual(entry["free"][LONG]["median"], 0.25)
        self.assertAlmostEqual(entry["regret"][SHORT]["median"], 0.3)
        self.assertAlmostEqual(entry["free"][SHORT]["median"], 0.5)
        # The model's first is the tree of the long ones, two trees left out, and the ring of the short ones.
        self.assertEqual(entry["by_model"][LONG]["median"], entry["regret"][LONG]["median"])
        self.assertEqual(entry["by_model"][SHORT]["median"], 0)
        self.assertEqual(entry["regret"]["all"]["count"], 2)
        self.assertEqual(entry["regret"]["all"]["p95"], entry["regret"][SHORT]["median"])
        # Both ways that keep step are measured at 110 and 100 in the mean.
        self.assertEqual(entry["error"][LONG]["count"], 2)
        self.assertAlmostEqual(entry["error"][LONG]["p95"], 0.1)
        # The ring took 1.2 times as long the second time, the tree two thirds.
        self.assertEqual(entry["noise"][LONG]["count"], 2)
        self.assertAlmostEqual(entry["noise"][LONG]["p95"], 1 / 3)
        (other,) = (s for name, s in entry["error"].items() if name.startswith("broadcast and reduce"))
        self.assertEqual(other, {"count": 1, "median": 0.75, "p95": 0.75})
        self.assertIn("+30 %", result.stdout)
        self.assertIn("increasing ring", result.stdout)
        self.assertGreater((self.directory / "plot.svg").stat().st_size, 1000)

    def test_refuses_what_is_no_measurement(self):
        for lines, text in (([], "no complete cases"), (UNFINISHED, "no complete cases"),
                            ([{"case": "broadcast"}], ":1: no line of")):
            result, _ = report(self.directory, lines)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main()
