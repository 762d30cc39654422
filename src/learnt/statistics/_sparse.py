"""The sums of `_dense` and `_grouped` from the stored entries of a CSR block.

A point other than 0 is possible for the diagonal: what is not stored is −point. Products are about 0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.rows.array_rows import csr_rows
from learnt.engine.rows.blocks import Block, widen
from learnt.statistics._record import DIAGONAL, FULL, NONE


def sparse_sums(block: Block, point: Any, scatter: str) -> tuple:
    """Of all rows of the block."""
    return _sums(widen(block.X), block.w, point, scatter)


def sparse_group_sums(block: Block, member: Any, n: int, point: Any, scatter: str) -> tuple:
    """Of n groups: `member` has the group of each row, or its shares in them."""
    X = widen(block.X)
    if point is None and scatter in (NONE, DIAGONAL):
        return _about_zero(X, _indicators(member, n, block.w), scatter)
    parts = [
        _sums(rows, w, None if point is None else np.broadcast_to(point, (n, X.shape[1]))[k], scatter)
        for k, (rows, w) in enumerate(pieces(X, member, n, block.w))
    ]
    weight, first, *second = (np.stack(sums) for sums in zip(*parts, strict=True))
    return weight, first, *(sums if scatter in (DIAGONAL, FULL) else sums.sum(axis=0) for sums in second)


def _sums(X: Any, w: Any, point: Any, scatter: str) -> tuple:
    """Σw, Σwz and Σwz² or Σwzzᵀ of some rows."""
    n_rows = X.shape[0]
    weight = float(n_rows) if w is None else float(w.sum())
    if scatter in (NONE, DIAGONAL):
        first, second = column_sums_about(X, w, point, weight, n_rows)
        return (weight, first) if scatter == NONE else (weight, first, second)
    weighted = X if w is None else sparse.diags_array(w) @ X
    return weight, _flat(weighted.sum(axis=0)), (X.T @ weighted).toarray()


def column_sums_about(X: Any, w: Any, point: Any, weight: Any, n_rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Σwz and Σwz² of each column; `weight` and `n_rows` (numbers, or one a column) say how many cells it has."""
    w = np.ones(X.shape[0]) if w is None else np.asarray(w, dtype=np.float64)
    if point is None:
        return X.T @ w, with_data(X, X.data**2).T @ w
    Z = with_data(X, X.data - point[X.indices])
    stored = np.bincount(X.indices, minlength=X.shape[1])
    zeros = np.maximum(weight - with_data(X, np.ones(X.nnz)).T @ w, 0.0)
    zeros = np.where(stored == n_rows, 0.0, zeros)  # and not what rounding leaves of the difference
    return Z.T @ w - zeros * point, with_data(X, Z.data**2).T @ w + zeros * point**2


def pieces(X: Any, member: Any, n: int, w: Any) -> list[tuple[Any, Any]]:
    """The rows and weights of each group."""
    if member.ndim == 2:
        return [(X, member[:, k] if w is None else member[:, k] * w) for k in range(n)]
    order = np.argsort(member, kind="stable")
    edges = np.searchsorted(member[order], np.arange(n + 1)).tolist()
    X, w = X[order], None if w is None else w[order]
    return [(csr_rows(X, lo, hi), None if w is None else w[lo:hi]) for lo, hi in pairwise(edges)]


def with_data(X: Any, data: np.ndarray) -> Any:
    """A matrix with the entries of X at other values."""
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _indicators(member: Any, n: int, w: Any) -> Any:
    """The weight of each row in each group, (rows, n)."""
    if member.ndim == 2:
        return np.asarray(member if w is None else member * w[:, None], dtype=np.float64)
    n_rows = len(member)
    w = np.ones(n_rows) if w is None else np.asarray(w, dtype=np.float64)
    return sparse.csr_array((w, np.asarray(member), np.arange(n_rows + 1)), shape=(n_rows, n))


def _about_zero(X: Any, R: Any, scatter: str) -> tuple:
    sums = _flat(R.sum(axis=0)), _product(R, X)
    return sums if scatter == NONE else (*sums, _product(R, with_data(X, X.data**2)))


def _product(R: Any, X: Any) -> np.ndarray:
    """RᵀX as a dense matrix."""
    return (R.T @ X).toarray() if sparse.issparse(R) else (X.T @ R).T


def _flat(x: Any) -> np.ndarray:
    """A sparse sum as a plain vector, whether it came as an array or as a matrix."""
    return np.asarray(x, dtype=np.float64).ravel()
