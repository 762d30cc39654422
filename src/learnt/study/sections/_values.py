"""Columns of a raw table as numbers or as labels, and their cells in groups: a few values, or ranges of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from learnt.plots import number
from learnt.preprocessing import TableEncoder
from learnt.study.table._columns import as_text, moments, unreadable

FEW = 12  # different values that are shown one by one
LONG = 20.0  # days, of which times of day are not written
MICROSECONDS_A_DAY = 86_400e6
MISSING, OTHERS = "(missing)", "(others)"


@dataclass(frozen=True)
class Values:
    """One column: numbers (NaN where missing), or codes of labels (-1 where missing), the commonest label first."""

    name: str
    numbers: np.ndarray | None = None
    codes: np.ndarray | None = None
    labels: tuple[str, ...] = ()
    unit: str = ""  # of days since 1970: "D" or "m", how finely they are written

    @property
    def missing(self) -> np.ndarray:
        if self.numbers is not None:
            return ~np.isfinite(self.numbers)
        assert self.codes is not None
        return self.codes < 0

    def said(self, value: float) -> str:
        """A number as people read it; days as a date."""
        if not self.unit:
            return number(value)
        moment = np.datetime64(round(value * MICROSECONDS_A_DAY), "us")
        return str(moment.astype(f"M8[{self.unit}]")).replace("T", " ")


@dataclass(frozen=True)
class Cells:
    """Rows of a column in groups: the number of each row's group, and what the groups are called."""

    codes: np.ndarray
    names: tuple[str, ...]


def read_values(table: pl.DataFrame, name: str, kind: str | None = None) -> Values | None:
    """A column as numbers or labels; None where its cells are no single values.

    `kind` is what `learnt.preprocessing.profile` found: "number" and "date" may be written as text.

    >>> read_values(pl.DataFrame({"a": ["x", "y", "x", None]}), "a").codes.tolist()
    [0, 1, 0, -1]
    """
    series = table[name]
    if unreadable(series) is not None:
        return None
    dtype = series.dtype
    if dtype.is_numeric() and kind not in ("category", "boolean"):
        return Values(name, series.cast(pl.Float64).to_numpy())
    if dtype in (pl.Date, pl.Datetime) or (dtype == pl.String and kind == "date"):
        days = _written_days(table, name) if dtype == pl.String else moments(table, name)
        if days is not None:
            days = days if dtype == pl.String else days / MICROSECONDS_A_DAY
            return Values(name, days, unit=_unit(days))
    if dtype == pl.Duration:
        return Values(name, moments(table, name))
    if dtype == pl.String and kind == "number":
        return Values(name, _written_numbers(table, name))
    return _labels(series)


def _unit(days: np.ndarray) -> str:
    """Days for whole ones and for a long time, else minutes."""
    there = days[np.isfinite(days)]
    return "D" if not len(there) or np.ptp(there) > LONG or (there == np.floor(there)).all() else "m"


def _written_days(table: pl.DataFrame, name: str) -> np.ndarray | None:
    """Days since 1970 of dates that are written as text; None where they are not."""
    found = moments(table, name)
    if found is None:
        return None
    first = TableEncoder().fit(table.select(name)).columns_[0]["coding"]["origin"]  # the encoder counts from there
    return found + first


def _written_numbers(table: pl.DataFrame, name: str) -> np.ndarray:
    """Numbers that are written as text, such as sums of money."""
    try:
        encoder = TableEncoder(kinds={name: "number"})
        encoded = encoder.fit_transform(table.select(name))
    except ValueError:
        return np.full(len(table), np.nan)
    numbers = np.array(encoded[:, 0], dtype=np.float64)
    if encoded.shape[1] > 1:  # the second column says where the first was missing
        numbers[encoded[:, 1] > 0] = np.nan
    return numbers


def _labels(series: pl.Series) -> Values:
    text = as_text(series)
    counted = text.drop_nulls().value_counts(sort=False)
    counted = counted.sort([counted.columns[1], counted.columns[0]], descending=[True, False])
    labels = counted.to_series(0)
    places = pl.Series(np.arange(len(labels)))
    codes = text.replace_strict(labels, places, default=-1, return_dtype=pl.Int64) if len(labels) else None
    held = np.full(len(text), -1) if codes is None else codes.fill_null(-1).to_numpy()
    return Values(series.name, codes=held, labels=tuple(labels.to_list()))


def in_groups(values: Values, parts: int = 4, few: int = FEW) -> Cells | None:
    """A column of few values by value, numbers by quantile; missing cells are a group; None where there is no grouping.

    >>> in_groups(Values("x", np.arange(8.0)), parts=2, few=2).names
    ('0 to 3', '4 to 7')
    """
    missing = values.missing
    if values.numbers is not None:
        found = _number_groups(values, parts, few)
    else:
        assert values.codes is not None
        found = Cells(values.codes, values.labels) if len(values.labels) <= few else None
    if found is None:
        return None
    if missing.any():
        found = Cells(np.where(missing, len(found.names), found.codes), (*found.names, MISSING))
    return found if len(found.names) > 1 else None


def _number_groups(values: Values, parts: int, few: int) -> Cells | None:
    assert values.numbers is not None
    there = values.numbers[~values.missing]
    if not len(there):
        return None
    distinct = np.unique(there)
    if len(distinct) <= few:
        codes = np.searchsorted(distinct, values.numbers)
        return Cells(codes, tuple(values.said(v) for v in distinct))
    cuts = np.unique(np.quantile(there, np.arange(1, parts) / parts, method="higher"))
    codes = np.searchsorted(cuts, values.numbers, side="right")
    held = np.unique(codes[~values.missing])
    names = []
    for code in held:
        own = values.numbers[(codes == code) & ~values.missing]
        low, high = values.said(float(own.min())), values.said(float(own.max()))
        names.append(low if low == high else f"{low} to {high}")
    return Cells(np.searchsorted(held, codes), tuple(names))
