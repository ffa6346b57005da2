"""Papers as data: what their tables hold, and which commands give the values beside them. See README.md."""

import importlib
from typing import Callable, NamedTuple

NAMES = ("li", "armci", "mpisx", "srumma", "ap3000")


class Run(NamedTuple):
    """One command."""

    name: str  # of its files
    command: list  # words, with {bin} and the like
    ranks: int = 0  # of mpirun; 0: no mpirun
    seconds: int = 5  # expected
    megabytes: int = 0  # of all ranks together
    mpi: str = "openmpi"  # or mpich, Debian's
    environment: dict = {}


class Value(NamedTuple):
    """A number in the output of a run, or of several, such as a speedup."""

    run: object  # a Run, or a tuple of them
    take: Callable  # from the list of all their records to a number or None

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


class Table(NamedTuple):
    name: str  # short, unique: "Table 1"
    title: str
    unit: str
    cells: list
    note: str = ""  # below the table: what differs between the columns


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
    mpich_targets: list = []
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


def study(name):
    """Returns the study of a paper in NAMES."""
    return importlib.import_module(f"bench.papers.{name}").STUDY
