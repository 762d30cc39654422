"""Tables of an SQLite file, by their name or by a query: `shop.db::orders`, `shop.db::SELECT … FROM …`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from learnt.study._errors import StudyError, did_you_mean

_QUERY = re.compile(r"\s*(select|with|values)\b", re.IGNORECASE)


def read_database(path: Path, part: str) -> pl.DataFrame:
    """The table or view of that name, or what a query gives; without either, the only table there is.

    The file is opened for reading alone.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            found = connection.execute(
                part if _QUERY.match(part) else f"SELECT * FROM {_table(connection, path, part)}"
            )
            names = [str(column[0]) for column in found.description]
            rows = found.fetchall()
    except sqlite3.Error as error:
        where = f"the query “{part}”" if _QUERY.match(part) else "its tables"
        raise StudyError(f"{path} could not be read by {where} ({error}); correct it or export the table.") from error
    repeated = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if repeated is not None:
        raise StudyError(f"The query gives two columns named “{repeated}”; name one of them otherwise with AS.")
    columns = zip(*rows) if rows else ([] for _ in names)
    return pl.DataFrame([_series(name, cells) for name, cells in zip(names, columns)])


def _table(connection: sqlite3.Connection, path: Path, name: str) -> str:
    """The name of a table in quotes, as it is written in the file."""
    asked = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"
    there = [str(row[0]) for row in connection.execute(f"{asked} ORDER BY rowid")]
    if not there:
        raise StudyError(f"{path} is a database without tables; fill it, or name another file.")
    chosen = there[0] if not name and len(there) == 1 else next((t for t in there if t.lower() == name.lower()), None)
    if chosen is None:
        hint = did_you_mean(name, there).replace("the columns are", "the tables are")
        said = f"has no table “{name}”" if name else f"holds {len(there)} tables"
        raise StudyError(f"{path} {said}; {hint.rstrip('.')} – name one as {path}::{there[0]}, or give a query.")
    return '"' + chosen.replace('"', '""') + '"'


def _series(name: str, cells: Sequence[Any]) -> pl.Series:
    """A column of cells that SQLite may each have stored as another type: text where they are mixed."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int, float}:
        return pl.Series(name, [None if cell is None else float(cell) for cell in cells], dtype=pl.Float64)
    if len(kinds) > 1:
        return pl.Series(name, [None if cell is None else _text(cell) for cell in cells], dtype=pl.String)
    return pl.Series(name, cells, dtype=None if kinds else pl.String)


def _text(cell: Any) -> str:
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
