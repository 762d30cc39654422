"""What a column is: number, boolean, category, date, text, or unusable; with the reason in words."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from learnt.preprocessing._dates import day_order, from_numbers, read_dates
from learnt.preprocessing._frame import Column
from learnt.preprocessing._strings import (
    Factor,
    decimal_point,
    factor,
    looks_boolean,
    looks_like_codes,
    read_labels,
    read_numbers,
)

KINDS = ("number", "boolean", "category", "date", "text")
DROPPED = ("identifier", "constant", "empty", "duplicate", "nested", "drop")
READABLE = 0.95  # a column of strings is numbers or dates when this share of its cells can be read as such
COUNTER_ROWS = 100  # fewer rows than this may hold 1, 2, 3, … by chance or on purpose

_ID_WORDS = {"id", "ids", "uuid", "guid", "pk", "rowid", "rownum", "rownumber", "unnamed"}
_CODE_WORDS = {"zip", "zipcode", "postcode", "postal", "postalcode", "plz"}
_TIME_WORDS = {"year", "month", "week", "day", "hour", "minute", "date", "time", "timestamp", "period", "step"}
_TIME_WORDS |= {"t", "age"}


class Decision(NamedTuple):
    """A kind, why, and how strings are to be read (decimal point, day order)."""

    kind: str
    reason: str
    reading: dict[str, Any] = {}


def words_of(name: str) -> list[str]:
    """The words of a column name: "PassengerId" and "passenger_id" are both passenger, id."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.findall(r"[a-z]+", split.lower())


def decide(column: Column, *, named: bool, max_onehot: int, wanted: str | None = None) -> Decision:
    """The kind of a column; `wanted` is the user's choice, which overrides."""
    if wanted is not None:
        return _as_wanted(column, wanted)
    if column.form == "empty":
        return Decision("empty", "every cell is missing")
    if column.form == "nested":
        return Decision("nested", f"holds {column.values}, not single values")
    if column.form == "boolean":
        return Decision("boolean", "holds true and false")
    if column.form == "date":
        return Decision("date", "holds dates or times")
    if column.form == "label":
        return Decision("category", "typed as categorical")
    if column.form == "string":
        return _of_strings(column, named, max_onehot)
    return _of_numbers(column.values, column.name, named) or Decision("number", "holds numbers")


def _as_wanted(column: Column, wanted: str) -> Decision:
    reason = f"told so by kinds={{{column.name!r}: {wanted!r}}}"
    if column.form in ("empty", "nested"):
        return decide(column, named=True, max_onehot=0)
    if column.form not in ("string", "label"):
        return Decision(wanted, reason, _written_numbers(column) if wanted == "date" else {})
    labels = factor(column).labels
    if wanted == "number":
        return Decision(wanted, reason, {"point": decimal_point(labels)})
    if wanted == "date":
        return Decision(wanted, reason, {"order": day_order(labels), "compact": True})
    return Decision(wanted, reason)


def _written_numbers(column: Column) -> dict[str, Any]:
    return {"numbers": True} if column.form == "number" else {}


# --- numbers -------------------------------------------------------------------------------------------------


def _of_numbers(values: np.ndarray, name: str, named: bool) -> Decision | None:
    """What else a column of numbers may be: an identifier, a code, a date; None: simply numbers."""
    if not named or len(values) == 0 or not _whole(values):
        return None  # without a name an identifier cannot be distinguished from a measurement
    words = words_of(name)
    if (not words and not name.strip()) or (words and (words[0] in _ID_WORDS or words[-1] in _ID_WORDS)):
        if _all_different(values):
            return Decision("identifier", "an id by its name, and every value is different")
        return Decision("category", "whole numbers under an id-like name: labels, not amounts")
    if _CODE_WORDS & set(words):
        return Decision("category", "postal codes are labels, not amounts")
    if "date" in words and np.nanmin(values) >= 19000101 and np.isfinite(from_numbers(values)[~np.isnan(values)]).all():
        return Decision("date", "dates written as numbers, such as 20201231", {"numbers": True})
    if not (_TIME_WORDS & set(words)) and _counts_rows(values):
        return Decision("identifier", "counts the rows: every whole number of a range, each once")
    return None


