"""Checks of columns: the names of a data frame, and parameters with one entry a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.engine.cells import is_frame
from learnt.engine.params import ParameterError
from learnt.engine.validation import _remember_columns


def require_same_columns(estimator: Any, X: Any) -> None:
    """Refuse a data frame whose columns are not those of `fit`, in their order, before anything reads them."""
    if is_frame(X):
        _remember_columns(estimator, X, X.shape[1], reset=False)


def monotone_directions(estimator: Any, d: int) -> np.ndarray:
    """The parameter `monotonic_cst` as an array of −1, 0 and 1, one for each of d columns.

    >>> from types import SimpleNamespace
    >>> monotone_directions(SimpleNamespace(monotonic_cst=[1, 0]), 2)
    array([1, 0], dtype=int8)
    """
    given = np.asarray(estimator.monotonic_cst)
    if given.ndim != 1:
        raise ParameterError(
            f"The 'monotonic_cst' parameter of {type(estimator).__name__} must be None or an array-like of -1, 0 or 1, "
            f"one for each of the {d} features. Got {estimator.monotonic_cst!r} instead."
        )
    if len(given) != d:
        raise ValueError(
            f"monotonic_cst has shape {len(given)} but the input data X has {d} features. Give one number for each."
        )
    if not np.isin(given, (-1, 0, 1)).all():
        raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {given.tolist()[:10]}.")
    return given.astype(np.int8)
