"""The first table behind the one of command, machine and commit."""

import unittest

from bench.report.table_picture import draw, first_table

PAGE = """# Title

| | |
|---|---|
| command | `run` |

| 8 hosts | peer | 1 KiB | 4 MiB |
|---|---|---|---|
| broadcast | MPI | 0.98 [0.90, 1.06] | 1,024 |
| `reduce` | MPI | | 1.02, 0.5 |
| text | MPI | none | - |
"""


class TablePictureTest(unittest.TestCase):
    def test_a_cell_counts_with_its_first_number(self):
        columns, rows = first_table(PAGE)
        self.assertEqual(columns, ["1 KiB", "4 MiB"])
        self.assertEqual(rows, [("broadcast", [0.98, 1024]), ("reduce", [None, 1.02])])

    def test_a_line_per_row(self):
        axes = draw(*first_table(PAGE), "a / b").axes[0]
        self.assertEqual([line.get_label() for line in axes.lines[:2]], ["broadcast", "reduce"])


if __name__ == "__main__":
    unittest.main()
