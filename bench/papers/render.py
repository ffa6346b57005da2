"""Writes the page and the picture of each paper from a folder of results."""

import argparse
import pathlib

from bench.papers import contract, judge, picture
from bench.papers.contract import Value
from bench.papers.results import Results
from bench.report import style

COLUMNS = ("simulated", "here")


def _row(cell, read, marks):
    paper = "-" if cell.paper is None else f"{cell.paper:g}"
    kind = "*" * cell.fitted + "+" * cell.is_input + "?" * cell.doubtful
    return [cell.row, cell.column, paper + kind, *(
        marks[reason] if number is None else f"{number:.4g}" for number, reason in read)]


def _records(study, results, values):
    runs = {run.name: run for value in values if isinstance(value, Value) for run in value.runs}
    return [record for run in runs.values() if (record := results.record(study, run))]


def render(study, results):
    """Returns the page, and {(table, row, column): (simulated, here)}."""
    papers, values, tables = {}, {}, []
    for table in study.tables:
        reads = [[results.read(study, value) for value in (cell.simulated, cell.here)] for cell in table.cells]
        reasons = list(dict.fromkeys(reason for read in reads for _, reason in read if reason))
        marks = {reason: "-" if len(reasons) == 1 else f"- ({number})" for number, reason in enumerate(reasons, 1)}
        for cell, read in zip(table.cells, reads):
            papers[table.name, cell.row, cell.column] = cell.paper
            values[table.name, cell.row, cell.column] = tuple(number for number, _ in read)
        has_values = any(cell.paper is not None or any(number is not None for number, _ in read)
                         for cell, read in zip(table.cells, reads))
        tables.append({"table": table, "has_values": has_values, "reasons": reasons,
                       "absences": [f"`{mark}` in the last two columns: {reason}" for reason, mark in marks.items()],
                       "rows": [_row(cell, read, marks) for cell, read in zip(table.cells, reads)]})
    findings = [(finding.text, judge.holds(finding, lambda *key: papers[key]),
                 *(judge.holds(finding, lambda *key, p=place: values[key][p]) for place in range(len(COLUMNS))))
                for finding in study.findings]
    # On another machine figures are others, and only directions can be compared.
    errors = {table.name: judge.errors(
        table.cells, lambda cell, name=table.name: values[name, cell.row, cell.column][0]) for table in study.tables}
    if len(study.tables) > 1:
        errors["all"] = judge.errors([cell._replace(row=(table.name, cell.row)) for table in study.tables
                                      for cell in table.cells if not table.repeats],
                                     lambda cell: values[(*cell.row, cell.column)][0])
    directions = {column: judge.directions(study.directions, lambda key: papers[key],
                                           lambda key, p=place: values[key][p])
                  for place, column in enumerate(COLUMNS)}
    cells = [cell for table in study.tables for cell in table.cells]
    measured = _records(study, results, [cell.here for cell in cells])
    records = measured + _records(study, results, [cell.simulated for cell in cells])
    page = style.render("paper_page.md.j2", study=study, tables=tables, findings=findings,
                        errors_of_tables=errors, directions=directions,
                        is_measured=any(here is not None for _, here in values.values()),
                        is_simulated=any(simulated is not None for simulated, _ in values.values()),
                        machines=sorted({f"{record['machine']}; {record['versions']}" for record in measured}),
                        commits=sorted({record["commit"] for record in records}),
                        dates=sorted({record["date"] for record in records}))
    return page, values


def write_pages(folder, pages, names):
    """Writes NAME.md and NAME.svg of the papers into `pages`."""
    results = Results(folder)
    pages.mkdir(parents=True, exist_ok=True)
    for name in names:
        study = contract.study(name)
        page, values = render(study, results)
        (pages / f"{name}.md").write_text(page, encoding="utf-8")
        picture.draw(study, values, pages / f"{name}.svg")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m bench.papers.render", description=__doc__)
    parser.add_argument("results", type=pathlib.Path, help="the folder of ./bench/run.sh --papers")
    parser.add_argument("--pages", type=pathlib.Path, required=True, help="write them here")
    parser.add_argument("--papers", type=contract.paper_names, default=contract.NAMES, help="of these; default: all")
    given = parser.parse_args(arguments)
    if not given.results.is_dir():
        parser.error(f"{given.results} is no folder of results")
    if given.pages.exists() and not given.pages.is_dir():
        parser.error(f"--pages: {given.pages} is no folder")
    write_pages(given.results, given.pages, given.papers)


if __name__ == "__main__":
    main()
