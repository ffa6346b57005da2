"""Runs a program under mpirun, with a library preloaded or without, and notices when it hangs."""

import argparse
import collections
import os
import re
import select
import shutil
import subprocess
import time

# A job that prints nothing for so long hangs. Stock's longest silence on two idle cores is five seconds (xdhseqr).
SILENCE_S = 240
HANGS = "hangs"

# ended: by itself, with `status`; output and errors: stdout and stderr
Job = collections.namedtuple("Job", "ended status seconds output errors")


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def run(program, ranks, preload, folder, settings=(), mpi="openmpi", silence_s=SILENCE_S):
    """Runs `program`, a list of words, in `folder`, and leaves its stdout and stderr there. `settings` are words that
    env takes; `mpi` is openmpi or mpich, Debian's."""
    environment = dict(
        os.environ,
        OMP_NUM_THREADS="1",
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_mpi_yield_when_idle="1",
        OMPI_MCA_btl_vader_single_copy_mechanism="none",  # Needs ptrace rights, which containers lack.
        GFORTRAN_UNBUFFERED_PRECONNECTED="1",  # So that a program killed while hanging leaves its last line.
    )
    # The job alone gets the library, not mpirun.
    command = [f"mpirun.{mpi}"] + (["--oversubscribe"] if mpi == "openmpi" else [])
    command += ["-n", str(ranks), "env", *settings, "BRIGADE_LOG=info"]
    command += [f"LD_PRELOAD={preload}"] if preload else []
    command += [str(word) for word in program]
    start = time.monotonic()
    with open(folder / "stdout", "w") as out, open(folder / "stderr", "w") as err:
        with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=err) as process:
            ended = ends(process, folder / "stdout", silence_s)
    seconds = time.monotonic() - start
    output, errors = ((folder / name).read_text(errors="replace") for name in ("stdout", "stderr"))
    return Job(ended, process.returncode, seconds, output, errors)


def ends(process, output, silence_s):
    """Waits until the job ends, or ends it once its output has not grown for so long."""
    size, grown = 0, time.monotonic()
    descriptor = os.pidfd_open(process.pid)
    try:
        # Returns when the process ends, so that its time is not rounded up.
        while not select.select([descriptor], [], [], 0.05)[0]:
            if output.stat().st_size != size:
                size, grown = output.stat().st_size, time.monotonic()
            elif time.monotonic() - grown > silence_s:
                process.terminate()  # mpirun ends its ranks; killing it would leave them behind.
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                return False
    finally:
        os.close(descriptor)
    process.wait()
    return True


def libraries(paths):
    """The argument of --preload, LIB[:LIB...], for argparse."""
    for path in paths.split(":"):
        if not os.path.isfile(path):
            raise argparse.ArgumentTypeError(f"no file {path}")
    return ":".join(os.path.realpath(path) for path in paths.split(":"))


def took_effect(job, preload):
    """Whether the BLACS among the preloaded libraries say that they are in use; or, where there are none, any does."""
    line = r"^brigade \S+: BLACS over transport " if "libbrigade_blacs" in preload else r"^brigade\b"
    return re.search(line, job.errors, re.MULTILINE) is not None
