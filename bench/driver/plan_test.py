"""Plans of launches: the contenders, their number of launches, and their arguments."""

import collections
import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

from bench.driver import arguments, behind_job, machine, main_job, model_job, peers, simulated_jobs, study_job
from bench.driver.cluster_job import Cluster, ClusterJob
from bench.driver.launching import Launcher

PROGRAMS = machine.Programs(pathlib.Path("/bin-folder"), pathlib.Path("/mpich-folder"))
OUTPUT = pathlib.Path("/output")


def main_plan(extent, cores):
    return main_job.MainJob(extent, OUTPUT, PROGRAMS, cores, "v1", peers.HOST_MPIS).plan()


def cluster_plan(*argv, hosts=8):
    given = arguments.parse(["--cluster", str(hosts), *argv])
    job = ClusterJob(given, OUTPUT, PROGRAMS, Cluster(hosts, given.rate), "v1")
    return [launch for _, launches in job.plan() for launch in launches]


class Machine(unittest.TestCase):
    def test_counts_the_cores_that_it_may_use(self):
        """Two cores of two processors each: Open MPI has no slot on a core that belongs to others."""
        lscpu = subprocess.CompletedProcess([], 0, "# CPU,Core,Socket\n0,0,0\n1,0,0\n2,1,0\n3,1,0\n")
        for allowed, cores in (({0, 1, 2, 3}, 2), ({0, 1}, 1), ({1, 2}, 2), ({3}, 1)):
            with unittest.mock.patch("subprocess.run", return_value=lscpu), \
                    unittest.mock.patch("os.sched_getaffinity", return_value=allowed):
                self.assertEqual(machine.cores.__wrapped__(), cores)


class Main(unittest.TestCase):
    def test_ranks_are_pinned_while_cores_last(self):
        for launch in main_plan(main_job.BRIEF, cores=2):
            if launch.command[0] == "mpirun":
                is_pinned = launch.command[3:5] == peers.PINNED
                self.assertEqual(is_pinned, int(launch.command[2]) <= 2, launch)

    def test_mpich_runs_while_cores_last(self):
        for cores, rounds in ((1, 0), (2, 2), (8, 4)):
            mpich = [launch for launch in main_plan(main_job.BRIEF, cores)
                     if launch.command[0] == "mpiexec.mpich"]
            self.assertEqual(len(mpich), rounds)
            self.assertTrue(all(launch.environment == peers.DEBIAN_MPICH for launch in mpich))

    def test_a_first_report_is_without_mpich(self):
        for extent, rounds in ((main_job.QUICK, 0), (main_job.BRIEF, 0), (main_job.FULL, 20)):
            plan = main_job.MainJob(extent, OUTPUT, PROGRAMS, 2, "v1").plan()
            self.assertEqual(len([launch for launch in plan if launch.command[0] == "mpiexec.mpich"]), rounds)

    def test_a_first_report_has_few_ranks_per_core(self):
        for extent, cores, more, ranks in ((main_job.BRIEF, 1, [], [2, 4]), (main_job.BRIEF, 2, [], [2, 4]),
                                           (main_job.BRIEF, 4, [], [2, 4, 8]), (main_job.FULL, 2, [], [2, 4, 8]),
                                           (main_job.BRIEF, 2, peers.HOST_MPIS, [2, 4, 8])):
            job = main_job.MainJob(extent, OUTPUT, PROGRAMS, cores, "v1", more)
            self.assertEqual(job.calls_ranks(), ranks)
            launched = {int(launch.command[2]) for launch in job.plan() if "calls" in launch.command}
            self.assertEqual(launched, set(ranks))

    def test_other_mpis_run_where_every_rank_has_a_core(self):
        labels = [launch.command[launch.command.index("--label") + 1]
                  for launch in main_plan(main_job.BRIEF, 2) if launch.environment.get("LD_LIBRARY_PATH")]
        self.assertEqual(labels, ["Open MPI 5", "MPICH 5", "Intel MPI"] * 2)  # messages and patterns
        self.assertFalse([launch for launch in main_plan(main_job.BRIEF, 1)
                          if launch.environment.get("LD_LIBRARY_PATH")])

    def test_stock_and_shim_take_turns_in_pairs(self):
        launches = [launch.command for launch in main_plan(main_job.BRIEF, 2)
                    if PROGRAMS.scalapack in launch.command]
        self.assertEqual(len(launches), 2 * 6 * 2)
        first = [f"LD_PRELOAD={PROGRAMS.shim}" in command for command in launches[:4]]
        self.assertEqual(first, [False, True, True, False])

    def test_every_tuning_has_a_launch(self):
        plan = main_plan(main_job.BRIEF, 2)
        labels = [launch.command[launch.command.index("--label") + 1] for launch in plan
                  if "coll_tuned_use_dynamic_rules" in launch.command]
        self.assertEqual(labels, list(peers.ONE_HOST_TUNINGS))

    def test_quick_is_less_of_everything(self):
        quick = main_plan(main_job.QUICK, 2)
        self.assertLess(len(quick), len(main_plan(main_job.BRIEF, 2)) / 2)
        for case in ("pingpong", "calls", "spread", PROGRAMS.scalapack):
            self.assertTrue([launch for launch in quick if case in launch.command], case)

    def test_full_is_ten_rounds(self):
        pingpongs = [launch for launch in main_plan(main_job.FULL, 2) if "pingpong" in launch.command]
        self.assertEqual(len(pingpongs), 10 * (3 + len(peers.HOST_MPIS)) + 1)


