"""The driver of the papers on a study of four cells: budget, memory, resumption; its pages; what a paper must be."""

import pathlib
import tempfile
import unittest
import unittest.mock

from bench.driver import machine, papers_job
from bench.papers import contract, judge, render
from bench.papers.contract import Cell, Finding, PaperStudy, Run, Table, Value

PROGRAMS = machine.Programs(pathlib.Path("/bin-folder"), pathlib.Path("/mpich-folder"))


def first(records):
    return records[0]["us"]


SIMULATED = Run("machine", ["{bin}/simulator", "{machines}/m.json"], seconds=1)
SHORT = Run("short", ["{bin}/bench", "{asleep}", "--json", "{output}"], ranks=99, seconds=60)
LONG = Run("long", ["{bin}/bench", "--long", "--json", "{output}"], ranks=1, seconds=3000, megabytes=5000)
STUDY = PaperStudy("mpisx", "A paper", "A machine", [Table("Table 1", "times", "us", [
    Cell("1 KiB", "put", 10, Value(SIMULATED, first), Value(SHORT, first), fitted=True),
    Cell("1 MiB", "put", 40, Value(SIMULATED, lambda records: records[1]["us"]), Value(LONG, first)),
    Cell("1 MiB", "get", 50, "no gets there", Value(SHORT, lambda records: None), doubtful=True),
    Cell("4 MiB", "get", None, "no gets there", Value(SHORT, first))])],
    [Finding("Long puts take longer.", lambda value: value("Table 1", "1 MiB", "put") > value(
        "Table 1", "1 KiB", "put"))],
    directions=[(("Table 1", "1 KiB", "put"), ("Table 1", "1 MiB", "put"))], text="The end.")


class Launcher:
    """Writes each run's output, unless told that it fails, and lets its time pass."""

    def __init__(self, clock, fails=()):
        self.clock = clock
        self.fails = fails
        self.commands = []
        self.limits = []
        self.limit = 0

    def run(self, launch, stdout=None):
        self.commands.append(launch.command)
        self.limits.append(self.limit)
        self.clock[0] += 50
        if any(word in self.fails for word in launch.command):
            return False
        if stdout:
            stdout.write(b'{"us": 12}\n{"us": 44}\n')
        else:
            pathlib.Path(launch.command[-1]).write_text('{"us": 30}\n', encoding="utf-8")
        return True


