"""The page of SRUMMA's study: overlap of gets, products beside pdgemm and SUMMA, and simulated machines."""

import collections
import csv
import math
import pathlib
import re
from typing import NamedTuple

from bench.report.li import section
from bench.report.measurements import Figure, Summary, Versus, by_label, ratio
from bench.report.style import (
    BLACK, BLUE, GREEN, ORANGE, PURPLE, YELLOW, Cell, Table, bytes_axis, format_bytes, format_us, plot, plt, ratio_cell,
    time_axis, time_cell)

TITLE = "Products of matrices as the SRUMMA paper measures them"
PAPER = """A process fetches by itself the blocks that it needs, the next ones while it multiplies. That hid 90 % of the
communication of a product in most cases, while single gets on Elan4 did not come near 100 % up to 64 KB. A process
begins with the block that its place in the grid says, so that few ask one node at a time; that gained more on more
processors, and gets under way gained more where the adapter copied alone. Most products were 20 to 60 % faster than
pdgemm for matrices of 200 to 8000, and one of 40,000 on 1849 processors had 88.2 % of the machine's peak."""
METHOD = """Overlap: get, delay, wait, the origin alone being timed; it is the longest delay that leaves the time as it
was, to 5 %, over the time without one. Each rank has a processor. While the target sleeps, its own is free for its
progress thread; while it computes, none is. In shared memory a get is a copy by the origin, without that thread;
over TCP on this host gets are made to go by messages, as between hosts. Products: a launch has ours in diagonal order
beside the pdgemm of one library, which is preloaded, or GA_Dgemm of Global Arrays, and both have the BLAS of that
launch; launches take turns. Global Arrays distributes matrices itself, one block to each rank. Ratios are a peer's time
over that of ours in the same launch; to SUMMA, which is another program, over launches. "alone" is dgemm of each
rank's share at once, without any communication. The bound is the longer of that and of what must be fetched at the
rate of a link. On simulated machines a rank reads what its host has in place, and fetches the rest for itself alone;
what a broadcast has brought to a host it passes on there. Several rows of the grid on one host thus fetch more by
gets."""
UNCHANGED = 1.05
TARGETS = {"sleeps": "with a processor free for the target's progress thread", "computes": "with none free"}
OURS = "diagonal"


class Variant(NamedTuple):
    """How ours goes. `ahead`: blocks on their way while one is multiplied; `blocks`: how those of others come."""

    title: str
    order: str
    ahead: int
    blocks: str


_IN_PLACE = "read in place where the host sees them, else got"
_GOT = "got, by the kernel's copies within a host"
_STAGED = "got by messages, through staging memory"
OUR_VARIANT = Variant("ours", "diagonal", 1, _IN_PLACE)
VARIANTS = {
    "natural": Variant("natural order", "natural", 1, _IN_PLACE),
    "blocking": Variant("blocking", "diagonal", 0, _IN_PLACE),
    "natural blocking": Variant("natural, blocking", "natural", 0, _IN_PLACE),
    "two ahead": Variant("two ahead", "diagonal", 2, _IN_PLACE),
    "four ahead": Variant("four ahead", "diagonal", 4, _IN_PLACE),
    "fetched": Variant("copied, not read in place", "diagonal", 1, _GOT),
    "staged": Variant("by messages", "diagonal", 1, _STAGED),
    "staged blocking": Variant("by messages, blocking", "diagonal", 0, _STAGED),
}
# Between hosts nothing is read in place and all goes by messages: there these are others of the same.
SAME_BETWEEN_HOSTS = ("fetched", "staged", "staged blocking")
ONE_HOST = "shared memory"
# It is handed matrices of which it does not know that they are in a window.
PBLAS_VARIANT = Variant("our PBLAS", "diagonal", 1, _GOT)
PDGEMMS = {"our PBLAS": "our PBLAS", "": "stock pdgemm", "our BLACS": "pdgemm on our BLACS", "MKL": "MKL's pdgemm",
           "Global Arrays": "Global Arrays"}
