"""mpi4py: its own tests of windows, of the version that Debian ships."""

import re
import subprocess
import sys
import tarfile

import debian
from program import Program

ABSENT = "the sources of mpi4py cannot be fetched"


def programs(folder):
    version = debian.version("python3-mpi4py").split("-")[0]
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    fetch = [folder / "venv/bin/pip", "download", "--quiet", "--no-deps", "--no-binary=:all:", f"--dest={folder}",
             f"mpi4py=={version}"]
    if subprocess.run(fetch).returncode != 0:
        return None
    with tarfile.open(folder / f"mpi4py-{version}.tar.gz") as archive:
        archive.extractall(folder)
    tests = folder / f"mpi4py-{version}" / "test"
    return [Program(f"{name}.{ranks}", ranks, ["/usr/bin/python3", tests / f"{name}.py"])
            for name in ("test_rma", "test_rma_nb", "test_win", "test_attributes", "test_errhandler")
            for ranks in (1, 3)]


def difference(stocks, job):
    """Stock leaves most of them out, since it has no window of one process."""
    ran = re.findall(r"^Ran (\d+) tests", job.errors, re.MULTILINE)
    skipped = re.findall(r"skipped=(\d+)", job.errors)
    if ran and skipped and max(map(int, skipped)) >= int(ran[0]):
        return "all of its tests are left out"
    return None
