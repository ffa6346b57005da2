"""Papers as data: what their tables hold, and which commands give the values beside them. See README.md."""

import argparse
import collections
import csv
import importlib
import pathlib
from typing import Callable, NamedTuple

NAMES = ("li", "armci", "mpisx", "srumma", "ap3000")
# Of the papers behind the studies.
FIGURES = pathlib.Path(__file__).resolve().parent.parent / "studies" / "paper"
# With two processors.
MOST_RANKS_HERE = 8
TOO_MANY_RANKS = f"more than {MOST_RANKS_HERE} ranks on two processors measure the scheduler"


class Run(NamedTuple):
    """One command."""

    name: str  # of its files
    command: list  # words, with {bin} and the like
    ranks: int = 0  # of mpirun; 0: no mpirun
    seconds: int = 5  # expected
    megabytes: int = 0  # of all ranks together
    environment: dict = {}


class Value(NamedTuple):
    """A number in the output of a run, or of several, such as a speedup."""

    run: object  # a Run, or a tuple of them
    take: Callable  # from the list of all their records, each with its `run`, to a number or None

    @property
    def runs(self):
        return (self.run,) if isinstance(self.run, Run) else self.run


class Cell(NamedTuple):
    """Of a table. `simulated`, `here`: a Value, or the reason for its absence."""

    row: str
    column: str
    paper: float
    simulated: object
    here: object
    doubtful: bool = False
    fitted: bool = False
    is_input: bool = False

    @property
    def held_out(self):
        return not (self.fitted or self.is_input)


class Table(NamedTuple):
    name: str  # short, unique: "Table 1"
    title: str
    unit: str
    cells: list
    note: str = ""  # below the title: what differs between the columns
    repeats: bool = False  # the figures of another table, which are counted there


class Finding(NamedTuple):
    """A sentence of the paper."""

    text: str
    holds: Callable  # from value(table, row, column) to a truth


class PaperStudy(NamedTuple):
    name: str  # of the page and of the module
    title: str
    machine: str  # of the paper
    tables: list
    findings: list = []
    directions: list = []
    targets: list = []  # of Bazel
    summary: str = ""  # Markdown, at the head of the page: what to make of it, in three sentences
    text: str = ""  # Markdown, at the end of the page: sources of parameters, limits of the simulation

    def runs(self):
        """Returns every run once, in the order of the tables; two of equal names must be equal."""
        found = {}
        for table in self.tables:
            for cell in table.cells:
                for value in (cell.simulated, cell.here):
                    for run in value.runs if isinstance(value, Value) else ():
                        if found.setdefault(run.name, run) != run:
                            raise ValueError(f"paper {self.name}: two different runs have the name '{run.name}'; "
                                             "rename one")
        return list(found.values())

    def worths(self):
        """Returns how many cells with a figure of the paper each run gives, by name. A cell of several runs counts in
        parts, and one without a figure of the paper for a tenth."""
        found = collections.Counter()
        for table in self.tables:
            for cell in table.cells:
                for value in (cell.simulated, cell.here):
                    for run in value.runs if isinstance(value, Value) else ():
                        found[run.name] += (0.1 if cell.paper is None else 1) / len(value.runs)
        return found


def first(records, **wanted):
    """Returns the first record with these fields, or None."""
    return next((record for record in records if all(record.get(key) == value for key, value in wanted.items())), None)


def read_csv(path):
    """Returns the lines as dictionaries."""
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def paper_names(text):
    """Returns the names in an argument such as "mpisx,ap3000", each once."""
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"no paper '{name}'; there are {', '.join(NAMES)}")
    return names


def study(name):
    """Returns the study of a paper in NAMES."""
    return importlib.import_module(f"bench.papers.{name}").STUDY
