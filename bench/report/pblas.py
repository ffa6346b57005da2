"""The page about our PBLAS: small products beside those of the PBLAS, and the gain of half products."""

from bench.report import srumma
from bench.report.li import section
from bench.report.measurements import Summary, Versus, by_label, ratio
from bench.report.style import Table, format_us, ratio_cell, time_cell

TITLE = "Products that our PBLAS compute, and products that they leave"
PAPER = """By itself libbrigade_pblas.so takes products whose m, n and k are all at least kLeastPblasSize of
pblas_shim/rules.h, P?SYRK and P?HERK from kLeastPblasHalfSize on, on grids of several rows and columns, and no
P?TRMM."""
METHOD = """Small products: C of n x n and k = 256. A launch has the pdgemm of one library, which is preloaded, beside
ours in diagonal order on a window's memory; launches take turns, and our PBLAS are set to take everything. Ratios are
the other's time over that of our PBLAS, each over that of ours in its own launch: above 1 taking the product gains.
Half products: pdsyrk and pdtrmm beside the whole product A A' by gets. Half of the arithmetic, all ranks at once, taken
from that is the least that either could take by gets, since it needs as many. The pdsyrk of our PBLAS goes by gets; the
other's over it, each over the whole product in its own launch, is above 1 where taking it gains."""
BLACS = {"": "reference BLACS", "our BLACS": "our BLACS"}
OURS = "our PBLAS"


def least_size(found, label):
    """From which n on taking the product is not slower, of one grid; None: from none that was measured."""
    least = None
    for key, product in sorted(found.items(), key=lambda item: -item[0].rows):
        over = product.over_pblas(label)
        if over is None or over.median < 1:
            break
        least = key.rows
    return least


def small_section(place, lines):
    found = srumma.products(lines)
    if not found:
        return []
    parts, claims, versus = [], [], []
    for case in dict.fromkeys(key.case for key in found):
        name = case.removeprefix("matrix product, ")
        of_grid = {key: product for key, product in found.items() if key.case == case}
        rows = []
        for key, product in of_grid.items():
            row = [key.rows]
            row += [time_cell(product.peers[label][0]) if label in product.peers else ""
                    for label in ("our PBLAS", *BLACS)]
            over = [product.over_pblas(label) for label in BLACS]
            rows.append(row + [ratio_cell(figure) if figure else "" for figure in over])
            versus += [Versus(f"{name}, n = {key.rows}", figure) for figure in over if figure]
        parts.append({"title": name, "plot": None, "table": Table(
            ["n", "our PBLAS, us", *(f"pdgemm on {blacs}, us" for blacs in BLACS.values()),
             *(f"that on {blacs} over our PBLAS" for blacs in BLACS.values())], rows)})
        for label, blacs in BLACS.items():
            if not any(product.over_pblas(label) for product in of_grid.values()):
                continue
            least = least_size(of_grid, label)
            claims.append([f"{name}: beside pdgemm on {blacs} our PBLAS gain", f"from n = {least} on" if least else
                           "nowhere, or not up to the largest n", ""])
    return [section(f"Small products, {place}", claims, parts,
                    [Summary(f"{place}: small products, pdgemm beside our PBLAS", {"peer": versus})])]


def halves(lines):
    """{(grid, n, label): {pattern: Figure}}"""
    return {(key.case.removeprefix("half product, "), key.rows, label): {
        pattern: figure for (_, pattern), figure in subjects.items()}
            for label, cases in by_label(lines) for key, subjects in cases.items()
            if key.case.startswith("half product")}


def half_row(grid, n, label, figures, ours):
    """`ours`: the figures of our PBLAS, if there are any."""
    whole, alone = figures["whole"], figures["dgemm"]
    # Intervals at worst, but never below half of the arithmetic.
    least = whole._replace(**{name: max(getattr(whole, name) - getattr(alone, other) / 2, alone.lo / 2)
                              for name, other in (("median", "median"), ("lo", "hi"), ("hi", "lo"))})
    cells = [grid, n, BLACS.get(label, label)]
    cells += [time_cell(figures[pattern]) for pattern in ("pdsyrk", "pdtrmm", "whole")]
    cells += [format_us(alone.median / 2), format_us(least.median),
              *(ratio_cell(ratio(figures[pattern], least)) for pattern in ("pdsyrk", "pdtrmm"))]
    if ours is None or label == OURS:
        return [*cells, ""]
    return [*cells, ratio_cell(ratio(ratio(figures["pdsyrk"], whole), ratio(ours["pdsyrk"], ours["whole"])))]


def half_section(place, lines):
    found = {case: figures for case, figures in halves(lines).items()
             if {"whole", "pdsyrk", "pdtrmm", "dgemm"} <= set(figures)}
    if not found:
        return []
    rows = [half_row(*case, figures, found.get((*case[:2], OURS))) for case, figures in found.items()]
    table = Table(["", "n", "on", "pdsyrk, us", "pdtrmm, us", "whole product by gets, us",
                   "half of the arithmetic alone, us", "by gets at least, us", "pdsyrk over that", "pdtrmm over that",
                   "pdsyrk over that of our PBLAS"],
                  rows)
    return [section(f"Half products, {place}", [], [{"title": "P?SYRK and P?TRMM", "plot": None, "table": table}], [])]


def sections(place, lines, _):
    return small_section(place, lines) + half_section(place, lines)
