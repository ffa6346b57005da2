"""The sections of the As study: barriers, and exchanges of all with all."""

from bench.report import li
from bench.report.measurements import scaled
from bench.report.style import (COLOURS, Cell, Table, bytes_axis, format_bytes, plot, plt, time_axis, time_cell,
                                times_cell)

TITLE = "Barriers and exchanges of all with all as the LI paper measures them"
PAPER = """On 16 PCs at 100 Mbit/s a barrier was dearest over LAM-MPI and cheapest over BSPlib, also with a few ints
before it; with an int from each to each PUB was the cheapest. In exchanges of all with all put over LAM-MPI took a
little longer than its messages, on which it was built. One-sided communication over BSPlib outran both; that over PUB
did so below 4 K ints a rank. The lowest cost was 0.59 us an int, with two processes a PC 0.93; the sentence leaves open
of which library, and whether both are of the same one. Its curves are lost."""
METHOD = li.METHOD + """ L is test 1. g is what an int takes in the longest exchange: in shorter ones the first bytes
of each link cost nothing, where a token bucket holds its rate, and g would be below what the link can carry."""
INT = 4


def ints_of(key):
    """Returns the ints that each rank sends to all ranks together, the paper's h."""
    return key.rows * key.cols


def us_per_int(key, figure):
    """The paper's g(h)."""
    return scaled(figure, ints_of(key))


def draw(cases, title):
    figure, axes = plt.subplots(figsize=(6, 3.2))
    for who in li.contenders(cases.values()):
        points = sorted((ints_of(key) * INT, us_per_int(key, subjects[who])) for key, subjects in cases.items()
                        if who in subjects)
        sizes = [size for size, _ in points]
        line, = axes.plot(sizes, [cost.median for _, cost in points], "o-" if who.pattern == "put" else "s--", ms=3,
                          lw=1.4, label=who.title, color=COLOURS["brigade"] if who.subject == "brigade" else None)
        axes.fill_between(sizes, [cost.lo for _, cost in points], [cost.hi for _, cost in points],
                          color=line.get_color(), alpha=0.2, lw=0)
    bytes_axis(axes)
    axes.set_xlabel("of each rank to all")
    time_axis(axes.yaxis)
    axes.set_ylabel("us per int")
    axes.legend(frameon=False, fontsize=7)
    return plot(figure, title)


def part(cases, ranks):
    cases = {key: subjects for key, subjects in cases.items() if key.ranks == ranks}
    everybody = li.contenders(cases.values())
    header = ["case", *(who.title for who in everybody)]
    tests = [[key.case, *(li.time_with_ratio(subjects, who) for who in everybody)]
             for key, subjects in cases.items() if key.case.startswith("test")]
    exchanges = {key: cases[key] for key in sorted(cases, key=ints_of) if key.case == "total exchange"}
    parts = [{"title": f"Tests 1 to 5 on {ranks} ranks, us", "plot": None, "table": Table(header, tests)}]
    if exchanges:
        rows = [[f"{ints_of(key)} ints ({format_bytes(key.bytes)}) of each",
                 *(li.time_with_ratio(subjects, who) for who in everybody)] for key, subjects in exchanges.items()]
        parts.append({"title": f"Exchanges on {ranks} ranks, us", "plot": None, "table": Table(header, rows)})
        title = f"g(h) on {ranks} ranks, us per int"
        rows = [[f"h = {ints_of(key)}",
                 *(times_cell(us_per_int(key, subjects[who])) if who in subjects else "" for who in everybody)]
                for key, subjects in exchanges.items()]
        parts.append({"title": title, "plot": draw(exchanges, title), "table": Table(["", *header[1:]], rows)})
        parts.append({"title": f"L and g on {ranks} ranks", "plot": None,
                      "table": Table(["", "L, us", "g, us per int"], [
                          [who.title, latency(cases, who), bandwidth(exchanges, who)] for who in everybody])})
    return parts


def latency(cases, who):
    """Test 1, with the spread."""
    for key, subjects in cases.items():
        if key.case.startswith("test 1") and who in subjects:
            return time_cell(subjects[who])
    return ""


def bandwidth(exchanges, who):
    """Of the longest exchange, with the spread."""
    found = [(ints_of(key), us_per_int(key, subjects[who])) for key, subjects in exchanges.items() if who in subjects]
    if not found:
        return ""
    ints, cost = max(found, key=lambda one: one[0])
    text, spread, *_ = times_cell(cost)
    return Cell(text, f"{spread} at {ints} ints")


def sections(place, lines, _):
    cases = {**li.cases_of(lines, "test"), **li.cases_of(lines, "total exchange")}
    exchanges = {key: subjects for key, subjects in cases.items() if key.case == "total exchange"}
    barriers = {key: subjects for key, subjects in cases.items() if key.case.startswith(("test 1", "test 2"))}
    few = {key: subjects for key, subjects in cases.items() if key.case.startswith(("test 3", "test 4", "test 5"))}
    met = "an exchange of messages ends without a synchronisation of all, one of puts with it"
    claims = [
        li.claim(place, "a barrier is dearer over MPI than over the best library: MPI's windows over ours, above 1",
                 li.beside(barriers, "mpi_rma"), lambda mean: mean > 1, {
                     "shared memory": "today's MPI has barriers of shared memory, too",
                     "": "ours goes from each to each, which is one round and more messages"}),
        li.claim(place, "also with a few ints before it, tests 3 to 5", li.beside(few, "mpi_rma"),
                 lambda mean: mean > 1, "the barrier decides"),
        li.claim(place, "put over MPI takes a little longer than messages: messages over put, below 1",
                 li.gains(exchanges, "mpi_rma"), lambda mean: mean < 1,
                 "today's windows write to their target without its messages"),
        li.claim(place, "put over the best library outruns messages of MPI: messages over put, above 1",
                 li.gains(exchanges, "brigade"), lambda mean: mean > 1, met),
        li.claim(place, "so it does over BSPlib", li.gains(exchanges, "bsp"), lambda mean: mean > 1, {
            "shared memory": "what is put is copied when it is put, when it is sent and when it is written",
            "": met}),
        li.claim(place, "it outruns put over MPI: MPI's windows over ours, above 1", li.beside(exchanges, "mpi_rma"),
                 lambda mean: mean > 1, "long blocks take as long as the memory or the link does, whoever brings them"),
    ]
    parts = [one for ranks in sorted({key.ranks for key in cases}) for one in part(cases, ranks)]
    return [li.section(f"As, {place}", claims, parts, li.summaries(
        place, cases, lambda key: f"{key.case}, {key.ranks} ranks, {ints_of(key)} ints"))]
