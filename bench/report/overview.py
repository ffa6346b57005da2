"""The overview of the report: whether Brigade is faster on this machine, and where not."""

from bench.report.measurements import ENOUGH_SAMPLES, OURS, geometric_mean, is_better, is_worse
from bench.report.style import NAMES, Cell, Table, present

# The columns: which contenders count as one. Bare rings, sockets and trees by hand are limits, not peers.
PEERS = {
    "reference BLACS": ("stock",),
    "MPI as it is": ("mpi",),
    "MPI, best of its settings": ("better MPI", "mpi tuned", "best MPI"),
    "MPI without CMA": ("mpi CMA off",),
    "Open MPI 5": ("mpi Open MPI 5",),
    "MPICH": ("mpi MPICH",),
    "MPICH 5": ("mpi MPICH 5",),
    "Intel MPI": ("mpi Intel MPI",),
}
MOST_SHOWN = 8


def cases_of(summaries, question, contenders):
    return [case for summary in summaries if summary.question == question
            for name in contenders for case in summary.ratios.get(name, ())]


def ratios_cell(cases):
    """The mean in bold. Green: nowhere slower beyond doubt. Red: slower on the whole."""
    if not cases:
        return ""
    mean = geometric_mean([case.ratio.median for case in cases])
    slower = sum(is_worse(case.ratio) for case in cases)
    verdict = "worse" if mean < 1 else "even" if slower or mean == 1 else "better"
    if all(case.ratio.samples < ENOUGH_SAMPLES for case in cases):
        verdict = "even"
    return Cell(f"{mean:.2f}", f"slower in {slower} of {len(cases)}", verdict, bold=True)


def questions_table(summaries):
    questions = list(dict.fromkeys(summary.question for summary in summaries if summary.question))
    peers = [peer for peer, names in PEERS.items()
             if any(cases_of(summaries, question, names) for question in questions)]
    rows = [[question, *(ratios_cell(cases_of(summaries, question, PEERS[peer])) for peer in peers)]
            for question in questions]
    return Table(["peer's time / Brigade's", *peers], rows)


def slower_cases(summaries):
    """Returns [(Versus, peer, question)], the worst first; each case once, against the best peer."""
    worst = {}
    for summary in summaries:
        for peer, contenders in PEERS.items():
            for case in (case for name in contenders for case in summary.ratios.get(name, ())):
                if summary.question and is_worse(case.ratio):
                    known = worst.get((summary.question, case.case))
                    if known is None or case.ratio.median < known[0].ratio.median:
                        worst[summary.question, case.case] = case, peer, summary.question
    return sorted(worst.values(), key=lambda found: found[0].ratio.median)


def overview(summaries):
    """Returns the template's data of the first screen."""
    slower = slower_cases(summaries)
    cases = {(summary.question, case.case) for summary in summaries if summary.question
             for contenders in PEERS.values() for name in contenders for case in summary.ratios.get(name, ())}
    rows = [[question, case.case, peer, Cell(f"{case.ratio.median:.2f}", f"[{case.ratio.lo:.2f}, {case.ratio.hi:.2f}]",
                                             "worse")] for case, peer, question in slower[:MOST_SHOWN]]
    scalapack = cases_of(summaries, "ScaLAPACK", ("stock",))
    return {
        "scalapack": {"mean": geometric_mean([case.ratio.median for case in scalapack]), "cases": len(scalapack),
                      "faster": sum(is_better(case.ratio) for case in scalapack),
                      "slower": sum(is_worse(case.ratio) for case in scalapack)} if scalapack else None,
        "questions": questions_table(summaries),
        "slower": Table(["what", "case", "peer", "its time / Brigade's"], rows),
        "slower_count": len(slower), "cases_count": len(cases),
    }


def summary_table(summaries):
    """Every line of the summary, beside every contender."""
    peers = [name for name in present(summary.ratios for summary in summaries) if name not in OURS]
    rows = []
    for summary in summaries:
        row = [summary.what, max((len(cases) for cases in summary.ratios.values()), default=0)]
        for peer in peers:
            ratios = [case.ratio for case in summary.ratios.get(peer, ())]
            if not ratios:
                row.append("")
                continue
            worst = min(ratios, key=lambda r: r.median)
            slower = sum(map(is_worse, ratios))
            verdict = "worse" if slower else "better" if all(map(is_better, ratios)) else "even"
            note = (f"worst {worst.median:.2f}; slower in {slower}" if len(ratios) > 1 else
                    f"[{worst.lo:.2f}, {worst.hi:.2f}]")
            row.append(Cell(f"{geometric_mean([r.median for r in ratios]):.2f}", note, verdict, bold=True))
        rows.append(row)
    return Table(["what", "cases", *(f"{NAMES[peer]} / Brigade" for peer in peers)], rows)


def machine(files):
    """Returns the description of the machine in the lines, or None."""
    lines = [line for file in files if "machine" in file for line in file.itertuples()]
    if not lines:
        return None
    ratios = [line.machine["together_over_alone"] for line in lines]
    return {
        "cpu": lines[0].machine["cpu"], "cores": lines[0].machine["cores"], "kernel": lines[0].machine["kernel"],
        "brigade": lines[0].versions["brigade"], "stock": lines[0].versions["stock"],
        "transport": next(line.transport for line in lines if line.subject in OURS),
        "mpis": ", ".join(sorted({f"{line.versions['mpi']} (single-copy mechanism: {line.machine['single_copy']})"
                                  for line in lines})),
        "least": min(ratios), "most": max(ratios), "disturbed": max(ratios) >= 1.5,
    }
