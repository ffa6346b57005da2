"""The sections of the Rdx study: Tables 2 and 3 of the LI paper."""

from bench.report import li
from bench.report.style import Cell, Table, time_cell

TITLE = "Radix sort as the LI paper measures it"
PAPER = """Put was at least 1.5 times as fast as messages over LAM-MPI, so that no figures of these are given. Sending
all keys for a rank at once did not pay. That ranks begin with different digits helped LAM-MPI, and the others hardly.
Speedups were a fifth to a third of the number of processes, at most 6.45 on 16 PCs."""
METHOD = li.METHOD + """ Speedups are over one rank of the same program in shared memory; of the paper,
small, those with two processes a PC. Where ranks outnumber cores, none can be above the number of cores."""


def times(cases, backend, over, under):
    """How many times as long put takes with the algorithm `over` as with `under`, by case."""
    return [subjects[subject, f"{over}, put"].median / figure.median for subjects in cases.values()
            for (subject, pattern), figure in subjects.items()
            if subject.split()[0] == backend and pattern == f"{under}, put" and (subject, f"{over}, put") in subjects]


def sections(place, lines, everywhere):
    alone, known = li.sequential(everywhere, "radix sort"), li.paper("rdx", "keys")
    cases = {key: subjects for key, subjects in li.cases_of(lines, "radix sort").items() if key.ranks > 1}
    parts, shares = {}, []
    for key, subjects in cases.items():
        base = alone.get((key.case, key.rows))
        rows = []
        for who in li.contenders([subjects]):
            versus = li.over(subjects, who)
            speedup = base.median / subjects[who].median if base else None
            if speedup and who.subject == "brigade":
                shares.append(speedup / key.ranks)
            rows.append([who.title, time_cell(subjects[who]), Cell(f"{versus.median:.2f}") if versus else "",
                         f"{speedup:.2f}" if base else "",
                         *li.paper_cells(known, key, who.pattern)])
        parts[key] = {"title": f"{key.case}, {key.rows:,} keys, {key.ranks} ranks", "plot": None, "table": Table(
            ["", "us", "over windows", "speedup", *li.PAPER_HEADER], rows)}
    eager = {"hosts with slow links": "the links decide, which carry the same bytes",
             "": "today's MPI hands short messages over without asking, so that many cost it little more than as many "
                 "puts"}
    copies = {"shared memory": "copying keys twice costs less than putting them in up to 256 parts",
              "": "parts that go by themselves cost a message each, or a description of where they belong"}
    turns = {"shared memory": "there are no links that ranks could share",
             "": "where ranks put at the same one, its link is shared"}
    claims = [
        li.claim(place, "put over MPI is at least 1.5 times as fast as messages: messages over put, RDXSORT",
                 li.gains(cases, "mpi_rma", "RDXSORT,"), lambda mean: mean >= 1.5, eager),
        li.claim(place, "the same over Brigade's windows", li.gains(cases, "brigade", "RDXSORT,"),
                 lambda mean: mean >= 1.5, eager),
        li.claim(place, "the same over BSPlib", li.gains(cases, "bsp", "RDXSORT,"), lambda mean: mean >= 1.5, eager),
        li.claim(place, "the best library sorts faster than MPI's windows: their time over ours, above 1, RDXSORT",
                 li.beside(cases, "mpi_rma", "RDXSORT,"), lambda mean: mean > 1,
                 "ranks that have a core each spend their time on their keys"),
        li.claim(place, "sending all keys for a rank at once does not pay: its time over RDXSORT's, above 1; windows",
                 times(cases, "brigade", "combined", "RDXSORT"), lambda mean: mean > 1, copies),
        li.claim(place, "the same over MPI's windows", times(cases, "mpi_rma", "combined", "RDXSORT"),
                 lambda mean: mean > 1, copies),
        li.claim(place, "another first digit on each rank hardly helps: RDXSORT's time over RDXSORTOPT's, 1; windows",
                 times(cases, "brigade", "RDXSORT", "RDXSORTOPT"), lambda mean: 0.9 < mean < 1.1, turns),
        li.claim(place, "it helps put over MPI: the same, above 1",
                 times(cases, "mpi_rma", "RDXSORT", "RDXSORTOPT"), lambda mean: mean > 1, turns),
        li.claim(place, "speedups over the number of ranks are 0.20 to 0.33; windows", shares,
                 lambda mean: 0.2 <= mean <= 0.34, "cores, links and their ratio are others than the paper's"),
    ]
    parts = li.with_speedups(parts, cases, alone, known, ("RDXSORT, put", "RDXSORT, send"))
    return [li.section(f"Rdx, {place} (Tables 2 and 3)", claims, parts, li.summaries(
        place, cases, lambda key: f"{key.case}, {key.rows} keys, {key.ranks} ranks"))]
