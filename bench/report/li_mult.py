"""The sections of the Mult study: Table 1 of the LI paper, and the predictions from As."""

import math

from bench.report import li, li_as
from bench.report.style import Cell, Table, time_cell

TITLE = "Products of matrices as the LI paper measures them"
PAPER = """Put and get over LAM-MPI were as fast as its messages; BSPlib outran them from 16 processes on. Over BSPlib
and PUB get was mostly slower than put. The values of As predict the speedup, p / (1 + sqrt(p) g / (f (n - 1))), where
g is the cost of a double, twice that of an int, and f that of a floating point operation: over BSPlib it said 8 for n =
320 on 16 PCs, and 10.33 was measured. Without the transposition of a block, products took three to seven times as
long."""
METHOD = li.METHOD + """ Speedups are over one rank of the same program in shared memory, by loops or by dgemm; of
the paper, small, those with two processes a PC. Where ranks outnumber cores, none can be above the number of cores."""


def predicted(ranks, n, us_per_int, sequential_us):
    flop = sequential_us / (2 * n * n * (n - 1))
    return ranks / (1 + math.sqrt(ranks) * 2 * us_per_int / (flop * (n - 1)))


def us_per_int(exchanges, who, ranks, n):
    """Of the exchange on as many ranks that is nearest to the product's 4 n^2 / p ints; None without one."""
    pattern = "put" if who.pattern == "get" else who.pattern
    found = [(abs(math.log(li_as.ints_of(key) * ranks / (4 * n * n))),
              li_as.us_per_int(key, subjects[who[0], pattern]).median)
             for key, subjects in exchanges.items() if key.ranks == ranks and (who[0], pattern) in subjects]
    return min(found)[1] if found else None


def get_over_put(cases, backend):
    """How many times as long gets take as puts, by case."""
    return [figure.median / subjects[subject, "put"].median for subjects in cases.values()
            for (subject, pattern), figure in subjects.items()
            if subject.split()[0] == backend and pattern == "get" and (subject, "put") in subjects]


def sections(place, lines, everywhere):
    alone, known = li.sequential(everywhere, "matrix product"), li.paper("mult", "n")
    cases = {key: subjects for key, subjects in li.cases_of(lines, "matrix product").items() if key.ranks > 1}
    exchanges = li.cases_of(lines, "total exchange")
    parts, over_prediction = {}, []
    for key, subjects in cases.items():
        base = alone.get((key.case, key.rows))
        rows = []
        for who in li.contenders([subjects]):
            figure, cost = subjects[who], us_per_int(exchanges, who, key.ranks, key.rows)
            speedup = base.median / figure.median if base else None
            model = predicted(key.ranks, key.rows, cost, base.median) if base and cost else None
            if model:
                over_prediction.append(speedup / model)
            versus = li.over(subjects, who)
            rows.append([who.title, time_cell(figure), Cell(f"{versus.median:.2f}") if versus else "",
                         f"{speedup:.2f}" if base else "", f"{model:.2f}" if model else "",
                         *li.paper_cells(known, key, who.pattern)])
        parts[key] = {"title": f"{key.case}, n = {key.rows}, {key.ranks} ranks", "plot": None, "table": Table(
            ["", "us", "over windows", "speedup", "predicted", *li.PAPER_HEADER], rows)}
    synchronised = "each round of puts or gets ends with a synchronisation of all, one of messages with two partners"
    link = {"hosts with slow links": "the link takes as long for one as for the other", "": "what they ask for is read "
            "at once, by the process itself or by its progress thread"}
    claims = [
        li.claim(place, "put over MPI is as fast as messages: messages over put, 1", li.gains(cases, "mpi_rma", "put"),
                 lambda mean: 0.9 < mean < 1.1, synchronised),
        li.claim(place, "get over MPI is as fast as messages: messages over get, 1", li.gains(cases, "mpi_rma", "get"),
                 lambda mean: 0.9 < mean < 1.1, synchronised),
        li.claim(place, "put over the best library outruns messages: messages over put, above 1",
                 li.gains(cases, "brigade", "put"), lambda mean: mean > 1, {
                     "hosts with slow links": synchronised + ", and the bytes are the same", "": synchronised}),
        li.claim(place, "it outruns put over MPI from 16 processes on: MPI's windows over ours, above 1",
                 li.beside({key: subjects for key, subjects in cases.items() if key.ranks >= 16}, "mpi_rma", "put"),
                 lambda mean: mean > 1, "products of loops take longer than what they bring each other"),
        li.claim(place, "get is slower than put over BSPlib: its time over put's, above 1", get_over_put(cases, "bsp"),
                 lambda mean: mean > 1, "a superstep of BSPlib costs a round more with gets, and blocks take longer"),
        li.claim(place, "the same over Brigade's windows", get_over_put(cases, "brigade"), lambda mean: mean > 1, link),
        li.claim(place, "speedups are at least what As predicts: speedup over prediction, 1 or more", over_prediction,
                 lambda mean: mean >= 1, "ranks that outnumber the cores compute in turn"),
    ]
    parts = li.with_speedups(parts, cases, alone, known, ("put", "get", "send"))
    return [li.section(f"Mult, {place} (Table 1)", claims, parts, li.summaries(
        place, cases, lambda key: f"{key.case}, n = {key.rows}, {key.ranks} ranks"))]
