"""ARMCI-MPI: its own tests, linked with the library that Debian ships."""

import subprocess

import debian
from program import Program

ABSENT = "Debian's source package armci-mpi cannot be fetched"
# Parts of others, and timings of memory, of messages and of puts, which take long and check nothing.
LEFT_OUT = {"test_parmci_lib", "ARMCI_PutS_latency", "ARMCI_AccS_latency"}
OTHERS = {"test_parmci": ["test_parmci_lib.c"]}  # sources beside the test's own
# Prints nothing for minutes where thousands of small blocks go by messages.
DIRECTLY = {"armci-test"}


def programs(folder):
    source = debian.source("armci-mpi", folder)
    if source is None:
        return None
    tests = source / "tests"
    made = []
    for test in sorted([*tests.glob("*.c"), *tests.glob("mpi/test_*.c"), tests / "contrib/armci-test.c"]):
        if test.stem in LEFT_OUT:
            continue
        program = folder / f"{test.stem}.program"
        subprocess.run(["mpicc.openmpi", "-w", "-O1", f"-I{tests}", f"-I{source}/src", "-o", program, test,
                        *(tests / other for other in OTHERS.get(test.stem, [])), "-larmci-openmpi", "-lm"], check=True)
        made.append(Program(test.stem, 4, [program], test.stem in DIRECTLY))
    return made


def difference(stocks, job):
    return None  # They end with an error if anything is wrong.
