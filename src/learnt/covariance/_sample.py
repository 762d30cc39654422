"""What covariances are estimated from: the centre of the rows, the covariance about it, and their number."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from learnt.engine.rows import Rows, as_rows
from learnt.statistics import moments


class Sample(NamedTuple):
    """The centre (0 where it is known to be), the covariance about it, the number of rows, and the rows."""

    location: np.ndarray
    covariance: np.ndarray
    n: float
    rows: Rows


def sample(X: Any, assume_centered: bool, name: str, *, fewest: int = 1, quiet: bool = False) -> Sample:
    """The sample's covariance in one pass, from any kind of rows that have been checked.

    >>> sample(np.array([[1.0], [3.0]]), False, "empirical_covariance").covariance.tolist()
    [[1.0]]
    """
    rows = as_rows(X)
    found = moments(rows, scatter="full").to_numpy()
    n = float(found.weight)
    mean, S = np.asarray(found.mean, dtype=np.float64), np.asarray(found.scatter, dtype=np.float64)
    if not (np.isfinite(mean).all() and np.isfinite(S).all()):
        raise ValueError(f"X has values so large that their squares are infinite; scale the columns before {name}.")
    if n < fewest:
        raise ValueError(
            f"Found array with n_samples = {n:g} while a minimum of {fewest} is required by {name}; give it more rows."
        )
    if n == 1 and not quiet:
        warnings.warn(
            f"Only one sample available. You may want to reshape your data array: {name} finds a covariance of 0.",
            UserWarning,
            stacklevel=4,
        )
    C = S / n
    if not assume_centered:
        return Sample(mean, C, n, rows)
    return Sample(np.zeros_like(mean), C + np.outer(mean, mean), n, rows)


def checked_table(X: Any, name: str, *, one_row: bool = False, fewest: int = 1) -> np.ndarray:
    """A table given to a function: finite numbers, two axes; where `one_row`, a list of numbers is one row.

    >>> checked_table([1, 2], "empirical_covariance", one_row=True).tolist()
    [[1.0, 2.0]]
    """
    X = np.asarray(X) if one_row else X
    if one_row and X.ndim == 1:
        X = X.reshape(1, -1)
    table: np.ndarray = check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=fewest, estimator=name)
    return table
