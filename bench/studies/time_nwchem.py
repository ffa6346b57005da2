#!/usr/bin/python3
"""Times NWChem on stock Open MPI and with libbrigade_rma.so preloaded, in pairs of launches.

A case is one energy of water on some ranks. The launches of a pair follow each other, and take turns in being the
first. Each must end with stock's energy, and the library must carry a window; otherwise the case has failed. Prints a
table, whose ratio is our time over stock's within a pair. No time makes a case fail. Installs what is missing. Exit
code 0 if none failed.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test" / "support"), str(ROOT / "test" / "rma" / "applications")]
import debian  # noqa: E402
import mpi_job  # noqa: E402
import nwchem  # noqa: E402
from bench.report.measurements import ENOUGH_SAMPLES, median_interval  # noqa: E402

CASES = {f"{theory}.{ranks}": (theory, ranks) for theory in ("scf", "dft", "mp2") for ranks in (2, 4)}
ENERGIES = {"scf": "SCF", "dft": "DFT", "mp2": "MP2"}
AIM = 1.02
# Stock takes the kernel's copies where they are allowed, as users do.
SETTINGS = ["-u", "OMPI_MCA_btl_vader_single_copy_mechanism"]
HEADER = f"""| energy | ranks | stock, s | with the library, s | ratio | at most {AIM} |
|---|---|---|---|---|---|
"""


def input_of(theory):
    """The input of the test, with one task."""
    lines = [line for line in nwchem.INPUT.read_text().splitlines() if not line.startswith("task")]
    return "\n".join([*lines, f"task {theory} energy", ""])


def energy(job, theory):
    """Returns the last energy that the job printed; None: it printed none."""
    found = re.findall(rf"Total {ENERGIES[theory]} energy\s*[=:]?\s+(-?\d+\.\d+)", job.output)
    return float(found[-1]) if found else None


def launch(theory, ranks, library, folder):
    mpi_job.fresh(folder)
    (folder / "water.nw").write_text(input_of(theory))
    return mpi_job.run(["nwchem.openmpi", "water.nw"], ranks, library, folder, SETTINGS)


def wrong(theory, stock, ours):
    """Returns the error of a pair of jobs; None: there is none."""
    for name, job in (("on stock", stock), ("with the library", ours)):
        if not job.ended or job.status != 0:
            return f"{name} it {f'ends with status {job.status}' if job.ended else mpi_job.HANGS}"
    expected, found = energy(stock, theory), energy(ours, theory)
    if None in (expected, found) or abs(expected - found) > nwchem.LARGEST:
        return f"energy {found} with the library, {expected} on stock"
    if "is carried over shm" not in ours.errors:
        return "the library carried no window"
    return None


def seconds(figure):
    return f"{figure.median:.2f} ({figure.lo:.2f} to {figure.hi:.2f})"


def verdict(ratio):
    if ratio.samples < ENOUGH_SAMPLES or ratio.lo <= AIM < ratio.hi:
        return "undecided"
    return "yes" if ratio.hi <= AIM else "no"


def row(theory, ranks, pairs):
    """A line of the table, of pairs (stock, ours) of seconds."""
    stock, ours = (median_interval(times) for times in zip(*pairs))
    ratio = median_interval([with_library / without for without, with_library in pairs])
    return (f"| {ENERGIES[theory]} | {ranks} | {seconds(stock)} | {seconds(ours)} "
            f"| {ratio.median:.3f} ({ratio.lo:.3f} to {ratio.hi:.3f}) | {verdict(ratio)} |\n")


def measure(case, count, library, folder):
    """[(stock, ours)] in seconds, and what was wrong or None."""
    theory, ranks = CASES[case]
    pairs = []
    for number in range(count):
        jobs = {}
        for name in ("stock", "brigade") if number % 2 == 0 else ("brigade", "stock"):
            jobs[name] = launch(theory, ranks, library if name == "brigade" else None, folder / name)
        problem = wrong(theory, jobs["stock"], jobs["brigade"])
        if problem:
            return pairs, problem
        pairs.append((jobs["stock"].seconds, jobs["brigade"].seconds))
    return pairs, None


def number_of_pairs(text):
    if not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of pairs from 1 to 9999")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--preload", metavar="LIB", type=mpi_job.libraries, required=True, help="libbrigade_rma.so")
    parser.add_argument("--only", metavar="CASE", choices=list(CASES), help="one case: %(choices)s")
    parser.add_argument("--pairs", metavar="N", type=number_of_pairs, default=11,
                        help="of launches, of each case (default: %(default)s)")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("results/nwchem-times"),
                        help="where table.md goes, and the output of the last launches (default: %(default)s)")
    args = parser.parse_args()
    if debian.version("nwchem-openmpi") is None:
        parser.error("needs the package nwchem-openmpi: ./test/install.sh full")
    table, failures = HEADER, 0
    cases = [case for case in CASES if args.only in (None, case)]
    for number, case in enumerate(cases, 1):
        print(f"[{number}/{len(cases)}] {case}", end=" ", flush=True)
        pairs, problem = measure(case, args.pairs, args.preload, args.output.resolve() / case)
        print("failed " + problem if problem else "passed", flush=True)
        failures += problem is not None
        if not problem:
            table += row(*CASES[case], pairs)
    (args.output / "table.md").write_text(table)
    print(f"\nMedians of {args.pairs} pairs, with intervals of 95 %:\n\n{table}")
    print(f"{len(cases) - failures} passed, {failures} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
