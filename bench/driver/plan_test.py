"""Plans of launches: who is started, how often, and with what."""

import pathlib
import unittest

from bench.driver import arguments, machine, main_job, model_job, peers, study_job
from bench.driver.cluster_job import Cluster, ClusterJob

PROGRAMS = machine.Programs(pathlib.Path("/bin-folder"), pathlib.Path("/mpich-folder"))
OUTPUT = pathlib.Path("/output")


def main_plan(full, cores):
    return main_job.MainJob(full, OUTPUT, PROGRAMS, cores, "v1").plan()


def cluster_plan(*argv, hosts=8):
    given = arguments.parse(["--cluster", str(hosts), *argv])
    job = ClusterJob(given, OUTPUT, PROGRAMS, Cluster(hosts, given.rate), "v1")
    return [launch for _, launches in job.plan() for launch in launches]


class Main(unittest.TestCase):
    def test_ranks_are_pinned_while_cores_last(self):
        for launch in main_plan(False, cores=2):
            if launch.command[0] == "mpirun":
                is_pinned = launch.command[3:5] == peers.PINNED
                self.assertEqual(is_pinned, int(launch.command[2]) <= 2, launch)

    def test_mpich_runs_while_cores_last(self):
        for cores, rounds in ((1, 0), (2, 2), (8, 4)):
            mpich = [launch for launch in main_plan(False, cores) if launch.command[0] == "mpiexec.mpich"]
            self.assertEqual(len(mpich), rounds)
            self.assertTrue(all(launch.environment == peers.DEBIAN_MPICH for launch in mpich))

    def test_stock_and_shim_take_turns_in_pairs(self):
        launches = [launch.command for launch in main_plan(False, 2) if PROGRAMS.scalapack in launch.command]
        self.assertEqual(len(launches), 4 * 6 * 2)
        first = [f"LD_PRELOAD={PROGRAMS.shim}" in command for command in launches[:4]]
        self.assertEqual(first, [False, True, True, False])

    def test_every_tuning_has_a_launch(self):
        labels = [launch.command[launch.command.index("--label") + 1] for launch in main_plan(False, 2)
                  if "coll_tuned_use_dynamic_rules" in launch.command]
        self.assertEqual(labels, list(peers.ONE_HOST_TUNINGS))

    def test_full_is_ten_rounds(self):
        pingpongs = [launch for launch in main_plan(True, 2) if "pingpong" in launch.command]
        self.assertEqual(len(pingpongs), 10 * 3 + 1)


class OnCluster(unittest.TestCase):
    def test_is_the_same_every_time(self):
        self.assertEqual(cluster_plan(), cluster_plan())

    def test_every_library_has_a_launch_per_round(self):
        launches = cluster_plan("--only", "send", "--libraries", "MPICH 5; pipeline 16K")
        labels = [launch.command[launch.command.index("--label") + 1] for launch in launches]
        self.assertEqual(sorted(labels), ["MPICH 5"] * 2 + ["pipeline 16K"] * 2)
        for launch, label in zip(launches, labels):
            self.assertEqual(PROGRAMS.bench_mpich in launch.command, label == "MPICH 5")

    def test_ranks_do_not_exceed_hosts(self):
        for launch in cluster_plan("--only", "ring,overlap", hosts=2):
            self.assertEqual(launch.command[launch.command.index("--mpi") + 2], "2", launch)

    def test_sizes_and_rate_are_taken(self):
        (launch, *_) = cluster_plan("--only", "topologies", "--sizes", "1K", "--rate", "100mbit")
        self.assertEqual(launch.command[launch.command.index("--bytes") + 1], "1K")
        self.assertEqual(launch.command[-1], "/output/cluster_topologies_100mbit.jsonl")


class Model(unittest.TestCase):
    def test_every_kind_of_edges_on_every_number_of_ranks(self):
        for full, count in ((False, 3 * 3), (True, 7 * 3 * 2)):
            launches = model_job.ModelJob(full, OUTPUT, PROGRAMS, Cluster(8, "400mbit")).plan()
            self.assertEqual(len(launches), count)


class Study(unittest.TestCase):
    def test_every_program_runs_in_every_place(self):
        launches = study_job.StudyJob("exchange", False, OUTPUT, PROGRAMS, Cluster(8, "400mbit"), "v1").plan()
        for program in ("exchange", "one-sided"):
            for place in ("shm", "loopback", "cluster"):
                path = f"/output/study_exchange_{place}.jsonl"
                self.assertTrue([launch for launch in launches
                                 if program in launch.command and path in launch.command], (program, place))

    def test_mpich_runs_the_program_built_with_it(self):
        for launch in study_job.StudyJob("exchange", True, OUTPUT, PROGRAMS, Cluster(8, "400mbit"), "v1").plan():
            label = launch.command[launch.command.index("--label") + 1]
            self.assertEqual(PROGRAMS.bench_mpich in launch.command, label.startswith("MPICH"), launch)


class Tester(unittest.TestCase):
    def test_shim_must_have_spoken(self):
        passed = "  8 tests completed and passed\n   0 tests completed and failed\n"
        self.assertTrue(main_job.tester_passed(passed, "stock"))
        self.assertFalse(main_job.tester_passed(passed, "shim"))
        self.assertTrue(main_job.tester_passed("brigade 1.0: here\n" + passed, "shim"))
        self.assertFalse(main_job.tester_passed(passed.replace("   0", "  10"), "stock"))


if __name__ == "__main__":
    unittest.main()