LEAST_OF_PDGEMM = 0.98  # on one host
# Gets of whole blocks and broadcasts of chunks, but for *narrow*, panels as wide as these, and *wide*, whole blocks.
SIMULATED = {"natural": ORANGE, "diagonal": BLUE, "diagonal, blocking": GREEN, "diagonal, narrow": YELLOW,
             "SUMMA": PURPLE, "SUMMA, wide": BLACK}
_DATA = pathlib.Path(__file__).resolve().parent.parent / "studies" / "paper" / "srumma.csv"


class Product(NamedTuple):
    """The results of one product on one grid. `peers`: {label: (Figure, ratio to ours)}; `summa`: {"get" or
    "broadcast": Figure}."""

    ours: dict  # {way: Figure}
    alone: Figure
    link_us: float  # None: not known
    peers: dict
    summa: dict

    def over_pblas(self, label):
        """A peer's time over that of our PBLAS, each over that of ours in its own launch; None: not measured."""
        if not {label, "our PBLAS"} <= set(self.peers):
            return None
        return ratio(self.peers[label][1], self.peers["our PBLAS"][1])

    def hidden(self):
        """Returns the share of communication, in per cent, that goes on while a rank multiplies: of the time by which
        blocking takes longer than the arithmetic alone."""
        communication = self.ours["blocking"].median - self.alone.median
        saved = self.ours["blocking"].median - self.ours[OURS].median
        return 100 * saved / communication if communication > 0 else 100.0

    def bound_us(self):
        return max(self.link_us, self.alone.median) if self.link_us and self.alone else None


def paper():
    """{claim: (low, high or None)}, in per cent."""
    with open(_DATA, encoding="utf-8", newline="") as lines:
        return {row["claim"]: (float(row["low"]), float(row["high"]) if row["high"] else None)
                for row in csv.DictReader(lines)}


# ---- overlap ---------------------------------------------------------------------------------------------------------


def overlap(totals):
    """In per cent, of {delay in per cent: us}: between two delays the time is taken to be linear."""
    least = totals[0] * UNCHANGED
    before = 0
    for delay in sorted(totals):
        if totals[delay] > least:
            if totals[delay] == totals[before]:
                return before
            return before + (delay - before) * (least - totals[before]) / (totals[delay] - totals[before])
        before = delay
    return before


def is_ours(name):
    return name in ("brigade", "brigade, by messages")


def overlaps(lines):
    """{(subject, what the target does): {bytes: (Figure without a delay, per cent)}}"""
    found = collections.defaultdict(dict)
    for label, cases in by_label(lines):
        for key, subjects in cases.items():
            match = re.fullmatch(r"get, delay, wait; the target (\w+)", key.case)
            for name in dict.fromkeys(subject for subject, _ in subjects) if match else ():
                if is_ours(name) and label:
                    continue
                figures = {int(re.search(r"\d+", pattern)[0]): figure
                           for (subject, pattern), figure in subjects.items() if subject == name}
                percent = overlap({delay: figure.median for delay, figure in figures.items()})
                found[name, match[1]][key.bytes] = (figures[0], percent)
    return found


def draw_overlaps(found, title):
    """The paper's figure 2b."""
    figure, axes = plt.subplots(figsize=(6, 3.2))
    names = list(dict.fromkeys(name for name, _ in found))
    for (name, target), points in found.items():
        sizes = sorted(points)
        axes.plot(sizes, [min(points[size][1], 100) for size in sizes], "o-" if target == "sleeps" else "x--", ms=4,
                  lw=1.4, color=(BLUE, ORANGE, YELLOW, PURPLE)[names.index(name) % 4],
                  label=f"{name}, the target {target}")
    bytes_axis(axes)
    axes.set_xlabel("get")
    axes.set_ylabel("overlap, %")
    axes.set_ylim(0, 105)
    axes.legend(frameon=False)
    return plot(figure, title)


