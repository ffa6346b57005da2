"""Fortran's coarrays: the tests of OpenCoarrays, as Debian has compiled them."""

import re

import debian
from program import Program

FOLDER = debian.LIBRARIES / "open-coarrays/openmpi/bin"
# These two convert what MPI_Get brings before the end of its epoch, and fail on stock, too, where data go by messages
# (OMPI_MCA_osc=pt2pt). The third gets single elements, many thousands, in silence.
DIRECTLY = {"sendget_convert_char_array", "sendget_convert_nums", "alloc_comp_multidim_shape"}
# Adds to a neighbour's coarray while that one adds, too: it fails at times.
UNSOUND = {"increment_my_neighbor"}


def programs(_folder):
    tests = sorted(test for folder in FOLDER.glob("OpenCoarrays-*-tests") for test in folder.iterdir())
    return [Program(test.name, 4, [test], test.name in DIRECTLY) for test in tests if test.name not in UNSOUND]


def difference(stocks, job):
    expected, found = (len(re.findall("passed", one.output, re.IGNORECASE)) for one in (stocks[0], job))
    # One of them fails on stock at times.
    return f"it says 'passed' {found} times, not {expected}" if found < expected else None
