"""The target of rows that a model is judged on, read as the study read its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from learnt.preprocessing._strings import decimal_point, read_numbers
from learnt.study._errors import StudyError
from learnt.study.table._columns import as_text, seconds, unreadable

MISSING = ("", "NA", "N/A", "nan", "NaN", "null", "?")


class Labels(NamedTuple):
    """The targets of rows that have one the model can know, where those rows are, and what was left out."""

    y: np.ndarray
    rows: np.ndarray
    missing: int
    unknown: list[str]  # a class for each row whose class the model does not know


def read_labels(series: pl.Series, classes: list | None) -> Labels:
    """Classes of a model, or amounts."""
    if (what := unreadable(series)) is not None:
        raise StudyError(f"“{series.name}” holds {what}, so it cannot be the target; make numbers or text of it first.")
    return _amounts(series) if classes is None else _classes(series, classes)


def _amounts(series: pl.Series) -> Labels:
    if series.dtype == pl.Duration:
        numbers = seconds(series)
    elif series.dtype.is_numeric() or series.dtype == pl.Boolean:
        numbers = series.cast(pl.Float64).to_numpy()
    else:
        text = _text(series)
        numbers = read_numbers(text, decimal_point(text))
        if (unread := np.isnan(numbers) & text.is_not_null().to_numpy()).any():
            row = int(unread.argmax())
            raise StudyError(
                f"Row {row + 1:,} of the target “{series.name}” holds “{text[row][:30]}” where the model predicts "
                "amounts; correct it, or empty the cell."
            )
    there = np.isfinite(numbers)
    return Labels(numbers[there], np.flatnonzero(there), int((~there).sum()), [])


def _classes(series: pl.Series, classes: list) -> Labels:
    known = {_key(c): k for k, c in enumerate(classes)}
    cells = [None if text is None else _key(text) for text in _text(series)]
    rows = np.array([k for k, cell in enumerate(cells) if cell in known], dtype=np.int64)
    unknown = [str(cell) for cell in cells if cell is not None and cell not in known]
    codes = [known[cells[k]] for k in rows]
    return Labels(np.array(classes)[codes], rows, len(cells) - len(rows) - len(unknown), unknown)


def _text(series: pl.Series) -> pl.Series:
    text = as_text(series).str.strip_chars()
    return text.replace(dict.fromkeys(MISSING))


def _key(label: Any) -> str:
    """The same for a class and for the cells that mean it: 3 and 3.0 and "3" are one class.

    >>> [_key(v) for v in (3, 3.0, "3.0", True, "true", "yes", 0.5)]
    ['3', '3', '3', 'true', 'true', 'yes', '0.5']
    """
    if isinstance(label, bool):
        return "true" if label else "false"
    text = str(label)
    try:
        value = float(text)
    except ValueError:
        return text
    if not np.isfinite(value) or not text.strip("+-").replace(".", "").replace("e", "").isascii():
        return text
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
