"""The tables of this paper."""

from bench.papers.contract import PaperStudy

STUDY = PaperStudy("mpisx", "mpisx", "", tables=[])
