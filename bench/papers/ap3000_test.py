"""The tables of the AP3000 paper: their cells, and what is read for them."""

import unittest

from bench.papers import ap3000
from bench.simulated import paper_data

TABLES = {table.name: table for table in ap3000.STUDY.tables}


def cell(table, row, column):
    return next(one for one in TABLES[table].cells if (one.row, one.column) == (row, column))


class Tables(unittest.TestCase):
    def test_no_cell_is_missing(self):
        self.assertEqual({name: len(table.cells) for name, table in TABLES.items()},
                         {"Table 1": 96, "Point to point": 3, "Figure 3": 5 * (3 * 2 + 1), "Section 5.1": 4 * 3})
        self.assertEqual(len(paper_data.read_facts("table1.csv")), 96)

    def test_figures_are_the_papers(self):
        for key, figure in ((("Table 1", "broadcast, 1000x32", "Q = 8, ring, B"), 23),
                            (("Table 1", "reduce, 4000x32", "Q = 2, tree, A"), 24),
                            (("Point to point", "0 B", "us"), 26.3), (("Section 5.1", "1024 KiB", "Q = 8"), 27)):
            self.assertEqual(cell(*key).paper, figure)

    def test_cells_that_the_fit_used_are_not_held_out(self):
        self.assertFalse(any(one.held_out for one in TABLES["Point to point"].cells))
        for one in TABLES["Table 1"].cells:
            self.assertFalse(one.fitted and one.doubtful, one)
        self.assertEqual(sum(one.fitted for one in TABLES["Table 1"].cells), 47)

    def test_columns_a_are_plain_patterns_here(self):
        lines = [{"case": "multi-broadcast", "subject": subject, "pattern": pattern, "ranks": 4, "rows": 1000,
                  "cols": 8, "MBps": rate} for subject, pattern, rate in (
            ("brigade", "multi-broadcast", 1), ("brigade", "multi-broadcast, ring", 2), ("plain", "multi-broadcast", 3),
            ("brigade", "Q x tree", 4), ("plain", "Q x tree", 5))]
        for column, rate in (("ring, A", 3), ("ring, B", 2), ("tree, A", 5), ("tree, B", 4)):
            self.assertEqual(cell("Table 1", "broadcast, 1000x2Q", f"Q = 4, {column}").here.take(lines), rate)

    def test_a_gain_needs_both_rates(self):
        lines = [{"case": "successive-broadcasts", "subject": "brigade", "pattern": "ring", "bytes": 2 << 20,
                  "ranks": 2, "MBps": 3.0}]
        gain = cell("Section 5.1", "1024 KiB", "Q = 2").here
        self.assertIsNone(gain.take(lines))
        lines.append({**lines[0], "subject": "stock", "pattern": "topology 'I'", "MBps": 2.0})
        self.assertEqual(gain.take(lines), 50)


if __name__ == "__main__":
    unittest.main()
