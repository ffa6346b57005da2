"""Table 1 of the AP3000 paper beside its simulation: the cells, which are fitted, and how far apart the two are."""

import collections
import csv
import json
import pathlib
import statistics

FACTS = pathlib.Path(__file__).resolve().parent / "paper"
SIZES = ("1000xQ", "1000x2Q", "1000x32", "4000x32")
RANKS = (2, 4, 8)
ALGORITHMS = ("tree", "ring")
PATTERNS = ("broadcast", "reduce")
# Changes from A to B below this are left out where directions are counted: the table has two digits.
CLEAR_CHANGE = 0.10

# `fitted`: parameters may be fitted on it; otherwise held out. `paper`, `model`: MB/s.
Cell = collections.namedtuple("Cell", "pattern size rows cols ranks algorithm column fitted doubtful paper model")
Message = collections.namedtuple("Message", "bytes paper model unit at_least")


def is_fitted(pattern, size, ranks, algorithm):
    """A chequerboard over all four: both halves have every pattern, size, number of ranks and algorithm. A and B go
    together."""
    place = (PATTERNS.index(pattern) + SIZES.index(size) + RANKS.index(ranks) + ALGORITHMS.index(algorithm))
    return place % 2 == 0


def read_facts(name):
    with open(FACTS / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_cells(simulated):
    """The paper's cells, in its order, with what paper_table says of each."""
    models = {(c["pattern"], c["rows"], c["cols"], c["ranks"], c["algorithm"], c["column"]): c["mb_s"]
              for c in simulated["cells"]}
    cells = []
    for row in read_facts("table1.csv"):
        rows, cols, ranks = int(row["rows"]), int(row["cols"]), int(row["ranks"])
        model = models[row["pattern"], rows, cols, ranks, row["algorithm"], row["column"]]
        cells.append(Cell(row["pattern"], row["size"], rows, cols, ranks, row["algorithm"], row["column"],
                          is_fitted(row["pattern"], row["size"], ranks, row["algorithm"]), bool(row["doubtful"]),
                          float(row["mb_s"]), model))
    return cells


def read_messages(simulated):
    models = {m["bytes"]: m for m in simulated["messages"]}
    messages = []
    for row in read_facts("messages.csv"):
        unit = "us" if row["us"] else "mb_s"
        messages.append(Message(int(row["bytes"]), float(row[unit]), models[int(row["bytes"])][unit], unit,
                                bool(row["at_least"])))
    return messages


def error(cell):
    return cell.model / cell.paper - 1


def median_error(cells):
    return statistics.median(abs(error(c)) for c in cells)


def pairs(cells):
    """[(A, B)] of each configuration."""
    return list(zip(cells[0::2], cells[1::2]))


def change(a, b):
    """From A to B, in the paper."""
    return b.paper / a.paper - 1


def is_clear(a, b):
    return abs(change(a, b)) >= CLEAR_CHANGE - 1e-9


def is_right(a, b):
    return (b.model - a.model) * (b.paper - a.paper) > 0


def directions(cells):
    """(right, of how many) where the paper's change is clear."""
    clear = [(a, b) for a, b in pairs(cells) if is_clear(a, b)]
    return sum(is_right(a, b) for a, b in clear), len(clear)


def summarise(cells):
    halves = {"fitted": [c for c in cells if c.fitted], "held out": [c for c in cells if not c.fitted], "all": cells}
    return {name: {"median_error": median_error(half), "directions": directions(half)} for name, half in halves.items()}


def read_simulated(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
