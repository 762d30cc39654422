"""Mean and spread of the rows, in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy, namespace, to_numpy
from learnt.engine.blocks import Block
from learnt.engine.rows import Rows


class Spread(NamedTuple):
    """What k-means asks of its data before it starts."""

    mean: np.ndarray  # weighted; zeros for sparse rows, which are not centred
    variance: float  # weighted, the mean over the features
    size: float  # root mean square of a row about the mean, every row counted once


def spread_of(rows: Rows, *, weighted: bool) -> Spread:
    """One pass over the rows; about a first mean, so that large means do not cancel.

    >>> from learnt.engine.rows import as_rows
    >>> spread_of(as_rows(np.array([[0.0, 1.0], [2.0, 1.0]])), weighted=False)
    Spread(mean=array([1., 1.]), variance=0.5, size=1.0)
    """
    shift = rows.first_mean()
    n, mass, first, second, plain = rows.sum(_sums, shift)
    n, mass, first, second, plain = (to_numpy(part) for part in (n, mass, first, second, plain))
    mean = first / mass
    variance = float(np.maximum(second / mass - mean * mean, 0.0).mean())
    size = float(np.sqrt(plain / n)) if weighted else float(np.sqrt(variance * first.size))
    if sparse.issparse(getattr(rows, "X", None)):
        return Spread(np.zeros(first.size), variance, size)
    return Spread(np.asarray(to_numpy(shift) + mean, dtype=np.float64), variance, size)


def _sums(block: Block, shift: Any) -> tuple:
    X, w = block.X, block.w
    n = X.shape[0]
    if sparse.issparse(X):
        squares = sparse.csr_array((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
        if w is None:
            first, second = X.sum(axis=0), squares.sum(axis=0)
            return float(n), float(n), _flat(first), _flat(second), _flat(second).sum()
        return float(n), w.sum(), _flat(X.T @ w), _flat(squares.T @ w), float(squares.sum())
    xp = namespace(X)
    Z = X - (shift if xp is np else xp.astype(shift, X.dtype))
    if w is None:
        if is_numpy(Z):  # products and not sums over rows, which NumPy takes long for where there are few columns
            first, second = np.ones(n, dtype=Z.dtype) @ Z, np.einsum("ij,ij->j", Z, Z)
        else:
            first, second = xp.sum(Z, axis=0), xp.sum(Z * Z, axis=0)
        return float(n), float(n), first, second, xp.sum(second)
    squares = Z * Z
    w = xp.astype(w, Z.dtype) if xp is not np else w
    return float(n), xp.sum(w), w @ Z, w @ squares, xp.sum(squares)


def _flat(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=np.float64).ravel()
