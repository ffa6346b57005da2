"""The driver of the papers on a study of four cells: budget, memory, resumption; its pages; what a paper must be."""

import contextlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

from bench.driver import machine, papers_job
from bench.driver.__main__ import run_papers
from bench.papers import contract, judge, render, results
from bench.papers.contract import Cell, Finding, PaperStudy, Run, Table, Value

PROGRAMS = machine.Programs(pathlib.Path("/bin-folder"), pathlib.Path("/mpich-folder"))
HERE = {"machine": "two cores", "versions": "an MPI"}


def first(records):
    return records[0]["us"]


SIMULATED = Run("machine", ["{bin}/simulator", "{machines}/sx5.json"], seconds=1)
SHORT = Run("short", ["{bin}/bench", "{asleep}", "--json", "{output}"], ranks=99, seconds=60)
LONG = Run("long", ["{bin}/bench", "--long", "--json", "{output}"], ranks=1, seconds=3000, megabytes=5000)
STUDY = PaperStudy("mpisx", "A paper", "A machine", [Table("Table 1", "times", "us", [
    Cell("1 KiB", "put", 10, Value(SIMULATED, first), Value(SHORT, first), fitted=True),
    Cell("1 MiB", "put", 40, Value(SIMULATED, lambda records: records[1]["us"]), Value(LONG, first)),
    Cell("1 MiB", "get", 50, "no gets there", Value(SHORT, lambda records: None), doubtful=True),
    Cell("4 MiB", "get", None, "no gets there", Value(SHORT, first))], "A note. " * 20)],
    [Finding("Long puts take longer.", lambda value: value("Table 1", "1 MiB", "put") > value(
        "Table 1", "1 KiB", "put"))],
    directions=[(("Table 1", "1 KiB", "put"), ("Table 1", "1 MiB", "put"))], summary="The beginning.", text="The end.")


