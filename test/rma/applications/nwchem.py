"""NWChem, whose Global Arrays stand on ARMCI-MPI: the energy of water, SCF and DFT."""

import pathlib
import re

from program import Program

STOCK_RUNS = 5
INPUT = pathlib.Path(__file__).resolve().parent / "water.nw"
LAST_DIGIT = 1e-12  # that is printed
LARGEST = 1e-9


def programs(_folder):
    return [Program(f"water.{ranks}", ranks, ["nwchem.openmpi", INPUT]) for ranks in (2, 4)]


def energies(job):
    return [float(energy) for energy in re.findall(r"Total (?:SCF|DFT) energy =\s+(-?\d+\.\d+)", job.output)]


def difference(stocks, job):
    expected, found = [energies(stock) for stock in stocks], energies(job)
    if len(found) != 2 or any(len(energy) != 2 for energy in expected):
        return f"expected two energies, got {found}"
    for of_stock, energy in zip(zip(*expected), found):
        spread = min(LARGEST, max(of_stock) - min(of_stock) + LAST_DIGIT)
        off = max(abs(energy - other) for other in of_stock)
        if off > spread:
            return f"energy {energy}, off by {off:.1e}; stock's differ by {spread:.1e}"
    return None
