"""The journal: an append-only file of all results of a study, so that nothing is computed twice.

One JSON object a line, forced to disk before the study goes on. A study killed at any moment leaves at most one
incomplete last line, which is skipped. Every record carries the key of its study (data and settings); several studies
may share a file, and each reads only its own.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Journal:
    """Records of one study, by kind and name.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "journal.jsonl")
    >>> Journal(path, "k1").add("fit", "ridge", {"loss": 0.5})
    {'loss': 0.5}
    >>> Journal(path, "k1").get("fit", "ridge"), Journal(path, "k2").get("fit", "ridge")
    ({'loss': 0.5}, None)
    """

    def __init__(self, path: Path, key: str, *, fresh: bool = False) -> None:
        self.path, self.key = Path(path), key
        self._records: dict[tuple[str, str], Any] = {}
        self.reused = 0
        self._read()
        if fresh and self._records:
            self.add("fresh", "", None)
        self.found = len(self._records)

    def _read(self) -> None:
        if not self.path.exists():
            return
        raw = self.path.read_bytes()
        whole = raw.rfind(b"\n") + 1
        for line in raw[:whole].split(b"\n"):
            try:
                record = json.loads(line)
                key, kind, name, value = record["key"], record["kind"], record["name"], record["value"]
            except (ValueError, KeyError, TypeError):
                continue  # incomplete or not ours; the work is done again
            if key == self.key:
                self._keep(kind, name, value)
        if whole != len(raw):  # an incomplete last line: cut it off, so that the next record starts on a new line
            with self.path.open("r+b") as file:
                file.truncate(whole)

    def _keep(self, kind: str, name: str, value: Any) -> None:
        if kind == "fresh":
            self._records.clear()
        else:
            self._records[kind, name] = value

    def add(self, kind: str, name: str, value: Any) -> Any:
        """Write a record to disk, then remember it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"key": self.key, "kind": kind, "name": name, "value": value}, separators=(",", ":"))
        with self.path.open("ab") as file:
            file.write(line.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._keep(kind, name, value)
        return value

    def get(self, kind: str, name: str) -> Any:
        """The value of a record, or None."""
        value = self._records.get((kind, name))
        if value is not None:
            self.reused += 1
        return value
