#!/usr/bin/python3
"""model_report.py on lines that are made up: what it says follows from them."""

import json
import pathlib
import subprocess
import sys


def line(way, us, predicted=None, **more):
    record = {"case": "broadcast", "ranks": 4, "bytes": 65536, "pattern": way, "median_us": us, **more}
    return {**record, **({} if predicted is None else {"predicted_us": predicted})}


def report(directory, lines):
    path = directory / "model_made_up.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    summary = directory / "summary.json"
    result = subprocess.run(["/usr/bin/python3", "bench/model_report.py", path, "--plot", directory / "plot.svg", "--summary", summary],
                            capture_output=True, text=True)
    return result, json.loads(summary.read_text()) if result.returncode == 0 else None


def main():
    directory = pathlib.Path(sys.argv[1])
    # The first measurement picks the ring, the second times it: the choice takes a quarter longer, not a half.
    first = [line("increasing ring", 100.0, 110.0), line("binomial tree", 120.0, 90.0), line("two trees", 200.0, 50.0), line("free", 150.0)]
    second = [line("increasing ring", 120.0, 110.0), line("binomial tree", 80.0, 90.0), line("two trees", 200.0, 50.0), line("free", 150.0)]
    unfinished = [line("increasing ring", 1.0, 1.0, bytes=8)]
    result, summary = report(directory, first + second + unfinished)
    assert result.returncode == 0, result.stderr
    entry = summary["made_up"]
    assert entry["ranks"] == [4]
    assert abs(entry["regret"]["all"]["median"] - 0.25) < 1e-9, entry
    # Both ways that keep step are measured at 110 and 100 in the mean.
    assert entry["error"]["all"]["count"] == 2 and abs(entry["error"]["all"]["p95"] - 0.1) < 1e-9, entry
    # The ring took 1.2 times as long the second time, the tree two thirds.
    assert entry["noise"]["all"]["count"] == 2 and abs(entry["noise"]["all"]["p95"] - 1 / 3) < 1e-9, entry
    (other,) = (s for name, s in entry["error"].items() if name.startswith("broadcast and reduce"))
    assert other == {"count": 1, "median": 0.75, "p95": 0.75}, other
    assert "below 16 KiB" not in entry["error"]
    assert "+25 %" in result.stdout and "increasing ring" in result.stdout, result.stdout
    assert (directory / "plot.svg").stat().st_size > 1000

    for lines, text in (([], "no complete cases"), (unfinished, "no complete cases"), ([{"case": "broadcast"}], ":1: no line of")):
        result, _ = report(directory, lines)
        assert result.returncode != 0 and text in result.stderr, result.stderr


if __name__ == "__main__":
    main()