def behind(*argv, extent=main_job.BRIEF, cores=2):
    job = main_job.MainJob(extent, OUTPUT, PROGRAMS, cores, "v1")
    return behind_job.BehindJob(arguments.parse(["--behind", *argv]), job)


class Behind(unittest.TestCase):
    def test_every_number_of_ranks_is_calibrated(self):
        names = [name for _, name in behind(cores=4).calibrations()]
        self.assertEqual(names, [*(f"machine_auto_{ranks}.json" for ranks in (2, 4, 8)), "machine_tcp_2.json"])
        for launch, _ in behind(cores=8).calibrations():
            self.assertEqual(launch.command[3:5], peers.PINNED)

    def test_tcp_is_beside_every_setting(self):
        for argv, extent, labels in (([], main_job.BRIEF, list(peers.LOOPBACK_TUNINGS)),
                                     (["--quick"], main_job.QUICK, [""])):
            launches = behind(*argv, extent=extent).over_tcp()
            self.assertEqual([label_of(launch) for launch in launches], labels)
            for launch in launches:
                self.assertIn("--mca pml ob1 --mca btl self,tcp", " ".join(launch.command))
                self.assertEqual(launch.environment, {"BRIGADE_IFACE": "lo"})

    def test_windows_are_beside_the_mpis(self):
        launches = behind().windows()
        self.assertEqual([(launch.command[2], launch.command[launch.command.index(PROGRAMS.bench) + 1])
                          for launch in launches], [("2", "one-sided"), ("2", "exchange"), ("4", "exchange")])
        for launch in launches:
            self.assertIn("/output/windows.jsonl", launch.command)

    def test_slow_hosts_have_the_installed_mpis(self):
        for is_installed, labels in ((False, {"", "pipeline 16K", "pipeline 8K"}),
                                     (True, {library.label for library in peers.LIBRARIES if not library.only_full})):
            with unittest.mock.patch.object(pathlib.Path, "is_dir", return_value=is_installed):
                job = behind().on_slow_hosts(Cluster(4, "400mbit"))
            launches = {name: list(part) for name, part in job.plan()}
            for name in ("patterns", "send"):
                self.assertEqual({label_of(launch) for launch in launches[name]}, labels)
            for name in ("patterns", "send", "ring"):
                self.assertEqual({launch.command[-1] for launch in launches[name]}, {f"/output/cluster_{name}.jsonl"})
            pairs = [launch for launch in launches["scalapack"] if "--label" not in launch.command]
            self.assertEqual(len(pairs), 2 * behind_job.PAIRS)
            for launch in pairs:
                self.assertIn("2x2", launch.command)

    def test_hosts_that_cannot_be_raised_are_left_out(self):
        job = behind()
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.object(Cluster, "__enter__", side_effect=subprocess.CalledProcessError(1, "up")), \
                unittest.mock.patch.dict(os.environ, {"BRIGADE_KERNEL_COPIES": "off", "BRIGADE_LOG": ""}, clear=True):
            job.job.output = pathlib.Path(folder)
            job.run(unittest.mock.Mock(**{"run.return_value": False}))
            (path,) = job.job.output.iterdir()  # no calibration, since all launches failed
            about = json.loads(path.read_text())
        self.assertIn("Slow hosts could not be measured on this machine.", about["left_out"])
        self.assertEqual(about["settings"], {"BRIGADE_KERNEL_COPIES": "off"})

    def test_quick_says_what_it_leaves_out(self):
        job = behind("--quick", extent=main_job.QUICK)
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(Cluster, "__enter__") as raised:
            job.job.output = pathlib.Path(folder)
            job.run(unittest.mock.Mock(**{"run.return_value": True}))
            about = json.loads((job.job.output / "behind.json").read_text())
        raised.assert_not_called()
        self.assertIn("--quick leaves out windows, slow hosts", about["left_out"][0])


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

    def test_gathers_have_several_ranks_on_each_of_four_hosts(self):
        for hosts, most in ((2, 2), (8, 4)):
            launches = cluster_plan("--only", "gathers", "--libraries", "MPICH 5", hosts=hosts)
            found = sorted((launch.command[launch.command.index("--per-host") + 1:][:2], launch.command[-1])
                           for launch in launches)
            self.assertEqual(found, [([str(each), str(most * each)], f"/output/cluster_gathers_{each}.jsonl")
                                     for each in (2, 4) for _ in range(2)])
            for launch in launches:
                self.assertEqual(launch.command[launch.command.index("--transport") + 1], "auto")

    def test_sizes_and_rate_are_taken(self):
        (launch, *_) = cluster_plan("--only", "topologies", "--sizes", "1K", "--rate", "100mbit")
        self.assertEqual(launch.command[launch.command.index("--bytes") + 1], "1K")
        self.assertEqual(launch.command[-1], "/output/cluster_topologies_100mbit.jsonl")
        (launch, *_) = cluster_plan("--only", "ring", "--sizes", "64K")
        self.assertEqual(launch.command[launch.command.index("--bytes") + 1], "64K")