def _whole(values: np.ndarray) -> bool:
    if values.dtype.kind in "iu":
        return True
    with np.errstate(invalid="ignore"):
        return bool(np.all((values == np.floor(values)) | np.isnan(values)) and np.abs(np.nanmax(values)) < 2**53)


def _all_different(values: np.ndarray) -> bool:
    if np.isnan(values).any():
        return False
    rising = np.sort(values)
    return bool((rising[1:] != rising[:-1]).all())


def _counts_rows(values: np.ndarray) -> bool:
    if len(values) < COUNTER_ROWS or np.isnan(values).any():
        return False
    low, high = values.min(), values.max()
    # Range first: only a column that could be a counter is sorted.
    return low in (0, 1) and high - low + 1 == len(values) and _all_different(values)


# --- strings -------------------------------------------------------------------------------------------------


def _of_strings(column: Column, named: bool, max_onehot: int) -> Decision:
    strings = factor(column)
    labels, present = strings.labels, strings.present
    if present == 0:
        return Decision("empty", "every cell is empty or a marker for missing such as NA")
    if looks_boolean(labels):
        return Decision("boolean", "holds words for yes and no")
    found = _readable(strings, column, named)
    if found is not None:
        return found
    distinct = labels.drop_nulls().n_unique()
    if distinct <= max_onehot:
        return Decision("category", f"{distinct} different strings")
    word_count, length = _word_count(labels)
    if (word_count >= 3 and distinct >= 0.3 * present) or length >= 50:
        return Decision("text", f"{word_count:.1f} words a cell, {distinct} different")
    if distinct == present:
        return Decision("identifier", "every string is different, so none can be learned from")
    return Decision("category", f"{distinct} different strings")


def _readable(strings: Factor, column: Column, named: bool) -> Decision | None:
    """Strings that are numbers or dates at heart."""
    labels, present = strings.labels, strings.present
    needed = READABLE * present
    words = set(words_of(column.name)) if named else set()
    compact = "date" in words
    if strings.counts[labels.str.contains("[0-9]").fill_null(False).to_numpy()].sum() < needed:
        return None  # most columns of words end here
    sample = _sample(labels)
    if np.isfinite(read_dates(sample, day_order(sample), compact)).any():
        order = day_order(labels)
        days = read_labels(column, (order, compact), read_dates)
        if strings.counts[np.isfinite(days)].sum() >= needed:
            return Decision(
                "date", "strings that are dates" + _unread(strings, days), {"order": order, "compact": compact}
            )
    if not np.isfinite(read_numbers(sample, decimal_point(sample))).any():
        return None
    point = decimal_point(labels)
    numbers = read_labels(column, (point,), read_numbers)
    if strings.counts[np.isfinite(numbers)].sum() < needed:
        return None
    if looks_like_codes(labels):
        return Decision("category", "strings of digits with leading zeros: codes, not amounts")
    other = _of_numbers(strings.spread(numbers), column.name, named)
    if other is not None and other.kind != "date":
        return other
    style = " with a decimal comma" if point == "," else ""
    return Decision("number", f"strings that are numbers{style}" + _unread(strings, numbers), {"point": point})


def _sample(labels: pl.Series) -> pl.Series:
    """A few hundred of the distinct strings, the same whatever the order of the rows."""
    present = labels.drop_nulls()
    return present if len(present) <= 500 else present.gather(present.hash(seed=0).arg_sort().head(200))


def _unread(strings: Factor, read: np.ndarray) -> str:
    count = int(strings.counts[np.isnan(read) & strings.labels.is_not_null().to_numpy()].sum())
    return f"; {count} cells could not be read and count as missing" if count else ""


def _word_count(labels: pl.Series) -> tuple[float, float]:
    """Mean number of words and of characters of the distinct strings."""
    present = labels.drop_nulls()
    words, length = present.str.count_matches(r"\S+").to_numpy(), present.str.len_chars().to_numpy()
    return float(words.mean()), float(length.mean())
