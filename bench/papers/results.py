"""A folder of results: for each run of a paper its output, and a record of how it went."""

import datetime
import functools
import json

from bench.papers.contract import Value


@functools.lru_cache(maxsize=None)
def _lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


class Results:
    """Results in PAPER/RUN.jsonl and PAPER/RUN.record.json. A record is written last, whole or not at all."""

    def __init__(self, folder):
        self.folder = folder

    def output(self, study, run):
        return self.folder / study.name / f"{run.name}.jsonl"

    def _record_path(self, study, run):
        return self.folder / study.name / f"{run.name}.record.json"

    def record(self, study, run):
        """Returns the record, or None before the first attempt."""
        path = self._record_path(study, run)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def is_done(self, study, run):
        record = self.record(study, run)
        return record is not None and not record["reason"]

    def write(self, study, run, commit, seconds=0, reason=""):
        """Records a finished run, or the reason for its absence."""
        path = self._record_path(study, run)
        whole = path.with_suffix(".part")
        whole.write_text(json.dumps({"reason": reason, "commit": commit, "seconds": round(seconds, 1),
                                     "date": datetime.date.today().isoformat()}) + "\n", encoding="utf-8")
        whole.replace(path)

    def read(self, study, value):
        """Returns (number, "") or (None, reason)."""
        if not isinstance(value, Value):
            return None, value
        for run in value.runs:
            record = self.record(study, run)
            if record is None:
                return None, "not yet"
            if record["reason"]:
                return None, record["reason"]
        number = value.take([line for run in value.runs for line in _lines(self.output(study, run))])
        return (None, "not in the output") if number is None else (number, "")
