"""A star forest of PETSc: values go from roots to leaves of other ranks, and sums come back."""

import sys

import numpy
import petsc4py

petsc4py.init(sys.argv)
from mpi4py import MPI  # noqa: E402
from petsc4py import PETSc  # noqa: E402

LEAVES = 7
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
roots = 5 + rank
# Some roots have several leaves, some none.
remote = [[(rank + 1 + leaf) % size, (3 * leaf + rank) % 5] for leaf in range(LEAVES)]
forest = PETSc.SF().create(comm)
forest.setFromOptions()
forest.setGraph(roots, None, numpy.array(remote, dtype=PETSc.IntType))
forest.setUp()
values = numpy.arange(roots) + 100.0 * rank
taken = numpy.zeros(LEAVES)
forest.bcastBegin(MPI.DOUBLE, values, taken, MPI.REPLACE)
forest.bcastEnd(MPI.DOUBLE, values, taken, MPI.REPLACE)
sums = numpy.zeros(roots)
forest.reduceBegin(MPI.DOUBLE, taken, sums, MPI.SUM)
forest.reduceEnd(MPI.DOUBLE, taken, sums, MPI.SUM)
everything = comm.gather([taken.tolist(), sums.tolist()])
if rank == 0:
    print(everything)
