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
    result = subprocess.run(["/usr/bin/python3", "bench/report/model_report.py", path, "--plot", directory / "plot.svg", "--summary", summary],
                            capture_output=True, text=True)
    return result, json.loads(summary.read_text()) if result.returncode == 0 else None


def main():
    directory = pathlib.Path(sys.argv[1])
    # The first measurement picks the ring, which the tree that was chosen beats in the second; the second picks the tree itself.
    first = [line("increasing ring", 100.0, 110.0), line("binomial tree", 120.0, 90.0, chosen=True), line("two trees", 200.0, 50.0), line("free", 150.0)]
    second = [line("increasing ring", 120.0, 110.0), line("binomial tree", 80.0, 90.0, chosen=True), line("two trees", 200.0, 50.0), line("free", 150.0)]
    # The ring is the best both times. What was chosen takes a half longer and then a tenth, free a quarter and then three quarters.
    first += [line("increasing ring", 100.0, 110.0, bytes=8), line("binomial tree", 150.0, 140.0, bytes=8, chosen=True), line("free", 125.0, bytes=8)]
    second += [line("increasing ring", 100.0, 110.0, bytes=8), line("binomial tree", 110.0, 140.0, bytes=8, chosen=True), line("free", 175.0, bytes=8)]
    unfinished = [line("increasing ring", 1.0, 1.0, bytes=1024)]
    result, summary = report(directory, first + second + unfinished)
    assert result.returncode == 0, result.stderr
    entry = summary["made_up"]
    assert entry["ranks"] == [4]
    long, short = "16 KiB and more", "below 16 KiB"
    assert entry["regret"][long]["median"] == 0 and abs(entry["free"][long]["median"] - 0.25) < 1e-9, entry
    assert abs(entry["regret"][short]["median"] - 0.3) < 1e-9 and abs(entry["free"][short]["median"] - 0.5) < 1e-9, entry
    assert entry["regret"]["all"]["count"] == 2 and entry["regret"]["all"]["p95"] == entry["regret"][short]["median"], entry
    # Both ways that keep step are measured at 110 and 100 in the mean.
    assert entry["error"][long]["count"] == 2 and abs(entry["error"][long]["p95"] - 0.1) < 1e-9, entry
    # The ring took 1.2 times as long the second time, the tree two thirds.
    assert entry["noise"][long]["count"] == 2 and abs(entry["noise"][long]["p95"] - 1 / 3) < 1e-9, entry
    (other,) = (s for name, s in entry["error"].items() if name.startswith("broadcast and reduce"))
    assert other == {"count": 1, "median": 0.75, "p95": 0.75}, other
    assert "+30 %" in result.stdout and "increasing ring" in result.stdout, result.stdout
    assert (directory / "plot.svg").stat().st_size > 1000

    for lines, text in (([], "no complete cases"), (unfinished, "no complete cases"), ([{"case": "broadcast"}], ":1: no line of")):
        result, _ = report(directory, lines)
        assert result.returncode != 0 and text in result.stderr, result.stderr


if __name__ == "__main__":
    main()