class Model(unittest.TestCase):
    def test_every_kind_of_edges_on_every_number_of_ranks(self):
        for full, count in ((False, 3 * 3), (True, 7 * 3 * 2)):
            launches = model_job.ModelJob(full, OUTPUT, PROGRAMS, Cluster(8, "400mbit")).plan()
            self.assertEqual(len(launches), count)


def study_plan(name, *argv):
    given = arguments.parse(["--study", name, *argv])
    return study_job.StudyJob(given, OUTPUT, PROGRAMS, Cluster(8, "400mbit"), "v1").plan()


def label_of(launch):
    return launch.command[launch.command.index("--label") + 1]


class Study(unittest.TestCase):
    def test_every_program_runs_in_every_place(self):
        for name, study in study_job.STUDIES.items():
            brief, full = study_plan(name), study_plan(name, "--full")
            for program in study.programs:
                launches = brief if program.ranks else full
                for place in (place for place in study_job.PLACES if study.contenders_of(program, place)):
                    path = f"/output/study_{name}_{place}.jsonl"
                    found = [launch for launch in launches if path in launch.command and
                             " ".join(program.arguments) in " ".join(launch.command)]
                    self.assertTrue(found, (program, place))

    def test_the_longest_programs_run_once_and_only_if_all_is_asked_for(self):
        def on_hosts(*argv):
            return [launch for launch in study_plan("md", *argv)
                    if {"65536", "/output/study_md_cluster.jsonl"} <= set(launch.command)]
        self.assertEqual(on_hosts(), [])
        for argv in (["--full"], ["--full", "--rounds", "20"]):
            self.assertEqual(len(on_hosts(*argv)), len(study_job.MD["cluster"]))

    def test_only_the_places_that_are_asked_for_as_often_as_asked_for(self):
        for argv, places, rounds in (([], {"shm", "loopback", "cluster"}, 2), (["--places", "shm"], {"shm"}, 2),
                                     (["--places", "simulated"], set(), 0),
                                     (["--places", "cluster,shm", "--rounds", "1"], {"shm", "cluster"}, 1),
                                     (["--places", "loopback", "--rounds", "12", "--full"], {"loopback"}, 12)):
            launches = [launch.command for launch in study_plan("rdx", *argv)]
            files = collections.Counter(command[-1].rsplit("/", 1)[1] for command in launches)
            self.assertEqual(set(files), {f"study_rdx_{place}.jsonl" for place in places}, argv)
            seeds = collections.Counter(command[command.index("--seed") + 1] for command in launches)
            self.assertEqual(set(seeds), {str(number + 1) for number in range(rounds)}, argv)
            self.assertLessEqual(len(set(seeds.values())), 1, argv)

    def test_on_one_host_over_tcp_srumma_has_gets_by_messages_alone(self):
        for name, study in study_job.STUDIES.items():
            has_none = name in ("pblas", "large", "factorizations")
            self.assertEqual(set(study.places) - {"simulated"},
                             set(study_job.PLACES) - ({"loopback"} if has_none else set()))
        for launch in study_plan("srumma"):
            command = " ".join(launch.command)
            is_loopback = command.endswith("_loopback.jsonl")
            self.assertEqual("--variants staged " in command, is_loopback, launch)
            self.assertFalse(is_loopback and "/overlap_study " not in command, launch)

    def test_on_one_host_over_tcp_puts_and_gets_go_over_it(self):
        for name in ("exchange", "cg", "mg", "summa", "md"):
            for launch in study_plan(name):
                is_loopback = launch.command[-1].endswith("_loopback.jsonl")
                self.assertEqual("--by-messages" in launch.command, is_loopback, launch)
                if is_loopback and not label_of(launch):
                    self.assertEqual(launch.environment["OMPI_MCA_osc"], "pt2pt")
                elif is_loopback and label_of(launch) == "Open MPI 5":
                    self.assertIn("--peers messages", " ".join(launch.command))

    def test_in_shared_memory_the_put_get_study_has_windows_of_all(self):
        for name in ("cg", "mg", "summa", "md"):
            windows = {(label_of(launch), int(launch.command[2])) for launch in study_plan(name)
                       if launch.command[-1].endswith("_shm.jsonl") and "messages" not in launch.command}
            self.assertLessEqual({("Open MPI 5", 8), ("MPICH 5", 8), ("MPICH 5, naps", 8)}, windows)

    def test_in_shared_memory_open_mpi_has_its_messages_in_two_copies_too(self):
        for name in ("as", "mult", "rdx", "cg", "mg", "summa", "md"):
            found = [launch.command for launch in study_plan(name) if label_of(launch) == "CMA off"]
            self.assertTrue(found, name)
            for command in found:
                self.assertTrue(command[-1].endswith("_shm.jsonl"), command)
                self.assertLess(command.index("btl_vader_single_copy_mechanism"), command.index("--label"))
                self.assertTrue({"messages", "send"} & set(command), command)

    def test_every_pdgemm_runs_beside_ours(self):
        launches = [launch.command for launch in study_plan("srumma") if any("product_study" in part
                                                                             for part in launch.command)]
        found = {label: [] for label in ("", "our BLACS", "our PBLAS", "MKL", "Global Arrays")}
        for command in launches:
            preloads = [part for part in command if part.startswith("LD_PRELOAD=")]
            label = command[command.index("--label") + 1]
            found[label].append(preloads)
            self.assertTrue(not preloads or "diagonal,pdgemm,dgemm" in command, command)
            self.assertEqual(label == "Global Arrays", "diagonal,ga_dgemm,dgemm" in command, command)
            self.assertEqual("OMPI_MCA_osc=pt2pt" in command, label == "Global Arrays" and "--mpi" in command, command)
        self.assertTrue(all(len(of_label) == 2 * (4 + 4) for of_label in found.values()), found)
        self.assertEqual(found[""], [[]] * 16)
        self.assertEqual(found["our PBLAS"], [["LD_PRELOAD=/bin-folder/pblas_shim/libbrigade_pblas.so"]] * 16)
        self.assertEqual(found["MKL"][0][0].count(".so"), 5)

    def test_ours_is_forced_on_where_it_would_leave_products(self):
        of_small = [launch.command for launch in study_plan("pblas") if "-k" in launch.command]
        ours = [command for command in of_small if "BRIGADE_PBLAS=on" in command and any(
            part.endswith("libbrigade_pblas.so") for part in command)]
        # In two rounds and two places, on three numbers of ranks.
        self.assertEqual((len(ours), len(of_small)), (12, 36))
        self.assertTrue(all("diagonal,pdgemm" in command for command in of_small))
        halves = [command for command in (launch.command for launch in study_plan("pblas"))
                  if "whole,pdsyrk,pdtrmm,dgemm" in command]
        self.assertEqual(len(halves), 2 * 2 * 3 * 3)
        of_ours = [command for command in halves if any("brigade_pblas" in part for part in command)]
        self.assertEqual(len(of_ours), 2 * 2 * 3)
        self.assertTrue(all("BRIGADE_PBLAS=on" in command for command in of_ours))

    def test_long_products_on_slow_hosts_are_for_full(self):
        short, long = {"256", "512", "1000", "2000"}, {"256", "512", "1000", "2000", "4000"}
        for argv, wanted in (([], {"shm": long, "cluster": short}), (["--full"], {"shm": long, "cluster": long})):
            orders = {"shm": set(), "cluster": set()}
            for command in (launch.command for launch in study_plan("srumma", *argv)):
                program = [part for part in command if part.endswith("/product_study")]
                # With all ways.
                if program and "--variants" not in command:
                    place = command[-1].removeprefix("/output/study_srumma_").removesuffix(".jsonl")
                    orders[place].update(command[command.index(program[0]) + 2].split(","))
            self.assertEqual(orders, wanted)

    def test_only_what_is_to_be_compared_of_the_largest_products(self):
        found = collections.Counter((launch.command[-1].rsplit("_", 1)[1], label_of(launch),
                                     launch.command[launch.command.index("--variants") + 1])
                                    for launch in study_plan("large", "--rounds", "3"))
        stock = ("", "diagonal,blocking,pdgemm,dgemm")
        ours = ("our BLACS", "diagonal,pdgemm,dgemm")
        self.assertEqual(found, {(f"{place}.jsonl", *contender): 3 * programs for contender in (stock, ours)
                                 for place, programs in (("shm", 1), ("cluster", 2))})

    def test_factorizations_have_ours_take_none_some_and_all_products_on_either_blacs(self):
        launches = [launch.command for launch in study_plan("factorizations", "--rounds", "3")]
        grids = collections.defaultdict(set)
        for command in launches:
            preload, products, *_ = command[command.index("OMP_NUM_THREADS=1") + 1:]
            after = dict(zip(command, command[1:]))
            blacs = "our BLACS" if PROGRAMS.shim in preload else "reference BLACS"
            self.assertIn("libbrigade_pblas.so", preload)
            self.assertEqual(after["--label"], f"{blacs}, {products.removeprefix('BRIGADE_PBLAS=')}")
            place = command[-1].removeprefix("/output/study_factorizations_")
            grids[place, after["--grid"]].add((after["--label"], after["--pair"]))
        self.assertEqual({place: len(of_grid) for place, of_grid in grids.items()}, {
            (f"{place}.jsonl", grid): 3 * 2 * 3 for place, grid in (
                ("shm", "2x1"), ("shm", "2x2"), ("shm", "2x4"), ("cluster", "2x2"), ("cluster", "2x4"))})
        self.assertEqual(len(launches), 5 * 3 * 2 * 3)

    def test_mpich_runs_the_program_built_with_it(self):
        for name in study_job.STUDIES:
            for launch in study_plan(name, "--full"):
                is_mpich = any(part.startswith("/mpich-folder/bench/") or part == PROGRAMS.bench_mpich
                               for part in launch.command)
                self.assertEqual(is_mpich, label_of(launch).startswith("MPICH"), launch)
                # The reference BLACS would bring Open MPI.
                if any(part.endswith("/brigade_bench") for part in launch.command):
                    self.assertIn("--peers mpi --shim none", " ".join(launch.command))

    def test_backends_take_turns(self):
        for place in ("shm", "loopback", "cluster"):
            launches = [launch.command for launch in study_plan("as") if launch.command[-1].endswith(f"{place}.jsonl")]
            backends = [part.split("=")[1] for command in launches for part in command if "LI_BACKEND" in part]
            self.assertEqual(len(backends), len(launches))
            self.assertEqual(set(backends), {"windows", "bsp", "mpi_send", "mpi_rma"})
            # No subject has a round of its own.
            first, last = backends.index("windows"), len(backends) - 1 - backends[::-1].index("windows")
            self.assertIn("mpi_rma", backends[first:last], place)

    def test_open_mpi_5_makes_windows_over_tcp_on_this_host(self):
        for name in ("as", "mult", "rdx"):
            found = [launch for launch in study_plan(name) if label_of(launch) == "Open MPI 5" and
                     launch.command[-1].endswith("loopback.jsonl")]
            self.assertTrue(found, name)
            for launch in found:
                self.assertIn("BRIGADE_LI_BACKEND=mpi_rma", launch.command)
                self.assertIn("self,tcp", launch.command)
                self.assertIn("openmpi5/bin", launch.environment["PATH"])

    def test_newer_mpis_bring_their_windows_in_shared_memory(self):
        found = collections.defaultdict(set)
        for launch in study_plan("as"):
            if launch.command[-1].endswith("shm.jsonl") and label_of(launch).endswith(" 5"):
                self.assertIn("BRIGADE_LI_BACKEND=mpi_rma", launch.command)
                folder = {"MPICH 5": "mpich5/bin", "Open MPI 5": "openmpi5/bin"}[label_of(launch)]
                self.assertIn(folder, launch.environment["PATH"])
                self.assertIn("/lib", launch.environment["LD_LIBRARY_PATH"])
                found[label_of(launch), "--variants" in launch.command].add(launch.command[2])
        # Of MPICH with more ranks only its messages.
        self.assertEqual(found, {("Open MPI 5", False): {"2", "4", "8"}, ("MPICH 5", False): {"2"},
                                 ("MPICH 5", True): {"4", "8"}})

    def test_another_bsplib_takes_turns_without_messages(self):
        with tempfile.NamedTemporaryFile(prefix="libother", suffix=".so") as library:
            stem = pathlib.Path(library.name).stem.removeprefix("lib")
            of_other = [launch.command for launch in study_plan("as", "--bsplib", library.name)
                        if label_of(launch) == stem]
            resolved = pathlib.Path(library.name).resolve()
        # In each of three places on 2, 4 and 8 ranks, in two rounds.
        self.assertEqual(len(of_other), 3 * 3 * 2)
        for command in of_other:
            for word in ("BRIGADE_LI_BACKEND=bsp", f"BRIGADE_LI_BSP={resolved}"):
                self.assertIn(word, command)
            self.assertEqual(command[command.index("--variants") + 1], "put,get")

    def test_one_rank_runs_alone_for_speedups(self):
        alone = [launch.command for launch in study_plan("rdx") if launch.command[:3] == ["mpirun", "-n", "1"]]
        self.assertEqual(len(alone), 2)
        self.assertTrue(all("BRIGADE_LI_BACKEND=windows" in command for command in alone))

    def test_full_has_more_sizes_on_more_ranks(self):
        commands = [launch.command for launch in study_plan("mult", "--full") if launch.command[0] == "mpirun"]
        self.assertEqual({command[2] for command in commands}, {"1", "4", "16", "25"})
        self.assertEqual(len([command for command in commands if command[2] == "1"]), 10)


