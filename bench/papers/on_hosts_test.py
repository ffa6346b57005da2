"""The command of a job on hosts with slow links."""

import unittest
import unittest.mock

from bench.papers import on_hosts


class OnHosts(unittest.TestCase):
    def test_ranks_that_outnumber_processors_sleep(self):
        given = on_hosts.parse(["--per-host", "2", "8", "program", "--keys", "1"])
        with unittest.mock.patch("bench.driver.machine.processors", lambda: 2):
            self.assertEqual(on_hosts.command(given, ["cluster.sh"]), [
                "cluster.sh", "run", "--per-host", "2", "8", "program", "--keys", "1", "--asleep"])
        with unittest.mock.patch("bench.driver.machine.processors", lambda: 8):
            self.assertNotIn("--asleep", on_hosts.command(given, ["cluster.sh"]))


if __name__ == "__main__":
    unittest.main()
