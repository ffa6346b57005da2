"""The tables of the ARMCI paper."""

from bench.papers.contract import PaperStudy

STUDY = PaperStudy("armci", "ARMCI: NAS MG and CG, SUMMA, molecular dynamics by puts", "a cluster of PCs", tables=[])
