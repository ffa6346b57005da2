"""Predictions of the cost model for measured cases: `brigade_bench explain` makes each once, kept beside the lines."""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

FILE = "predictions.jsonl"
# Of these `explain` takes the bytes of one block.
BLOCKS = ("multi-broadcast", "multi-reduce", "gather", "scatter", "all-to-all")
NAMED = {"small-broadcast": "broadcast"}
# Of the shim, where a pattern of many roots is as many calls.
ONE_BY_ONE = {"multi-broadcast": "broadcast", "multi-reduce": "reduce"}
# BLACS calls, and whether their results have equal bits in any order.
CALLS = {"dgamx2d": ("all-reduce", True), "igamn2d": ("all-reduce", True), "dgsum2d": ("all-reduce", False),
         "dgebs2d": ("broadcast", False), "dgesd2d": ("send", False)}


class Question(NamedTuple):
    """Of one call, which a measured run makes `times` times. `machine`: the file's name."""

    machine: str
    pattern: str
    ranks: int
    bytes: int
    run_bytes: int  # 0: contiguous
    exact: bool
    times: int = 1


class Prediction(NamedTuple):
    us: float
    protocols: list  # that may run the call


def machine_file(place, ranks):
    """Returns the name of the calibration of a place: a transport on this host, or `cluster`, which has one."""
    return "machine_cluster.json" if place == "cluster" else f"machine_{place}_{ranks}.json"


def _scope_ranks(scope, ranks):
    """Counts the ranks of a scope of a grid as square as can be, as bench/cases/session.cc makes it."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return {"All": ranks, "Row": ranks // rows, "Column": rows}[scope]


def question(place, line):
    """Returns the Question of a line of Brigade's own; None: calls that overlap, of which the model predicts one."""
    if line["case"] == "successive-broadcasts":
        return None
    machine = machine_file(place, line["ranks"])
    ranks, count = line["ranks"], line["bytes"]
    run_bytes = count // line["cols"] if line["cols"] > 1 and line["ld"] > line["rows"] else 0
    if call := CALLS.get(line["case"].split()[0].rstrip(",")):
        pattern, exact = call
        scope = re.search(r"scope (\w+)", line["case"])
        ranks = 2 if pattern == "send" else _scope_ranks(scope.group(1), ranks)
        return Question(machine, pattern, ranks, count, run_bytes, exact)
    if line["case"].startswith("pingpong"):
        return Question(machine, "send", 2, count, run_bytes, False)
    pattern = NAMED.get(line["case"], line["case"])
    if pattern in BLOCKS:
        count //= ranks
    if line["pattern"].startswith("Q x "):
        return Question(machine, ONE_BY_ONE[pattern], ranks, count, run_bytes, False, ranks)
    return Question(machine, pattern, ranks, count, run_bytes, False)


def _ask(bench, directory, asked):
    """Returns the answer, or None if the program fails."""
    with tempfile.TemporaryDirectory() as scratch:
        answer = pathlib.Path(scratch) / "answer"
        command = [bench, "explain", "--machine", directory / asked.machine, "--pattern", asked.pattern,
                   "--ranks", str(asked.ranks), "--bytes", str(asked.bytes), "--run-bytes", str(asked.run_bytes),
                   *(["--exact"] if asked.exact else []), "--json", answer]
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            return json.loads(answer.read_text())
        except (OSError, subprocess.CalledProcessError, ValueError) as error:
            print(f"bench.report.predictions: no prediction of {asked}: {error}", file=sys.stderr)
            return None


def predict(directory, questions, bench=None):
    """{Question: Prediction}. With a program, it answers questions without an answer in the folder, and the
    answers are kept."""
    path = directory / FILE
    lines = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    known = {Question(**line["question"]): line for line in lines}
    if bench:
        with open(path, "a", encoding="utf-8") as file:
            for asked in questions:
                if asked in known or not (directory / asked.machine).exists():
                    continue
                if answer := _ask(bench, directory, asked):
                    known[asked] = {"question": asked._asdict(), **answer}
                    print(json.dumps(known[asked]), file=file)
    return {asked: Prediction(asked.times * known[asked]["predicted_us"], known[asked]["protocols"])
            for asked in questions if asked in known}
