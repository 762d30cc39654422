"""Validation for the table encoder: any table becomes columns of four plain forms.

Every later step sees only these forms, so pandas, Polars, pyarrow and NumPy cannot give different numbers:

    number   1-D NumPy array, integers or floats; NaN is missing
    boolean  1-D float64 array of 0, 1, NaN
    date     1-D float64 array of days since 1970-01-01 (UTC, with the fraction of the day); NaN is missing
    string   Polars String series; null is missing      (`label`: the same, from a column typed as categorical)
    empty    nothing but missing cells                   (`nested`: lists, structs and the like)
"""

from __future__ import annotations

import datetime
import decimal
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from learnt.engine.validation import refuse_elsewhere

MICROSECONDS_PER_DAY = 86_400_000_000
_NUMBERS = (int, float, np.integer, np.floating, decimal.Decimal)


@dataclass
class Column:
    """One column in one of the plain forms."""

    name: str
    form: str
    values: Any = None
    cache: dict = field(default_factory=dict, repr=False)


@dataclass
class Table:
    """Columns with their names; `named` is False where the names are our own x0, x1, …"""

    columns: list[Column]
    named: bool
    height: int
    dtype: type

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def read_table(X: Any, who: str = "TableEncoder") -> Table:
    """Read any dense table: a data frame of any library narwhals knows, a dict of columns, an array, nested lists."""
    refuse_elsewhere(X, who)
    if isinstance(X, Mapping):
        return _from_mapping(X, who)
    _refuse_repeated(_native_names(X), who)
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, who)
    if hasattr(X, "dtype") and getattr(X.dtype, "names", None):
        return _from_mapping({name: X[name] for name in X.dtype.names}, who)
    return _from_array(X, who)


# --- the sources ---------------------------------------------------------------------------------------------


def _from_mapping(X: Mapping, who: str) -> Table:
    names, named = _names(list(X), who)
    _refuse_repeated(names, who)
    columns = []
    for name, cells in zip(names, X.values()):
        series = nw.from_native(cells, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            columns.append(_from_narwhals(name, series))
        elif np.ndim(cells) == 0:
            raise ValueError(f"{who} got a single value for column {name!r}; give every column as a list or array.")
        else:
            columns.append(_from_cells(name, cells))
    heights = {name: _length(cells) for name, cells in zip(names, X.values())}
    if len(set(heights.values())) > 1:
        shown = ", ".join(f"{name!r}: {height}" for name, height in list(heights.items())[:5])
        raise ValueError(f"{who} got columns of different lengths ({shown}); every column needs one cell per row.")
    return _table(columns, named, max(heights.values(), default=0), who)


def _from_frame(frame: nw.DataFrame, who: str) -> Table:
    names, named = _names(list(frame.columns), who)
    columns = [_from_narwhals(name, series) for name, series in zip(names, frame.iter_columns())]
    return _table(columns, named, len(frame), who)


def _from_array(X: Any, who: str) -> Table:
    array = np.asarray(X)
    if array.dtype.kind in "US" and isinstance(X, list | tuple):
        array = np.array(X, dtype=object)  # NumPy turns [[1, "a"]] into strings; keep the cells as given
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported by {who}; pass the real and imaginary parts as two columns.")
    if array.ndim != 2:
        raise ValueError(
            f"{who} needs a table of rows and columns, got an array of shape {array.shape}. "
            "Reshape your data with X.reshape(-1, 1) if it is one column or X.reshape(1, -1) if it is one row."
        )
    names = [f"x{j}" for j in range(array.shape[1])]
    columns = [_from_cells(name, array[:, j]) for j, name in enumerate(names)]
    return _table(columns, False, array.shape[0], who)


def _table(columns: list[Column], named: bool, height: int, who: str) -> Table:
    if not columns:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({height}, 0)) while a minimum of 1 is required by {who}."
        )
    single = all(c.form == "number" and c.values.dtype == np.float32 for c in columns)
    return Table(columns, named, height, np.float32 if single else np.float64)


def _length(cells: Any) -> int:
    return len(cells) if hasattr(cells, "__len__") else int(np.shape(cells)[0])


def _native_names(X: Any) -> list:
    # pyarrow calls them column_names; it and pandas allow repeats, which narwhals would refuse in several lines.
    if type(X).__module__.partition(".")[0] == "polars":
        return []
    names = getattr(X, "column_names", None)
    if names is None:
        names = getattr(X, "columns", None)
    return [] if names is None or callable(names) else list(names)


