"""Prints times of collectives on many simulated ranks, this library's beside Open MPI's (the output of scale_table),
and draws them."""

import argparse
import json
import pathlib
import statistics

from bench.report import measurements, style
from bench.report.style import plt

PATTERNS = ("broadcast", "reduce", "multi_broadcast", "multi_reduce")
OWN = {"brigade": "ours, chosen freely", "brigade_named": "ours, best by name"}
TITLES = {**OWN, "open_mpi": "Open MPI"}
STYLES = {"brigade": ("-", "o"), "brigade_named": (":", "s"), "open_mpi": ("--", "x")}
COLOURS = (style.BLUE, style.GREEN, style.PURPLE, style.YELLOW, style.ORANGE)
SIZES = (8, 8 << 10, 64 << 10, 1 << 20, 16 << 20)


def read(files):
    cells = measurements.load_all(files).to_dict("records")
    if not cells:
        raise SystemExit("scale.py: no cells in " + ", ".join(str(f) for f in files))
    return cells


def time_us(subject):
    """Returns the time, and whether it was simulated: otherwise it comes from the closed form."""
    simulated = subject["simulated_us"]
    return (subject["predicted_us"], False) if simulated is None else (simulated, True)


def ratio(cell, who):
    return cell["open_mpi"]["simulated_us"] / time_us(cell[who])[0]


def size_class(cell):
    """Of the selected sizes: blocks of 8 bytes are the first."""
    if cell["pattern"].startswith("multi") and cell["bytes"] == 8 * cell["ranks"]:
        return SIZES[0]
    return cell["bytes"]


def size_name(size, pattern):
    if size == SIZES[0]:
        return "8 B each" if pattern.startswith("multi") else "8 B"
    return style.format_bytes(size)


def of_pattern(cells, pattern):
    return [c for c in cells if c["pattern"] == pattern]


def deviations(cells):
    """Of the closed form from the simulation, relative, wherever there are both."""
    return [abs(c[who]["predicted_us"] / c[who]["simulated_us"] - 1) for c in cells for who in OWN
            if c[who]["simulated_us"] is not None]


def summarise_pattern(cells):
    entry = {"cells": len(cells)}
    for who in OWN:
        ratios = [ratio(c, who) for c in cells]
        entry[who] = {"simulated": sum(time_us(c[who])[1] for c in cells), "mean": measurements.geometric_mean(ratios),
                      "least": min(ratios), "most": max(ratios)}
    if errors := deviations(cells):
        entry["closed_form"] = {"compared": len(errors), "median": statistics.median(errors), "worst": max(errors)}
    return entry


def summarise(cells):
    return {pattern: summarise_pattern(own) for pattern in PATTERNS if (own := of_pattern(cells, pattern))}


def own_text(cell, who):
    us, simulated = time_us(cell[who])
    text = f"{'' if simulated else '~'}{us:.1f} ({ratio(cell, who):.2f}) {cell[who]['algorithm']}"
    return text + (f", {cell[who]['segments']} segments" if cell[who]["segments"] > 1 else "")


def blocks(cells):
    """(title, rows) of each pattern and size."""
    for pattern in PATTERNS:
        own = of_pattern(cells, pattern)
        for size in sorted({size_class(cell) for cell in own}):
            rows = [(cell["ranks"], *(own_text(cell, who) for who in OWN),
                     f"{cell['open_mpi']['simulated_us']:.1f} {cell['open_mpi']['algorithm']}")
                    for cell in own if size_class(cell) == size]
            yield f"{pattern.replace('_', '-')}, {size_name(size, pattern)}", rows


def make_text(cells, summary):
    return style.render("scale.txt.j2", machine=cells[0]["machine"], blocks=list(blocks(cells)), summary=summary,
                        own=OWN, titles=OWN.values())


def draw_panel(axes, cells):
    """Time over ranks, a colour per size; hollow: by the closed form."""
    for size, colour in zip(SIZES, COLOURS):
        of_size = [c for c in cells if size_class(c) == size]
        for who, (line, marker) in STYLES.items():
            points = [(c["ranks"], *time_us(c[who])) for c in of_size]
            axes.plot([p[0] for p in points], [p[1] for p in points], linestyle=line, color=colour, linewidth=1)
            for ranks, us, simulated in points:
                fill = colour if simulated or who == "open_mpi" else "white"
                axes.plot(ranks, us, marker=marker, color=colour, markerfacecolor=fill, markersize=4.5, linestyle="")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("us")


def draw(cells, path):
    """A panel per pattern."""
    figure, grid = plt.subplots(2, 2, figsize=(14, 10), sharex=True)
    for axes, pattern in zip(grid.flat, PATTERNS):
        draw_panel(axes, of_pattern(cells, pattern))
        axes.set_title(pattern.replace("_", "-"))
    for axes in grid[1]:
        axes.set_xlabel("ranks")
    legend = [plt.Line2D([], [], color=c, label=size_name(s, "")) for s, c in zip(SIZES, COLOURS)]
    legend += [plt.Line2D([], [], color="black", linestyle=line, marker=marker, label=TITLES[who])
               for who, (line, marker) in STYLES.items()]
    legend.append(plt.Line2D([], [], color="black", marker="o", markerfacecolor="white", linestyle="",
                             label="by the closed form"))
    figure.legend(handles=legend, ncol=9, loc="lower center", frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.scale", description=__doc__)
    parser.add_argument("simulated", type=pathlib.Path, nargs="+", help="what scale_table printed")
    parser.add_argument("--plot", type=pathlib.Path, help="draw here (SVG)")
    parser.add_argument("--summary", type=pathlib.Path, help="write means and deviations here (JSON)")
    arguments = parser.parse_args()
    cells = read(arguments.simulated)
    summary = summarise(cells)
    print(make_text(cells, summary), end="")
    if arguments.plot:
        draw(cells, arguments.plot)
    if arguments.summary:
        arguments.summary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
