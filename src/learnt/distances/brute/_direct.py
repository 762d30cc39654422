"""Neighbours from the distances themselves: for few pairs, and for metrics that are not a matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from learnt.distances._rounding import square_distances
from learnt.distances._select import Consume, in_order, smallest
from learnt.distances.brute import _kernels
from learnt.engine.kernel import compilation_enabled
from learnt.engine.threads import for_blocks

_SPARE = 4
_TILE = 512
_FARTHEST = float(np.finfo(np.float64).max)  # replaces a distance that is infinite or NaN
_CELLS = 1 << 20  # distances that a task holds
_SERIAL = 1 << 20  # multiplications that one thread does in the time it takes to start another


def euclidean_neighbors(T: np.ndarray, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None = None) -> None:
    """`product_neighbors` for few pairs, or few queries: squared distances, equals in order of their rows."""
    n, d = T.shape
    keep = min(k + _SPARE, n)
    error = 4.0 * (d + 4) * float(np.finfo(np.float64).eps)

    def one(lo: int, hi: int) -> None:
        part = Q[lo:hi]
        D = _all_distances(T, part, n_jobs)
        index = np.argpartition(D, keep - 1, axis=1)[:, :keep] if keep < n else np.tile(np.arange(n), (hi - lo, 1))
        outside = np.take_along_axis(D, index, axis=1).max(axis=1)
        exact = square_distances(T[index], part[:, None, :])
        exact, index = in_order(exact, index)
        worst = exact[:, k - 1]
        if keep < n:
            for row in np.flatnonzero(~(worst * (1 + error) < outside)):  # rows outside may be as near: compare all
                close = np.flatnonzero(D[row] <= worst[row] * (1 + 2 * error))
                all_exact = square_distances(T[close], part[row])
                best = np.lexsort((close, all_exact))[:k]
                exact[row, :k], index[row, :k] = all_exact[best], close[best]
        consume(lo, hi, exact[:, :k], index[:, :k])

    grain = max(1, _CELLS // n)
    if Q.shape[0] <= grain:  # without `for_blocks`, which limits BLAS: a few rows take microseconds
        one(0, Q.shape[0])
    else:
        for_blocks(one, Q.shape[0], grain=grain, n_jobs=n_jobs)


def _all_distances(T: np.ndarray, Q: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Squared distances (queries × rows), right to a few units in the last place."""
    grain = max(1, _SERIAL // (T.shape[1] * Q.shape[0]))
    if T.shape[0] <= 2 * grain or not compilation_enabled():
        return cdist(Q, T, "sqeuclidean")
    out = np.empty((Q.shape[0], T.shape[0]))
    for_blocks(
        lambda lo, hi: _kernels.plain_distances(Q, T[lo:hi], out[:, lo:hi]), T.shape[0], grain=grain, n_jobs=n_jobs
    )
    return out


def metric_neighbors(distances: Any, T: Any, Q: Any, k: int, consume: Consume, n_jobs: int | None = None) -> None:
    """Neighbours by any metric: the smallest entries of the matrices `distances(part of Q, T)`."""
    n, m = T.shape[0], Q.shape[0]
    if m * n <= _CELLS or 4 * k > n or not compilation_enabled():

        def one(lo: int, hi: int) -> None:
            consume(lo, hi, *smallest(distances(Q[lo:hi], T), k))

        for_blocks(one, m, grain=max(1, _CELLS // n), n_jobs=n_jobs)
        return

    def by_tiles(lo: int, hi: int) -> None:
        values, index = np.full((hi - lo, k), np.inf), np.zeros((hi - lo, k), dtype=np.int64)
        minima = np.empty((_TILE // 8, hi - lo))
        no_terms = np.zeros(_TILE)
        for first in range(0, n, _TILE):
            D = distances(Q[lo:hi], T[first : first + _TILE]).T
            if not np.isfinite(D.sum()):
                D = np.nan_to_num(D, nan=_FARTHEST, posinf=_FARTHEST)
            scores = np.full((-(-D.shape[0] // 8) * 8, hi - lo), np.inf)
            scores[: D.shape[0]] = D
            _kernels.keep_smallest(scores, no_terms, first, minima, values, index)
        values[values == _FARTHEST] = np.inf
        consume(lo, hi, *in_order(values, index))

    for_blocks(by_tiles, m, grain=64, n_jobs=n_jobs)
