#!/usr/bin/env python3
"""Counts the targets of one run of "bazel test": count_tests.py LOG EVENTS

LOG is what Bazel printed, EVENTS the file of its --build_event_json_file. A target all of whose tests were skipped
counts as skipped, though Bazel calls it passed. Prints the single tests that were skipped, and what scripts skipped
(their lines "skipped: ..."), each with its reason, and in the last line the numbers of targets that passed, failed and
were skipped.
"""

import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree

STATUS = re.compile(r"^(//\S+) +(?:\(cached\) )?(PASSED|FAILED|TIMEOUT|FLAKY|NO STATUS)", re.MULTILINE)


def reports(events):
    """Yields (target, path of its report), one per shard."""
    for line in events:
        event = json.loads(line)
        for output in event.get("testResult", {}).get("testActionOutput", []):
            if output["name"] == "test.xml":
                yield event["id"]["testResult"]["label"], urllib.parse.urlparse(output["uri"]).path


def tests_of(report):
    """Yields (name, why it was skipped, or None) for each test that was to run."""
    for case in report.iter("testcase"):
        if case.get("status") != "notrun":
            skipped = case.find("skipped")
            # GoogleTest puts file and line before the words.
            reason = None if skipped is None else skipped.get("message", "").split("\n")[-1]
            yield f"{case.get('classname')}.{case.get('name')}", reason


def skipped_by_scripts(report):
    """Yields what a script says that it skips, with the reason."""
    for output in report.iter("system-out"):
        yield from re.findall("^skipped: (.*)", output.text or "", re.MULTILINE)


def main():
    log, events = sys.argv[1:]
    with open(log, encoding="utf-8", errors="replace") as text:
        status = dict(STATUS.findall(text.read()))
    tests = {target: [] for target in status}
    scripts = []
    with open(events, encoding="utf-8") as lines:
        for target, report in reports(lines):
            if status.get(target) == "PASSED":
                tree = xml.etree.ElementTree.parse(report)
                tests[target] += tests_of(tree)
                scripts += [f"skipped: {target} {skip}" for skip in skipped_by_scripts(tree)]
    skipped = {target for target in tests if tests[target] and all(reason is not None for _, reason in tests[target])}
    print(*sorted(scripts), sep="\n", end="\n" if scripts else "")
    for target in sorted(tests):
        for name, reason in tests[target]:
            if reason is not None:
                print(f"skipped: {target} {name}: {reason}")
    passed = sum(result == "PASSED" for result in status.values()) - len(skipped)
    print(passed, len(status) - passed - len(skipped), len(skipped))


if __name__ == "__main__":
    main()
