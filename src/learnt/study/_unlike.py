"""Rows unlike all that a model was learnt from: an age of 900, a town it has never seen, a day long after the last.

A number (a day, too) is unlike where it lies beyond the learnt range [low, high] by more than

    max(1, √(d/(½% · n)) − 1) · (high − low),      n rows learnt from, d columns of numbers and days.

In a tail as heavy as P(|x| > t) ~ t⁻², which has no variance, values c times the largest of n are as rare as c⁻²/n, so
that of fresh rows from the same source at most about half a percent are named, whatever the columns hold; of columns
without such tails hardly any. A level is unlike where it was never seen, in columns where that says something: fresh
rows have about as many unseen levels as learnt rows had levels that were met once (Good and Turing), and columns where
these exceed half a percent of the rows, for all such columns together, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from learnt.preprocessing import TableEncoder
from learnt.preprocessing._coding import days_of, moment_text, numbers_of
from learnt.preprocessing._frame import Column, read_table
from learnt.preprocessing._strings import factor
from learnt.study._counting import counted

OFTEN = 0.005  # share of fresh rows that may be named without being strange
USUAL_ROWS = 1000  # that are assumed to have been learnt from where the file does not say
MOST_SAID = 3  # columns that are named of a row
NEVER_SEEN = "never seen in learning"


class _Found(NamedTuple):
    """Rows where a column is unlike, and what it holds there."""

    column: str
    rows: np.ndarray
    said: list[str]


def unlike_rows(encoder: TableEncoder, X: Any, rows: int | None = None, once: dict[str, float] | None = None) -> list:
    """For each row what is unlike all that was learnt from, or None.

    Parameters
    ----------
    encoder : the one that reads the table for the model; it keeps ranges and levels.
    X : data frame with the columns of the encoder.
    rows : how many rows it was fitted on.
    once : for columns with levels the share of rows whose level was met only once.

    Returns
    -------
    list of str or None

    Examples
    --------
    >>> encoder = TableEncoder().fit({"age": [18, 95, 40, 31], "town": ["Oslo", "Rome", "Oslo", "Rome"]})
    >>> unlike_rows(encoder, {"age": [30, 900], "town": ["Atlantis", "Rome"]}, rows=400)
    ['town = Atlantis (never seen in learning)', 'age = 900 (learnt from 18 to 95)']
    """
    table = read_table(X)
    by_name = {column.name: column for column in table.columns}
    records = [record for record in encoder.columns_ if record["outputs"] and record["name"] in by_name]
    rows = rows or USUAL_ROWS
    found = [*_beyond(records, by_name, rows), *_unseen(records, by_name, rows, once or {})]
    said: dict[int, list[str]] = {}
    for entry in found:
        for row, words in zip(entry.rows.tolist(), entry.said):
            said.setdefault(row, []).append(f"{entry.column} = {words}")
    return [_joined(said[k]) if k in said else None for k in range(table.height)]


def _joined(said: list[str]) -> str:
    more = [counted(len(said) - MOST_SAID, "more column")] if len(said) > MOST_SAID else []
    return "; ".join(said[:MOST_SAID] + more)


def sentence(unlike: pl.Series) -> str | None:
    """One line on how many rows are unlike, and the first; None where none is.

    >>> sentence(pl.Series([None, "age = 900 (learnt from 18 to 95)"]))
    'Of 2 rows 1 is unlike all that the model was learnt from; row 2: age = 900 (learnt from 18 to 95).'
    """
    count = len(unlike) - unlike.null_count()
    if not count:
        return None
    first = int(unlike.is_not_null().arg_true()[0])
    some = f"{count:,} {'is' if count == 1 else 'are'} unlike all that the model was learnt from"
    which = f"row {first + 1:,}" if count == 1 else f"the first, row {first + 1:,}"
    return f"Of {counted(len(unlike), 'row')} {some}; {which}: {unlike[first]}."


# --- numbers and days ---


def reach(rows: int, columns: int) -> float:
    """By how many times its range a number must lie beyond it.

    >>> reach(100_000, 10), round(reach(100, 5), 2)
    (1.0, 2.16)
    """
    return max(1.0, float(np.sqrt(columns / (OFTEN * rows))) - 1)


def _beyond(records: list[dict[str, Any]], columns: dict[str, Column], rows: int) -> Iterator[_Found]:
    ranged = [r for r in records if r["kind"] in ("number", "date") and r["statistics"].get("min") is not None]
    times = reach(rows, len(ranged))
    for record in ranged:
        column, date = columns[record["name"]], record["kind"] == "date"
        low, high = (_days(record["statistics"][end]) if date else record["statistics"][end] for end in ("min", "max"))
        if column.form in ("empty", "nested") or not low < high:
            continue
        values = _values(record, column)
        with np.errstate(invalid="ignore", over="ignore"):
            far = np.isfinite(values) & ((values > high + times * (high - low)) | (values < low - times * (high - low)))
        where = np.flatnonzero(far)
        if len(where):
            show = moment_text if date else _figure
            learnt = f"(learnt from {show(low)} to {show(high)})"
            yield _Found(record["name"], where, [f"{_shown(show, values[k])} {learnt}" for k in where])


def _values(record: dict[str, Any], column: Column) -> np.ndarray:
    if record["kind"] == "date":
        return days_of(column, record["coding"]["reading"])[0]
    return numbers_of(column, record["coding"]["point"])[0]


def _days(text: str) -> float:
    return float(np.datetime64(text.replace(" ", "T"), "us").astype(np.int64)) / 86_400e6


def _figure(value: float) -> str:
    return str(int(value)) if value == np.floor(value) and abs(value) < 1e15 else f"{value:.6g}"


def _shown(show: Any, value: float) -> str:
    try:
        return str(show(float(value)))
    except (OverflowError, ValueError):  # a day that no calendar has
        return f"{value:.6g}"


# --- levels ---


def _unseen(
    records: list[dict[str, Any]], columns: dict[str, Column], rows: int, once: dict[str, float]
) -> Iterator[_Found]:
    categories = [record for record in records if record["kind"] == "category"]
    for record in categories:
        known, column = _known(record), columns[record["name"]]
        rare = once.get(record["name"], _once(record, rows))
        if known is None or rare * len(categories) > OFTEN or column.form in ("empty", "nested"):
            continue
        where, labels = _new_levels(column, known)
        if len(where):
            shown = [label if len(label) <= 30 else label[:29] + "…" for label in labels]
            yield _Found(record["name"], where, [f"{label} ({NEVER_SEEN})" for label in shown])


def _known(record: dict[str, Any]) -> set[str] | None:
    """All levels that were seen; None where the encoder has kept only some."""
    coding, statistics = record["coding"], record["statistics"]
    kept = coding.get("all_levels") or coding.get("levels") or []
    if len(kept) == statistics["levels"]:
        return set(kept)
    top = [level for level, _ in statistics["top"]]
    return set(top) if len(top) == statistics["levels"] else None


def _once(record: dict[str, Any], rows: int) -> float:
    """The share of rows whose level was met only once, as far as the encoder knows."""
    coding = record["coding"]
    if coding["method"] == "frequency":
        shares = np.asarray(coding["shares"])
        return float(shares[shares < 1.5 / rows].sum())
    return 0.0 if coding["method"] == "onehot" and not coding["other"] else 1.0


def _new_levels(column: Column, known: set[str]) -> tuple[np.ndarray, list[str]]:
    """Rows whose level is not known, and the level."""
    rows = np.arange(len(column.values))
    if column.form in ("string", "label"):  # most are written as they were learnt
        rows = np.flatnonzero((~column.values.is_in(list(known))).fill_null(False).to_numpy())
        column = Column(column.name, column.form, column.values.gather(rows))
    if not len(rows):
        return rows, []
    strings = factor(column)
    new = np.array([label is not None and label not in known for label in strings.labels] or [False], dtype=bool)
    where = np.flatnonzero(strings.spread(new.astype(float), 0.0) > 0) if len(strings.labels) else rows[:0]
    labels = strings.labels.to_list()
    return rows[where], [labels[k] for k in strings.codes[where]]