class Launcher:
    """Writes each run's output, unless the run is to fail, and lets its time pass."""

    def __init__(self, clock, fails=()):
        self.clock = clock
        self.fails = fails
        self.commands = []
        self.limits = []
        self.limit = 0
        self.failures = 0
        self.text = b'{"us": 12}\n{"us": 44}\n'

    def run(self, launch, stdout=None):
        self.commands.append(launch.command)
        self.limits.append(self.limit)
        self.clock[0] += 50
        if any(word in self.fails for word in launch.command):
            return False
        if stdout:
            stdout.write(self.text)
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

    def run_job(self, hours=2.0, free=10000, fails=(), limit=0, text=None, **about):
        clock = [0.0]
        job = papers_job.PapersJob(["mpisx"], hours, self.folder, PROGRAMS, {"commit": "v1", **HERE, **about}, limit,
                                   now=lambda: clock[0], free=lambda: free)
        launcher = Launcher(clock, fails)
        launcher.text = launcher.text if text is None else text
        job.run(launcher)
        return launcher, job

    def page(self):
        return render.render(contract.study("mpisx"), results.Results(self.folder))

    def test_the_run_of_least_time_for_a_cell_comes_first_with_its_words_replaced(self):
        launcher, job = self.run_job()
        self.assertEqual(launcher.commands[0], ["/bin-folder/simulator", f"{machine.ROOT}/transport/machines/sx5.json"])
        short = launcher.commands[1]
        self.assertEqual(short[:3], ["mpirun", "-n", "99"])
        self.assertEqual(short[-4:], ["/bin-folder/bench", "--asleep", "--json", f"{self.folder}/mpisx/short.jsonl"])
        self.assertNotIn("--asleep", launcher.commands[2])
        self.assertEqual(job.missing(), [])
        # Of estimates of 1, 60 and 3000 s; no launch may outlive the budget.
        self.assertEqual(launcher.limits, [65, 360, 7100])

    def test_the_limit_of_a_launch_may_be_given(self):
        self.assertEqual(self.run_job(limit=70)[0].limits, [70, 70, 70])

    def test_a_finished_run_is_not_started_again(self):
        self.run_job(fails=("--long",))
        launcher, _ = self.run_job(commit="v2", machine="four cores")
        self.assertEqual([("--long" in command) for command in launcher.commands], [True])
        self.assertEqual(self.run_job()[0].commands, [])
        for line in ("| commit | v1, v2 |", "| machine here | two cores; an MPI |",
                     "| machine here | four cores; an MPI |"):
            self.assertIn(line, self.page()[0].splitlines())

    def test_a_run_beyond_the_budget_is_marked_and_left(self):
        launcher, job = self.run_job(hours=0.5)
        self.assertEqual(len(launcher.commands), 2)
        self.assertEqual([run.name for _, run in job.missing()], ["long"])
        self.assert_absent("takes 3000 s, 1700 were left")

    def test_a_budget_may_be_too_short_for_every_run(self):
        self.assertEqual(self.run_job(hours=0.5 / 3600)[0].commands, [])
        self.assertIn("takes 1 s, 0 were left", self.page()[0])

    def test_no_time_is_left_after_the_budget(self):
        self.run_job(hours=10 / 3600)
        self.assertIn("takes 3000 s, 0 were left", self.page()[0])

    def test_a_run_beyond_the_memory_is_marked_and_left(self):
        launcher, _ = self.run_job(free=4999)
        self.assertEqual(len(launcher.commands), 2)
        self.assert_absent("takes 5000 MB, 4999 were free")

    def test_a_failed_run_is_marked(self):
        self.run_job(fails=("--long",))
        self.assert_absent("failed")

    def test_a_failed_run_comes_last_and_a_left_run_does_not(self):
        self.run_job(hours=0.5, fails=("/bin-folder/simulator",))
        launcher, _ = self.run_job()
        self.assertEqual([command[-1] == f"{machine.MACHINES}/sx5.json" for command in launcher.commands],
                         [False, True])

    def test_a_run_that_the_budget_ends_has_not_failed(self):
        job = self.run_job(hours=40 / 3600, fails=("/bin-folder/simulator",))[1]
        self.assertEqual([run.name for _, run in job.missing()], ["machine", "short", "long"])
        self.assertIn("stopped at the end of the budget", self.page()[0])

    def test_a_failed_run_that_is_left_keeps_the_reason_of_its_failure(self):
        self.run_job(fails=("--long",))
        self.assertEqual(self.run_job(hours=0.5)[0].commands, [])
        self.assert_absent("failed")

    def assert_absent(self, reason):
        """Asserts that of the long run there is no value, for this reason."""
        lines = self.page()[0].splitlines()
        self.assertIn("| 1 MiB | put | 40 | 44 | - (1) |", lines)
        self.assertIn(f"- `- (1)` in the last two columns: {reason}", lines)

    def change(self, path, old, new):
        path = self.folder / "mpisx" / path
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def test_a_run_of_another_command_is_not_done(self):
        self.run_job()
        longer = LONG._replace(command=[*LONG.command, "--more"])
        cells = [cell._replace(here=Value(longer, first)) if cell.here.run == LONG else cell
                 for cell in STUDY.tables[0].cells]
        with unittest.mock.patch.object(contract, "study", lambda name: STUDY._replace(
                tables=[STUDY.tables[0]._replace(cells=cells)])):
            self.assert_absent("not done since its command or its machine file changed")
            self.assertEqual([command[-1] for command in self.run_job(fails=("--more",))[0].commands], ["--more"])

    def test_a_run_on_a_changed_machine_file_is_not_done(self):
        machines = self.folder / "machines"
        machines.mkdir()
        with unittest.mock.patch.object(results, "MACHINES", machines):
            (machines / "sx5.json").write_text("1", encoding="utf-8")
            self.run_job()
            self.assertEqual(self.run_job()[0].commands, [])
            (machines / "sx5.json").write_text("2", encoding="utf-8")
            self.assertEqual([command[0] for command in self.run_job()[0].commands], ["/bin-folder/simulator"])

    def test_damaged_files_are_named_and_their_runs_started_again(self):
        for path, old, new in (("long.record.json", '"reason"', '"rea'), ("long.record.json", '"commit"', '"other"'),
                               ("long.jsonl", "{", ""), ("long.jsonl", '{"us": 30}', "[1]"),
                               ("long.jsonl", '{"us": 30}\n', "")):
            self.run_job()
            self.change(path, old, new)
            self.assert_absent(f"damaged: mpisx/{path}")
            self.assertEqual([("--long" in command) for command in self.run_job()[0].commands], [True])
            self.assertEqual(self.page()[1]["Table 1", "1 MiB", "put"], (44, 30))

    def test_a_line_without_a_field_is_no_value(self):
        self.run_job()
        for line in ('{"other": 1}', '{"us": null}', '{"us": "much"}', '{"us": [30]}'):
            (self.folder / "mpisx" / "long.jsonl").write_text(line, encoding="utf-8")
            self.assert_absent("not in the output")

    def test_a_run_without_lines_has_failed(self):
        for text in (b"", b"no table\n", b"1\n"):
            launcher, job = self.run_job(text=text)
            self.assertEqual(([run.name for _, run in job.missing()], launcher.failures), (["machine"], 1), text)
            self.assertIn("output damaged", self.page()[0])

    def test_a_page_has_every_cell(self):
        page = self.page()[0].splitlines()
        for line in ("| 1 KiB | put | 10* | - (1) | - (1) |", "- `- (1)` in the last two columns: not run yet",
                     "| machine here | not measured here yet |"):
            self.assertIn(line, page)
        self.assertIn("The command fills the columns *simulated* and *here*, which are empty yet.", self.page()[0])
        self.assertNotIn("## How near", page)
        self.run_job()
        page, values = self.page()
        for line in ("| 1 KiB | put | 10* | 12 | 30 |", "| 1 MiB | put | 40 | 44 | 30 |",
                     "| 1 MiB | get | 50? | - (1) | - (2) |",
                     "- `- (1)` in the last two columns: no gets there",
                     "- `- (2)` in the last two columns: not in the output",
                     "| 4 MiB | get | - | - (1) | 30 |", "| machine here | two cores; an MPI |",
                     "| Table 1 | fitted | 1 | 0 | 20.0 % |",
                     "| Table 1 | held out | 1 | 1 | 10.0 % |",
                     "| simulated | 1 | 1 | 0 |", "| here | 0 | 1 | 0 |",
                     "| Long puts take longer. | yes | yes | no |", "The beginning.", "The end."):
            self.assertIn(line, page.splitlines())
        self.assertEqual(values["Table 1", "1 KiB", "put"], (12, 30))
        self.assertTrue(all(len(line) <= 120 for line in page.splitlines()))

    def test_a_table_without_any_value_says_how_many_cells_it_has(self):
        lost = Table("Figure 1", "curves", "us", [cell._replace(paper=None) for cell in STUDY.tables[0].cells])
        study = STUDY._replace(tables=[*STUDY.tables, lost])
        lines = render.render(study, results.Results(self.folder))[0].splitlines()
        self.assertIn("None of the 4 cells has a value yet:", lines)
        self.assertEqual(lines.count("| row | column | paper | simulated | here |"), 1)
        self.run_job()
        lines = render.render(study, results.Results(self.folder))[0].splitlines()
        self.assertEqual(lines.count("| row | column | paper | simulated | here |"), 2)

    def test_figures_of_two_tables_are_counted_once(self):
        self.run_job()
        again = STUDY.tables[0]._replace(name="Again", repeats=True)
        lines = render.render(STUDY._replace(tables=[STUDY.tables[0], again]), results.Results(self.folder))[0]
        for table in ("Table 1", "Again", "all"):
            self.assertIn(f"| {table} | all | 2 | 1 | 15.0 % |", lines.splitlines())

    def test_a_value_of_several_runs_needs_them_all(self):
        both = Value((SIMULATED, LONG), lambda records: sum(record["us"] for record in records))
        self.run_job(hours=0.5)
        folder = results.Results(self.folder)
        self.assertEqual(folder.read(STUDY, both), (None, "takes 3000 s, 1700 were left"))
        self.run_job()
        self.assertEqual(folder.read(STUDY, both), (12 + 44 + 30, ""))

    def test_the_renderer_writes_page_and_picture(self):
        self.run_job()
        render.main([str(self.folder), "--pages", str(self.folder / "pages"), "--papers", "mpisx,mpisx"])
        self.assertEqual(sorted(path.name for path in (self.folder / "pages").iterdir()), ["mpisx.md", "mpisx.svg"])

    def test_the_driver_writes_pages_beside_its_results(self):
        launcher = Launcher([0.0])
        launcher.output = self.folder
        with (contextlib.redirect_stdout(io.StringIO()), unittest.mock.patch("subprocess.run") as started,
              unittest.mock.patch.object(papers_job, "about", lambda version: {"commit": version})):
            run_papers(unittest.mock.Mock(papers=[], hours=1.0, limit=0, brigade_version="v1"), launcher, PROGRAMS)
        command = started.call_args.args[0]
        self.assertEqual(command[command.index("--pages") + 1], self.folder / "pages")

    def test_the_renderer_names_what_it_cannot_use(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        for wrong, arguments in (("no paper 'bsp'", [self.folder, "--pages", self.folder / "pages", "--papers", "bsp"]),
                                 ("is no folder of results", [self.folder / "none", "--pages", self.folder]),
                                 ("is no folder", [self.folder, "--pages", self.folder / "file"])):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
                render.main([str(argument) for argument in arguments])
            self.assertIn(wrong, said.getvalue())


class Judge(unittest.TestCase):
    def test_kinds_of_cells_are_apart(self):
        cells = [Cell("a", "b", 10, "", "", fitted=True), Cell("c", "d", 10, "", "", is_input=True),
                 Cell("e", "f", 10, "", "")]
        self.assertEqual([(one.name, one.cells) for one in judge.errors(cells, lambda cell: 11)],
                         [("all", 3), ("fitted", 1), ("inputs", 1), ("held out", 1)])

    def test_a_tie_is_no_direction(self):
        for papers in ((1, 2), (2, 1)):
            of_paper = dict(zip("ab", papers)).get
            for nearly in (0, 1e-12, -1e-12):
                self.assertEqual(judge.directions(["ab"], of_paper, lambda key, n=nearly: 7 + n * (key == "a")),
                                 (0, 1, 0))
            self.assertEqual(judge.directions(["ab"], of_paper, of_paper), (1, 1, 0))

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
            self.assertTrue(study.summary, name)
            keys = [(table.name, cell.row, cell.column) for table in study.tables for cell in table.cells]
            self.assertEqual(len(keys), len(set(keys)), name)
            self.assertLessEqual({key for pair in study.directions for key in pair}, set(keys), name)
            job = papers_job.PapersJob([name], 1, pathlib.Path("/none"), PROGRAMS, {"commit": "v1"})
            for run in study.runs():
                for word in job.launch(study, run).command:
                    self.assertNotRegex(word, "[{}]", (name, run))
                for word in run.command:
                    if str(word).startswith("{machines}/"):
                        self.assertTrue((machine.MACHINES / word.removeprefix("{machines}/")).exists(), word)

    def test_a_value_may_be_of_several_runs(self):
        cells = [Cell("1", "put", 1, "", Value((SIMULATED, SHORT), lambda records: None))]
        self.assertEqual(STUDY._replace(tables=[Table("T", "", "us", cells)]).runs(), [SIMULATED, SHORT])

    def test_cells_with_a_figure_of_the_paper_are_worth_the_most(self):
        cells = [Cell("1", "put", 1, "", Value((SIMULATED, SHORT), first)),
                 Cell("2", "put", None, "", Value(SHORT, first))]
        self.assertEqual(STUDY._replace(tables=[Table("T", "", "us", cells)]).worths(), {"machine": 0.5, "short": 0.6})

    def test_two_runs_may_not_share_a_name(self):
        cells = [Cell("1", "put", 1, Value(SHORT, first), Value(SHORT._replace(ranks=2), first))]
        with self.assertRaisesRegex(ValueError, "'short'"):
            STUDY._replace(tables=[Table("T", "", "us", cells)]).runs()


if __name__ == "__main__":
    unittest.main()
