"""The tables of the MPI/SX paper: their cells, and what is read for them."""

import unittest

from bench.papers import mpisx
from bench.papers.contract import Value

TABLES = {table.name: table for table in mpisx.STUDY.tables}


def cell(table, row, column):
    return next(one for one in TABLES[table].cells if (one.row, one.column) == (row, column))


class Tables(unittest.TestCase):
    def test_no_cell_is_missing(self):
        self.assertEqual({name: len(table.cells) for name, table in TABLES.items()},
                         {"Table 1": 48, "Table 2": 98, "Table 3": 70, "Table 4": 30})
        for table in TABLES.values():
            for one in table.cells:
                self.assertIsInstance(one.simulated, Value)
                self.assertIsInstance(one.here, Value)

    def test_figures_are_the_papers(self):
        for key, us in ((("Table 1", "private, p = 6", "Ded-p"), 105.38),
                        (("Table 2", "shared, 4 KiB", "Get-Lock"), 79.07),
                        (("Table 2", "private, 4 MiB", "Put-Lock"), 448.32),
                        (("Table 3", "private, 256 KiB", "Sendrecv"), 499.89),
                        (("Table 4", "256 KiB", "Sendrecv, struct"), 1707.75)):
            self.assertEqual(cell(*key).paper, us)

    def test_doubtful_figures_are_marked(self):
        found = [(name, one.row, one.column) for name, table in TABLES.items() for one in table.cells if one.doubtful]
        self.assertEqual(len(found), 9)
        self.assertIn(("Table 2", "private, 4 MiB", "Put-Lock"), found)
        self.assertIn(("Table 3", "private, 64 KiB", "Sendrecv"), found)

    def test_half_of_the_sure_cells_is_fitted(self):
        for table in TABLES.values():
            self.assertFalse([one for one in table.cells if one.fitted and one.doubtful])
            sure = [one for one in table.cells if not one.doubtful]
            self.assertAlmostEqual(sum(one.fitted for one in sure) / len(sure), 0.5, delta=0.03)

    def test_repeated_figures_of_fitted_cells_are_not_held_out(self):
        for table, block in (("Table 2", "1 KiB"), ("Table 2", "4 KiB"), ("Table 3", "16 KiB")):
            shared, private = (cell(table, f"{memory}, {block}", "Sendrecv") for memory in ("shared", "private"))
            self.assertEqual((shared.paper, private.is_input), (private.paper, shared.fitted))
            self.assertNotEqual(private.held_out, shared.fitted)
        self.assertEqual(sum(one.is_input for table in TABLES.values() for one in table.cells), 4)

    def test_measured_are_the_fastest_samples_of_ours_and_of_sendrecv(self):
        records = [{"case": "exchange with 8 neighbours, private", "pattern": pattern, "subject": subject,
                    "least_us": us} for pattern, subject, us in (
            ("get, post, start", "mpi", 1), ("get, post, start", "brigade", 2), ("sendrecv", "mpi", 3))]
        self.assertEqual(cell("Table 3", "private, 1 KiB", "Get-Ded").here.take(records), 2)
        self.assertEqual(cell("Table 3", "private, 1 KiB", "Sendrecv").here.take(records), 3)
        self.assertIsNone(cell("Table 3", "shared, 1 KiB", "Get-Ded").here.take(records))

    def test_runs_have_6_ranks_and_all_blocks(self):
        runs = {(run.ranks, run.command[run.command.index("--blocks") + 1]) for run in mpisx.STUDY.runs() if run.ranks}
        self.assertEqual(runs, {(ranks, "0") for ranks in (2, 4, 6, 8)} | {
            (8, str(1024 * 4 ** power)) for power in range(7)})

    def test_the_paper_is_as_its_sentences(self):
        papers = {(name, one.row, one.column): one.paper for name, table in TABLES.items() for one in table.cells}
        for finding in mpisx.FINDINGS:
            self.assertTrue(finding.holds(lambda *key: papers[key]), finding.text)


if __name__ == "__main__":
    unittest.main()