def _refuse_repeated(names: list, who: str) -> None:
    repeated = [str(name) for name, times in Counter(map(str, names)).items() if times > 1]
    if repeated:
        shown = ", ".join(map(repr, repeated[:5])) + (", …" if len(repeated) > 5 else "")
        raise ValueError(f"{who} got more than one column named {shown}; rename them so that every name is used once.")


def _names(names: list, who: str) -> tuple[list[str], bool]:
    """scikit-learn's rule: names that are all strings count, names without strings do not, mixtures are refused."""
    strings = sum(isinstance(name, str) for name in names)
    if strings == len(names):
        return [str(name) for name in names], True
    if strings == 0:
        return [f"x{j}" for j in range(len(names))], False
    raise TypeError(
        f"{who} got column names of mixed types {sorted({type(n).__name__ for n in names})}; "
        "make them all strings, for example with X.columns = X.columns.astype(str)."
    )


# --- one column ----------------------------------------------------------------------------------------------


def _from_narwhals(name: str, series: nw.Series) -> Column:
    native = series.to_native()
    if isinstance(native, pl.Series):
        return _from_polars(name, native)
    if series.implementation.is_pyarrow():
        return _from_polars(name, pl.Series(name, native))
    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum) and hasattr(native, "cat"):
        return _from_categories(name, native.cat.codes, native.cat.categories)
    if dtype.is_numeric() and dtype != nw.Decimal:
        return _number(name, np.asarray(series.to_numpy()))
    if dtype == nw.Boolean:
        cells = series.cast(nw.Float64) if series.null_count() else series
        return Column(name, "boolean", np.asarray(cells.to_numpy(), dtype=np.float64))
    if dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return Column(name, "date", _days(np.asarray(series.to_numpy())))
    if dtype == nw.Duration:
        return _number(name, _days(np.asarray(series.to_numpy())))
    if dtype == nw.String:
        try:
            return _from_polars(name, pl.Series(name, series.to_arrow()))
        except ImportError:  # pandas without pyarrow
            pass
    return _from_objects(name, series.to_list())


def _from_polars(name: str, series: pl.Series) -> Column:
    dtype = series.dtype
    if dtype == pl.Null or series.null_count() == len(series) > 0:
        return Column(name, "empty", len(series))
    if dtype.is_decimal() or dtype in (pl.Int128, getattr(pl, "UInt128", pl.Int128)):
        return _number(name, series.cast(pl.Float64).to_numpy())
    if dtype.is_numeric():
        return _number(name, series.to_numpy())
    if dtype == pl.Boolean:
        return Column(name, "boolean", series.cast(pl.Float64).to_numpy())
    if dtype == pl.String:
        return Column(name, "string", series)
    if dtype in (pl.Categorical, pl.Enum):
        return Column(name, "label", series.cast(pl.String))
    if dtype == pl.Binary:
        return _from_objects(name, series.to_list())
    if dtype == pl.Datetime:  # the stored integers are UTC whatever the time zone shown
        return Column(name, "date", _ticks_in_days(series.dt.epoch("us")))
    if dtype == pl.Date:
        return Column(name, "date", _floats(series.dt.epoch("d")))
    if dtype == pl.Duration:
        return _number(name, _ticks_in_days(series.dt.total_microseconds()))
    if dtype == pl.Time:
        return Column(name, "date", _ticks_in_days(series.cast(pl.Int64)) / 1000)
    if dtype == pl.Object:
        return _from_objects(name, series.to_list())
    return Column(name, "nested", str(dtype))


def _from_cells(name: str, cells: Any) -> Column:
    """A list or a one-dimensional array of anything."""
    array = cells if isinstance(cells, np.ndarray) else None
    if array is None and not isinstance(cells, list | tuple):
        array = np.asarray(cells)
    if array is not None and array.dtype.kind in "biufMm":
        if array.dtype.kind == "b":
            return Column(name, "boolean", array.astype(np.float64))
        if array.dtype.kind == "M":
            return Column(name, "date", _days(array))
        return _number(name, _days(array) if array.dtype.kind == "m" else array)
    return _from_objects(name, list(cells) if array is None else array.tolist())


