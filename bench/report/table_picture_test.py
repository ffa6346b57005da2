"""Tables of a page, and their pictures."""

import unittest

from bench.report.table_picture import Picture, draw, panels_of, read_tables

PAGE = """# Title

| | |
|---|---|
| command | `run` |

| 8 hosts | peer | 1 KiB | 4 MiB |
|---|---|---|---|
| broadcast | MPI | 0.98 [0.90, 1.06] | 1,024 |
| `reduce` | MPI | | 1.02, 0.5 |
| text | MPI | none | - |

## Heading

| ranks | call | ms | *1 KiB* | 4 MiB |
|---|---|---|---|---|
| 2 | sum | 9 | ~1.5 / 2 | 3 / 4 |
| | scan | 9 | 5 / 0.6 | - |
| 4 | sum | 9 | 1 / 1 | 0 / 0 |
"""


class TablePictureTest(unittest.TestCase):
    def test_a_cell_counts_with_one_of_its_numbers(self):
        table, = read_tables(PAGE, Picture("s"))
        self.assertEqual(table.columns, ["1 KiB", "4 MiB"])
        self.assertEqual(table.rows, [(["broadcast"], [0.98, 1024]), (["reduce"], [None, 1.02])])
        table, = read_tables(PAGE, Picture("s", tables=(2,), names=2, number=1, skip=("ms",)))
        self.assertEqual((table.title, table.heads, table.columns), ("Heading", ["ranks", "call"], ["1 KiB", "4 MiB"]))
        self.assertEqual(table.rows, [(["2", "sum"], [2, 4]), (["", "scan"], [0.6, None]), (["4", "sum"], [1, 0])])

    def test_a_panel_per_first_name(self):
        table, = read_tables(PAGE, Picture("s", tables=(2,), names=2))
        self.assertEqual([(panel.title, [names for names, _ in panel.rows]) for panel in panels_of(table)],
                         [("2 ranks", [["sum"], ["scan"]]), ("4 ranks", [["sum"]])])

    def lines(self, picture):
        axes = draw(picture, read_tables(PAGE, picture)).axes
        return [[line.get_label() for line in ax.lines if not line.get_label().startswith("_")] for ax in axes]

    def test_a_line_per_row_or_column(self):
        self.assertEqual(self.lines(Picture("a / b")), [["broadcast", "reduce"]])
        self.assertEqual(self.lines(Picture("us", "columns")), [["1 KiB", "4 MiB"]])
        self.assertEqual(self.lines(Picture("us", tables=(2,), names=2)), [["sum", "scan"], ["sum"]])

    def test_dots_of_a_column_in_each_table(self):
        self.assertEqual(self.lines(Picture("us", "dots", (1, 2))), [["1 KiB", "4 MiB"], ["ms", "1 KiB", "4 MiB"]])

    def test_a_ratio_of_1_is_marked(self):
        for form, lines in (("rows", 3), ("dots", 3)):
            self.assertEqual(len(draw(Picture("a / b", form), read_tables(PAGE, Picture("s"))).axes[0].lines), lines)


if __name__ == "__main__":
    unittest.main()
