"""The page of a study: what the paper found, and what was found here. Reads study_NAME_PLACE.jsonl, and
study_NAME_simulated.jsonl if it is there."""

import argparse
import collections
import pathlib
import re

from bench.report import (
    exchange, factorizations, li_as, li_mult, li_rdx, overview, pblas, putget, srumma, style, supersteps)
from bench.report.measurements import folder, load

PLACES = {"shm": "shared memory", "loopback": "TCP on this host", "cluster": "hosts with slow links"}
STUDIES = {"exchange": exchange, "as": li_as, "mult": li_mult, "rdx": li_rdx, **putget.STUDIES, "srumma": srumma,
           "large": srumma, "pblas": pblas, "factorizations": factorizations}


def lines_of(name, directory):
    """{place: lines}"""
    lines = {place: load(directory / f"study_{name}_{place}.jsonl") for place in PLACES}
    return {place: of_place for place, of_place in lines.items() if len(of_place)}


def sections_of(name, directory, lines):
    study = STUDIES[name]
    sections = [section for place, of_place in lines.items()
                for section in study.sections(PLACES[place], of_place, lines)]
    simulated = getattr(study, "simulated_sections", supersteps.sections)
    return sections + simulated(load(directory / f"study_{name}_simulated.jsonl"))


def make_page(name, directory):
    lines = lines_of(name, directory)
    sections = sections_of(name, directory, lines)
    study = STUDIES[name]
    commands = directory / "commands.txt"
    return style.render(
        "study.html.j2", title=study.TITLE, paper=study.PAPER, method=study.METHOD, sections=sections,
        machine=overview.machine(lines.values()),
        summary=overview.summary_table([summary for section in sections for summary in section.summaries]),
        commands=commands.read_text() if commands.exists() else "")


def pictures(name, directory):
    """Returns {file name: SVG} of the plots of its page. Plots of several places with equal descriptions get the
    titles of their sections in their names."""
    plots = [(section.title, part["plot"]) for section in sections_of(name, directory, lines_of(name, directory))
             for part in section.data.get("parts", ()) if part["plot"]]
    alike = collections.Counter(plot["description"] for _, plot in plots)
    names = [plot["description"] if alike[plot["description"]] == 1 else f"{title} {plot['description']}"
             for title, plot in plots]
    return {re.sub(r"\W+", "-", words.lower()).strip("-") + ".svg": plot["svg"]
            for words, (_, plot) in zip(names, plots)}


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.study", description=__doc__)
    parser.add_argument("name", choices=STUDIES)
    parser.add_argument("directory", type=folder, help="where the JSON lines are")
    parser.add_argument("--pictures", metavar="FOLDER", type=pathlib.Path,
                        help="leave its plots there, and make no page")
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
        for file, svg in pictures(arguments.name, arguments.directory).items():
            (arguments.pictures / file).write_text(svg, encoding="utf-8")
        return
    page = make_page(arguments.name, arguments.directory)
    (arguments.directory / f"study_{arguments.name}.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
