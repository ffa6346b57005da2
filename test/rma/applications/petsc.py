"""PETSc's star forests, which exchange by windows where an option selects these."""

import pathlib

from program import Program

FOREST = pathlib.Path(__file__).resolve().parent / "petsc_forest.py"
# PETSc's other ways, allocate, dynamic and active, fail on stock.
WINDOWS = ["create -sf_window_sync fence", "create -sf_window_sync lock", "shared -sf_window_sync fence"]


def programs(_folder):
    # The package's own link is missing where Debian's alternatives name no PETSc.
    place = next(pathlib.Path("/usr/lib/petscdir").glob("petsc*/*-real/lib/python3/dist-packages"))
    return [Program(window.replace(" -sf_window_sync ", "."), 3,
                    ["env", f"PYTHONPATH={place}", "/usr/bin/python3", FOREST, "-sf_type", "window",
                     "-sf_window_flavor", *window.split()])
            for window in WINDOWS]


def difference(stocks, job):
    return None if job.output == stocks[0].output else f"it prints {job.output}, not {stocks[0].output}"
