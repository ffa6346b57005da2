"""The picture of a paper: each table with a value as a panel, each cell as the paper's bar and two marks."""

from bench.report import style
from bench.report.style import plt


def _draw_table(axes, table, values):
    cells = table.cells
    known = [number for cell in cells for number in (cell.paper, *values[table.name, cell.row, cell.column]) if number]
    axes.bar(range(len(cells)), [cell.paper or 0 for cell in cells], color="#bbbbbb", label="paper")
    for label, place, mark, colour in (("simulated", 0, "D", style.ORANGE), ("here", 1, "o", style.BLUE)):
        points = [(x, number) for x, cell in enumerate(cells)
                  if (number := values[table.name, cell.row, cell.column][place]) is not None]
        axes.plot([x for x, _ in points], [y for _, y in points], mark, ms=3.5, color=colour, label=label)
    firsts = [x for x, cell in enumerate(cells) if x == 0 or cell.row != cells[x - 1].row]
    axes.set_xticks(firsts, [cells[x].row for x in firsts], rotation=90, fontsize=6)
    if known and min(known) > 0 and max(known) > 20 * min(known):
        axes.set_yscale("log")
    axes.set_title(f"{table.name}: {table.title}")
    axes.set_ylabel(table.unit)


def draw(study, values, path):
    """`values`: {(table, row, column): (simulated, here)}, each a number or None."""
    tables = [table for table in study.tables if any(
        number is not None for cell in table.cells
        for number in (cell.paper, *values[table.name, cell.row, cell.column]))]
    figure, panels = plt.subplots(len(tables), 1, figsize=(14, 3.2 * len(tables)), squeeze=False)
    for axes, table in zip(panels[:, 0], tables):
        _draw_table(axes, table, values)
    panels[0, 0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    style.save(figure, path)
