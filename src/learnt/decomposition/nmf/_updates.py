"""Multiplicative updates for any β-divergence (Lee and Seung 2001; Févotte and Idier 2011).

Each factor is multiplied by the ratio of the negative and the positive part of the gradient, to a power that lets the
divergence never rise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from learnt.decomposition.nmf._descent import Penalties
from learnt.decomposition.nmf._divergence import TINY, distance, product_at
from learnt.engine.rows import Block, as_rows

_CELLS = 1 << 20  # of W H at once, where X is sparse
_EPS = float(np.finfo(np.float64).eps)


def damping(beta: float) -> float:
    """The power of the ratio with which the divergence never rises.

    >>> damping(0.0), damping(1.5), damping(3.0)
    (0.5, 1.0, 0.5)
    """
    return 1.0 / (2.0 - beta) if beta < 1 else 1.0 / (beta - 1.0) if beta > 2 else 1.0


def multiplicative_updates(
    X: Any,
    W: np.ndarray,
    H: np.ndarray,
    penalties: Penalties,
    beta: float,
    *,
    tol: float,
    max_iter: int,
    update_H: bool = True,
    step: Callable[[float], bool] = lambda error: False,
) -> tuple[np.ndarray, np.ndarray, int]:
    """W, H and the iterations until ten of them lower the error by less than `tol` of what it was at first."""
    power = damping(beta)
    first = last = distance(X, W, H, beta)
    rows = as_rows(X)
    W, H = W.copy(), H.copy()
    for n_iter in range(1, max_iter + 1):
        rows.map(new_rows, W, H, penalties, beta, power)
        drop_tiny(W, beta < 1)
        if update_H:
            up, down = rows.sum(column_ratio, W, H, beta)
            down = penalised(down, penalties.l1_H, penalties.l2_H, H)
            H *= ((up / down) ** power if power != 1 else up / down).astype(H.dtype, copy=False)
            drop_tiny(H, beta <= 1)
        if tol > 0 and n_iter % 10 == 0:
            error = distance(X, W, H, beta)
            if step(error) or last - error <= tol * first:
                break
            last = error
    return W, H, n_iter


def drop_tiny(A: np.ndarray, needed: bool) -> None:
    """0 for what would become a negative power's infinity, where that is needed."""
    if needed:
        A[A < _EPS] = 0.0


def penalised(down: np.ndarray, l1: float, l2: float, factor: np.ndarray) -> np.ndarray:
    """The denominator of an update with the penalties of a factor, and never 0."""
    if l1 > 0:
        down = down + l1
    if l2 > 0:
        down = down + l2 * factor
    return np.where(down == 0, TINY, down)


def new_rows(block: Block, W: np.ndarray, H: np.ndarray, penalties: Penalties, beta: float, power: float) -> np.ndarray:
    """Update the rows of W that belong to a block, in place."""
    mine = W[block.start : block.start + block.X.shape[0]]
    if beta == 2:
        up, down = np.asarray(block.X @ H.T), mine @ (H @ H.T)
    else:
        slope, level = _slopes(block.X, mine, H, beta)
        up = np.asarray(slope @ H.T)
        down = np.broadcast_to(H.sum(axis=1), up.shape) if beta == 1 else level @ H.T
    ratio = up / penalised(down, penalties.l1_W, penalties.l2_W, mine)
    mine *= ratio**power if power != 1 else ratio
    return np.empty(len(mine), dtype=np.int8)


def column_ratio(block: Block, W: np.ndarray, H: np.ndarray, beta: float) -> tuple:
    """The two parts of the gradient by H, from one block."""
    mine = W[block.start : block.start + block.X.shape[0]]
    if beta == 2:
        return np.asarray((block.X.T @ mine).T), mine.T @ mine @ H
    slope, level = _slopes(block.X, mine, H, beta)
    up = np.asarray((slope.T @ mine).T)
    if beta == 1:
        return up, np.broadcast_to(mine.sum(axis=0)[:, None], up.shape).copy()
    return up, mine.T @ level


def _slopes(X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> tuple[Any, Any]:
    """X (W H)^(β − 2), sparse where X is, and (W H)^(β − 1), None for β = 1, where it is not needed."""
    if sparse.issparse(X):
        wh = product_at(X, W, H)
        slope = type(X)((X.data * _power(wh, beta - 2), X.indices, X.indptr), shape=X.shape)
        return slope, None if beta == 1 else _power(W @ H, beta - 1)
    wh = W @ H
    return X * _power(wh, beta - 2), None if beta == 1 else _power(wh, beta - 1)


def _power(A: np.ndarray, exponent: float) -> np.ndarray:
    """A to a power; what is nearly 0 counts as a tiny number where the power is negative."""
    if exponent < 0:
        A = np.maximum(A, TINY)
    return 1.0 / A if exponent == -1 else A**exponent
