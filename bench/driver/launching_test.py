"""Failed launches are counted, slow ones are ended, and every command is recorded."""

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from bench.driver.launching import Launch, Launcher


class Launching(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = pathlib.Path(folder.name)
        self.said, self.complaints = io.StringIO(), io.StringIO()

    def run_all(self, *launches, limit=60):
        launcher = Launcher(self.output, limit)
        with contextlib.redirect_stdout(self.said), contextlib.redirect_stderr(self.complaints):
            launcher.run_all(launches)
        return launcher.failures

    def test_counts_failures_and_goes_on(self):
        made = self.output / "made"
        self.assertEqual(self.run_all(Launch("a", ["false"]), Launch("b", ["no_such_program"]),
                                      Launch("c", ["touch", str(made)])), 2)
        self.assertTrue(made.exists())
        self.assertIn("ended with status 1: false", self.complaints.getvalue())

    def test_ends_what_takes_too_long(self):
        self.assertEqual(self.run_all(Launch("a", ["sleep", "60"]), limit=1), 1)
        self.assertIn("took more than 1 s: sleep 60", self.complaints.getvalue())

    def test_leaves_no_launch_of_a_thread_behind(self):
        """Simulations run in two threads, and Ctrl-C ends one."""
        program = """import pathlib, sys, threading, time
from bench.driver.launching import Launch, Launcher
output, number = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
launch = Launch("a", ["sh", "-c", f"echo $$ >{number}.part; mv {number}.part {number}; exec sleep 1000"])
threading.Thread(target=Launcher(output, 1000).run, args=(launch,), daemon=True).start()
while not number.exists():
    time.sleep(0.01)
"""
        number = self.output / "number"
        subprocess.run([sys.executable, "-c", program, self.output, number], check=True, timeout=200,
                       env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        process = pathlib.Path("/proc") / number.read_text().strip()
        end = time.monotonic() + 200
        while process.exists() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(process.exists())

    def test_says_that_the_disk_is_full(self):
        (self.output / "commands.txt").symlink_to("/dev/full")
        driver = subprocess.run([sys.executable, "-m", "bench.driver", "--quick", "--bin", self.output, "--output",
                                 self.output], check=False, capture_output=True, text=True, timeout=200)
        self.assertEqual((driver.returncode, driver.stderr), (1, "bench/run.sh: No space left on device\n"))

    def test_cleans_up_when_the_terminal_is_closed(self):
        """A cluster would outlive the driver, too."""
        program = self.output / "mpirun"
        program.write_text("#!/bin/sh\necho $TMPDIR >$0.part; mv $0.part $0.scratch; exec sleep 60\n")
        program.chmod(0o755)
        scratch = self.output / "mpirun.scratch"
        for sent in (signal.SIGTERM, signal.SIGHUP):
            driver = subprocess.Popen([sys.executable, "-m", "bench.driver", "--quick", "--bin", self.output,
                                       "--output", self.output], stdout=subprocess.DEVNULL,
                                      env={**os.environ, "PATH": f"{self.output}:{os.environ['PATH']}"})
            while not scratch.exists() and driver.poll() is None:
                time.sleep(0.01)
            folder = scratch.read_text().strip()
            scratch.unlink()
            driver.send_signal(sent)
            self.assertEqual(driver.wait(timeout=200), 128 + sent)
            self.assertFalse(os.path.exists(folder))

    def test_is_of_this_tree_wherever_it_is_started(self):
        other = self.output / "bench" / "driver"
        other.mkdir(parents=True)
        (other / "__main__.py").write_text("print('another tree')")
        run = pathlib.Path(__file__).parent.parent / "run.sh"
        said = subprocess.run([run, "--help"], check=True, capture_output=True, text=True, cwd=self.output).stdout
        self.assertIn("--cluster HOSTS", said)

    def test_says_how_far_it_is(self):
        self.run_all(Launch("one", ["true"]), Launch("one", ["true"]), Launch("two", ["true"]))
        self.assertIn("one  (launch 1 of 3", self.said.getvalue())
        self.assertIn("two  (launch 3 of 3", self.said.getvalue())

    def test_records_commands_with_their_environment(self):
        self.run_all(Launch("a", ["sh", "-c", 'test "$WHAT" = "a b"'], {"WHAT": "a b"}))
        self.assertEqual((self.output / "commands.txt").read_text(),
                         "WHAT='a b' sh -c 'test \"$WHAT\" = \"a b\"'\n")
        self.assertEqual(self.complaints.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
