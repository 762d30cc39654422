"""Columns of categories: which they are, and their values as codes 0…K−1, which trees look up in tables."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from learnt.engine.cells import is_frame
from learnt.engine.params import ParameterError
from learnt.engine.targets import is_missing
from learnt.engine.threads import run_tasks

_FROM_DTYPE = "from_dtype"
_SMALL = 1 << 16  # integers below are looked up in a table


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
        mask = category_mask(given, X, name)
        found = learn_categories(X, mask)
        return cls(list(found), list(found.values())) if found else None

    def counts(self, n_features: int) -> np.ndarray:
        """How many categories each column has; 0 where it holds numbers."""
        out = np.zeros(n_features, dtype=np.int64)
        for j, values in zip(self.columns, self.values):
            out[j] = max(1, len(values))
        return out

    def encode(self, X: Any) -> Any:
        """X with codes in place of categories, as `with_codes`."""
        return with_codes(X, dict(zip(self.columns.tolist(), self.values)))


def category_mask(given: Any, X: Any, name: str) -> np.ndarray | None:
    """Which columns hold categories, from the parameter `categorical_features`; None where none does."""
    if given is None:
        return None
    frame = _frame(X)
    if isinstance(given, str):
        if given != _FROM_DTYPE:
            raise ParameterError(
                f"The 'categorical_features' parameter of {name} must be None, 'from_dtype', or a list of columns. "
                f"Got {given!r} instead."
            )
        if frame is None:
            return None
        mask = np.array([_says_categories(frame[:, j]) for j in range(frame.shape[1])], dtype=bool)
        return mask if mask.any() else None
    n_features = frame.shape[1] if frame is not None else np.shape(X)[1]
    chosen = np.asarray(given)
    if chosen.size == 0:
        return None
    if chosen.dtype.kind not in "biuUSO" or chosen.ndim != 1:
        raise ValueError(
            "categorical_features must be an array-like of bool, int or str, got an array of "
            f"{chosen.dtype} in {chosen.ndim} dimensions."
        )
    if chosen.dtype.kind == "b":
        if len(chosen) != n_features:
            raise ValueError(
                f"categorical_features set as a boolean mask must have shape (n_features,), got: {chosen.shape}."
            )
        return chosen if chosen.any() else None
    mask = np.zeros(n_features, dtype=bool)
    if chosen.dtype.kind in "USO":
        kinds = {type(item).__name__ for item in chosen.tolist()}
        if kinds != {"str"}:
            found = ", ".join(sorted(kinds)) if chosen.dtype.kind == "O" else chosen.dtype.name
            raise ValueError(f"categorical_features must be an array-like of bool, int or str, got: {found}.")
        if frame is None:
            raise ValueError(
                "categorical_features should be passed as an array of integers or as a boolean mask when the model is "
                "fitted on data without feature names."
            )
        columns = list(frame.columns)
        for item in chosen.tolist():
            if item not in columns:
                raise ValueError(
                    f"categorical_features has an item value {item!r} which is not a valid feature name of the "
                    f"training data. Its names are {columns[:10]}."
                )
            mask[columns.index(item)] = True
        return mask
    if chosen.min() < 0 or chosen.max() >= n_features:
        raise ValueError(
            f"categorical_features set as integer indices must be in [0, n_features - 1], here 0 to {n_features - 1}."
        )
    mask[chosen] = True
    return mask


def _says_categories(series: Any) -> bool:
    """Whether a column's type is that of categories: strings are, except numbers written as strings."""
    import narwhals as nw

    if series.dtype == nw.String:
        return not all(reads_as_number(value) for value in series.drop_nulls().unique().to_list())
    return bool(series.dtype in (nw.Categorical, nw.Enum))


def reads_as_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def learn_categories(X: Any, mask: np.ndarray | None, non_negative: bool = False) -> dict[int, np.ndarray]:
    """The distinct values of every category column, sorted: float64 for numbers, str otherwise.

    With `non_negative`, negative numbers are missing values.
    """
    if mask is None:
        return {}
    columns = np.flatnonzero(mask).tolist()
    found = run_tasks([partial(_learn, X, j, non_negative) for j in columns])
    return dict(zip(columns, found))


def _learn(X: Any, j: int, non_negative: bool) -> np.ndarray:
    values = column_cells(X, j)
    if values.dtype.kind == "f":
        return _distinct(values[values >= 0] if non_negative else values[~np.isnan(values)])
    return np.array(sorted({v for v in values.tolist() if v is not None}), dtype=object)


