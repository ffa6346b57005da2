#!/usr/bin/env python3
"""Puts the parts of a timeline together: lu.0.json, lu.1.json and so on, which the ranks of a job wrote for
BRIGADE_TRACE=lu.json, become lu.json. Open that in https://ui.perfetto.dev or chrome://tracing.

    mpirun -n 4 -x LD_PRELOAD=... -x BRIGADE_TRACE=lu.json ./my_program
    %(prog)s lu.json
"""

import argparse
import json
import pathlib
import re
import signal
import sys


def load_part(part):
    try:
        trace = json.loads(part.read_text())
        return trace, trace["otherData"]["ranks"]
    except (ValueError, KeyError, TypeError):
        sys.exit(f"{part} is no whole part of a timeline")


def load_parts(file):
    """The traces of all ranks that wrote one, as [{"otherData": ..., "traceEvents": ...}] by rank."""
    # Not the files of other timelines, such as lu.4.0.json.
    part_name = re.compile(re.escape(file.stem) + "[.][0-9]+" + re.escape(file.suffix))
    parts = [path for path in file.parent.iterdir() if part_name.fullmatch(path.name)]
    if not parts:
        sys.exit(f"no rank wrote a part of {file}")
    # An earlier job may have had more ranks than this one.
    newest = max(parts, key=lambda part: part.stat().st_mtime)
    _, ranks = load_part(newest)
    if ranks == 0:  # a job without MPI: files are numbered by process, and nothing tells one job from another
        return [trace for trace, of in map(load_part, sorted(parts)) if of == 0]
    traces = []
    for rank in range(ranks):
        part = file.with_suffix(f".{rank}{file.suffix}")
        if not part.exists():
            print(f"{part} is missing: rank {rank} of {ranks} called no BLACS, or could not write", file=sys.stderr)
            continue
        trace, ranks_of_part = load_part(part)
        if ranks_of_part != ranks:
            sys.exit(f"{part} is of a job of {ranks_of_part} ranks, {newest} of one of {ranks}")
        if dropped := trace["otherData"]["dropped_events"]:
            print(f"{part} was full: it lacks the last {dropped} events", file=sys.stderr)
        traces.append(trace)
    return traces


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", type=pathlib.Path, help="as given to BRIGADE_TRACE")
    file = parser.parse_args().file
    traces = load_parts(file)
    merged = {"otherData": {"parts": [trace["otherData"] for trace in traces]},
              "traceEvents": [event for trace in traces for event in trace["traceEvents"]]}
    try:
        file.write_text(json.dumps(merged))
    except OSError as error:
        sys.exit(f"cannot write {file}: {error.strerror}")
    print(f"{file}: {len(merged['traceEvents'])} events of {len(traces)} ranks")


def run(program):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the program, without a traceback
    try:
        program()
    except OSError as error:
        # A write has no file name.
        sys.exit(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    except ImportError as error:
        sys.exit(f"Python's package {error.name} is missing")


if __name__ == "__main__":
    run(main)