def overlap_section(place, lines):
    found = overlaps(lines)
    if not found:
        return []
    rows = [[name, target, format_bytes(size), time_cell(points[size][0]), f"{points[size][1]:.0f}"]
            for (name, target), points in found.items() for size in sorted(points)]
    full = paper()["overlap_of_gets_not_full_up_to"][0]
    claims = []
    for (name, target), points in found.items():
        short = [percent for size, (_, percent) in points.items() if size <= full * 1024]
        if is_ours(name):
            how = name.removeprefix("brigade") + ", " + TARGETS[target]
            claims.append([f"up to {full:g} KiB not all of a get overlaps{how}", percents(short),
                           {None: "", True: "as there", False: "more"}[min(short) < 100 if short else None]])
    title = f"Overlap of gets, {place} (figure 2b)"
    table = Table(["", "the target", "get", "without a delay, us", "overlap, %"], rows)
    return [section(title, claims, [{"title": "Get, delay, wait", "plot": draw_overlaps(found, title), "table": table}],
                    [])]


# ---- products --------------------------------------------------------------------------------------------------------


def products(lines):
    """{Key: Product}, and those of one grid together."""
    made = collections.defaultdict(lambda: Product({}, None, None, {}, {}))
    for label, cases in by_label(lines):
        for key, subjects in cases.items():
            if not key.case.startswith("matrix product"):
                continue
            if not label:
                of_link = lines[(lines.case == key.case) & (lines.rows == key.rows) & (lines.ranks == key.ranks)]
                link = of_link["predicted_us"].dropna() if "predicted_us" in of_link else ()
                ours = {pattern: figure for (subject, pattern), figure in subjects.items() if subject == "brigade"}
                made[key] = made[key]._replace(ours=ours, alone=subjects.get(("alone", "dgemm")),
                                               link_us=float(link.iloc[0]) if len(link) else None)
            pdgemm = subjects.get((f"pdgemm {label}".strip(), "pdgemm")) or subjects.get((label, "ga_dgemm"))
            if pdgemm and ("brigade", OURS) in subjects:
                made[key].peers[label] = (pdgemm, ratio(pdgemm, subjects["brigade", OURS]))
    for key, subjects in (case for label, cases in by_label(lines) if not label for case in cases.items()):
        for product in made if key.case.startswith("SUMMA") else ():
            if (product.ranks, product.rows, product.case) == (key.ranks, key.rows, squarest(key.ranks)):
                keep_best(made[product].summa, subjects)
    return dict(sorted(((key, product) for key, product in made.items() if OURS in product.ours),
                       key=lambda item: (item[0].ranks, item[0].case, item[0].rows)))


def squarest(ranks):
    """The products of the grid that SUMMA takes."""
    rows = max(rows for rows in range(1, math.isqrt(ranks) + 1) if ranks % rows == 0)
    return f"matrix product, {rows} x {ranks // rows} ranks"


def keep_best(summa, subjects):
    """SUMMA by gets of ours, and by MPI's broadcasts, in the faster order and chunks."""
    for (subject, pattern), figure in subjects.items():
        way = "broadcast" if pattern == "broadcast" else "get"
        if subject in ("brigade", "mpi") and (way == "broadcast") == (subject == "mpi"):
            if way not in summa or figure.median < summa[way].median:
                summa[way] = figure


def product_row(key, product):
    ours = product.ours[OURS]
    bound = product.bound_us()
    cells = [key.rows, time_cell(ours),
             f"{100 * product.alone.median / ours.median:.0f}" if product.alone else "",
             f"{ours.median / bound:.2f}" if bound else ""]
    cells += [ratio_cell(product.peers[label][1]) if label in product.peers else "" for label in PDGEMMS]
    over_pblas = product.over_pblas("")
    cells.append(ratio_cell(over_pblas) if over_pblas else "")
    return cells + [ratio_cell(ratio(product.summa[way], ours)) if way in product.summa else ""
                    for way in ("get", "broadcast")]


