#!/usr/bin/python3
"""Writes the page and the picture of each paper from a folder of results."""

import argparse
import json
import pathlib

from bench.papers import contract, judge, picture
from bench.papers.results import Results
from bench.report import style

COLUMNS = ("simulated", "here")


def text_of(number, reason):
    return f"not run: {reason}" if number is None else f"{number:.4g}"


def render(study, results, about):
    """Returns the page, and {(table, row, column): (simulated, here)}. `about`: the machine, see papers_job."""
    papers, values, tables = {}, {}, []
    for table in study.tables:
        rows = []
        for cell in table.cells:
            key = (table.name, cell.row, cell.column)
            read = [results.read(study, value) for value in (cell.simulated, cell.here)]
            papers[key] = cell.paper
            values[key] = tuple(number for number, _ in read)
            marks = ("*" if cell.fitted else "") + ("?" if cell.doubtful else "")
            paper = "-" if cell.paper is None else f"{cell.paper:g}"
            rows.append([cell.row, cell.column, paper + marks, *(text_of(*of_column) for of_column in read)])
        tables.append({"table": table, "rows": rows})
    findings = [(finding.text, judge.holds(finding, lambda *key: papers[key]),
                 *(judge.holds(finding, lambda *key, p=place: values[key][p]) for place in range(len(COLUMNS))))
                for finding in study.findings]
    # On another machine figures are others, and only directions can be compared.
    errors = {table.name: judge.errors(
        table.cells, lambda cell, name=table.name: values[name, cell.row, cell.column][0]) for table in study.tables}
    if len(study.tables) > 1:
        errors["all"] = judge.errors([cell._replace(row=(table.name, cell.row)) for table in study.tables
                                      for cell in table.cells],
                                     lambda cell: values[(*cell.row, cell.column)][0])
    directions = {column: judge.directions(study.directions, lambda key: papers[key],
                                           lambda key, p=place: values[key][p])
                  for place, column in enumerate(COLUMNS)}
    records = [record for run in study.runs() if (record := results.record(study, run)) and not record["reason"]]
    page = style.render("paper_page.md.j2", study=study, tables=tables, findings=findings, about=about,
                        errors_of_tables=errors, directions=directions,
                        commits=sorted({record["commit"] for record in records}),
                        dates=sorted({record["date"] for record in records}))
    return page, values


def write_pages(folder, pages, names):
    """Writes NAME.md and NAME.svg of the papers into `pages`."""
    results = Results(folder)
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    pages.mkdir(parents=True, exist_ok=True)
    for name in names:
        study = contract.study(name)
        if study.tables:
            page, values = render(study, results, about)
            (pages / f"{name}.md").write_text(page, encoding="utf-8")
            picture.draw(study, values, pages / f"{name}.svg")


def main():
    parser = argparse.ArgumentParser(prog="python3 -m bench.papers.render", description=__doc__)
    parser.add_argument("results", type=pathlib.Path, help="the folder of ./bench/run.sh --papers")
    parser.add_argument("--pages", type=pathlib.Path, required=True, help="write them here")
    parser.add_argument("--papers", default=",".join(contract.NAMES), help="of these; default: all")
    arguments = parser.parse_args()
    write_pages(arguments.results, arguments.pages, arguments.papers.split(","))


if __name__ == "__main__":
    main()
