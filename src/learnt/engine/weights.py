"""A row of weight 0 is not in the table.

A fit with weights leaves such rows out before anything else reads the table: their classes do not exist, they
are in no bin, median, fold or sample, and what their cells hold does not matter. `engine.validation.check_fit` does it
for all estimators; those that read the table before that call `without_absent` first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.arrays import is_dask, is_foreign_array, is_lazy, namespace, to_numpy
from learnt.engine.lazy_weights import without_absent_in_parts
from learnt.engine.matrices import take_rows
from learnt.engine.rows import as_rows, target_in_memory

RowIndex = np.ndarray | None  # indices of the rows of weight above 0; None: all rows


def present_rows(weights: Any, X: Any) -> RowIndex:
    """The indices of rows of weight above 0; None where no weight is 0, or the weights do not fit these rows.

    Invalid weights are refused later, by `check_weights`, which sees all of them.

    >>> present_rows([1.0, 0.0, 2.0], np.zeros((3, 1))), present_rows([1.0, 2.0, 2.0], np.zeros((3, 1)))
    (array([0, 2]), None)
    """
    if weights is None:
        return None
    if is_lazy(X):
        return without_absent_in_parts(X, None, weights, False)[3]
    weights = target_in_memory(weights)
    if is_foreign_array(weights) and bool(namespace(weights).all(weights > 0)):  # checked on its device
        return None
    try:
        values = to_numpy(weights).astype(np.float64, copy=False)
    except (TypeError, ValueError):
        return None
    if values.ndim != 1 or values.all() or not values.any() or not (values >= 0).all() or len(values) != _n_rows(X):
        return None
    return np.flatnonzero(values)


def rows_given(weights: Any) -> int:
    """How many rows have weights; 0 where none were given."""
    if is_lazy(weights):
        return as_rows(weights).n_rows if is_dask(weights) else len(weights)
    return 0 if weights is None else int(to_numpy(weights).size)


def without_absent(X: Any, y: Any, weights: Any, checked: bool = False) -> tuple[Any, Any, Any, RowIndex]:
    """X, y and weights without the rows of weight 0, and the indices of the other rows.

    Columns of a file or of a Dask collection that belong to a table in memory are read. `checked` says that cells of X
    are to be finite: those of a Dask collection are looked at while its rows have the numbers that they were given.
    """
    if is_lazy(X):
        return without_absent_in_parts(X, y, weights, checked)
    y, weights = target_in_memory(y), target_in_memory(weights)
    rows = present_rows(weights, X)
    if rows is None or (y is not None and _n_rows(y) != _n_rows(X)):  # to be refused later
        return X, y, weights, None
    return take_rows(X, rows), None if y is None else take_rows(y, rows), take_rows(weights, rows), rows


def take_params(params: dict[str, Any], rows: RowIndex, n: int) -> dict[str, Any]:
    """Parameters of `fit` that have one entry for each of n rows are cut to the rows kept."""
    if rows is None:
        return params
    return {key: take_rows(v, rows) if _is_row_by_row(v, n) else v for key, v in params.items()}


def take_folds(cv: Any, rows: RowIndex) -> Any:
    """`cv` for the rows kept: where it lists the rows of every fold, they are renumbered.

    >>> take_folds([([0, 1], [2, 3])], np.array([0, 2, 3]))
    [(array([0]), array([1, 2]))]
    """
    if rows is None or cv is None or isinstance(cv, int | str | np.integer) or hasattr(cv, "split"):
        return cv

    def counted(part: Any) -> np.ndarray:
        part = np.asarray(part)
        part = np.flatnonzero(part) if part.dtype.kind == "b" else part
        return np.searchsorted(rows, part[np.isin(part, rows)])

    return [(counted(train), counted(test)) for train, test in cv]


def scatter_rows(values: np.ndarray, rows: RowIndex, n: int, absent: Any) -> np.ndarray:
    """One entry for each of n rows: `values` where a row was kept, `absent` (a value, or one for each) elsewhere.

    >>> scatter_rows(np.array([5, 6]), np.array([0, 2]), 3, -1)
    array([ 5, -1,  6])
    """
    if rows is None:
        return values
    out = np.empty((n, *values.shape[1:]), dtype=values.dtype)
    out[absent_rows(rows, n)] = absent
    out[rows] = values
    return out


def absent_rows(rows: np.ndarray, n: int) -> np.ndarray:
    """The rows left out, as flags."""
    absent = np.ones(n, dtype=bool)
    absent[rows] = False
    return absent


def _is_row_by_row(values: Any, n: int) -> bool:
    return not isinstance(values, str | dict) and hasattr(values, "__len__") and _n_rows(values) == n


def _n_rows(table: Any) -> int:
    shape = getattr(table, "shape", None)
    if shape:
        return int(shape[0])
    return len(table) if hasattr(table, "__len__") else len(np.asarray(table))
