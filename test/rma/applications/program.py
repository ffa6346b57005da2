"""A program that is run as an MPI job."""

import collections

# command: its words; directly: over TCP, ranks still reach each other's memory by themselves
Program = collections.namedtuple("Program", "name ranks command directly", defaults=[False])