def way_row(place, key, product):
    ours = product.ours[OURS]

    def cell(way):
        if place != ONE_HOST and way in SAME_BETWEEN_HOSTS:
            return "–"
        return Cell(f"{product.ours[way].median / ours.median:.2f}") if way in product.ours else ""

    return [key.rows, format_us(ours.median), *map(cell, VARIANTS)]


def used_part():
    """Returns the part that explains the names."""
    return {"title": "Variants of Brigade", "plot": None, "table": Table(
        ["", "order", "blocks under way", "blocks of others are"],
        [list(way) for way in (OUR_VARIANT, PBLAS_VARIANT, *VARIANTS.values())])}


def floor_part(found):
    """Whether ours is slower than a pdgemm anywhere on one host: on a window's memory, and as our PBLAS."""
    rows = []
    for who in ("ours, on a window's memory", "our PBLAS"):
        for label in ("", "our BLACS", "MKL"):
            ratios = {key: product.over_pblas(label) if who == "our PBLAS" else product.peers[label][1]
                      for key, product in found.items() if label in product.peers}
            ratios = {key: figure.median for key, figure in ratios.items() if figure}
            if ratios:
                key = min(ratios, key=ratios.get)
                rows.append([who, PDGEMMS[label], f"{ratios[key]:.2f}",
                             f"{key.case.removeprefix('matrix product, ')}, n = {key.rows}",
                             "kept" if ratios[key] >= LEAST_OF_PDGEMM else "missed"])
    return {"title": f"Never below {LEAST_OF_PDGEMM:g} of pdgemm on one host", "plot": None, "table": Table(
        ["", "pdgemm", "its time over ours, at least", "on", f"{LEAST_OF_PDGEMM:g}"], rows)}


def percents(values):
    return f"{min(values):.0f} to {max(values):.0f} %" if values else "not measured"


def verdict(agrees):
    return {None: "", True: "as there", False: "less"}[agrees]


def product_claims(found):
    gains = [100 * product.peers[""][1].median - 100 for product in found.values() if "" in product.peers]
    low, high = paper()["over_pdgemm_of_N_200_to_8000"]
    efficiencies = [100 * product.alone.median / product.ours[OURS].median
                    for product in found.values() if product.alone]
    serial = paper()["of_serial_dgemm_on_1849_processors"][0]
    overlapped = paper()["overlap_of_products"][0]
    hidden = [product.hidden() for product in found.values() if product.alone and "blocking" in product.ours]
    orders = [100 * product.ours["natural"].median / product.ours[OURS].median - 100
              for product in found.values() if "natural" in product.ours]
    blocking = [100 * product.ours["blocking"].median / product.ours[OURS].median - 100
                for product in found.values() if "blocking" in product.ours]
    return [[f"faster than pdgemm by {low:g} to {high:g} %", percents(gains),
             verdict(sum(gains) / len(gains) >= low if gains else None)],
            [f"{serial:g} % of dgemm alone", percents(efficiencies),
             verdict(max(efficiencies) >= serial if efficiencies else None)],
            [f"{overlapped:g} % of a product's communication overlaps with its arithmetic", percents(hidden),
             verdict(sum(hidden) / len(hidden) >= overlapped if hidden else None)],
            ["an order that avoids contention is faster than the natural one", percents(orders),
             verdict(sum(orders) >= 0 if orders else None)],
            ["blocks under way while it multiplies gain", percents(blocking),
             verdict(sum(blocking) >= 0 if blocking else None)]]


