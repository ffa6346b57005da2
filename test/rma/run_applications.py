#!/usr/bin/env python3
"""Runs programs that were not written here, on stock Open MPI and with libbrigade_rma.so preloaded, and compares.

A program passes if it ends as on stock, with stock's results, over shared memory and by messages
over TCP. Programs that fail on stock are named and not counted. Installs missing packages. Exit
code 0 if none failed.
"""

import argparse
import collections
import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE / "applications")]
import mpi_job  # noqa: E402

APPLICATIONS = ["coarrays", "mpi4py_rma", "nwchem", "petsc", "armci"]
# Stock needs the kernel's copies between processes, or has no windows.
STOCK = ["-u", "OMPI_MCA_btl_vader_single_copy_mechanism"]
DIRECT = ["BRIGADE_TRANSPORT=tcp", "BRIGADE_IFACE=lo"]
WAYS = {"shm": [], "tcp": DIRECT + ["BRIGADE_TEST_BY_MESSAGES=1"]}


def good(job):
    return job.ended and job.status == 0


def why_not(job):
    return f"ends with status {job.status}" if job.ended else mpi_job.HANGS


def try_program(application, program, library, folder, carried):
    """Says "passed", "failed" or None, not to be counted, and why. Adds to `carried`, by way, whether it was."""
    stocks = []
    for number in range(getattr(application, "STOCK_RUNS", 1)):
        place = folder / f"stock{number}"
        mpi_job.fresh(place)
        stocks.append(mpi_job.run(program.command, program.ranks, None, place, STOCK))
        if not good(stocks[-1]):
            return None, f"on stock it {why_not(stocks[-1])}"
    for way, settings in WAYS.items():
        mpi_job.fresh(folder / way)
        settings = DIRECT if way == "tcp" and program.directly else settings
        job = mpi_job.run(program.command, program.ranks, library, folder / way, STOCK + settings)
        if not good(job):
            return "failed", f"over {way} it {why_not(job)}"
        difference = application.difference(stocks, job)
        if difference:
            return "failed", f"over {way}: {difference}"
        carried[way] += f"is carried over {way}" in job.errors
    return "passed", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--preload", metavar="LIB", type=pathlib.Path, required=True, help="libbrigade_rma.so")
    parser.add_argument("--only", metavar="NAME", choices=APPLICATIONS, help="one application: %(choices)s")
    parser.add_argument("--program", metavar="TEXT", default="", help="only programs whose names have TEXT in them")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("results/rma-applications"),
                        help="where each one's folders with its output go (default: %(default)s)")
    args = parser.parse_args()
    if not args.preload.is_file():
        parser.error(f"no file {args.preload}")
    verdicts = collections.Counter()
    for name in APPLICATIONS:
        if args.only not in (None, name):
            continue
        application = importlib.import_module(name)
        folder = args.output.resolve() / name
        mpi_job.fresh(folder)
        programs = application.programs(folder)
        if programs is None:
            print(f"SKIPPED: {name}: {application.ABSENT}", flush=True)
            verdicts["skipped"] += 1
            continue
        carried = collections.Counter()
        programs = [program for program in programs if args.program in program.name]
        for number, program in enumerate(programs, 1):
            print(f"[{name} {number}/{len(programs)}] {program.name}", end=" ", flush=True)
            verdict, reason = try_program(application, program, args.preload.resolve(), folder / program.name, carried)
            print(verdict or "not counted:", reason, flush=True)
            verdicts[verdict] += 1
        for way in WAYS:
            if not carried[way]:
                print(f"{name}: failed, no window was carried over {way}")
                verdicts["failed"] += 1
        print(f"{name}: windows were carried in {min(carried[way] for way in WAYS)} programs; see {folder}", flush=True)
    print(f"{verdicts['passed']} passed, {verdicts['failed']} failed, {verdicts['skipped']} skipped")
    return 1 if verdicts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
