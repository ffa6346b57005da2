#!/usr/bin/env python3
"""count_tests.py on reports like those of GoogleTest and of Bazel."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNS = '<testcase name="{0}" status="run" result="completed" classname="S"/>'
SKIPPED = ('<testcase name="{0}" status="run" result="skipped" classname="S">'
           '<skipped message="a_test.cc:7&#x0A;not root"/></testcase>')
FILTERED = '<testcase name="{0}" status="notrun" result="suppressed" classname="S"/>'


class CountTests(unittest.TestCase):
    def count(self, log, reports):
        """The lines it prints, given Bazel's log and pairs of a target and the cases in a report of it."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            events = [{"id": {"started": {}}}]
            for number, (target, cases) in enumerate(reports):
                report = folder / f"{number}.xml"
                report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
                outputs = [{"name": "test.log", "uri": "file:///nowhere"},
                           {"name": "test.xml", "uri": f"file://{report}"}]
                events.append({"id": {"testResult": {"label": target}}, "testResult": {"testActionOutput": outputs}})
            (folder / "log").write_text(log)
            (folder / "events").write_text("\n".join(json.dumps(event) for event in events))
            script = pathlib.Path(__file__).with_name("count_tests.py")
            done = subprocess.run([sys.executable, script, folder / "log", folder / "events"],
                                  check=True, capture_output=True, text=True)
            return done.stdout.splitlines()

    def test_every_test_skipped_is_a_skipped_target(self):
        log = "//a:some_test   PASSED in 0.1s\n//a:all_test  (cached) PASSED in 0.1s\n"
        reports = [("//a:some_test", RUNS.format("Runs") + SKIPPED.format("One")),
                   ("//a:all_test", SKIPPED.format("Two") + FILTERED.format("Left"))]
        self.assertEqual(self.count(log, reports), ["skipped: //a:all_test S.Two: not root",
                                                    "skipped: //a:some_test S.One: not root", "1 0 1"])

    def test_shards_count_together(self):
        log = "//a:b_test   PASSED in 0.1s\n  Stats over 2 runs\n"
        reports = [("//a:b_test", SKIPPED.format("One")), ("//a:b_test", RUNS.format("Two"))]
        self.assertEqual(self.count(log, reports)[-1], "1 0 0")

    def test_scripts_say_what_they_skip(self):
        case = '<testcase name="a/b_test"/><system-out><![CDATA[ok\nskipped: two hosts: not root\n]]></system-out>'
        self.assertEqual(self.count("//a:b_test   PASSED in 0.1s\n", [("//a:b_test", case)]),
                         ["skipped: //a:b_test two hosts: not root", "1 0 0"])

    def test_what_did_not_pass_failed(self):
        log = ("//a:b_test  FAILED in 3s\n//a:c_test  TIMEOUT in 9s\n//a:d_test  FLAKY, failed in 1 out of 2\n"
               "//a:e_test  NO STATUS\n")
        self.assertEqual(self.count(log, [("//a:b_test", SKIPPED.format("One"))]), ["0 4 0"])


if __name__ == "__main__":
    unittest.main()
