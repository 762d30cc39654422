"""Cells that were read otherwise than they are written: "cheese" in a column of numbers counts as missing, and is said.

Markers such as "NA", "?" or an empty cell are how people write that a cell is missing; they are not counted here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from learnt.preprocessing._coding import READ_KINDS, numbers_of, unread_rows
from learnt.preprocessing._frame import read_table
from learnt.preprocessing._kinds import decide
from learnt.preprocessing._strings import clean, decimal_point, factor, looks_like_codes
from learnt.study._counting import counted

MOSTLY = 0.8  # share of numbers from which strings were likely meant to be numbers, though too many are not
MOST_SAID = 5
_NO = {"number": "no number", "date": "no date", "boolean": "neither yes nor no"}


@dataclass(frozen=True)
class Misread:
    """Cells of one column that hold something, and count as missing or as words.

    Attributes
    ----------
    column : its name.
    kind : what the column was read as, "number", "date", "boolean", or "words" where most cells are numbers.
    count : how many cells are not of the kind (in a column of words: are no numbers).
    row : the first of these rows, counted from 1 below the line of names.
    cell : what it holds.
    target : whether it is the column to be predicted, whose rows were then left out.
    """

    column: str
    kind: str
    count: int
    row: int
    cell: str
    target: bool = False

    @property
    def words(self) -> str:
        """One sentence: where, what, and what became of it.

        >>> Misread("age", "number", 3, 17, "cheese").words
        'Row 17, column “age”: “cheese” is no number and counts as missing; there are 3 such cells.'
        """
        cell = self.cell if len(self.cell) <= 30 else self.cell[:29] + "…"
        said = f"Row {self.row:,}, column “{self.column}”: “{cell}” is {_NO.get(self.kind, 'no number')}"
        many = f"; there are {self.count:,} such cells." if self.count > 1 else "."
        if self.target:
            return f"{said}, so the row is left out{many}"
        if self.kind == "words":
            cells = counted(self.count, "such cell makes", "such cells make")
            return f"{said}, and {cells} words of a column that is mostly numbers; correct them to learn from amounts."
        return f"{said} and counts as missing{many}"


def misread_cells(table: pl.DataFrame, kinds: dict[str, str], rows: np.ndarray) -> list[Misread]:
    """What was read otherwise than written in the columns of a table, given the kind that each was taken for.

    `rows` says where each row of the table was in the file, from 0.
    """
    found = []
    for name, kind in kinds.items():
        if table.schema[name] == pl.String or table.schema[name].is_float():
            entry = _in_column(table[name], kind, rows)
            found += [] if entry is None else [entry]
    return found


def _in_column(series: pl.Series, kind: str, rows: np.ndarray) -> Misread | None:
    if series.dtype.is_float():
        if kind not in READ_KINDS or not (infinite := series.is_infinite().fill_null(False)).any():
            return None
        return _entry(series, kind, infinite.arg_true().to_numpy(), rows)
    if kind not in READ_KINDS and not _starts_with_numbers(series):
        return None  # most columns of words end here
    column = read_table(series.to_frame()).columns[0]
    if column.form != "string":
        return None
    if kind in READ_KINDS:
        different = read_table(series.unique().to_frame()).columns[0]  # mostly all of these can be read
        reading = decide(different, named=True, max_onehot=0, wanted=kind).reading
        coding = {"reading": reading, **reading}
        if not len(unread_rows(kind, coding, {}, different)):
            return None
        return _entry(series, kind, unread_rows(kind, coding, {}, column), rows)
    strings = factor(column)
    labels = strings.labels
    if kind not in ("category", "identifier", "text") or looks_like_codes(labels):
        return None
    values, unread = numbers_of(column, decimal_point(labels))
    if not unread or np.isfinite(values).sum() < MOSTLY * strings.present:
        return None
    held = strings.spread(strings.held.astype(float), 0.0) > 0
    return _entry(series, "words", np.flatnonzero(held & np.isnan(values)), rows)


def _starts_with_numbers(series: pl.Series) -> bool:
    """Whether half of the first cells that hold something have a digit in front, or behind a sign of money."""
    first = series.drop_nulls().head(1000)
    return len(first) > 0 and 2 * int(first.str.contains(r"^\s*[-+(]?[$€£]?\s?[0-9]").sum()) >= len(first)


def _entry(series: pl.Series, kind: str, where: np.ndarray, rows: np.ndarray, target: bool = False) -> Misread | None:
    if not len(where):
        return None
    first = int(where[0])
    return Misread(series.name, kind, len(where), int(rows[first]) + 1, str(series[first]), target)


def misread_target(series: pl.Series, numbers: np.ndarray, labels: Any) -> Misread | None:
    """The same of a target of amounts, from what it was read as; `labels` are its cells as text, or None."""
    held = (series if labels is None else clean(labels)).is_not_null()
    where = np.flatnonzero(held.to_numpy() & ~np.isfinite(numbers))
    return _entry(series, "number", where, np.arange(len(series)), target=True)


def sentences(found: Iterable[Misread]) -> list[str]:
    """What to say of them all: the first few, and how many more there are."""
    found = list(found)
    said = [entry.words for entry in found[:MOST_SAID]]
    if len(found) > MOST_SAID:
        cells = sum(entry.count for entry in found[MOST_SAID:])
        columns = counted(len(found) - MOST_SAID, "more column")
        said.append(f"{columns} hold {counted(cells, 'cell')} that could not be read either.")
    return said
