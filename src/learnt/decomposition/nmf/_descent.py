"""Coordinate descent for the squared error (HALS), each iteration one pass over the rows of X.

    A. Cichocki and A.-H. Phan, "Fast local algorithms for large scale nonnegative matrix and tensor factorizations"
    N. Gillis and F. Glineur, "Accelerated multiplicative updates and hierarchical ALS algorithms", 2012

With H fixed every row of W is a problem of its own: a block of rows is updated and at once gives its share of WᵀX and
WᵀW, from which H is updated: X is read once an iteration, by all threads, wherever it is stored. The products with X
take most of the time, so that each is followed by several sweeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from learnt.decomposition.nmf import _kernels
from learnt.engine.matrices import double, stored
from learnt.engine.random import random_state_of
from learnt.engine.rows import Block, as_rows, in_memory
from learnt.engine.threads import for_blocks

SWEEPS = 6  # for each product with X, which takes as long as some twenty
_GRAIN = 4096
_NOTHING = 1e-13  # of ½ ‖X‖²: X is known to six digits then
_WINDOW = 6  # iterations that tell how many are still worth it


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
    """W, H and the iterations until others would lower the objective by at most `tol` of it; W is changed in place."""
    W, Ht = np.ascontiguousarray(W), np.ascontiguousarray(H.T)
    order = _orders(W.shape[1], shuffle, random_state)
    rows = as_rows(X)
    zero = rows.sum(half_square)[0]  # the objective of W = 0

    def update() -> Progress:
        gram = _plus_diagonal(Ht.T @ Ht, penalties.l2_W)
        change, size, pieces, cross, square = rows.sum(row_updates, W, Ht, gram, penalties.l1_W, order(), sweeps)
        pieces.put(W)
        cross = np.ascontiguousarray((cross - penalties.l1_H).T, dtype=W.dtype)
        square = _plus_diagonal(square, penalties.l2_H).astype(W.dtype, copy=False)
        change = change + _updated(Ht, square, cross, order(), sweeps)
        price = penalties.l1_W * float(W.sum()) + penalties.l2_W / 2 * float(np.vdot(W, W))
        left = zero + _objective(Ht, square, cross) + price
        return Progress(change[0], _rounding(W, size + _size(cross)), change[1], left)

    return W, Ht.T, _iterations(update, _NOTHING * zero, tol, max_iter, step)


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
    rows = as_rows(X)
    zero, cross = rows.sum(half_square)[0], in_memory(rows.map(products, Ht, penalties.l1_W))
    rounding = _rounding(W, _size(cross))

    def update() -> Progress:
        violation, decrease = _updated(W, gram, cross, order(), 1)
        return Progress(violation, rounding, decrease, zero + _objective(W, gram, cross))

    return W, H, _iterations(update, 0.0, tol, max_iter, step)


class Progress(NamedTuple):
    """What an iteration found and did."""

    violation: float  # Σ |projected gradient|
    rounding: float  # what rounding leaves of that
    decrease: float  # of the objective
    left: float  # of the objective


def _iterations(
    update: Callable[[], Progress], rounding: float, tol: float, max_iter: int, step: Callable[[float], bool]
) -> int:
    """How many updates it took until the gradient was `tol` of the first, and others would hardly lower the objective.

    The gradient alone is no measure: it is large where a unit is small, and at first, in a far start. What is to come
    is measured by what is left, of which it may be the share `tol` (or, being nothing but `rounding`, any).
    """
    decreases: list[float] = []
    first = 0.0
    for _ in range(max_iter):
        now = update()
        first = first or now.violation
        decreases.append(now.decrease)
        still = _to_come(decreases[-_WINDOW:], rounding)
        done = now.violation <= tol * first and still <= max(tol * now.left, rounding)
        if step(now.left) or done or now.violation <= now.rounding:
            break
    return len(decreases)


def _to_come(recent: list[float], rounding: float) -> float:
    """What further iterations would take off: a geometric series, if they shrink as slowly as the slowest recent one.

    >>> _to_come([8.0, 4.0, 2.0, 1.0, 0.5, 0.25], 0.0)
    0.25
    """
    if len(recent) < _WINDOW:
        return math.inf
    if 1000 * max(recent) <= rounding:
        return 0.0
    ratio = max(after / before if before > 0 else 0.0 for before, after in pairwise(recent))
    return recent[-1] * ratio / (1.0 - ratio) if ratio < 1 else math.inf


def _objective(A: np.ndarray, gram: np.ndarray, cross: np.ndarray) -> float:
    """Σ ½ a G aᵀ − a·c over the rows of A."""
    A = A.astype(np.float64, copy=False)
    return float(np.vdot(A.T @ A, gram) / 2 - np.vdot(A, cross))


def _orders(k: int, shuffle: bool, random_state: Any) -> Callable[[], np.ndarray]:
    """The order in which the coordinates are visited, drawn once for each factor."""
    draw = random_state_of(random_state) if shuffle else None
    return lambda: np.arange(k) if draw is None else draw.permutation(k)


def _plus_diagonal(gram: np.ndarray, l2: float) -> np.ndarray:
    return gram + l2 * np.eye(len(gram), dtype=gram.dtype)


def _size(cross: np.ndarray) -> float:
    return float(np.abs(cross).sum())


def _rounding(W: np.ndarray, size: float) -> float:
    """What rounding leaves of a sum whose products have this size."""
    return W.shape[1] * float(np.finfo(W.dtype).eps) * size


def half_square(block: Block) -> tuple[float]:
    """½ ‖X‖² of a block of rows."""
    X = double(stored(block.X))
    return (float(np.vdot(X, X)) / 2,)


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
    change = np.array(_kernels.descend(mine, gram, cross, order, sweeps))
    # XᵀW is summed as WᵀX, which reads the rows in memory order.
    across = np.ascontiguousarray(mine.T)
    pieces = Pieces(((block.start, mine),))
    return change, _size(cross), pieces, np.asarray(across @ block.X), across @ mine


def _updated(A: np.ndarray, gram: np.ndarray, cross: np.ndarray, order: np.ndarray, sweeps: int) -> np.ndarray:
    """Update the rows of A, by all threads; their violation, and the decrease."""
    parts = for_blocks(partial(_updated_part, A, gram, cross, order, sweeps), len(A), grain=_GRAIN)
    return np.sum(parts, axis=0)


def _updated_part(
    A: np.ndarray, gram: np.ndarray, cross: np.ndarray, order: np.ndarray, sweeps: int, lo: int, hi: int
) -> np.ndarray:
    return np.array(_kernels.descend(A[lo:hi], gram, cross[lo:hi], order, sweeps))
