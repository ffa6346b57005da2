#!/usr/bin/env python3
"""Runs MKL's ScaLAPACK, of 32-bit and of 64-bit integers, on MKL's own BLACS and with ours preloaded, and compares.

Installs PyPI's mkl into a virtual environment of its own. A width passes if LU, Cholesky and eigenvalues are those of
MKL's BLACS, and if the traffic went through ours; once more with products by one-sided communication. A library of the
wrong width must be refused. Exit code 0 if none failed; where PyPI cannot be reached all are skipped.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import mpi_job  # noqa: E402

PROGRAM = HERE / "applications/mkl_solve.f90"
RANKS = 4
LIBRARIES = ["mkl_scalapack_{width}", "mkl_blacs_{mpi}_{width}", "mkl_intel_{width}", "mkl_sequential", "mkl_core"]
BLACS = {"openmpi": "openmpi", "mpich": "intelmpi"}  # that MKL has for a family of MPIs
OPTIONS = {"lp64": [], "ilp64": ["-fdefault-integer-8"]}
OTHER = {"lp64": "ilp64", "ilp64": "lp64"}
# In units of rounding errors; a backward stable solution has less than one.
LARGEST_RESIDUAL = 1.0
# Two orders of summation; the condition numbers are below 1e4.
LARGEST_DIFFERENCE = 1e-10
REFUSALS = r"needs more than 32 bits|the program uses libmkl_scalapack_\w+, which takes"
# Calls of each kind that none of the three can do without.
TRAFFIC = ["dgesd2d", "dgerv2d", "dgebs2d", "dgebr2d", "dgsum2d"]


def install(folder):
    """The folder of MKL's libraries, or None and why there is none."""
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, clear=True, with_pip=True)
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mkl"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
    return folder / "lib", ""


def compiled(width, mpi, libraries, folder):
    found = []
    for name in LIBRARIES:
        found += sorted(libraries.glob(f"lib{name.format(width=width, mpi=BLACS[mpi])}.so.*"))[:1]
    program = folder / f"mkl_solve_{mpi}_{width}"
    subprocess.run([f"mpif90.{mpi}", "-Wall", "-Werror", *OPTIONS[width], "-o", program, PROGRAM,
                    "-Wl,--no-as-needed", *found, f"-Wl,-rpath,{libraries}"], check=True)
    return program


def both_widths(library, name):
    lp64 = library.resolve()
    return {"lp64": lp64, "ilp64": lp64.with_name(lp64.name.replace(name, name + "64"))}


def figures(output):
    """Lines of output as {name: numbers}; the first number is INFO."""
    return {line.split()[0]: [float(word) for word in line.split()[1:]] for line in output.splitlines()}


def difference(mine, theirs):
    """Returns the error in our figures; empty if there is none."""
    if set(mine) != {"LU", "Cholesky", "eigenvalues"} or set(theirs) != set(mine):
        return f"the results are {sorted(mine)}, on MKL's BLACS {sorted(theirs)}"
    for name, (info, *values) in mine.items():
        if info != 0:
            return f"{name}: INFO is {info:g}"
        reference = theirs[name][1:]
        if name != "eigenvalues":
            if values[0] > LARGEST_RESIDUAL:
                return f"{name}: a residual of {values[0]}"
            values, reference = values[1:], reference[1:]
        for value, expected in zip(values, reference):
            if abs(value - expected) > LARGEST_DIFFERENCE * abs(expected):
                return f"{name}: {value} where MKL's BLACS leads to {expected}"
    return ""


def missing_traffic(errors):
    """Routines that BRIGADE_STATS does not count."""
    return [name for name in TRAFFIC if not re.search(rf"^brigade {name} .*'", errors, re.MULTILINE)]


def run_width(width, program, mpi, preloads, products, folder):
    """Says "passed" or "failed", and why."""
    jobs = {}
    for name, preload, settings in (("mkl", None, []), ("ours", preloads[width], ["BRIGADE_STATS=1"]),
                                    ("products", f"{products[width]}:{preloads[width]}",
                                     ["BRIGADE_PBLAS=on", "BRIGADE_EXPLAIN=1"]),
                                    ("wrong", preloads[OTHER[width]], [])):
        place = folder / f"{mpi}-{width}-{name}"
        mpi_job.fresh(place)
        jobs[name] = mpi_job.run([program], RANKS, preload, place, settings, mpi)
    for name in ("mkl", "ours", "products"):
        if not jobs[name].ended or jobs[name].status != 0:
            return "failed", f"{name}: {'hangs' if not jobs[name].ended else f'status {jobs[name].status}'}"
    for name in ("ours", "products"):
        wrong = difference(figures(jobs[name].output), figures(jobs["mkl"].output))
        if wrong:
            return "failed", f"{name}: {wrong}"
    if not re.search(r"PDGEMM .*: by one-sided communication", jobs["products"].errors):
        return "failed", "products: none was taken"
    missing = missing_traffic(jobs["ours"].errors)
    if missing:
        return "failed", f"not through our BLACS: {missing}"
    if jobs["wrong"].status == 0 or not re.search(REFUSALS, jobs["wrong"].errors):
        return "failed", "a library of the wrong width is not named"
    return "passed", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--preload", metavar="LIB", type=pathlib.Path, required=True,
                        help="libbrigade_blacs.so, with libbrigade_blacs64.so beside it")
    parser.add_argument("--pblas", metavar="LIB", type=pathlib.Path, required=True,
                        help="libbrigade_pblas.so, with libbrigade_pblas64.so beside it")
    parser.add_argument("--mpi", choices=BLACS, default="openmpi",
                        help="what the libraries are built with, of Debian (default: %(default)s)")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("results/mkl"),
                        help="where MKL and the output go (default: %(default)s)")
    args = parser.parse_args()
    preloads, products = both_widths(args.preload, "blacs"), both_widths(args.pblas, "pblas")
    for library in [*preloads.values(), *products.values()]:
        if not library.is_file():
            parser.error(f"no file {library}")
    folder = args.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    libraries, why = install(folder / "venv")
    verdicts = collections.Counter()
    for width in OPTIONS:
        print(f"[mkl {width}]", end=" ", flush=True)
        if libraries is None:
            verdict, reason = "skipped", f"PyPI's mkl cannot be had: {why}"
            print(f"\nSKIPPED: MKL {width}: {reason}", flush=True)
        else:
            verdict, reason = run_width(width, compiled(width, args.mpi, libraries, folder), args.mpi, preloads,
                                        products, folder)
            print(f"{verdict} {reason}".rstrip(), flush=True)
            if verdict == "failed":
                print(f"    see {folder}/{args.mpi}-{width}-*/stdout and stderr")
        verdicts[verdict] += 1
    print(f"{verdicts['passed']} passed, {verdicts['failed']} failed, {verdicts['skipped']} skipped")
    return 1 if verdicts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
