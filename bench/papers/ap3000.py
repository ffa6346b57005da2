"""The tables of this paper."""

from bench.papers.contract import PaperStudy

STUDY = PaperStudy("ap3000", "ap3000", "", tables=[])
