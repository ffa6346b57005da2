"""The page of ScaLAPACK's factorizations with our PBLAS, which take none of the products inside, some, or all."""

from bench.report.li import section
from bench.report.measurements import median_interval
from bench.report.style import Table, ratio_cell, time_cell

TITLE = "LU, Cholesky and QR with our PBLAS"
PAPER = """LU calls P?GEMM behind each panel, and Cholesky P?SYRK, both with a k of one block; QR calls neither. By
itself libbrigade_pblas.so leaves such products to the PBLAS."""
METHOD = """Here a launch is scalapack_timing with libbrigade_pblas.so and one value of BRIGADE_PBLAS, over the
reference BLACS or ours: off takes no product, auto those that it takes by itself, on all. Launches take turns in
random order. The time of a launch is the median of its runs. Ratios are the time with off over the other, within
each round: above 1 taking products gains."""


def sections(place, lines, _):
    lines = lines.join(lines["label"].str.split(", ", expand=True).set_axis(["blacs", "products"], axis="columns"))
    rows = []
    for (_, routine, blacs, grid_rows, grid_cols, n, block), group in lines.groupby(
            ["ranks", "routine", "blacs", "rows", "cols", "n", "nb"]):
        seconds = group.pivot_table(index="pair", columns="products", values="median_s", aggfunc="last")
        cells = [f"{grid_rows} x {grid_cols}", routine, n, block, blacs]
        cells += [time_cell(median_interval(1000 * seconds[products].dropna())) if products in seconds else ""
                  for products in ("off", "auto", "on")]
        for products in ("auto", "on"):
            ratios = (seconds["off"] / seconds[products]).dropna() if {"off", products} <= set(seconds) else ()
            cells.append(ratio_cell(median_interval(ratios)) if len(ratios) else "")
        rows.append(cells)
    header = ["ranks", "", "n", "block", "over", "off, ms", "auto, ms", "on, ms", "off over auto", "off over on"]
    table = Table(header, rows)
    return [section(f"Factorizations, {place}", [], [{"title": "By BRIGADE_PBLAS", "plot": None, "table": table}], [])]
