"""Turns the JSON lines of a folder of bench/run.sh into one self-contained HTML page: report.html beside them."""

import argparse
import pathlib

from bench.report import cluster, one_host, overview, style
from bench.report.measurements import folder, load

# Whose lines say of the machine.
_OF_MACHINE = ("pingpong", "calls", "grid", "spread", "cluster_patterns")


def make_page(directory):
    sections = [*one_host.sections(directory), *cluster.sections(directory)]
    if memory := one_host.memory_section(directory):
        sections.append(memory)
    summaries = [summary for section in sections for summary in section.summaries]
    commands = directory / "commands.txt"
    files = [load(directory / f"{name}.jsonl") for name in _OF_MACHINE]
    return style.render(
        "report.html.j2", machine=overview.machine(files), overview=overview.overview(summaries),
        summary=overview.summary_table(summaries), sections=sections,
        links=cluster.about_links(directory) if cluster.payload_rates(directory) else None,
        commands=commands.read_text() if commands.exists() else "")


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.report", description=__doc__)
    parser.add_argument("directory", type=folder, help="where the JSON lines are")
    parser.add_argument("--picture", metavar="FILE", type=pathlib.Path,
                        help="also write ping-pong and ScaLAPACK ratios as one small SVG")
    arguments = parser.parse_args()
    directory = arguments.directory
    (directory / "report.html").write_text(make_page(directory), encoding="utf-8")
    if arguments.picture and one_host.pingpong_by_shape(directory):
        arguments.picture.write_text(one_host.picture(directory), encoding="utf-8")


if __name__ == "__main__":
    main()
