#!/usr/bin/env python3
"""Runs Debian's unmodified BLACS, PBLAS and ScaLAPACK testers on preloaded libraries and judges what they count.

A tester passes if its summary is the one recorded for stock (expected.json), line by line; or else that of stock here:
what BLAS computes depends on the processor. Exit code 0 if none failed.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import debian  # noqa: E402
import mpi_job  # noqa: E402
from mpi_job import HANGS  # noqa: E402

PROGRAMS = debian.LIBRARIES / "scalapack"
MPIS = ["openmpi", "mpich"]
DATA = pathlib.Path("/usr/share/scalapack")
RECORD = pathlib.Path(__file__).with_name("expected.json")
VERSIONED = ["libscalapack-openmpi2.2", "scalapack-mpi-test", "libopenmpi3", "libopenblas0-pthread"]

# A library that hangs everywhere must not take hours to fail.
MAX_HANGS = 4
# Instead of mpi_job's, where stock breaks off, too: most of these runs end so.
BREAKS_OFF_SILENCE_S = 60
RECORDED_RUNS = 3

# The lines that sum up a tester, over all families. Whatever else it prints (times, residuals) differs from run to run.
SUMMARY = re.compile(
    r"""^\s*(?:
      Finished\s+\d+\s+tests | \d+\s+tests\s+.*            # ScaLAPACK
      | \|\s+P\w+(?:\s+\d+){4}                             # PBLAS: tests, passed, failed, skipped
      | [A-Z ]+\ TESTS:.*\d\ FAILED\.                      # BLACS, one line per precision and suite
      | (?:PASSED|FAILED|SKIPPED)\s+.*\ TESTS?             # BLACS, auxiliary tests
      | DONE\ BLACS_GRIDEXIT | THERE\ WERE\ NO\ FAILURES.* )""",
    re.VERBOSE)
# A row of a table of results holds its parameters and a verdict. Two families have no summary, only rows.
VERDICT = re.compile(r"\b(PASSED|FAILED|BYPASS|SKIPPED)\b", re.IGNORECASE)
MIN_ROW_NUMBERS = 4
# Skipped if sums repeat without the setting, as they may by chance.
REPEATABLE = "(PASSED|SKIPPED) REPEATABLE SUM TEST"
# The testers of P?SYEVR compare bounds that they never set, which fails by chance, where they happen to be NaN. Rank 0
# says so of its own bounds. All other failures have a residual too large, or a message before their row.
ALTERED_BOUNDS = re.compile(r"IL, IU, VL or VU altered by P....VR\n")
EIGENVALUES_ROW = re.compile(r"(?P<case>(?:\s+\d+){5}\s+[YN](?:\s+\S+){2}\s+(?P<chk>\S+)\s+(?P<qtq>\S+)\s+)"
                             r"(?P<verdict>PASSED|FAILED)")
SMALLEST_THRESHOLD = 20  # of SEPR.dat

ENDS = "ends"
Tester = collections.namedtuple("Tester", "name program data ranks aux mpi")
# outcome: ENDS, or how it broke off; errors: stderr
Run = collections.namedtuple("Run", "summary outcome seconds errors")
REFUSES = "exits with status 1"  # as the shim does where the calls of two ranks do not belong together


def all_testers(mpi):
    programs = PROGRAMS / f"{mpi}-tests"
    testers = []
    for ranks in (4, 8):
        for aux in (True, False):
            for program in ("xCbtest", "xFbtest"):
                name = f"{program}-{ranks}" + ("" if aux else "-noaux")
                testers.append(Tester(name, programs / program, DATA / "BLACS", ranks, aux, mpi))
    for program in sorted(programs.glob("PBLAS/?pb?tst")):
        testers.append(Tester(program.name, program, DATA / "PBLAS", 4, False, mpi))
    for program in sorted(programs.glob("x[a-z]*")):
        if not program.name.endswith("btest"):
            testers.append(Tester(program.name, program, DATA, 4, False, mpi))
    return testers


def with_bounds_set(output):
    """The output with each failure of unset bounds alone turned into what it is elsewhere, in rows and counts."""
    lines = ALTERED_BOUNDS.sub("", output).splitlines()
    turned = 0
    for number, line in enumerate(lines[1:], 1):
        row = EIGENVALUES_ROW.match(line)
        before = lines[number - 1]
        if not row or row["verdict"] == "PASSED" or not (EIGENVALUES_ROW.match(before) or before.startswith("'TEST")):
            continue
        if all(float(residual) < SMALLEST_THRESHOLD for residual in (row["chk"], row["qtq"])):
            lines[number] = row["case"] + "PASSED"
            turned += 1
    output = "\n".join(lines)
    for ending, change in (("passed residual checks", turned), ("failed", -turned)) if turned else ():
        output = re.sub(rf"(\d+)( tests completed and {ending}\.)",
                        lambda count, change=change: f"{int(count[1]) + change}{count[2]}", output)
    return output


def summarise(output):
    lines = []
    rows = collections.Counter()
    for line in output.splitlines():
        summary = SUMMARY.match(line)
        verdict = VERDICT.search(line)
        if summary:
            text = " ".join(summary.group().split()).rstrip(".")
            lines.append(REPEATABLE if re.fullmatch(REPEATABLE, text) else text)
        elif verdict and len(re.findall(r"\d+", line)) >= MIN_ROW_NUMBERS:
            rows[verdict.group().upper()] += 1
    return lines + [f"{count} rows {verdict}" for verdict, count in sorted(rows.items())]


def run(tester, preload, folder, silence_s=mpi_job.SILENCE_S):
    """Runs one tester in a fresh folder with its own copy of the data: testers read them from the current directory."""
    mpi_job.fresh(folder)
    for data in tester.data.glob("*.dat"):
        shutil.copy(data, folder)
    if tester.data.name == "BLACS" and not tester.aux:
        selection = folder / "bt.dat"
        selection.write_text(re.sub(r"'T'(\s+Run AUX)", r"'F'\1", selection.read_text()))

    job = mpi_job.run([tester.program], tester.ranks, preload, folder, mpi=tester.mpi, silence_s=silence_s)
    # The last auxiliary test is blacs_abort with -1, which is what mpirun then returns.
    expected_status = 255 if tester.aux else 0
    if not job.ended:
        outcome = HANGS
    elif job.status != expected_status:
        outcome = f"exits with status {job.status}"
    else:
        outcome = ENDS
    return Run(summarise(with_bounds_set(job.output)), outcome, job.seconds, job.errors)


def passed_rows(summary):
    return sum(int(line.split()[0]) for line in summary if line.endswith("rows PASSED"))


def breaks_off_as_stock(result, expected):
    """A crash never counts as such, nor one that comes earlier than stock's or after a failure."""
    if not expected["stock_breaks_off"] or any(line.endswith("rows FAILED") for line in result.summary):
        return False
    by_itself = result.outcome == HANGS or result.outcome == REFUSES and "mismatch" in result.errors
    return by_itself and passed_rows(result.summary) >= expected["passed_before"]


