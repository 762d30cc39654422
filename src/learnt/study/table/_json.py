"""JSON tables: a list of objects, one object a line, or an object that holds such a list, or a list for each column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from learnt.study._errors import StudyError
from learnt.study.table._text import as_utf8


def read_json(raw: bytes, path: Path | str) -> pl.DataFrame:
    """The table in JSON; of columns whose cells are of several types, text.

    >>> read_json(b'{"a": 1}\\n{"a": 2.5, "b": "x"}\\n', "t.jsonl").rows()
    [(1.0, None), (2.5, 'x')]
    """
    text = as_utf8(raw, path).strip()
    try:
        if text.startswith(b"{") and (b"\n" not in text or _is_object(text[: text.index(b"\n")])):
            if b"\n" in text:
                return pl.read_ndjson(text, infer_schema_length=None)
            return _of_object(json.loads(text), path)
        if text.startswith(b"["):
            return pl.read_json(text, infer_schema_length=None)
        return _of_object(json.loads(text), path)
    except StudyError:
        raise
    except Exception as error:
        raise StudyError(f"{_what_is_wrong(text, path)}; export it again or convert it to CSV.") from error


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _of_object(found: Any, path: Path | str) -> pl.DataFrame:
    """The rows inside one object: its only list of objects, or a column for each of its lists; else it is one row."""
    if not isinstance(found, dict):
        raise StudyError(f"{path} holds no rows; JSON tables are a list of objects, or one object a line.")
    lists = [value for value in found.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    if len(lists) == 1:
        return pl.read_json(json.dumps(lists[0]).encode(), infer_schema_length=None)
    columns = {name: list(cells.values()) if isinstance(cells, dict) else cells for name, cells in found.items()}
    if columns and all(isinstance(cells, list) for cells in columns.values()):
        if len({len(cells) for cells in columns.values()}) != 1:
            raise StudyError(f"{path} has columns of different lengths; every row needs a cell in each.")
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
        return pl.read_json(json.dumps(rows).encode(), infer_schema_length=None)
    return pl.read_json(json.dumps([found]).encode())


def _what_is_wrong(text: bytes, path: Path | str) -> str:
    """The first place that is no JSON, or that rows are not alike."""
    whole = text.startswith(b"[") or not _is_object(text.partition(b"\n")[0])
    for number, line in [(0, text)] if whole else enumerate(text.split(b"\n"), 1):
        try:
            found = json.loads(line) if line.strip() else {}
        except ValueError as error:
            place = f"line {number or getattr(error, 'lineno', 1)}, column {getattr(error, 'colno', 1)}"
            return f"{path} could not be read as JSON: it is broken at {place}"
        if number and not isinstance(found, dict):
            return f"Line {number} of {path} is no object of columns and values"
    return f"{path} could not be read as JSON: its rows are no objects with the same kinds of values"
