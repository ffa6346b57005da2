"""A folder of results: for each run of a paper its output, and a record of how it went."""

import datetime
import hashlib
import json
import math

from bench.driver.machine import MACHINES
from bench.papers.contract import Value

CUT_SHORT = "stopped at the end of the budget"


def _lines(path):
    """Returns the JSON objects of a file, or None if it holds anything else, or nothing."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError):
        return None
    return lines if lines and all(isinstance(line, dict) for line in lines) else None


def _identity(run):
    """Returns what a result depends on besides the commit: another identity makes it another result."""
    command = [str(word) for word in run.command]
    names = [word.removeprefix("{machines}/") for word in command if word.startswith("{machines}/")]
    return {"command": command, "ranks": run.ranks, "environment": dict(run.environment),
            "machine_files": {name: hashlib.sha256((MACHINES / name).read_bytes()).hexdigest() for name in names}}


class Results:
    """Results in PAPER/RUN.jsonl and PAPER/RUN.record.json. A record is written last, whole or not at all."""

    def __init__(self, folder):
        self.folder = folder
        self._known = {}  # lines by path: many cells read one output

    def output(self, study, run):
        return self.folder / study.name / f"{run.name}.jsonl"

    def _record_path(self, study, run):
        return self.folder / study.name / f"{run.name}.record.json"

    def _damage(self, path):
        return f"damaged: {path.relative_to(self.folder)}"

    def clear(self, study, run):
        """Removes the output of an earlier attempt, whose lines would count as the next one's. Returns its path."""
        path = self.output(study, run)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        self._known.pop(path, None)
        return path

    def lines(self, study, run):
        """Returns the JSON objects of the output, each with the run's name as `run`, or None if it is damaged."""
        path = self.output(study, run)
        if path not in self._known:
            lines = _lines(path)
            self._known[path] = lines and [{**line, "run": run.name} for line in lines]
        return self._known[path]

    def record(self, study, run):
        """Returns the record of a run that is done, or None."""
        return None if self.reason(study, run) else json.loads(self._record_path(study, run).read_text("utf-8"))

    def reason(self, study, run):
        """Returns "" if the run is done, or why its values are absent."""
        path = self._record_path(study, run)
        if not path.exists():
            return "not run yet"
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["reason"]:
                return str(record["reason"])
            if any(record[key] != value for key, value in _identity(run).items()):
                return "not done since its command or its machine file changed"
            if not all(isinstance(record[key], str) for key in ("commit", "date", "machine", "versions")):
                return self._damage(path)
        except (OSError, ValueError, TypeError, KeyError):
            return self._damage(path)
        return self._damage(self.output(study, run)) if self.lines(study, run) is None else ""

    def has_failed(self, study, run):
        """Returns whether the run was started, had its time, and has no result. A run that was left took no time."""
        try:
            record = json.loads(self._record_path(study, run).read_text(encoding="utf-8"))
            return bool(record["seconds"]) and record["reason"] not in ("", CUT_SHORT)
        except (OSError, ValueError, TypeError, KeyError):
            return False

    def write(self, study, run, about, seconds=0, reason=""):
        """Records a finished run, or the reason for its absence. `about`: texts on the commit and the machine."""
        path = self._record_path(study, run)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(".part")
        whole.write_text(json.dumps({"reason": reason, **about, "seconds": round(seconds, 1),
                                     "date": datetime.date.today().isoformat(), **_identity(run)}) + "\n",
                         encoding="utf-8")
        whole.replace(path)

    def read(self, study, value):
        """Returns (number, "") or (None, reason)."""
        if not isinstance(value, Value):
            return None, value
        for run in value.runs:
            if reason := self.reason(study, run):
                return None, reason
        try:
            number = value.take([line for run in value.runs for line in self.lines(study, run)])
            if math.isfinite(number):
                return number, ""
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            pass  # a line or a field is missing or no number, or a time is 0
        return None, "not in the output"
