"""The tables of the SRUMMA paper."""

from bench.papers.contract import PaperStudy

STUDY = PaperStudy("srumma", "SRUMMA: products of matrices by gets", "four machines", tables=[])
