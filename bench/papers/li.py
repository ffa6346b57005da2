"""The tables of the LI paper."""

from bench.papers.contract import PaperStudy

STUDY = PaperStudy("li", "LI: puts and gets on clusters of PCs", "a cluster of PCs", tables=[])
