"""From a column to numbers: what is learned of each kind (a plain dict) and how it is replayed.

`learn(column, decision, options)` gives a `Coding`; `encode(coding, column, out)` fills one column of `out` for each
of its outputs. A coding holds only strings, numbers, lists, dicts and NumPy arrays, so it can be written to a file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from learnt.preprocessing._categories import encode_category, learn_category
from learnt.preprocessing._dates import PARTS, calendar, circle, from_numbers, read_dates
from learnt.preprocessing._frame import Column
from learnt.preprocessing._kinds import Decision
from learnt.preprocessing._squash import robust_spread, squash
from learnt.preprocessing._strings import factor, read_booleans, read_labels, read_numbers
from learnt.preprocessing._words import encode_text, learn_text


class Options(NamedTuple):
    """The encoder's settings, as the codings need them."""

    max_onehot: int
    min_frequency: float
    high_cardinality: str
    text_features: int
    numeric: str
    n_folds: int
    seed: Any


class Learned(NamedTuple):
    """The result of fitting a column.

    Its coding, the suffixes of its output names, statistics to show, out-of-fold values.
    """

    coding: dict[str, Any]
    suffixes: list[str]
    statistics: dict[str, Any]
    held_out: np.ndarray | None = None


def learn(column: Column, decision: Decision, options: Options, target: Any = None) -> Learned:
    """Learn the coding of a column of a kind that is kept."""
    kind = decision.kind
    if kind == "category":
        return Learned(*learn_category(column, options, target))
    if kind == "text":
        return Learned(*learn_text(column, options.text_features))
    if kind == "date":
        return Learned(*_learn_date(column, decision.reading, options.numeric))
    return Learned(*_learn_number(column, kind, decision.reading, options.numeric))


def encode(kind: str, coding: dict[str, Any], column: Column, out: np.ndarray) -> int:
    """Write the numbers of a column into the columns of `out`; the number of cells that could not be read."""
    if column.form in ("empty", "nested"):
        column = Column(column.name, "number", np.full(len(out), np.nan))
    if kind == "category":
        return encode_category(coding, column, out)
    if kind == "text":
        return encode_text(coding, column, out)
    if kind == "date":
        return _encode_date(coding, column, out)
    return _encode_number(kind, coding, column, out)


READ_KINDS = ("number", "boolean", "date")  # kinds whose cells are read, and may turn out not to be readable


def unread_rows(kind: str, coding: dict, known: dict, column: Column) -> np.ndarray:
    """Rows of a column that are not missing, but cannot be read as the kind found in `fit`, where all others could."""
    if column.form == "number" and known.get("infinite") == 0 and np.isinf(column.values).any():
        return np.flatnonzero(np.isinf(column.values))
    if column.form == "empty" or known.get("unreadable", 0):
        return np.zeros(0, dtype=np.int64)
    if column.form == "nested":
        return np.zeros(1, dtype=np.int64)
    if kind == "date":
        values, count = days_of(column, coding.get("reading", {}))
    else:
        values, count = booleans_of(column) if kind == "boolean" else numbers_of(column, coding.get("point", "."))
    if not count:
        return np.zeros(0, dtype=np.int64)
    if column.form in ("string", "label"):
        strings = factor(column)
        held = strings.spread(strings.held.astype(float), 0.0) > 0
    else:
        held = np.isfinite(column.values)
    return np.flatnonzero(held & np.isnan(values))


# --- numbers and booleans ------------------------------------------------------------------------------------


def numbers_of(column: Column, point: str = ".") -> tuple[np.ndarray, int]:
    """A column as float64 with NaN for missing, and how many cells hold something that is not a number."""
    if column.form in ("number", "boolean"):
        return column.values.astype(np.float64), 0
    if column.form == "date":
        return np.full(len(column.values), np.nan), int(np.isfinite(column.values).sum())
    return _read(column, read_labels(column, (point,), read_numbers))


def booleans_of(column: Column) -> tuple[np.ndarray, int]:
    """A column as 0, 1 and NaN, and how many cells are neither."""
    if column.form in ("string", "label"):
        return _read(column, read_labels(column, (), read_booleans))
    values, unread = numbers_of(column)
    other = np.isfinite(values) & (values != 0) & (values != 1)
    return np.where(other, np.nan, values), unread + int(other.sum())


def days_of(column: Column, reading: dict[str, Any]) -> tuple[np.ndarray, int]:
    """A column as days since 1970, and how many cells hold something that is not a date."""
    if column.form == "date":
        return column.values, 0
    if column.form in ("string", "label"):
        how = (reading.get("order", "mdy"), reading.get("compact", True))
        return _read(column, read_labels(column, how, read_dates))
    values = column.values.astype(np.float64)
    days = from_numbers(values) if reading.get("numbers") else np.full(len(values), np.nan)
    return days, int((np.isfinite(values) & np.isnan(days)).sum())