def category_codes(X: np.ndarray, categories: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """The category columns of a matrix as places among the learnt values, int32; −1 for a negative number, NaN, or a
    value that was not learnt.
    """
    columns = list(categories)
    codes = run_tasks([partial(_places, X[:, j], categories[j]) for j in columns])
    return dict(zip(columns, codes))


def _places(column: np.ndarray, known: np.ndarray) -> np.ndarray:
    if known.dtype.kind != "f" or not len(known):
        return np.full(len(column), -1, dtype=np.int32)
    column = np.ascontiguousarray(column)  # one pass over a table of rows in place of five
    present = (column >= 0) & (column <= known[-1])
    if known[-1] < _SMALL and (known == np.rint(known)).all():
        table = np.full(int(known[-1]) + 1, -1, dtype=np.int32)
        table[known.astype(np.int64)] = np.arange(len(known))
        integers = np.where(present, column, 0).astype(np.int32)
        return np.where(present & (integers == column), table[integers], np.int32(-1))
    place = np.searchsorted(known, column).astype(np.int32)
    return np.where(present & (known[np.minimum(place, len(known) - 1)] == column), place, np.int32(-1))


def _distinct(values: np.ndarray) -> np.ndarray:
    """The distinct values, sorted: by counting where they are small integers, as most categories are."""
    if len(values) and values.min() >= 0 and values.max() < _SMALL:
        integers = values.astype(np.int64)
        if (integers == values).all():
            return np.flatnonzero(np.bincount(integers)).astype(np.float64)
    return np.unique(values)


def with_codes(X: Any, categories: dict[int, np.ndarray], non_negative: bool = False) -> Any:
    """X with codes in place of categories: NaN where missing, −1 for one that was not learnt. A frame stays one."""
    if not categories:
        return X
    codes = {j: _codes(column_cells(X, j), known, non_negative) for j, known in categories.items()}
    frame = _frame(X)
    if frame is None:
        numbers = isinstance(X, np.ndarray) and X.dtype.kind in "fiub"
        out = np.array(X, dtype=np.float64 if numbers else object)
        for j, column in codes.items():
            out[:, j] = column
        return out.astype(np.float64, copy=False)
    import narwhals as nw

    columns = frame.columns
    series = [
        nw.new_series(columns[j], values, nw.Float64, backend=frame.implementation) for j, values in codes.items()
    ]
    return frame.with_columns(*series).to_native()


def _codes(values: np.ndarray, known: np.ndarray, non_negative: bool) -> np.ndarray:
    if values.dtype.kind == "f":
        present = values >= 0 if non_negative else ~np.isnan(values)
        if known.dtype.kind != "f" or not len(known):
            return np.where(present, -1.0, np.nan)
        place = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(present, np.where(known[place] == values, place, -1.0), np.nan)
    position = {value: float(k) for k, value in enumerate(known.tolist())}
    distinct, inverse = factorised(values)
    table = np.array([np.nan if v is None else position.get(v, -1.0) for v in distinct], dtype=np.float64)
    return table[inverse]


def factorised(values: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The distinct values of an array of strings and None, and the place of each entry among them."""
    position: dict[Any, int] = {}
    inverse = np.fromiter((position.setdefault(v, len(position)) for v in values.tolist()), np.int64, len(values))
    return list(position), inverse


def column_cells(X: Any, j: int) -> np.ndarray:
    """One column as float64 with NaN, or as an object array of str and None."""
    frame = _frame(X)
    if frame is None:
        column = X[:, j] if isinstance(X, np.ndarray) else np.asarray([row[j] for row in X], dtype=object)
        return _plain(column)
    import narwhals as nw

    series = frame[:, j]
    if series.dtype in (nw.Categorical, nw.Enum):
        native = series.to_native()
        if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas: read each category once
            values = _plain(np.asarray(native.cat.categories))
            codes = native.cat.codes.to_numpy()
            absent = np.nan if values.dtype.kind == "f" else None
            return np.append(values, [absent])[codes]
        return np.array(series.cast(nw.String).to_list(), dtype=object)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return _plain(np.array(series.to_list(), dtype=object))


def _plain(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    items = [None if is_missing(v) else v for v in column.tolist()]
    if any(isinstance(v, str) for v in items):
        return np.array([None if v is None else str(v) for v in items], dtype=object)
    return np.array([np.nan if v is None else float(v) for v in items], dtype=np.float64)


def _frame(X: Any) -> Any:
    if not is_frame(X):
        return None
    import narwhals as nw

    return nw.from_native(X, eager_only=True)
