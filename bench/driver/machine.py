"""Properties of this machine, and paths in the source tree and in Bazel's output."""

import functools
import os
import pathlib
import subprocess

from bench.driver import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MACHINES = ROOT / "transport" / "machines"


def processors():
    """As many as this process may use."""
    return len(os.sched_getaffinity(0))


@functools.lru_cache(maxsize=None)
def cores():
    """Open MPI's slots: a core may be several processors, and only some of the cores this process's."""
    text = subprocess.run(["lscpu", "--parse=cpu,core,socket"], check=True, capture_output=True, text=True).stdout
    lines = [line.split(",", 1) for line in text.splitlines() if not line.startswith("#")]
    return len({core for cpu, core in lines if int(cpu) in os.sched_getaffinity(0)})


def version():
    """Of this source tree, as recorded with the figures."""
    command = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--tags"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


class Programs:
    """The built programs and libraries that are measured."""

    def __init__(self, bin_folder, mpich_folder):
        self.bin_folder = bin_folder
        self.bench = str(bin_folder / "bench" / "brigade_bench")
        self.bench_mpich = str(bin_folder / "bench" / "brigade_bench_mpich")
        self.suites = str(bin_folder / "bench" / "studies")
        self.suites_mpich = str(mpich_folder / "bench" / "studies")
        self.scalapack = str(bin_folder / "bench" / "scalapack" / "scalapack_timing")
        self.shim = str(bin_folder / "blacs_shim" / "libbrigade_blacs.so")
        pblas = str(bin_folder / "pblas_shim" / "libbrigade_pblas.so")
        self.preloads = {"blacs": self.shim, "pblas": pblas, "pblas over blacs": f"{pblas}:{self.shim}",
                         "mkl": peers.MKL}
        self.putget_table = str(bin_folder / "bench" / "simulated" / "putget" / "putget_table")
        self.srumma_table = str(bin_folder / "bench" / "simulated" / "srumma_table")
        self.superstep_table = str(bin_folder / "bench" / "simulated" / "superstep_table")
        self.scale_table = str(bin_folder / "bench" / "simulated" / "scale_table")


_BUILD = ["--config=opt", "--config=werror"]


def _bin_folder(options):
    text = subprocess.run(["bazel", "info", *_BUILD, *options, "bazel-bin"], check=True, cwd=ROOT, capture_output=True,
                          text=True).stdout
    return pathlib.Path(text.strip())


def build(targets, mpich_targets):
    """Builds, and returns the Programs. MPICH's may fail: then its launches fail, and are counted."""
    subprocess.run(["bazel", "build", *_BUILD, *targets], check=True, cwd=ROOT)
    bin_folder = mpich_folder = _bin_folder([])
    if mpich_targets:
        subprocess.run(["bazel", "build", *_BUILD, "--config=mpich", *mpich_targets], check=False, cwd=ROOT)
        mpich_folder = _bin_folder(["--config=mpich"])
    return Programs(bin_folder, mpich_folder)
