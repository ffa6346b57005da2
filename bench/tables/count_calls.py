#!/usr/bin/python3
"""Counts the instructions of short calls, and the source files of Brigade that they enter, by callgrind.

Needs valgrind, and a build of //bench/tables:counted_calls and of the libraries. Prints a table, and on the standard
error output the instructions in each file. The first argument may be the bazel-bin of another commit, whose libraries
are counted then.
"""

import collections
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "support")]
import mpi_job  # noqa: E402

PROGRAM = ROOT / "bazel-bin/bench/tables/counted_calls"
BLACS = "blacs_shim/libbrigade_blacs.so"
RMA = "rma_shim/libbrigade_rma.so"
C = "patterns/api/libbrigade.so.1"
# Not the headers of the system, whose folder is called include, too.
OURS = re.compile(r"(?!/usr/)(?:.*?/)?((?:include|membuf|transport|patterns|windows|\w+_shim)/.*)")
# Looks for lost ranks are due by time, and valgrind stretches time: it would count too many.
WITHOUT_LOOKS = ["--toggle-collect=brigade::ProgressAll*"]

Case = collections.namedtuple("Case", "name calls count library settings")
CASES = (
    Case("message", {0: "dgesd2d, 8 B", 1: "dgerv2d, 8 B"}, 1000, BLACS, ["BRIGADE_TRANSPORT=shm"]),
    Case("broadcast", {0: "dgebs2d, 1 MiB over TCP"}, 10, BLACS, ["BRIGADE_TRANSPORT=sockets"]),
    Case("put", {0: "MPI_Put, 8 B"}, 1000, RMA, ["BRIGADE_TRANSPORT=shm"]),
    Case("bcast", {0: "brigade_bcast, 8 B, root", 1: "brigade_bcast, 8 B, receiver"}, 1000, C,
         ["BRIGADE_TRANSPORT=shm"]),
    Case("plan", {0: "brigade_plan_run, the same, root", 1: "brigade_plan_run, the same, receiver"}, 1000, C,
         ["BRIGADE_TRANSPORT=shm"]),
)


def read(lines, program):
    """Returns the instructions outside of `program` by file: of Brigade, or a library or header of the system."""
    names = {}
    instructions = collections.Counter()
    object_, file, is_inclusive = "", "", False
    for line in lines:
        named = re.match(r"(c?)(ob|f[lie])=(?:\((\d+)\) ?)?(.*)$", line)
        if named:
            is_callee, kind, number, name = named.groups()
            key = ("ob" if kind == "ob" else "file", number)
            if name and number:
                names[key] = name
            name = name or names[key]
            if is_callee:
                continue
            if kind == "ob":
                object_ = name
            else:
                file = name
        elif line.startswith("calls="):
            is_inclusive = True
        elif re.match(r"[-+*\d]\S* \d+$", line):
            if not is_inclusive and not object_.endswith(f"/{program}"):
                ours = OURS.match(file)
                instructions[ours[1] if ours else file if file.startswith("/") else object_] += int(line.split()[1])
            is_inclusive = False
    return instructions


def run(case, libraries, folder):
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=counted_call", *WITHOUT_LOOKS, "--dump-instr=no",
               f"--callgrind-out-file={folder}/rank.%q{{OMPI_COMM_WORLD_RANK}}"]
    # The program would take libbrigade.so of its own build otherwise.
    library = f"{libraries / C}:{libraries / case.library}"
    job = mpi_job.run([*command, PROGRAM, case.name, case.count], 2, library, folder, case.settings, silence_s=600)
    if not job.ended or job.status != 0:
        sys.exit(f"{case.name}: {job.errors}")
    for rank, call in case.calls.items():
        text = (folder / f"rank.{rank}").read_text()
        instructions = read(text.splitlines(), PROGRAM.name)
        # In each call: a look at something else comes now and then.
        entered = sum(1 for file, count in instructions.items() if OURS.match(file) and count >= case.count)
        print(f"| {call} | {instructions.total() / case.count:.0f} | {entered} |")
        for file, count in instructions.most_common():
            print(f"{count / case.count:10.1f} {file}", file=sys.stderr)


def main():
    libraries = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "bazel-bin").resolve()
    print("| call | instructions | source files entered |\n|---|---|---|")
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            run(case, libraries, pathlib.Path(folder))


if __name__ == "__main__":
    main()
