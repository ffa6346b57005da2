#!/usr/bin/python3
"""The page of a study: what the paper found, and what was found here. Reads study_NAME_PLACE.jsonl, and
study_NAME_simulated.jsonl if it is there."""

import argparse
import pathlib

from bench.report import exchange, li_as, li_mult, li_rdx, overview, putget, srumma, style, supersteps
from bench.report.measurements import load

PLACES = {"shm": "shared memory", "loopback": "TCP on this host", "cluster": "hosts with slow links"}
STUDIES = {"exchange": exchange, "as": li_as, "mult": li_mult, "rdx": li_rdx, **putget.STUDIES, "srumma": srumma}


def make_page(name, directory):
    lines = {place: load(directory / f"study_{name}_{place}.jsonl") for place in PLACES}
    lines = {place: of_place for place, of_place in lines.items() if len(of_place)}
    study = STUDIES[name]
    sections = [section for place, of_place in lines.items()
                for section in study.sections(PLACES[place], of_place, lines)]
    simulated = getattr(study, "simulated_sections", supersteps.sections)
    sections += simulated(load(directory / f"study_{name}_simulated.jsonl"))
    commands = directory / "commands.txt"
    return style.render(
        "study.html.j2", title=study.TITLE, paper=study.PAPER, method=study.METHOD, sections=sections,
        machine=overview.machine(lines.values()),
        summary=overview.summary_table([summary for section in sections for summary in section.summaries]),
        commands=commands.read_text() if commands.exists() else "")


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.study", description=__doc__)
    parser.add_argument("name", choices=STUDIES)
    parser.add_argument("directory", type=pathlib.Path, help="where the JSON lines are")
    arguments = parser.parse_args()
    page = make_page(arguments.name, arguments.directory)
    (arguments.directory / f"study_{arguments.name}.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
