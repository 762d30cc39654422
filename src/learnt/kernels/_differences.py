"""Products and distances of rows, for arrays of any library and CSR matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from learnt.distances import square_distances, squared_norms
from learnt.engine.arrays import device_of, is_foreign_array, is_numpy, like, namespace
from learnt.engine.matrices import dense, product, row_squares

_NARROW = 32  # features up to which plain differences are as quick as a matrix product
_CANCELS = 1e-6  # of the norms: where an expanded distance has lost half its digits


def inner(X: Any, Y: Any) -> Any:
    """xᵀz of every pair."""
    return product(X, Y.T)


def squares(X: Any) -> Any:
    """‖x‖² of every row."""
    if sparse.issparse(X):
        return squared_norms(X)
    return row_squares(X)


def square_gaps(X: Any, Y: Any, start: int | None) -> Any:
    """‖x − z‖² of every pair: by differences where there are few columns, else by products about the mean.

    Where products cancel, differences are taken again, so that near rows have their distance to full precision.
    """
    if sparse.issparse(X) or sparse.issparse(Y):
        found = squares(X)[:, None] + squares(Y)[None, :] - 2.0 * inner(X, Y)
        _zero_itself(found, start)
        return np.maximum(found, 0.0, out=found)
    if not is_numpy(X):
        xp = namespace(X)
        middle = xp.mean(Y, axis=0)
        X, Y = X - middle, Y - middle
        found = xp.clip(squares(X)[:, None] + squares(Y)[None, :] - 2.0 * (X @ Y.T), min=0.0)
        return found if start is None else found * (1.0 - identity(X, Y, start))
    if X.shape[1] <= _NARROW:
        return cdist(X, Y, "sqeuclidean")
    middle = Y.mean(axis=0)
    X, Y = X - middle, Y - middle
    left, right = squares(X), squares(Y)
    found = X @ Y.T
    found *= -2.0
    found += left[:, None]
    found += right
    if found.size and found.min() < _CANCELS * (left.max() + right.max()):
        row, other = np.nonzero(found < _CANCELS * (left[:, None] + right))
        if row.size:
            found[row, other] = square_distances(X[row], Y[other])
    return found


def _zero_itself(found: np.ndarray, start: int | None) -> None:
    if start is not None:
        rows = np.arange(len(found))
        found[rows, rows + start] = 0.0


def identity(X: Any, Y: Any, start: int | None) -> Any:
    """1 for a row paired with itself, which never occurs between two tables."""
    n, m = length(X), length(Y)
    if not is_foreign_array(X):
        return np.zeros((n, m)) if start is None else np.eye(n, m, k=start)
    xp = namespace(X)
    if start is None:
        return xp.zeros((n, m), dtype=X.dtype, device=device_of(X))
    return xp.eye(n, m, k=start, dtype=X.dtype, device=device_of(X))


def absolute_gaps(X: Any, Y: Any) -> Any:
    """‖x − z‖₁ of every pair."""
    X, Y = dense(X), dense(Y)
    if is_numpy(X):
        return cdist(X, Y, "cityblock")
    xp = namespace(X)
    found = xp.abs(X[:, 0][:, None] - Y[:, 0][None, :])
    for j in range(1, X.shape[1]):
        found = found + xp.abs(X[:, j][:, None] - Y[:, j][None, :])
    return found


def dot(A: Any, B: Any) -> float:
    """Σᵢⱼ AᵢⱼBᵢⱼ."""
    xp = namespace(A)
    return float(xp.vecdot(xp.reshape(A, (-1,)), xp.reshape(B, (-1,))))


def filled(X: Any, Y: Any, value: float) -> Any:
    """The same number for every pair."""
    if not is_foreign_array(X):
        return np.full((length(X), length(Y)), value)
    xp = namespace(X)
    return xp.full((X.shape[0], Y.shape[0]), value, dtype=X.dtype, device=device_of(X))


def length(X: Any) -> int:
    """How many rows there are, in an array, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def as_numbers(value: Any, X: Any) -> Any:
    """A parameter (a number or several) where the rows are."""
    return like(np.asarray(value, dtype=np.float64), X)
