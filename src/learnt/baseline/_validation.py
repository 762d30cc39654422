"""X is counted and never read: strings, missing cells and sparse matrices are all the same to a constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from learnt.engine.arrays import is_foreign_array, is_lazy
from learnt.engine.validation import NOT_FITTED, described


def row_count(estimator: Any, X: Any) -> int:
    """How many rows X has."""
    name = type(estimator).__name__
    if is_lazy(X) or is_foreign_array(X):
        what = described(X) if is_lazy(X) else f"a {type(X).__module__.partition('.')[0]} array"
        raise TypeError(
            f"{name} answers with NumPy arrays and X is {what}; convert it first, or pass anything else with as many "
            "rows."
        )
    if not hasattr(X, "shape") and hasattr(X, "__array__"):
        X = np.asarray(X)
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) == 0:
        raise TypeError(f"X is a single value; give {name} a row a case.")
    try:
        return int(shape[0]) if shape is not None else len(X)
    except TypeError:
        raise TypeError(f"X is a {type(X).__name__}, whose rows {name} cannot count; give it a table.") from None


def stand_in(estimator: Any, X: Any, y: Any) -> np.ndarray:
    """Remember the columns of X, and give an empty table with its rows for the engine's checks of y and weights."""
    n = row_count(estimator, X)
    if n == 0:
        raise ValueError(
            f"Found array with 0 sample(s) in X while a minimum of 1 is required by {type(estimator).__name__}; "
            "give it more rows."
        )
    if type(X).__module__.partition(".")[0] == "pyarrow":
        import polars as pl

        X = pl.from_arrow(X.slice(0, 1))
    validate_data(estimator, X, skip_check_array=True)
    return np.empty((n, 0), dtype=np.float32 if getattr(y, "dtype", None) == np.float32 else np.float64)


def require_fitted(estimator: Any) -> None:
    """Raise one sentence where `fit` has not been called."""
    check_is_fitted(estimator, msg=NOT_FITTED)
