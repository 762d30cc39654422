"""Coordinate descent for the squared error (HALS), each iteration one pass over the rows of X.

    A. Cichocki and A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix and tensor factorizations"
    N. Gillis and F. Glineur, "Accelerated multiplicative updates and hierarchical ALS algorithms", 2012

With H fixed every row of W is a problem of its own: a block of rows is updated and at once gives its share of WᵀX and
WᵀW, from which H is updated: X is read once an iteration, by all threads, wherever it is stored. The products with X
take most of the time, so that each is followed by several sweeps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.decomposition.nmf import _kernels
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, as_rows, in_memory
from learnt.engine.threads import for_blocks

SWEEPS = 6  # for each product with X, which takes as long as some twenty
_GRAIN = 4096


class Penalties(NamedTuple):
    """Of W and of H: the factors of Σ|·| and of ½ Σ(·)²."""

    l1_W: float
    l1_H: float
    l2_W: float
    l2_H: float


class Pieces:
    """Rows of W that blocks have updated, wherever that was done; two of them add to all the rows that either has."""

    def __init__(self, parts: tuple[tuple[int, np.ndarray], ...]) -> None:
        self.parts = parts

    def __add__(self, other: Pieces) -> Pieces:
        return Pieces(self.parts + other.parts)

    def put(self, W: np.ndarray) -> None:
        """Copy the rows into W, where they are not views of it."""
        for start, piece in self.parts:
            if not np.may_share_memory(W, piece):
                W[start : start + len(piece)] = piece


def coordinate_descent(
    X: Any,
    W: np.ndarray,
    H: np.ndarray,
    penalties: Penalties,
    *,
    tol: float,
    max_iter: int,
    shuffle: bool = False,
    random_state: Any = None,
    sweeps: int = SWEEPS,
    step: Callable[[float], bool] = lambda violation: False,
) -> tuple[np.ndarray, np.ndarray, int]:
    """W, H and the iterations until the projected gradient is `tol` of what it was at first; W is changed in place."""
    W, Ht = np.ascontiguousarray(W), np.ascontiguousarray(H.T)
    order = _orders(W.shape[1], shuffle, random_state)
    rows = as_rows(X)

    def update() -> tuple[float, float]:
        gram = _plus_diagonal(Ht.T @ Ht, penalties.l2_W)
        violation, size, pieces, cross, square = rows.sum(row_updates, W, Ht, gram, penalties.l1_W, order(), sweeps)
        pieces.put(W)
        cross = np.ascontiguousarray((cross - penalties.l1_H).T, dtype=W.dtype)
        square = _plus_diagonal(square, penalties.l2_H).astype(W.dtype, copy=False)
        return violation + _updated(Ht, square, cross, order(), sweeps), _rounding(W, size + _size(cross))

    return W, Ht.T, _iterations(update, tol, max_iter, step)


def weights_of(
    X: Any,
    W: np.ndarray,
    H: np.ndarray,
    penalties: Penalties,
    *,
    tol: float,
    max_iter: int,
    shuffle: bool = False,
    random_state: Any = None,
    step: Callable[[float], bool] = lambda violation: False,
) -> tuple[np.ndarray, np.ndarray, int]:
    """The same with H as it is: X is read once, whatever the number of iterations."""
    Ht = np.ascontiguousarray(H.T)
    order = _orders(W.shape[1], shuffle, random_state)
    gram = _plus_diagonal(Ht.T @ Ht, penalties.l2_W)
    cross = in_memory(as_rows(X).map(products, Ht, penalties.l1_W))
    rounding = _rounding(W, _size(cross))
    return W, H, _iterations(lambda: (_updated(W, gram, cross, order(), 1), rounding), tol, max_iter, step)


def _iterations(
    update: Callable[[], tuple[float, float]], tol: float, max_iter: int, step: Callable[[float], bool]
) -> int:
    """How many updates it took until the violation was `tol` of the first, or no more than its rounding."""
    first = 0.0
    for n_iter in range(1, max_iter + 1):
        violation, rounding = update()
        first = violation if n_iter == 1 else first
        if step(violation / (first or 1.0)) or violation <= rounding or violation / first <= tol:
            break
    return n_iter


def _orders(k: int, shuffle: bool, random_state: Any) -> Callable[[], np.ndarray]:
    """The order in which the coordinates are visited, drawn once for each factor."""
    draw = random_state_of(random_state) if shuffle else None
    return lambda: np.arange(k) if draw is None else draw.permutation(k)


def _plus_diagonal(gram: np.ndarray, l2: float) -> np.ndarray:
    return gram + l2 * np.eye(len(gram), dtype=gram.dtype)


def _size(cross: np.ndarray) -> float:
    return float(np.abs(cross).sum())


def _rounding(W: np.ndarray, size: float) -> float:
    """What rounding leaves of a violation whose products have this size."""
    return W.shape[1] * float(np.finfo(W.dtype).eps) * size


def products(block: Block, Ht: np.ndarray, l1: float) -> np.ndarray:
    """X Hᵀ less the penalty."""
    cross = np.asarray(block.X @ Ht)
    if l1:
        cross -= l1
    return cross


def row_updates(
    block: Block, W: np.ndarray, Ht: np.ndarray, gram: np.ndarray, l1: float, order: np.ndarray, sweeps: int
) -> tuple:
    """Update the rows of W that belong to a block.

    Gives their violation, the size of its terms, the rows, WᵀX and WᵀW.
    """
    mine = W[block.start : block.start + block.X.shape[0]]
    if not mine.flags.writeable:  # read-only when sent to another process
        mine = mine.copy()
    cross = products(block, Ht, l1)
    violation = _kernels.descend(mine, gram, cross, order, sweeps)
    # XᵀW is summed as WᵀX, which reads the rows in memory order.
    across = np.ascontiguousarray(mine.T)
    pieces = Pieces(((block.start, mine),))
    return violation, _size(cross), pieces, np.asarray(across @ block.X), across @ mine


def _updated(A: np.ndarray, gram: np.ndarray, cross: np.ndarray, order: np.ndarray, sweeps: int) -> float:
    """Update the rows of A, by all threads; their violation."""
    return sum(for_blocks(partial(_updated_part, A, gram, cross, order, sweeps), len(A), grain=_GRAIN))


def _updated_part(
    A: np.ndarray, gram: np.ndarray, cross: np.ndarray, order: np.ndarray, sweeps: int, lo: int, hi: int
) -> float:
    return _kernels.descend(A[lo:hi], gram, cross[lo:hi], order, sweeps)