def product_section(place, lines):
    found = products(lines)
    if not found:
        return []
    parts = []
    for grid in dict.fromkeys((key.ranks, key.case) for key in found):
        of_grid = {key: product for key, product in found.items() if (key.ranks, key.case) == grid}
        name = grid[1].removeprefix("matrix product, ")
        parts.append({"title": f"{name}: the peer's time over ours", "plot": None, "table": Table(
            ["n", "ours, us", "of alone, %", "over the bound", *PDGEMMS.values(), "stock pdgemm over our PBLAS",
             "SUMMA by gets", "SUMMA by broadcasts"],
            [product_row(*item) for item in of_grid.items()])})
        same = "" if place == ONE_HOST else "; –: between hosts nothing is read in place, and all goes by messages"
        parts.append({"title": f"{name}: variants, over ours in diagonal order (figures 8, 10){same}", "plot": None,
                      "table": Table(["n", "ours, us", *(way.title for way in VARIANTS.values())],
                                     [way_row(place, *item) for item in of_grid.items()])})
    parts.append(used_part())
    if place == ONE_HOST:
        parts.append(floor_part(found))
    summaries = []
    for label, name in PDGEMMS.items():
        versus = [Versus(f"{key.case}, n = {key.rows}", product.peers[label][1])
                  for key, product in found.items() if label in product.peers]
        if versus and label != "our PBLAS":
            summaries.append(Summary(f"{place}: products beside {name}", {"peer": versus}))
    return [section(f"Products, {place}", product_claims(found), parts, summaries)]


def sections(place, lines, _):
    return overlap_section(place, lines) + product_section(place, lines)


# ---- simulated machines ----------------------------------------------------------------------------------------------


def draw_simulated(lines, block):
    """Time over the time of the arithmetic, and contention."""
    figure, (time, contention) = plt.subplots(1, 2, figsize=(10, 3.6))
    for way, colour in SIMULATED.items():
        of_way = lines[(lines.case == way) & (lines.block == block)].sort_values("ranks")
        time.plot(of_way.ranks, of_way.us / of_way.compute_us, "o-", ms=4, lw=1.4, color=colour, label=way)
        contention.plot(of_way.ranks, of_way.contention, "o-", ms=4, lw=1.4, color=colour)
    time.axhline(1, color=BLACK, lw=0.8)
    time_axis(time.yaxis)
    time.set_ylabel("time over arithmetic")
    contention.set_ylabel("messages between two hosts in a step, at most")
    contention.set_yscale("symlog", base=2, linthresh=1)
    for axes in (time, contention):
        axes.set_xscale("log", base=2)
        axes.set_xlabel("ranks")
        axes.grid(True, alpha=0.25)
    time.legend(frameon=False)
    return plot(figure, f"Simulated products with blocks of {block}")


def simulated_sections(lines):
    """None where nothing was simulated."""
    if not len(lines):
        return []
    parts = []
    for block in dict.fromkeys(lines.block):
        rows = []
        for (ranks, n), of_cell in lines[lines.block == block].groupby(["ranks", "rows"], sort=True):
            row = [ranks, n, format_us(of_cell.compute_us.iloc[0])]
            for way in SIMULATED:
                of_way = of_cell[of_cell.case == way]
                row.append(Cell(format_us(of_way.us.iloc[0]), f"{of_way.contention.iloc[0]}") if len(of_way) else "")
            rows.append(row)
        parts.append({"title": f"blocks of {block} on {lines.machine.iloc[0]}; small: most messages from a host to one "
                      "other in a step", "plot": draw_simulated(lines, block),
                      "table": Table(["ranks", "n", "arithmetic, us", *(f"{way}, us" for way in SIMULATED)], rows)})
    title = "Simulated fat hosts (figures 10 and 12, with equal blocks on each rank)"
    return [section(title, simulated_claims(lines), parts, [])]


def simulated_claims(lines):
    """Of the products that take several hosts."""
    us = lines[lines.contention > 0].pivot_table(index=["ranks", "block"], columns="case", values="us")
    if not {"natural", "diagonal", "SUMMA"} <= set(us.columns):
        return []
    over = {way: list(100 * us[way] / us["diagonal"] - 100) for way in ("natural", "SUMMA")}
    return [["an order that avoids contention is faster than the natural one", percents(over["natural"]),
             verdict(min(over["natural"]) >= 0)],
            ["gets are faster than broadcasts", percents(over["SUMMA"]), verdict(min(over["SUMMA"]) >= 0)]]