def judge(tester, result, expected, preload):
    """Says "passed", "failed" or "skipped", and why."""
    if preload and not mpi_job.took_effect(result, preload):
        return "failed", "no line of the library on stderr: the preload took no effect"
    if result.outcome != ENDS:
        reason = f"{result.outcome} after " + (", ".join(result.summary) or "no result")
        if breaks_off_as_stock(result, expected):
            return "skipped", f"{reason}; stock breaks off in {expected['stock_breaks_off']}"
        return "failed", reason
    lost = collections.Counter(expected["summary"]) - collections.Counter(result.summary)
    extra = collections.Counter(result.summary) - collections.Counter(expected["summary"])
    if lost or extra:
        return "failed", f"expected {list(lost)}, got {list(extra)}"
    return "passed", ""


def versions():
    query = ["dpkg-query", "--show", "--showformat=${Package} ${Version}\n"] + VERSIONED
    return dict(line.split() for line in subprocess.check_output(query, text=True).splitlines())


def record(testers, folder):
    """Runs stock several times, since it breaks off now and then, and writes what it counts to the record."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {"testers": {}}
    record["versions"] = versions()
    for tester in testers:
        runs = [run(tester, None, folder / "stock" / tester.name) for _ in range(RECORDED_RUNS)]
        summaries = [result.summary for result in runs if result.outcome == ENDS]
        partial = [passed_rows(result.summary) for result in runs if result.outcome != ENDS]
        broken = f"{len(partial)} of {len(runs)} runs" if partial else None
        if not summaries:  # The data decide what is run, so another precision that ends counts the same.
            summaries = [r["summary"] for name, r in record["testers"].items() if name[2:] == tester.name[2:]]
        if any(sorted(summary) != sorted(summaries[0]) for summary in summaries):
            sys.exit(f"{tester.name}: stock counts differently from run to run: {summaries}")
        record["testers"][tester.name] = {
            "stock_breaks_off": broken,
            "summary": summaries[0],
        }
        if broken:
            record["testers"][tester.name]["passed_before"] = min(partial)
        print(f"{tester.name:16} breaks off in {broken or 'no run'}, {len(summaries[0])} lines of summary", flush=True)
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


def compare(testers, args, folder):
    recorded = json.loads(RECORD.read_text())
    if {tester.name for tester in all_testers(args.mpi)} != set(recorded["testers"]):
        sys.exit(f"The testers of {args.mpi} in {PROGRAMS} are not those of {RECORD}")
    if versions() != recorded["versions"]:
        print(f"Note: the record was made with other versions: {recorded['versions']}, here {versions()}")
    verdicts = collections.Counter()
    hangs = 0
    for number, tester in enumerate(testers, 1):
        expected = recorded["testers"][tester.name]
        silence_s = BREAKS_OFF_SILENCE_S if expected["stock_breaks_off"] else mpi_job.SILENCE_S
        print(f"[{number}/{len(testers)}] {tester.name:16}", end=" ", flush=True)
        if args.beside_stock:
            stock = run(tester, None, folder / "stock" / tester.name, silence_s)
            print(f"stock {stock.outcome} {stock.seconds:6.1f} s,", end=" ", flush=True)
            if stock.outcome == ENDS:
                expected = dict(expected, summary=stock.summary)
        result = run(tester, args.preload, folder / tester.name, silence_s)
        verdict, reason = judge(tester, result, expected, args.preload)
        if verdict == "failed" and args.preload and result.outcome == ENDS and not args.beside_stock:
            stock = run(tester, None, folder / "stock" / tester.name, silence_s)
            if stock.outcome == ENDS and sorted(stock.summary) == sorted(result.summary):
                verdict, reason = judge(tester, result, dict(expected, summary=stock.summary), args.preload)
                reason = f"as stock does here, not as recorded {reason}".rstrip()
        print(f"{verdict:7} {result.seconds:6.1f} s  {reason}", flush=True)
        if verdict == "failed":
            print(f"    see {folder / tester.name}/stdout and stderr")
        verdicts[verdict] += 1
        hangs += result.outcome == HANGS and verdict == "failed"
        if hangs == MAX_HANGS:
            left = len(testers) - number
            print(f"{hangs} testers hang that stock ends: the {left} left are counted as failed.")
            verdicts["failed"] += left
            break
    print(f"{verdicts['passed']} passed, {verdicts['failed']} failed, {verdicts['skipped']} skipped")
    return 1 if verdicts["failed"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    subject = parser.add_mutually_exclusive_group(required=True)
    subject.add_argument("--preload", metavar="LIB[:LIB]", type=mpi_job.libraries,
                         help="what to test: a BLACS, a PBLAS, or both, the PBLAS first")
    subject.add_argument("--stock", action="store_true", help="preload nothing: test Debian's BLACS against the record")
    subject.add_argument("--record", action="store_true", help=f"run stock and rewrite {RECORD.name}")
    parser.add_argument("--beside-stock", action="store_true",
                        help="run stock before each tester and expect its counts instead of the recorded ones")
    parser.add_argument("--mpi", choices=MPIS, default="openmpi", help="whose testers (default: %(default)s)")
    parser.add_argument("--only", metavar="REGEX", default="", help="run the testers whose whole name matches")
    parser.add_argument("--output", metavar="DIR", type=pathlib.Path, default=pathlib.Path("results/testers"),
                        help="where each tester's folder with its data and output goes (default: %(default)s)")
    args = parser.parse_args()
    testers = [tester for tester in all_testers(args.mpi) if re.fullmatch(args.only or ".*", tester.name)]
    if not testers:
        parser.error(f"no tester is named {args.only}")
    folder = args.output.resolve()
    if args.record:
        return record(testers, folder)
    return compare(testers, args, folder)


if __name__ == "__main__":
    sys.exit(main())
