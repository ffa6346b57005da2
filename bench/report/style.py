"""How reports look: colours and names of contenders, numbers, cells of tables, plots, templates."""

import io
import pathlib
import re
from typing import NamedTuple

import jinja2
import matplotlib

from bench.report import measurements

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

# Okabe and Ito: safe for colour-blind readers.
BLUE, SKY, GREEN, ORANGE, YELLOW, PURPLE, BLACK = (
    "#0072b2", "#56b4e9", "#009e73", "#d55e00", "#e69f00", "#cc79a7", "#000000")
# One colour per contender, the same in every plot.
COLOURS = {
    "shim": SKY,
    "brigade": BLUE,
    "direct": GREEN,
    "stock": ORANGE,
    "plain": PURPLE,
    "mpi": "#666666",
    "bare ring": BLACK,
    "stock CMA off": YELLOW,
    "mpi CMA off": "#aaaaaa",
    "mpi MPICH": "#b8a800",
    "mpi MPICH 5": "#7a7000",
    "mpi Open MPI 5": "#444444",
    "mpi Intel MPI": "#aa4499",
    "best MPI": "#882255",
    "bare socket": BLACK,
    "bare memory": BLACK,
    "peer": ORANGE,
}
NAMES = {
    "shim": "Brigade shim",
    "brigade": "Brigade patterns",
    "direct": "hand-written tree",
    "stock": "reference BLACS",
    "plain": "plain patterns",
    "mpi": "MPI",
    "mpi tuned": "MPI, tuned",
    "stock tuned": "reference BLACS, tuned MPI",
    "better MPI": "better of Open MPI's two",
    "bare ring": "bare ring",
    "stock CMA off": "reference BLACS, CMA off",
    "mpi CMA off": "MPI, CMA off",
    "mpi MPICH": "MPICH",
    "mpi MPICH 5": "MPICH 5",
    "mpi Open MPI 5": "Open MPI 5",
    "mpi Intel MPI": "Intel MPI",
    "best MPI": "best of all MPIs and settings",
    "bare socket": "bare socket",
    "bare memory": "bare memory",
    "peer": "peer",
}


def present(contenders_of_cases):
    """The contenders that occur, in the order of NAMES."""
    occurring = {name for contenders in contenders_of_cases for name in contenders}
    return [name for name in NAMES if name in occurring]


# ---- numbers and cells -----------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """Of a table. `verdict`: better, worse, even, or none."""

    text: str
    note: str = ""
    verdict: str = ""
    bold: bool = False


class Table(NamedTuple):
    header: list
    rows: list  # lists of Cells, or of what a Cell's text may be


class Section(NamedTuple):
    """`layout`: of templates/sections.html.j2; `data`: what that macro takes."""

    title: str
    layout: str
    data: dict
    summaries: list = ()


def format_bytes(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def format_us(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def time_cell(figure):
    return Cell(format_us(figure.median), f"[{format_us(figure.lo)}, {format_us(figure.hi)}]")


def times_cell(figure):
    """Of a multiple of something."""
    return Cell(f"{figure.median:.3g}", f"[{figure.lo:.3g}, {figure.hi:.3g}]")


def ratio_cell(figure):
    """Green where Brigade is faster beyond doubt, red where it is slower, plain where that is open."""
    verdict = "better" if measurements.is_better(figure) else "worse" if measurements.is_worse(figure) else "even"
    return Cell(f"{figure.median:.2f}", f"[{figure.lo:.2f}, {figure.hi:.2f}]", verdict)


# ---- templates -------------------------------------------------------------------------------------------------------

_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(pathlib.Path(__file__).resolve().parent / "templates"),
    autoescape=jinja2.select_autoescape(["html.j2"]), trim_blocks=True, lstrip_blocks=True,
    undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
_templates.filters["percent"] = lambda share, digits=1: f"{100 * share:.{digits}f} %"
_templates.filters["cell"] = lambda value: value if isinstance(value, Cell) else Cell(value)


def render(template, **data):
    return _templates.get_template(template).render(data)


def render_section(section):
    return render("section.html.j2", section=section)


# ---- plots -----------------------------------------------------------------------------------------------------------

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none",
                     "font.family": "sans-serif"})


def svg_text(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    plt.close(figure)
    text = re.sub("<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)
    return text[text.index("<svg"):]


def plot(figure, description):
    """Returns a template's data of a picture."""
    return {"svg": svg_text(figure), "description": description}


def save(figure, path):
    """Saves a figure with equal bytes in every run."""
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def bytes_axis(axes):
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: format_bytes(int(v))))
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(base=2, numticks=6))
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlabel("message")
    axes.grid(True, which="major", alpha=0.25)


def time_axis(axis):
    axis.axes.set_yscale("log")
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5), numticks=8))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f"{v:,.6g}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def ratio_axis(axis):
    """Logarithmic, so that twice as fast and half as fast are equally far from 1."""
    axis.axes.set_yscale("log")
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f"{v:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axis.set_major_locator(matplotlib.ticker.FixedLocator([0.25, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 16]))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def draw_lines(axes, series):
    """`series`: {contender: [(bytes, Figure)]}, with the interval as a band."""
    for name, points in series.items():
        points.sort(key=lambda point: point[0])
        x = [p[0] for p in points]
        colour = COLOURS[name]
        axes.plot(x, [p[1].median for p in points], "o-", ms=3, lw=1.4, color=colour, label=NAMES[name])
        axes.fill_between(x, [p[1].lo for p in points], [p[1].hi for p in points], color=colour, alpha=0.2, lw=0)


def draw_intervals(axes, named):
    """`named`: [(name, Figure)], one row each, of ratios."""
    for y, (_, f) in enumerate(named):
        axes.errorbar(f.median, y, xerr=[[f.median - f.lo], [f.hi - f.median]], fmt="o", ms=5, capsize=3,
                      color=COLOURS["stock"])
    axes.axvline(1, color="black", lw=0.8)
    axes.set_yticks(range(len(named)), [name for name, _ in named])
    axes.invert_yaxis()
    axes.grid(True, axis="x", alpha=0.25)


def draw_ratios(axes, series):
    draw_lines(axes, series)
    axes.axhline(1, color="black", lw=0.8)
    ratio_axis(axes.yaxis)
    bytes_axis(axes)
