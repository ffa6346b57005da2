"""Shares of time, and parts put together, of traces that are made up."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import merge_trace
import trace_picture


def trace(rank, spans, ranks=1, dropped=0):
    """Spans are (category, begin, end), and a name if that is another."""
    events = [{"ph": "X", "cat": cat, "name": (*name, cat)[0], "ts": begin, "dur": end - begin}
              for cat, begin, end, *name in spans]
    events += [{"ph": "i", "cat": "message", "name": "sent", "ts": 35}]
    return {"otherData": {"rank": rank, "ranks": ranks, "dropped_events": dropped}, "traceEvents": events}


# A call from 10 to 90 us, in which nested spans hide what is around them.
SPANS = [("call", 10, 90), ("wait", 20, 60), ("copy", 30, 40), ("combine", 40, 50), ("post", 60, 62)]


class Shares(unittest.TestCase):
    def setUp(self):
        self.rank = trace_picture.Rank(trace(0, SPANS))

    def test_innermost_counts(self):
        found = {what: round(100 * share[0], 6) for what, share in self.rank.shares([0, 100]).items()}
        self.assertEqual(found, {"outside BLACS": 20, "start-up": 0, "copy, combine": 20, "post send": 2, "wait": 20,
                                 "rest of BLACS": 38})

    def test_making_a_grid_is_start_up(self):
        spans = [("call", 0, 30, "blacs_gridinit"), ("wait", 5, 15), ("call", 34, 90), ("wait", 40, 60),
                 ("copy", 42, 46), ("call", 90, 95, "blacs_gridmap")]
        shares = trace_picture.Rank(trace(0, spans)).shares([0, 100])
        found = {what: round(100 * share[0], 6) for what, share in shares.items()}
        self.assertEqual(found, {"outside BLACS": 9, "start-up": 35, "copy, combine": 4, "post send": 0, "wait": 16,
                                 "rest of BLACS": 36})

    def test_spans_are_cut_at_edges(self):
        halves = self.rank.shares([0, 45, 100])["copy, combine"]
        self.assertEqual([round(share * length, 6) for share, length in zip(halves, (45, 55))], [15, 5])

    def test_picture_stays_small(self):
        many = [("call", 0, 1e5), *(("copy", 10 * i, 10 * i + 5) for i in range(10000))]
        figure = trace_picture.picture([trace_picture.Rank(trace(0, many))], (0, 1e5), (4e4, 6e4), "many")
        text = io.StringIO()
        figure.savefig(text, format="svg", dpi=trace_picture.DPI)
        self.assertLess(len(text.getvalue().splitlines()), 1000)
        self.assertLess(len(text.getvalue()), 100e3)


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "lu.json"

    def load(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            return merge_trace.load_parts(self.file), said.getvalue()

    def write(self, rank, **more):
        self.file.with_suffix(f".{rank}.json").write_text(json.dumps(trace(rank, SPANS, **more)))

    def test_says_who_is_missing(self):
        self.write(1, ranks=2, dropped=7)
        traces, said = self.load()
        self.assertEqual([each["otherData"]["rank"] for each in traces], [1])
        self.assertIn("lu.0.json is missing: rank 0 of 2", said)
        self.assertIn("lacks the last 7 events", said)

    def test_merges_processes_without_mpi(self):
        for process in (4711, 4712):
            self.write(process, ranks=0)
        traces, said = self.load()
        self.assertEqual([each["otherData"]["rank"] for each in traces], [4711, 4712])
        self.assertEqual(said, "")

    def test_takes_no_part_of_another_timeline(self):
        self.write(0)
        os.utime(self.file.with_suffix(".0.json"), (0, 0))  # the other is newer
        self.file.with_name("lu.4.0.json").write_text("{}")
        self.assertEqual(len(self.load()[0]), 1)

    def test_refuses_no_parts(self):
        with self.assertRaises(SystemExit):
            self.load()

    def test_refuses_what_is_no_part(self):
        for text in ("{", "{}", "[]"):
            self.file.with_suffix(".0.json").write_text(text)
            with self.assertRaisesRegex(SystemExit, "lu.0.json is no whole part"):
                self.load()

    def test_names_files_that_cannot_be_used(self):
        with self.assertRaisesRegex(SystemExit, "lu.json: No such file"):
            merge_trace.run(self.file.read_text)

    def test_names_the_file_on_a_full_disk(self):
        self.write(0)
        self.file.symlink_to("/dev/full")
        with self.assertRaisesRegex(SystemExit, "cannot write .*lu.json: No space left on device"):
            with unittest.mock.patch("sys.argv", ["merge_trace", str(self.file)]):
                merge_trace.main()

    def test_ends_without_a_traceback_if_nobody_reads(self):
        self.write(0)
        reader, writer = os.pipe()
        os.close(reader)
        ended = subprocess.run([sys.executable, merge_trace.__file__, self.file], stdout=writer, stderr=subprocess.PIPE,
                               check=False)
        os.close(writer)
        self.assertEqual(ended.stderr, b"")

    def test_refuses_a_stretch_without_length(self):
        for zoom in ("0", "-1", "nan", "inf", "x"):
            said = io.StringIO()
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(said):
                with unittest.mock.patch("sys.argv", ["trace_picture", str(self.file), f"--zoom={zoom}"]):
                    trace_picture.main()
            self.assertIn(f"'{zoom}' is no number of milliseconds", said.getvalue())

    def test_help_needs_no_packages(self):
        """Manual pages are made of it, on machines without numpy."""
        for program in (merge_trace, trace_picture):
            subprocess.run([sys.executable, "-S", program.__file__, "--help"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    unittest.main()
