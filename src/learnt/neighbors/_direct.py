"""Neighbours from the distances themselves: for few pairs, and for metrics that are not a matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from learnt.engine.threads import for_blocks
from learnt.neighbors._products import Consume
from learnt.neighbors._select import in_order, smallest

_SPARE = 8
_CELLS = 1 << 20  # distances that a task holds
_SERIAL = 1 << 20  # multiplications that one thread does before another would have started


def square_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """‖xᵢ − yᵢ‖² row by row in float64, summed in order of the features; the kernels compute the same bits.

    >>> square_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([25.])
    """
    squares = np.subtract(X.T, Y.T, dtype=np.float64)
    squares *= squares
    total = np.zeros(squares.shape[1])
    for row in squares:
        total += row
    return total


def euclidean_neighbors(T: np.ndarray, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None = None) -> None:
    """`product_neighbors` without compiled code: squared distances, equals in order of their rows."""
    n, d = T.shape
    keep = min(k + _SPARE, n)
    error = 4.0 * (d + 4) * float(np.finfo(np.float64).eps)

    def one(lo: int, hi: int) -> None:
        part = Q[lo:hi]
        D = _all_distances(T, part, n_jobs)
        index = np.argpartition(D, keep - 1, axis=1)[:, :keep] if keep < n else np.tile(np.arange(n), (hi - lo, 1))
        outside = np.take_along_axis(D, index, axis=1).max(axis=1)
        exact = square_distances(np.repeat(part, keep, axis=0), T[index.ravel()]).reshape(index.shape)
        exact, index = in_order(exact, index)
        worst = exact[:, k - 1]
        if keep < n:
            for row in np.flatnonzero(~(worst * (1 + error) < outside)):  # rows outside may be as near: compare all
                close = np.flatnonzero(D[row] <= worst[row] * (1 + 2 * error))
                all_exact = square_distances(part[row][None], T[close])
                best = np.lexsort((close, all_exact))[:k]
                exact[row, :k], index[row, :k] = all_exact[best], close[best]
        consume(lo, hi, exact[:, :k], index[:, :k])

    grain = max(1, _CELLS // n)
    if Q.shape[0] <= grain:  # no BLAS in here to hold: a few rows are answered in microseconds
        one(0, Q.shape[0])
    else:
        for_blocks(one, Q.shape[0], grain=grain, n_jobs=n_jobs)


def _all_distances(T: np.ndarray, Q: np.ndarray, n_jobs: int | None) -> np.ndarray:
    grain = max(1, _SERIAL // (T.shape[1] * Q.shape[0]))
    if T.shape[0] <= grain:
        return cdist(Q, T, "sqeuclidean")
    return np.hstack(
        for_blocks(lambda lo, hi: cdist(Q, T[lo:hi], "sqeuclidean"), T.shape[0], grain=grain, n_jobs=n_jobs)
    )


def metric_neighbors(distances: Any, T: Any, Q: Any, k: int, consume: Consume, n_jobs: int | None = None) -> None:
    """Neighbours by any metric: `distances(part of Q, T)` gives a matrix of distances, of which the smallest are taken."""
    n = T.shape[0]

    def one(lo: int, hi: int) -> None:
        consume(lo, hi, *smallest(distances(Q[lo:hi], T), k))

    for_blocks(one, Q.shape[0], grain=max(1, _CELLS // n), n_jobs=n_jobs)
