"""Rows and columns of a matrix scaled to like sizes, which clusters must not hang on."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

_PASSES, _TOL = 1000, 1e-5  # of sums that should become equal


def scaled(X: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """X with each row and each column multiplied by a number, sparse where X is.

    >>> scaled(np.ones((2, 2)), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([[3., 4.],
           [6., 8.]])
    """
    if isinstance(X, np.ndarray):
        return rows[:, None] * X * columns
    return sparse.csr_array(sparse.diags_array(rows) @ X @ sparse.diags_array(columns))


def roots(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """1 / √ of the sums of rows and of columns; 0 for those without any entry, which belong nowhere.

    >>> roots(np.array([[4.0, 0.0], [0.0, 0.0]]))
    (array([0.5, 0. ]), array([0.5, 0. ]))
    """
    return _inverse_root(X @ np.ones(X.shape[1])), _inverse_root(X.T @ np.ones(X.shape[0]))


def _inverse_root(sums: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(sums), out=np.zeros(len(sums)), where=sums > 0)


def bistochastic(X: Any) -> Any:
    """X scaled until all rows have one sum, and all columns one (Sinkhorn and Knopp).

    Only the factors are iterated: a pass is two products with X.

    >>> bistochastic(np.array([[1.0, 2.0], [2.0, 1.0]])).round(4)
    array([[0.3333, 0.6667],
           [0.6667, 0.3333]])
    """
    rows, columns = np.ones(X.shape[0]), np.ones(X.shape[1])
    for _ in range(_PASSES):
        down, across = rows * (X @ columns), columns * (X.T @ rows)
        by_row, by_column = _inverse_root(down), _inverse_root(across)
        rows, columns = rows * by_row, columns * by_column
        if max(_spread(by_row), _spread(by_column)) < _TOL:
            break
    return scaled(X, rows, columns)


def _spread(factors: np.ndarray) -> float:
    """How far factors are from one number."""
    some = factors[factors > 0]
    return float(some.max() / some.min() - 1.0) if len(some) else 0.0


def log_interactions(X: np.ndarray) -> np.ndarray:
    """log X without what a row or a column has in general (Kluger and others, 2003); X is first raised to 1 or more."""
    L = np.log(X + max(0.0, 1.0 - float(X.min())))
    return L - L.mean(axis=1)[:, None] - L.mean(axis=0) + L.mean()
