"""Columns of categories: which they are, and their values as codes 0…K−1, so that trees can look them up in tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.params import ParameterError
from learnt.engine.validation import is_frame


class Categories:
    """The values that columns of categories had in training; a value's code is its place among them.

    Parameters
    ----------
    columns : array of int
        Which columns hold categories.
    values : list of arrays
        The sorted distinct values of each: numbers, or strings.

    Examples
    --------
    >>> known = Categories.learn([0], np.array([["b"], ["a"]], dtype=object), "Tree")
    >>> known.encode(np.array([["a"], ["b"], ["c"], [None]], dtype=object)).ravel()
    array([ 0.,  1., -1., nan])
    """

    def __init__(self, columns: Any, values: Any) -> None:
        self.columns = np.asarray(columns, dtype=np.int64)
        self.values = [np.asarray(v) for v in values]
        if len(self.values) != len(self.columns) or any(v.ndim != 1 for v in self.values):
            raise ValueError("categories need one list of values for each column")

    @classmethod
    def learn(cls, given: Any, X: Any, name: str) -> Categories | None:
        """The categories of X under the parameter `categorical_features`; None where no column holds any."""
        mask = _mask(given, X, name)
        if not mask.any():
            return None
        columns = np.flatnonzero(mask)
        return cls(columns, [_distinct(_column(X, int(j))) for j in columns])

    def counts(self, n_features: int) -> np.ndarray:
        """How many categories each column has; 0 where it holds numbers."""
        out = np.zeros(n_features, dtype=np.int64)
        for j, values in zip(self.columns, self.values):
            out[j] = max(1, len(values))
        return out

    def encode(self, X: Any) -> Any:
        """X with codes in place of categories: NaN where missing, −1 for a value never seen. A frame stays one."""
        codes = {int(j): _codes(_column(X, int(j)), known) for j, known in zip(self.columns, self.values)}
        frame = _frame(X)
        if frame is None:
            out = np.array(X, dtype=object)
            for j, column in codes.items():
                out[:, j] = column
            return out.astype(np.float64)
        import narwhals as nw

        names = frame.columns
        backend = frame.implementation
        series = [nw.new_series(names[j], column, nw.Float64, backend=backend) for j, column in codes.items()]
        return frame.with_columns(*series).to_native()


def _mask(given: Any, X: Any, name: str) -> np.ndarray:
    frame = _frame(X)
    n_features = frame.shape[1] if frame is not None else np.shape(X)[1]
    mask = np.zeros(n_features, dtype=bool)
    if given is None:
        return mask
    if isinstance(given, str):
        if given != "from_dtype":
            raise ParameterError(
                f"The 'categorical_features' parameter of {name} must be None, 'from_dtype', or a list of columns. "
                f"Got {given!r} instead."
            )
        if frame is not None:
            import narwhals as nw

            mask[:] = [dtype in (nw.Categorical, nw.Enum) for dtype in frame.schema.values()]
        return mask
    asked = np.asarray(given)
    if asked.size and (asked.ndim != 1 or asked.dtype.kind not in "biuUSO"):
        raise ParameterError(
            f"categorical_features of {name} must be a list of flags, indices or names; got {given!r}."
        )
    if asked.dtype.kind == "b":
        if len(asked) != n_features:
            raise ValueError(
                f"categorical_features of {name} has {len(asked)} flags and X {n_features} columns; give one for each."
            )
        return asked.copy()
    names = list(frame.columns) if frame is not None else []
    for item in asked.tolist():
        if isinstance(item, str):
            if item not in names:
                where = "X has no column names" if frame is None else f"the columns of X are {names[:10]}"
                raise ValueError(f"categorical_features of {name} names the column {item!r}, but {where}.")
            mask[names.index(item)] = True
        elif not 0 <= item < n_features:
            raise ValueError(
                f"categorical_features of {name} has the column {item!r}, and X has columns 0 to {n_features - 1}."
            )
        else:
            mask[item] = True
    return mask


def _distinct(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.unique(values[~np.isnan(values)])
    return np.array(sorted({v for v in values.tolist() if v is not None}), dtype=object)


def _codes(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        if known.dtype.kind != "f" or not len(known):
            return np.where(np.isnan(values), np.nan, -1.0)
        place = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(np.isnan(values), np.nan, np.where(known[place] == values, place, -1.0))
    position = {value: float(k) for k, value in enumerate(known.tolist())}
    return np.array([np.nan if v is None else position.get(v, -1.0) for v in values.tolist()])


def _column(X: Any, j: int) -> np.ndarray:
    """One column as float64 with NaN, or as an object array of str and None."""
    frame = _frame(X)
    if frame is None:
        return _plain(X[:, j] if isinstance(X, np.ndarray) else np.asarray([row[j] for row in X], dtype=object))
    import narwhals as nw

    series = frame[:, j]
    if series.dtype in (nw.Categorical, nw.Enum):
        native = series.to_native()
        if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas: look at each category once
            values = _plain(np.asarray(native.cat.categories))
            absent = np.nan if values.dtype.kind == "f" else None
            return np.append(values, [absent])[native.cat.codes.to_numpy()]
        return np.array(series.cast(nw.String).to_list(), dtype=object)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return _plain(np.array(series.to_list(), dtype=object))


def _plain(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    items = [None if v is None or v != v else v for v in column.tolist()]
    if any(isinstance(v, str) for v in items):
        return np.array([None if v is None else str(v) for v in items], dtype=object)
    return np.array([np.nan if v is None else float(v) for v in items], dtype=np.float64)


def _frame(X: Any) -> Any:
    if not is_frame(X):
        return None
    import narwhals as nw

    return nw.from_native(X, eager_only=True)