class Papers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        patched = unittest.mock.patch.object(contract, "study", lambda name: STUDY)
        patched.start()
        self.addCleanup(patched.stop)

    def run_job(self, hours=2.0, free=10000, fails=(), version="v1"):
        clock = [0.0]
        job = papers_job.PapersJob(["mpisx"], hours, self.folder, PROGRAMS, version, now=lambda: clock[0],
                                   free=lambda: free)
        launcher = Launcher(clock, fails)
        job.run(launcher)
        return launcher, job

    def page(self):
        return render.render(STUDY, papers_job.Results(self.folder), {"machine": "two cores"})

    def test_the_shortest_run_comes_first_with_its_words_replaced(self):
        launcher, job = self.run_job()
        self.assertEqual(launcher.commands[0], ["/bin-folder/simulator", f"{machine.ROOT}/transport/machines/m.json"])
        short = launcher.commands[1]
        self.assertEqual(short[:3], ["mpirun", "-n", "99"])
        self.assertEqual(short[-4:], ["/bin-folder/bench", "--asleep", "--json", f"{self.folder}/mpisx/short.jsonl"])
        self.assertNotIn("--asleep", launcher.commands[2])
        self.assertEqual(job.missing(), [])
        # No launch may outlive the budget.
        self.assertEqual(launcher.limits, [7200, 7150, 7100])

    def test_a_finished_run_is_not_started_again(self):
        self.run_job(fails=("--long",))
        launcher, _ = self.run_job(version="v2")
        self.assertEqual([("--long" in command) for command in launcher.commands], [True])
        self.assertEqual(self.run_job()[0].commands, [])
        self.assertIn("| commit | v1, v2 |", self.page()[0])

    def test_a_run_beyond_the_budget_is_marked_and_left(self):
        launcher, job = self.run_job(hours=0.5)
        self.assertEqual(len(launcher.commands), 2)
        self.assertEqual([run.name for _, run in job.missing()], ["long"])
        self.assertIn("| 1 MiB | put | 40 | 44 | not run: takes 3000 s, 1700 were left |", self.page()[0])

    def test_a_run_beyond_the_memory_is_marked_and_left(self):
        launcher, _ = self.run_job(free=4999)
        self.assertEqual(len(launcher.commands), 2)
        self.assertIn("| 1 MiB | put | 40 | 44 | not run: takes 5000 MB, 4999 were free |", self.page()[0])

    def test_a_failed_run_is_marked(self):
        self.run_job(fails=("--long",))
        self.assertIn("| 1 MiB | put | 40 | 44 | not run: failed |", self.page()[0])

    def test_a_page_has_every_cell(self):
        self.assertIn("| 1 KiB | put | 10* | not run: not yet | not run: not yet |", self.page()[0])
        self.run_job()
        page, values = self.page()
        for line in ("| 1 KiB | put | 10* | 12 | 30 |", "| 1 MiB | put | 40 | 44 | 30 |",
                     "| 1 MiB | get | 50? | not run: no gets there | not run: not in the output |",
                     "| 4 MiB | get | - | not run: no gets there | 30 |", "| machine | two cores |",
                     "| Table 1 | fitted | 1 | 0 | 20.0 % |",
                     "| Table 1 | held out | 1 | 1 | 10.0 % |",
                     "| simulated | 1 | 1 | 0 |", "| here | 0 | 1 | 0 |",
                     "| Long puts take longer. | yes | yes | no |", "The end."):
            self.assertIn(line, page.splitlines())
        self.assertEqual(values["Table 1", "1 KiB", "put"], (12, 30))
        self.assertTrue(all(len(line) <= 120 for line in page.splitlines()))

    def test_a_value_of_several_runs_needs_them_all(self):
        both = Value((SIMULATED, LONG), lambda records: sum(record["us"] for record in records))
        self.run_job(hours=0.5)
        results = papers_job.Results(self.folder)
        self.assertEqual(results.read(STUDY, both), (None, "takes 50 min, 28 were left"))
        self.run_job()
        self.assertEqual(results.read(STUDY, both), (12 + 44 + 30, ""))

    def test_the_renderer_writes_page_and_picture(self):
        self.run_job()
        (self.folder / "about.json").write_text("{}", encoding="utf-8")
        render.write_pages(self.folder, self.folder / "pages", ["mpisx"])
        self.assertEqual(sorted(path.name for path in (self.folder / "pages").iterdir()), ["mpisx.md", "mpisx.svg"])


class Judge(unittest.TestCase):
    def test_absent_values_are_counted(self):
        cells = [Cell("a", "b", 10, "", ""), Cell("c", "d", 20, "", "")]
        self.assertEqual(judge.errors(cells, lambda cell: 11 if cell.row == "a" else None)[0][1:3], (1, 1))

    def test_a_sentence_about_an_absent_value_is_unknown(self):
        self.assertEqual(judge.holds(STUDY.findings[0], lambda *key: None), "unknown")


class Studies(unittest.TestCase):
    def test_papers_can_be_planned(self):
        for name in contract.NAMES:
            study = contract.study(name)
            self.assertEqual(study.name, name)
            keys = [(table.name, cell.row, cell.column) for table in study.tables for cell in table.cells]
            self.assertEqual(len(keys), len(set(keys)), name)
            self.assertLessEqual({key for pair in study.directions for key in pair}, set(keys), name)
            job = papers_job.PapersJob([name], 1, pathlib.Path("/none"), PROGRAMS, "v1")
            for run in study.runs():
                for word in job.launch(study, run).command:
                    self.assertNotRegex(word, "[{}]", (name, run))

    def test_a_value_may_be_of_several_runs(self):
        cells = [Cell("1", "put", 1, "", Value((SIMULATED, SHORT), lambda records: None))]
        self.assertEqual(STUDY._replace(tables=[Table("T", "", "us", cells)]).runs(), [SIMULATED, SHORT])

    def test_two_runs_may_not_share_a_name(self):
        cells = [Cell("1", "put", 1, Value(SHORT, first), Value(SHORT._replace(ranks=2), first))]
        with self.assertRaisesRegex(ValueError, "'short'"):
            STUDY._replace(tables=[Table("T", "", "us", cells)]).runs()


if __name__ == "__main__":
    unittest.main()