def _from_objects(name: str, cells: list) -> Column:
    """Python objects: the plainest form that holds all of them, strings where they differ."""
    types = set(map(type, cells))
    missing = {kind for kind in types if kind.__name__ in ("NoneType", "NAType", "NaTType")}
    kinds = types - missing
    if missing:
        cells = [None if type(cell) in missing else cell for cell in cells]
    if float in kinds and any(issubclass(kind, str) for kind in kinds):
        cells = [None if type(cell) is float and cell != cell else cell for cell in cells]  # NaN among strings
        kinds = set(map(type, cells)) - {type(None)}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return _from_polars(name, pl.Series(name, cells, dtype=pl.String))
    if not kinds:
        return Column(name, "empty", len(cells))
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return Column(name, "boolean", np.array([np.nan if c is None else float(c) for c in cells]))
    if all(issubclass(kind, _NUMBERS) for kind in kinds):
        if None not in cells and all(issubclass(kind, int | np.integer) for kind in kinds):
            try:
                return _number(name, np.array(cells, dtype=np.int64))
            except OverflowError:
                pass
        return _number(name, np.array([_float(cell) for cell in cells]))
    if all(issubclass(kind, datetime.date | np.datetime64) for kind in kinds):
        return Column(name, "date", np.array([_day(cell) for cell in cells]))
    if all(issubclass(kind, datetime.timedelta | np.timedelta64) for kind in kinds):
        return _number(name, _days(np.array(cells, dtype="m8[us]")))
    if all(issubclass(kind, datetime.time) for kind in kinds):
        return _from_polars(name, pl.Series(name, cells, dtype=pl.Time))
    if any(issubclass(kind, list | tuple | dict | set | np.ndarray) for kind in kinds):
        return Column(name, "nested", "Python " + "/".join(sorted(kind.__name__ for kind in kinds)))
    return _from_polars(name, pl.Series(name, [_text(cell) for cell in cells], dtype=pl.String))


def _from_categories(name: str, codes: Any, categories: Any) -> Column:
    """pandas' categorical: one small list of categories and a code per row, −1 for missing."""
    levels = _from_cells(name, categories.tolist())
    if levels.form in ("string", "label"):
        texts = levels.values
    elif levels.form == "number":
        texts = number_labels(levels.values)
    else:
        texts = pl.Series([_text(level) for level in categories.tolist()], dtype=pl.String)
    codes = np.asarray(codes).astype(np.int64)
    if len(texts) == 0 or (codes < 0).all():
        return Column(name, "empty", len(codes))
    return Column(name, "label", texts.gather(pl.Series(codes).replace(-1, None)))


def number_labels(numbers: np.ndarray) -> pl.Series:
    """Numbers as category labels: 3 and 3.0 are the same label "3"."""
    if numbers.dtype.kind in "iu":
        return pl.Series(numbers).cast(pl.String)
    are_integers = np.isfinite(numbers) & (np.abs(numbers) < 2**62) & (numbers == np.floor(numbers))
    integers = pl.Series(np.where(are_integers, numbers, 0).astype(np.int64)).cast(pl.String)
    floats = pl.Series(numbers.astype(np.float64)).fill_nan(None).cast(pl.String)
    return pl.select(pl.when(pl.Series(are_integers)).then(integers).otherwise(floats)).to_series()


def _number(name: str, values: np.ndarray) -> Column:
    if values.dtype.kind == "O":
        values = np.array([_float(cell) for cell in values.tolist()])
    if values.dtype == np.float16 or values.dtype.itemsize > 8:
        values = values.astype(np.float64)
    if values.dtype.kind == "f" and len(values) and np.isnan(values).all():
        return Column(name, "empty", len(values))
    return Column(name, "number", values)


def _float(cell: Any) -> float:
    try:
        return np.nan if cell is None or cell != cell else float(cell)
    except (TypeError, ValueError, OverflowError, decimal.InvalidOperation):  # pandas.NA; integers beyond 1e308
        return np.nan


def _text(cell: Any) -> str | None:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)


def _day(cell: Any) -> float:
    if cell is None or cell != cell:
        return np.nan
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return float(_days(np.array([cell], dtype="M8[us]"))[0])


def _days(array: np.ndarray) -> np.ndarray:
    """datetime64 or timedelta64 in days, NaT as NaN."""
    kind = array.dtype.kind
    days = array.astype(f"{kind}8[us]").astype(np.int64) / MICROSECONDS_PER_DAY
    days[np.isnat(array)] = np.nan
    return days


def _ticks_in_days(series: pl.Series) -> np.ndarray:
    return _floats(series) / MICROSECONDS_PER_DAY


def _floats(series: pl.Series) -> np.ndarray:
    return series.cast(pl.Float64).to_numpy() + 0.0  # Polars hands out read-only views
