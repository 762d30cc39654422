"""Data frames of the user's library in, and out again: inside a study every table is a Polars data frame."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from learnt.study._errors import StudyError, one_line

LIBRARIES = ("polars", "pandas", "pyarrow", "numpy")


@dataclass(frozen=True)
class Library:
    """What a table came as, so that answers about its rows come back as the same."""

    name: str = "polars"  # one of LIBRARIES
    index: Any = None  # of a pandas data frame, which answers about its rows take over

    @classmethod
    def of(cls, table: Any) -> Library:
        """The library of a table; Polars for a path and for whatever else can be read.

        >>> Library.of(pl.DataFrame({"a": [1]})).name, Library.of("table.csv").name
        ('polars', 'polars')
        """
        name = type(table).__module__.partition(".")[0]
        if name not in LIBRARIES:
            return cls()
        return cls(name, table.index if name == "pandas" else None)

    def without_rows(self) -> Library:
        """The same library for tables that are not about the rows of the one that came in."""
        return Library(self.name if self.name != "numpy" else "polars")

    def frame(self, table: pl.DataFrame, names: list[Any] | None = None) -> Any:
        """A table as a data frame of this library; `names` are its columns' where they may be other than text."""
        if self.name == "pandas":
            import pandas

            cells = dict(enumerate(_cells(column) for column in table.iter_columns()))
            made = pandas.DataFrame(cells, index=self.index)
            made.columns = pandas.Index(table.columns if names is None else names)
            return made
        if self.name == "pyarrow":
            return table.to_arrow()
        return table.to_numpy() if self.name == "numpy" else table

    def series(self, column: pl.Series) -> Any:
        """A column as a series, an array of Arrow or of NumPy."""
        if self.name == "pandas":
            import pandas

            return pandas.Series(_cells(column), index=self.index, name=column.name)
        if self.name == "pyarrow":
            return column.to_arrow()
        return column.to_numpy() if self.name == "numpy" else column


def _cells(column: pl.Series) -> Any:
    """What pandas is made of; numbers and dates without a copy of each cell, and without Arrow."""
    plain = column.dtype.is_numeric() or column.dtype == pl.Boolean or column.dtype.is_temporal()
    return column.to_numpy() if plain and not (column.dtype == pl.Boolean and column.has_nulls()) else column.to_list()


def as_polars(table: Any, names: list[str] | None = None) -> pl.DataFrame:
    """Any data frame as a Polars one, its index left out; an array gets `names` if there are as many.

    >>> import pandas as pd
    >>> as_polars(pd.DataFrame({"a": [1, 2], 3: ["x", None]})).to_dict(as_series=False)
    {'a': [1, 2], '3': ['x', None]}
    """
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, np.ndarray):
        return _from_array(table, names)
    name = type(table).__name__
    _check_names(table, name)
    try:
        frame = nw.from_native(table, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if not isinstance(frame, nw.DataFrame):
            return pl.DataFrame(table)
        if frame.implementation.is_pandas_like():
            return pl.DataFrame([_from_pandas(str(column.name), column.to_native()) for column in frame.iter_columns()])
        return frame.to_polars()
    except StudyError:
        raise
    except Exception as error:  # whatever that library raises
        said = one_line(error)
        raise StudyError(f"A {name} is not a table that can be studied ({said}); pass a data frame.") from error


def _from_array(array: np.ndarray, names: list[str] | None) -> pl.DataFrame:
    if array.ndim != 2:
        raise StudyError(f"An array of {array.ndim} dimensions is not a table; pass one with rows and columns.")
    named = names if names is not None and len(names) == array.shape[1] else None
    return pl.DataFrame([_of_objects(str(k), array[:, k]) for k in range(array.shape[1])]).rename(
        dict(zip(map(str, range(array.shape[1])), named or [f"column_{k + 1}" for k in range(array.shape[1])]))
    )


def _check_names(table: Any, name: str) -> None:
    """Two columns of one name: pandas and Arrow allow them."""
    columns = getattr(table, "column_names", None)
    columns = getattr(table, "columns", ()) if columns is None else columns
    if columns is None or callable(columns):
        return
    repeated = [column for column, times in Counter(map(str, columns)).items() if times > 1]
    if repeated:
        raise StudyError(f"The {name} has two columns named “{repeated[0]}”; rename one of them.")


def _from_pandas(name: str, series: Any) -> pl.Series:
    """A column of pandas; where Polars cannot read it, its cells one by one."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "biuf" and isinstance(series.dtype, np.dtype):
        return pl.Series(name, series.to_numpy(), nan_to_null=True)
    try:
        if str(series.dtype).startswith("period"):  # Arrow takes months for numbers
            raise TypeError
        read: Any = pl.from_pandas(series)
        return read.alias(name)
    except Exception:  # mixed cells, periods, or no pyarrow
        cells = series.astype(object).where(series.notna(), None).to_numpy()
        return _of_objects(name, cells)


def _of_objects(name: str, cells: np.ndarray) -> pl.Series:
    """A column of NumPy: as it is typed, and objects of several kinds as text."""
    if cells.dtype.kind in "biufM":
        return pl.Series(name, np.ascontiguousarray(cells), nan_to_null=cells.dtype.kind == "f")
    missing = [cell is None or cell != cell for cell in cells]
    plain = [None if gone else cell for gone, cell in zip(missing, cells.tolist())]
    try:
        typed = pl.Series(name, plain, strict=True)
    except Exception:  # of several kinds
        typed = None
    if typed is not None and typed.dtype != pl.Object:
        return typed
    return pl.Series(name, [None if cell is None else str(cell) for cell in plain], dtype=pl.String)