class Simulated(unittest.TestCase):
    def test_every_study_but_that_of_atoms_is_simulated(self):
        tables = {}

        class Recorder:
            output = OUTPUT

        def note(_launcher, launch, path):
            tables[path.name] = launch.command[0].rsplit("/", 1)[1]

        with unittest.mock.patch.object(simulated_jobs, "simulate", note):
            for name, study in study_job.STUDIES.items():
                if study.simulated:
                    simulated_jobs.simulate_study(Recorder, PROGRAMS, name)
        self.assertEqual(tables, {f"study_{name}_simulated.jsonl": table for table, names in {
            "superstep_table": ("exchange", "as", "mult", "rdx"), "putget_table": ("cg", "mg", "summa"),
            "srumma_table": ("srumma",)}.items() for name in names})

    def test_a_table_that_cannot_be_written_is_a_failure(self):
        """Whichever thread makes it."""
        for pattern in simulated_jobs.PATTERNS:
            with tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / f"scale_{pattern}.jsonl").mkdir()
                launcher = Launcher(pathlib.Path(folder), 0)
                programs = unittest.mock.Mock(scale_table="true")
                said = io.StringIO()
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    self.assertIsNone(simulated_jobs.simulate_scale(launcher, programs, False))
                self.assertEqual(launcher.failures, 1)
                self.assertIn(f"scale_{pattern}.jsonl: Is a directory", said.getvalue())


class Tester(unittest.TestCase):
    def test_shim_must_have_spoken(self):
        passed = "  8 tests completed and passed\n   0 tests completed and failed\n"
        self.assertTrue(main_job.tester_passed(passed, "stock"))
        self.assertFalse(main_job.tester_passed(passed, "shim"))
        self.assertTrue(main_job.tester_passed("brigade 1.0: here\n" + passed, "shim"))
        self.assertFalse(main_job.tester_passed(passed.replace("   0", "  10"), "stock"))


if __name__ == "__main__":
    unittest.main()
