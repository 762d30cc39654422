"""Columns of every type a data frame may have: read as numbers, as text or as moments, or set aside with a sentence."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl

from learnt.preprocessing import TableEncoder
from learnt.study._errors import StudyError


def unreadable(series: pl.Series) -> str | None:
    """The type of a column that cannot be used, in words; None where it can be read.

    >>> unreadable(pl.Series([[1, 2], [3]])), unreadable(pl.Series([1, 2]))
    ('lists', None)
    """
    dtype = series.dtype
    if isinstance(dtype, pl.List | pl.Array):
        return "lists"
    if isinstance(dtype, pl.Struct):
        return "records of several values (structs)"
    if dtype == pl.Binary:
        return "bytes"
    if dtype == pl.Object:
        return "Python objects"
    return "values of a type that is not known here" if dtype.is_nested() else None


def set_unreadable_aside(table: pl.DataFrame, named: dict[str, str]) -> tuple[pl.DataFrame, list[dict[str, str]]]:
    """The table without columns that cannot be read, and what was set aside; `named` has the role of those needed."""
    found = {name: what for name in table.columns if (what := unreadable(table[name])) is not None}
    for name, role in named.items():
        if name in found:
            raise StudyError(f"“{name}” holds {found[name]}, so it cannot be {role}; make numbers or text of it first.")
    aside = [
        {"column": name, "reason": f"unreadable: holds {what}; make columns of single values of it to use it"}
        for name, what in found.items()
    ]
    return table.drop(found), aside


def fingerprint(table: pl.DataFrame) -> str:
    """A hash of names, types and cells in their order; of columns that cannot be read, of names and types only."""
    digest = hashlib.sha256(str(table.schema).encode())
    for column in table.get_columns():
        if unreadable(column) is None:
            digest.update(as_text(column).to_frame("c").write_csv(null_value="\x00").encode())
    return digest.hexdigest()


def type_notes(table: pl.DataFrame) -> list[str]:
    """How columns of unusual types are read, a sentence each."""
    durations = [f"“{name}”" for name, dtype in table.schema.items() if dtype == pl.Duration]
    return [f"{', '.join(durations)}: durations, read as a number of days."] if durations else []


def as_text(series: pl.Series) -> pl.Series:
    """The cells as strings, whatever their type."""
    return series.to_frame("c").select(text_of("c", series.dtype)).to_series().alias(series.name)


def text_of(name: str, dtype: pl.DataType) -> pl.Expr:
    """The same as an expression for a column of a table."""
    column = pl.col(name)
    if dtype == pl.Duration:
        column = column.dt.total_nanoseconds()
    return column.cast(pl.String, strict=False)


def seconds(series: pl.Series) -> np.ndarray:
    """Durations as seconds, NaN where missing."""
    return series.dt.total_nanoseconds().cast(pl.Float64).to_numpy() / 1e9


def moments(table: pl.DataFrame, column: str) -> np.ndarray | None:
    """A column as numbers that grow with time, NaN where missing; None where it cannot be read so."""
    series = table[column]
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).to_numpy()
    if series.dtype == pl.Duration:
        return seconds(series)
    if series.dtype in (pl.Date, pl.Datetime):
        return series.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).to_numpy()
    if series.dtype != pl.String:
        return None
    try:
        encoder = TableEncoder().fit(table.select(column))
    except ValueError:
        return None
    if encoder.columns_[0]["kind"] != "date":
        return None
    names = list(encoder.get_feature_names_out())
    if f"{column}: days" not in names:
        return None
    encoded = encoder.transform(table.select(column))
    days = np.asarray(encoded[:, names.index(f"{column}: days")], dtype=np.float64).copy()
    if f"{column} missing" in names:
        days[encoded[:, names.index(f"{column} missing")] > 0] = np.nan
    return days
