"""How far a column of a paper's tables is from the paper's: errors and directions."""

import math
import statistics
from typing import NamedTuple

from bench.simulated.paper_data import CLEAR_CHANGE


class Errors(NamedTuple):
    name: str
    cells: int  # with both values
    absent: int
    median: float  # of |value / paper - 1|, or None


class Directions(NamedTuple):
    right: int
    known: int
    absent: int


def errors(cells, value_of):
    """Returns the Errors of all cells; if the machine file rests on any, by their kinds. `value_of`: from a cell to a
    number or None."""
    groups = {"all": cells}
    if not all(cell.held_out for cell in cells):
        groups["fitted"] = [cell for cell in cells if cell.fitted]
        groups["inputs"] = [cell for cell in cells if cell.is_input]
        groups["held out"] = [cell for cell in cells if cell.held_out]
    if any(cell.doubtful for cell in cells):
        groups["without doubtful"] = [cell for cell in cells if not cell.doubtful]
    found = []
    for name, group in groups.items():
        if not group:
            continue
        wanted = [cell for cell in group if cell.paper]
        known = [(value_of(cell), cell.paper) for cell in wanted if value_of(cell) is not None]
        found.append(Errors(name, len(known), len(wanted) - len(known),
                            statistics.median(abs(value / paper - 1) for value, paper in known) if known else None))
    return found


def directions(pairs, paper, value):
    """Returns the Directions of `value`, a function of a cell's key, as `paper` is."""
    right = known = absent = 0
    for first, second in pairs:
        change = paper(second) / paper(first) - 1
        if abs(change) < CLEAR_CHANGE:
            continue
        if value(first) is None or value(second) is None:
            absent += 1
            continue
        known += 1
        # In the last bits equal figures may differ.
        is_tie = math.isclose(value(first), value(second))
        right += not is_tie and (value(second) - value(first)) * change > 0
    return Directions(right, known, absent)


def holds(finding, value):
    """Returns yes, no, or unknown where a value is absent. `value`: from (table, row, column) to a number or None."""

    class Absent(Exception):
        pass

    def present(*key):
        number = value(*key)
        if number is None:
            raise Absent
        return number

    try:
        return "yes" if finding.holds(present) else "no"
    except Absent:
        return "unknown"