def _read(column: Column, values: np.ndarray) -> tuple[np.ndarray, int]:
    strings = factor(column)
    unread = int(strings.counts[np.isnan(values) & strings.held].sum())
    return strings.spread(values), unread


def _learn_number(column: Column, kind: str, reading: dict, numeric: str) -> tuple[dict, list[str], dict]:
    point = reading.get("point", ".")
    values, unread = booleans_of(column) if kind == "boolean" else numbers_of(column, point)
    finite = np.isfinite(values)
    infinite = int(np.isinf(values).sum())
    present = values[finite] if not finite.all() else values
    statistics: dict[str, Any] = {"missing": int((~finite).sum()), "infinite": infinite, "unreadable": unread}
    if present.size == 0:
        return {}, [], statistics
    low, high = float(present.min()), float(present.max())
    median = float(np.median(present))
    with np.errstate(over="ignore"):
        mean = float(np.mean(present))
    statistics |= {"min": low, "max": high, "median": median, "mean": mean if np.isfinite(mean) else median}
    coding = {"point": point, "fill": median, "varies": low < high, "missing": bool(not finite.all())}
    if numeric == "squash" and kind == "number":
        coding["centre"], coding["spread"] = median, robust_spread(present)
    suffixes = [""] * coding["varies"] + [" missing"] * coding["missing"]
    return coding, suffixes, statistics


def _encode_number(kind: str, coding: dict, column: Column, out: np.ndarray) -> int:
    values, unread = booleans_of(column) if kind == "boolean" else numbers_of(column, coding["point"])
    absent = ~np.isfinite(values)
    if coding["varies"]:
        if absent.any():
            values[absent] = coding["fill"]
        if "spread" in coding:
            values = squash(values, coding["centre"], coding["spread"])
        out[:, 0] = _within(values, out.dtype)
    if coding["missing"]:
        out[:, -1] = absent
    return unread


def _within(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Finite in float32 too."""
    if dtype == np.float64:
        return values
    largest = np.finfo(dtype).max
    return np.clip(values, -largest, largest)


# --- dates ---------------------------------------------------------------------------------------------------


def _learn_date(column: Column, reading: dict, numeric: str) -> tuple[dict, list[str], dict]:
    days, unread = days_of(column, reading)
    finite = np.isfinite(days)
    statistics: dict[str, Any] = {"missing": int((~finite).sum()), "unreadable": unread}
    if not finite.any():
        return {}, [], statistics
    present = days[finite]
    parts = calendar(present)
    varying = [name for name in PARTS if parts[name].min() < parts[name].max()]
    low, high = float(present.min()), float(present.max())
    statistics |= {"min": moment_text(low), "max": moment_text(high)}
    coding: dict[str, Any] = {
        "reading": dict(reading),
        "origin": low,
        "days": float(np.median(present)) - low if low < high else None,
        "year": float(np.median(parts["year"])) if parts["year"].min() < parts["year"].max() else None,
        "parts": varying,
        "missing": bool(not finite.all()),
    }
    if numeric == "squash":
        coding["spreads"] = [robust_spread(present), robust_spread(parts["year"])]
    suffixes = [": days"] * (coding["days"] is not None) + [": year"] * (coding["year"] is not None)
    suffixes += [f": {part} {axis}" for part in varying for axis in ("sin", "cos")]
    return coding, suffixes + [" missing"] * coding["missing"], statistics


def _encode_date(coding: dict, column: Column, out: np.ndarray) -> int:
    days, unread = days_of(column, coding["reading"])
    absent = np.isnan(days)
    parts = calendar(days)
    lengths = {"days": days - coding["origin"], "year": parts["year"]}
    columns = []
    for k, (name, values) in enumerate(lengths.items()):
        if coding[name] is not None:
            values = np.where(absent, coding[name], values)
            columns.append(squash(values, coding[name], coding["spreads"][k]) if "spreads" in coding else values)
    for name in coding["parts"]:
        # The centre of the circle for a missing date: no month is preferred.
        columns += [np.where(absent, 0.0, axis) for axis in circle(parts[name], name)]
    columns += [absent] * coding["missing"]
    for k, values in enumerate(columns):
        out[:, k] = values
    return unread


def moment_text(days: float) -> str:
    """A moment in days since 1970 as ISO text, the time only where there is one."""
    moment = np.datetime64(round(days * 86_400_000_000), "us")
    return str(moment.astype("M8[D]")) if days == np.floor(days) else str(moment.astype("M8[s]")).replace("T", " ")
