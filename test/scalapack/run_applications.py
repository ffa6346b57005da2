#!/usr/bin/env python3
"""Runs applications that Debian ships, unmodified, on stock and on preloaded libraries, and compares their results.

An application passes if it ends and every figure of its result is stock's, but for what rounding may do to it; with
our PBLAS, products must have been taken, too. Installs what is missing. Exit code 0 if none failed.
"""

import argparse
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import mpi_job  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "applications"
RANKS = 4

# result: finds figures in what it prints; tolerance: by which they may differ
Application = collections.namedtuple("Application", "name program result tolerance")
APPLICATIONS = [
    Application("cp2k", ["cp2k", "-i", HERE / "water.inp"],
                r"ENERGY\| Total FORCE_EVAL .*:\s+(-?\d+\.\d+)", 1e-8),
    Application("espresso", ["pw.x", "-ndiag", str(RANKS), "-in", HERE / "silicon.in"],
                r"^!\s+total energy\s+=\s+(-?\d+\.\d+)", 2e-8),
]


def judge(application, stock, job, preload):
    """Says "passed" or "failed", and why."""
    for name, one in (("stock", stock), ("the library", job)):
        if not one.ended or one.status != 0:
            how = f"ends with status {one.status}" if one.ended else mpi_job.HANGS
            return "failed", f"on {name} it {how}"
    if not mpi_job.took_effect(job, preload):
        return "failed", "no line of the library on stderr: the preload took no effect"
    products = len(re.findall(r"GEMM .*: by one-sided communication", job.errors))
    if "libbrigade_pblas" in preload and not products:
        return "failed", "no product was taken"
    expected, found = (re.findall(application.result, one.output, re.MULTILINE) for one in (stock, job))
    if not expected or len(expected) != len(found):
        return "failed", f"expected {expected}, got {found}"
    off = max(abs(float(a) - float(b)) for a, b in zip(expected, found))
    verdict = "passed" if off <= application.tolerance else "failed"
    return verdict, f"{found[-1]}, off by {off:.0e}" + (f", {products} products" if products else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--preload", metavar="LIB[:LIB]", type=mpi_job.libraries, required=True,
                        help="what to test: a BLACS, or a PBLAS and then a BLACS")
    parser.add_argument("--only", metavar="NAME", choices=[application.name for application in APPLICATIONS],
                        help="one application: %(choices)s")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("results/applications"),
                        help="where each one's folders with its output go (default: %(default)s)")
    args = parser.parse_args()
    applications = [application for application in APPLICATIONS if args.only in (None, application.name)]
    verdicts = collections.Counter()
    for number, application in enumerate(applications, 1):
        print(f"[{number}/{len(applications)}] {application.name:10}", end=" ", flush=True)
        folder = args.output.resolve() / application.name
        jobs = []
        for name, library in (("stock", None), ("brigade", args.preload)):
            mpi_job.fresh(folder / name)
            jobs.append(mpi_job.run(application.program, RANKS, library, folder / name, ["BRIGADE_EXPLAIN=1"]))
            print(f"{name} {jobs[-1].seconds:5.1f} s,", end=" ", flush=True)
        verdict, reason = judge(application, *jobs, args.preload)
        print(f"{verdict} {reason}", flush=True)
        if verdict == "failed":
            print(f"    see {folder}/*/stdout and stderr")
        verdicts[verdict] += 1
    print(f"{verdicts['passed']} passed, {verdicts['failed']} failed, 0 skipped")
    return 1 if verdicts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
