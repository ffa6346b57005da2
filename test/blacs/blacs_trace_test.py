"""Checks the files that the case "trace" of blacs_cases.cc leaves: every event of every call that one can predict.

Ends with status 3 if rank 0 did not wait where it waits as a rule.
"""

import json
import pathlib
import sys

LARGE = 1 << 20  # bytes of a message of many segments
TIMES_ADD_UP = 0.01  # us: sums of decimal numbers
DID_NOT_WAIT = 3


def end(event):
    return event["ts"] + event.get("dur", 0)


def require_wait(waited, why):
    if not waited:
        print(why)
        sys.exit(DID_NOT_WAIT)


def check(rank, trace, has_lines):
    assert trace["otherData"] == {"rank": rank, "ranks": 2, "dropped_events": 0}, trace["otherData"]
    events = [e for e in trace["traceEvents"] if e["ph"] != "M"]
    assert all(e["pid"] == rank for e in events)
    calls = sorted((e for e in events if e["cat"] == "call"), key=lambda e: e["ts"])
    scope = {"bytes": 1600, "peer": 1, "scope": "A", "topology": "I"}
    expected = [
        ("blacs_gridinit", {"bytes": 0}),
        (["dgebr2d", "dgebs2d"][rank], scope),
        ("dgsum2d", {"bytes": 8, "scope": "R", "topology": " "}),
        ("blacs_barrier", {"bytes": 0, "scope": "A", "topology": " "}),
        (["dgerv2d", "dgesd2d"][rank], {"bytes": 24, "peer": 1 - rank}),
        (["dgerv2d", "dgesd2d"][rank], {"bytes": 16000, "peer": 1 - rank}),
        (["dgerv2d", "dgesd2d"][rank], {"bytes": LARGE, "peer": 1 - rank}),
        ("dgebs2d", {"bytes": 8, "peer": 0, "scope": "C", "topology": " "}),
    ]
    assert [(e["name"], e["args"]) for e in calls] == expected, calls
    inside = [[] for _ in calls]
    for event in events:
        if event["cat"] == "call":
            continue
        homes = [i for i, c in enumerate(calls) if c["ts"] <= event["ts"] and end(event) <= end(c) + TIMES_ADD_UP]
        # After the last call only what MPI_Finalize waits for may happen.
        assert len(homes) == 1 or event["ts"] > end(calls[-1]) and event["name"] in ("sent", "wait"), event
        for i in homes:
            inside[i].append(event)

    def args(call, name):
        return [e["args"] for e in inside[call] if e["name"] == name]

    def count_and_sum(call, name):
        return len(args(call, name)), sum(a["bytes"] for a in args(call, name))

    _, broadcast, total, _, transfer, _, large, alone = range(8)
    if rank == 0:
        require_wait({"bytes": 0, "peer": 1} in args(broadcast, "wait"), "rank 1 comes late")
        assert args(broadcast, "copy out") == [{"bytes": 1600}] and not args(broadcast, "copy in")
        assert args(transfer, "copy out") == [{"bytes": 24}] and not args(transfer, "copy in")
        assert args(large, "copy out") and not args(large, "copy in")
        waits = args(large, "wait").count({"bytes": 0, "peer": 1})
        require_wait(has_lines or waits > 1, "for the first segment, and then for others")
        segments, received_bytes = count_and_sum(large, "received")
        assert segments > 1 and received_bytes > LARGE, "data and a header"
    else:
        assert args(broadcast, "copy in") == [{"bytes": 1600}] and not args(broadcast, "copy out")
        assert args(transfer, "copy in") == [{"bytes": 24}] and not args(transfer, "copy out")
        assert count_and_sum(large, "copy in")[1] == LARGE and not args(large, "copy out")
        segments, sent_bytes = count_and_sum(large, "post send")
        assert segments > 1 and sent_bytes > LARGE, "data and a header"
    assert inside[alone] == []
    names = [e["name"] for e in events]
    if not has_lines:  # which are neither posted for nor completed
        assert names.count("post send") == names.count("sent"), names
        assert names.count("receive posted") == names.count("received"), names
    received = [e["args"] for e in events if e["name"] == "received"]
    assert all(r["peer"] == 1 - rank for r in received), received
    return {
        "combines": len(args(total, "combine")),
        "sent": sorted(e["args"]["bytes"] for e in events if e["name"] == "post send"),
        "received": sorted(r["bytes"] for r in received),
    }


def main():
    directory = pathlib.Path(sys.argv[1])
    has_lines = sys.argv[2] == "shm"
    traces = [json.loads((directory / f"run.{rank}.json").read_text()) for rank in (0, 1)]
    first, second = (check(rank, traces[rank], has_lines) for rank in (0, 1))
    assert first["combines"] == second["combines"] == 1, "two ranks exchange, and each adds"
    assert first["sent"] == second["received"] and second["sent"] == first["received"], (first, second)


main()
