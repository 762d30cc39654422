"""Coordinate descent for the squared error (HALS), each iteration one pass over the rows of X.

    A. Cichocki and A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix and tensor factorizations"

With H fixed every row of W is a problem of its own: a block of rows is updated and at once gives its share of WᵀX and
WᵀW, from which H is updated: X is read once an iteration, by all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.decomposition.nmf import _kernels
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, as_rows
from learnt.engine.threads import for_blocks

_GRAIN = 4096


class Penalties(NamedTuple):
    """Of W and of H: the factors of Σ|·| and of ½ Σ(·)²."""

    l1_W: float
    l1_H: float
    l2_W: float
    l2_H: float


def coordinate_descent(
    X: Any,
    W: np.ndarray,
    H: np.ndarray,
    penalties: Penalties,
    *,
    tol: float,
    max_iter: int,
    update_H: bool = True,
    shuffle: bool = False,
    random_state: Any = None,
    step: Callable[[float], bool] = lambda violation: False,
) -> tuple[np.ndarray, np.ndarray, int]:
    """W, H and the iterations until the projected gradient is `tol` of what it was at first; W is changed in place."""
    W, Ht = np.ascontiguousarray(W), np.ascontiguousarray(H.T)
    k = W.shape[1]
    draw = random_state_of(random_state) if shuffle else None
    rows = as_rows(X)
    first = 0.0
    for n_iter in range(1, max_iter + 1):
        gram = Ht.T @ Ht + penalties.l2_W * np.eye(k, dtype=W.dtype)
        order = np.arange(k) if draw is None else draw.permutation(k)
        violation, size, cross, square = rows.sum(row_updates, W, Ht, gram, penalties.l1_W, order, update_H)
        if update_H:
            order = np.arange(k) if draw is None else draw.permutation(k)
            cross = np.ascontiguousarray((cross - penalties.l1_H).T, dtype=W.dtype)
            square = (square + penalties.l2_H * np.eye(k)).astype(W.dtype, copy=False)
            parts = for_blocks(partial(column_updates, Ht, square, cross, order), len(Ht), grain=_GRAIN)
            violation += sum(parts)
            size += float(np.abs(cross).sum())
        if n_iter == 1:
            first = violation
        exact = violation == 0 or violation <= k * float(np.finfo(W.dtype).eps) * size  # all that is left is rounding
        if exact or step(violation / first) or violation / first <= tol:
            break
    return W, Ht.T, n_iter


def row_updates(
    block: Block, W: np.ndarray, Ht: np.ndarray, gram: np.ndarray, l1: float, order: np.ndarray, sums: bool
) -> tuple:
    """Update the rows of W that belong to a block; their violation, the size of its terms, XᵀW and WᵀW."""
    mine = W[block.start : block.start + block.X.shape[0]]
    cross = np.asarray(block.X @ Ht)
    if l1:
        cross -= l1
    size = float(np.abs(cross).sum())
    violation = _kernels.descend(mine, gram, cross, order)
    if not sums:
        return violation, size, np.zeros(0), np.zeros(0)
    # XᵀW is summed as WᵀX, which reads the rows in the order that they lie in.
    across = np.ascontiguousarray(mine.T)
    return violation, size, np.asarray(across @ block.X), across @ mine


def column_updates(Ht: np.ndarray, gram: np.ndarray, cross: np.ndarray, order: np.ndarray, lo: int, hi: int) -> float:
    """Update some columns of H; their violation."""
    return _kernels.descend(Ht[lo:hi], gram, cross[lo:hi], order)
