"""The command line: valid arguments, and the error texts of others."""

import contextlib
import io
import pathlib
import tempfile
import unittest

from bench.driver import arguments


def refused(*argv):
    """Returns the text on stderr."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            arguments.parse(argv)
    except SystemExit as ended:
        assert ended.code == 2, ended.code
        return said.getvalue()
    raise AssertionError(f"accepted: {argv}")


class Accepted(unittest.TestCase):
    def test_jobs(self):
        self.assertEqual(arguments.parse([]).job, "main")
        self.assertEqual(arguments.parse(["--cluster", "8"]).job, "cluster")
        for job in ("scale", "model"):
            self.assertEqual(arguments.parse([f"--{job}"]).job, job)

    def test_defaults(self):
        given = arguments.parse(["--cluster", "4"])
        self.assertEqual((given.cluster, given.rate, given.transport, given.limit), (4, "400mbit", "tcp", 1200))
        self.assertEqual(arguments.parse(["--model", "--full"]).limit, 0)
        limits = {"": 300, "--full": 3600, "--limit 7": 7, "--study cg": 1200, "--study cg --full": 3600}
        self.assertEqual({argv: arguments.parse(argv.split()).limit for argv in limits}, limits)

    def test_papers(self):
        given = arguments.parse(["--papers"])
        self.assertEqual((given.job, given.papers, given.hours), (
            "papers", ["li", "armci", "mpisx", "srumma", "ap3000"], 3))
        given = arguments.parse(["--papers", "mpisx,ap3000", "--hours", "0.5"])
        self.assertEqual((given.papers, given.hours), (["mpisx", "ap3000"], 0.5))
        self.assertEqual(arguments.parse(["--papers", "li,ap3000,li"]).papers, ["li", "ap3000"])
        self.assertIn("no paper 'bsp'", refused("--papers", "bsp"))
        self.assertIn("'-1' is no number of seconds", refused("--papers", "--limit=-1"))
        self.assertIn("no number of hours", refused("--papers", "--hours", "0"))
        self.assertIn("--hours goes with --papers", refused("--hours", "1"))

    def test_papers_complete_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "study.jsonl").touch()
            self.assertEqual(arguments.parse(["--papers", "--output", folder]).output, pathlib.Path(folder))

    def test_a_plain_run_of_the_cluster_stays_brief(self):
        everything = list(arguments.cluster_job.PARTS)
        brief = [part for part in everything if part not in ("topologies", "gathers")]
        self.assertEqual(len(brief), len(everything) - 2)
        self.assertEqual(arguments.parse(["--cluster", "8"]).only, brief)
        self.assertEqual(arguments.parse(["--cluster", "8", "--full"]).only, everything)
        self.assertEqual(arguments.parse(["--cluster", "8", "--only", "topologies,ring"]).only, ["topologies", "ring"])

    def test_lists(self):
        given = arguments.parse(["--cluster", "8", "--ranks", "4,8", "--sizes", "8,64k,1M",
                                 "--libraries", "MPICH 5; pipeline 16K"])
        self.assertEqual((given.ranks, given.sizes, given.libraries),
                         ([4, 8], "8,64k,1M", ["MPICH 5", "pipeline 16K"]))

    def test_places_and_rounds_of_a_study(self):
        everywhere = ["shm", "loopback", "cluster", "simulated"]
        for argv, places, rounds in (("rdx", everywhere, 2), ("rdx --full", everywhere, 10),
                                     ("md", everywhere[:3], 2), ("pblas", ["shm", "cluster"], 2),
                                     ("rdx --places shm", ["shm"], 2),
                                     ("rdx --places simulated,shm --rounds 1 --full", ["simulated", "shm"], 1)):
            given = arguments.parse(["--study", *argv.split()])
            self.assertEqual((given.places, given.rounds), (places, rounds), argv)

    def test_mpich_is_built_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            built = pathlib.Path(folder).resolve() / "k8-opt" / "bin"
            built.mkdir(parents=True)
            self.assertEqual(arguments.parse(["--bin", str(built)]).mpich_bin,
                             built.parent.with_name("k8-opt-mpich") / "bin")


class Refused(unittest.TestCase):
    def test_mistyped_flags(self):
        self.assertIn("unknown argument: --ful; did you mean --full?", refused("--ful"))
        self.assertIn("unknown argument: --behnd; did you mean --behind?", refused("--behnd"))
        self.assertIn("unknown argument: something", refused("something"))

    def test_what_does_not_go_together(self):
        self.assertIn("--full does not go with --papers", refused("--papers", "--full"))
        self.assertIn("--rate does not go with --scale", refused("--scale", "--rate", "1gbit"))
        self.assertIn("--rate goes with --cluster or --model", refused("--rate", "1gbit"))
        self.assertIn("--only goes with --cluster", refused("--only", "ring"))
        self.assertIn("--behind does not go with --cluster", refused("--cluster", "8", "--behind"))
        self.assertIn("not allowed with", refused("--papers", "--scale"))
        self.assertIn("--places goes with --study", refused("--places", "shm"))
        self.assertIn("--rounds does not go with --model", refused("--model", "--rounds", "1"))
        self.assertIn("--rate is of the cluster, which --places leaves out",
                      refused("--study", "mg", "--places", "shm", "--rate", "1gbit"))

    def test_bad_values(self):
        self.assertIn("'1' is no number of hosts", refused("--cluster", "1"))
        self.assertIn("'0x8' is no number of hosts", refused("--cluster", "0x8"))
        self.assertIn("'251' is no number of hosts from 2 to 250", refused("--cluster", "251"))
        self.assertIn("'fast' is no rate", refused("--cluster", "8", "--rate", "fast"))
        self.assertIn("no part 'rign'; there are patterns, send", refused("--cluster", "8", "--only", "rign"))
        self.assertIn("no library 'x'", refused("--cluster", "8", "--libraries", "x"))
        self.assertIn("no list of numbers", refused("--cluster", "8", "--ranks", "a"))
        for sizes in ("", "0", "-8", "64KK", "8,,16", "1e3"):
            self.assertIn(f"'{sizes}' is no list of bytes", refused("--cluster", "8", f"--sizes={sizes}"))
        for flag in ("--bin", "--mpich-bin"):
            self.assertIn(f"{flag}: /proc/nowhere is no folder", refused(flag, "/proc/nowhere"))
        self.assertIn("expected one argument", refused("--output"))
        self.assertIn("--output: /proc/nowhere: No such file", refused("--output", "/proc/nowhere"))
        for rounds in ("0", "-1", "two", "1000", ""):
            self.assertIn(f"'{rounds}' is no number of rounds", refused("--study", "mg", f"--rounds={rounds}"))

    def test_another_bsplib_is_a_file_and_of_studies_of_li(self):
        self.assertEqual(arguments.parse(["--study", "rdx", "--bsplib", __file__]).bsplib,
                         pathlib.Path(__file__).resolve())
        self.assertIn("study mg does not run LI", refused("--study", "mg", "--bsplib", __file__))
        self.assertIn("/none is no file", refused("--study", "as", "--bsplib", "/none"))
        self.assertIn("--bsplib goes with --study", refused("--bsplib", __file__))

    def test_places_that_a_study_does_not_have(self):
        for study, places, place, there in (("mg", "shm,moon", "moon", "shm, loopback, cluster, simulated"),
                                            ("md", "simulated", "simulated", "shm, loopback, cluster"),
                                            ("pblas", "loopback", "loopback", "shm, cluster"),
                                            ("pblas", "", "", "shm, cluster")):
            self.assertIn(f"--places: study {study} has no place '{place}'; it has {there}\n",
                          refused("--study", study, "--places", places))

    def test_results_of_two_runs_stay_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "pingpong.jsonl").touch()
            self.assertIn("already holds results", refused("--output", folder))
            arguments.parse(["--cluster", "8", "--output", folder])  # adds to that report
            (pathlib.Path(folder) / "cluster_send.jsonl").touch()
            self.assertIn("already holds results", refused("--cluster", "8", "--output", folder))
            arguments.parse(["--cluster", "8", "--only", "ring", "--output", folder])

    def test_results_of_two_rates_stay_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "cluster.jsonl").write_text('{"hosts": 8, "rate": "400mbit", "payload_MBps": 47}\n')
            given = ["--cluster", "8", "--output", folder, "--only"]
            self.assertIn("holds results of links of 400mbit", refused(*given, "ring", "--rate", "100mbit"))
            arguments.parse([*given, "topologies", "--rate", "100mbit"])  # has tables of each rate
            arguments.parse([*given, "ring"])

    def test_behind_measures_slow_hosts_too(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "cluster_send.jsonl").touch()
            arguments.parse(["--output", folder])
            self.assertIn("already holds results", refused("--behind", "--output", folder))

    def test_a_study_may_be_run_place_by_place(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "study_mg_shm.jsonl").touch()
            for allowed in ("mg --places cluster,simulated", "cg"):
                arguments.parse(["--study", *allowed.split(), "--output", folder])
            for repeated in ("mg", "mg --places cluster,shm"):
                self.assertIn("already holds results", refused("--study", *repeated.split(), "--output", folder))


if __name__ == "__main__":
    unittest.main()
