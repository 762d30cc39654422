"""Pairs of queries and points within a radius, by matrix products.

Every pair is scored in single precision, a tile at a time, as `_products.py` does for the nearest points. Pairs whose
score is, within its error bound, not above the limit are candidates; their squared distances are computed from the rows
in double precision, in order of the features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from learnt.distances.brute import _kernels
from learnt.distances.brute._rounded_points import TILE, Chunk, RoundedPoints
from learnt.engine.threads import for_blocks

T = TypeVar("T")
_BLOCK = 128  # queries of a task
_LARGE = 1e36  # squared norms above which single precision may overflow, in units of the points' spread
_TINY = 1e-30  # more than single precision loses by underflow


class Pairs(NamedTuple):
    """Candidates of queries lo…hi−1: how many each has, the points in order of their index, squared distances."""

    lo: int
    hi: int
    counts: np.ndarray
    indices: np.ndarray
    squared: np.ndarray


def product_pairs(
    points: RoundedPoints, Q: np.ndarray, limits: np.ndarray, use: Callable[[Pairs], T], n_jobs: int | None
) -> list[T]:
    """What is made of all pairs whose squared distance is at most the query's limit, and a few more, block by block."""
    how = points.rounding(Q, np.float32)
    rounded, norms = how.rows(Q)
    rounded *= -2
    limits = np.maximum(limits, 0.0) * how.scale**2
    reach = np.square(np.sqrt(norms) + np.sqrt(limits))  # a point with a larger squared norm cannot be within the limit
    candidates: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in range(0, Q.shape[0], _BLOCK)]
    for chunk in points.chunks(how, n_jobs):
        slack = how.slack(norms, np.minimum(reach, chunk.longest)) + _TINY
        with np.errstate(over="ignore"):
            bounds = np.nextafter((limits - norms + slack).astype(np.float32), np.float32(np.inf))
        bounds[~(reach < _LARGE)] = np.inf

        def scan(lo: int, hi: int, chunk: Chunk = chunk, bounds: np.ndarray = bounds) -> None:
            candidates[lo // _BLOCK] += _scan(chunk, points.T.shape[0], rounded[lo:hi], bounds[lo:hi])

        for_blocks(scan, Q.shape[0], grain=_BLOCK, n_jobs=n_jobs)

    def settle(lo: int, hi: int) -> T:
        query, rows = (np.concatenate(parts) for parts in zip(*candidates[lo // _BLOCK], strict=True))
        counts = np.bincount(query, minlength=hi - lo)
        index, squared = np.empty(rows.size, dtype=np.int64), np.empty(rows.size)
        ends = np.concatenate([[0], np.cumsum(counts)])
        _kernels.exact_pairs(Q[lo:hi], points.T, query, rows, ends, np.empty(Q.shape[1]), index, squared)
        return use(Pairs(lo, hi, counts, index, squared))

    return for_blocks(settle, Q.shape[0], grain=_BLOCK, n_jobs=n_jobs)


def _scan(chunk: Chunk, n_points: int, minus2: np.ndarray, bounds: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Candidates among the points of a chunk, a tile at a time: numbers of queries and of points.

    `minus2` holds the queries times −2.
    """
    m, n, found = minus2.shape[0], chunk.rows.shape[0], []
    scores = np.empty((min(TILE, n), m), dtype=chunk.rows.dtype)
    minima = np.empty((scores.shape[0] // 8, m), dtype=chunk.rows.dtype)
    query, index = np.empty(scores.size, dtype=np.int64), np.empty(scores.size, dtype=np.int64)
    for lo in range(0, n, TILE):
        tile = chunk.rows[lo : lo + TILE]
        out = scores[: tile.shape[0]]
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are inf or NaN are candidates
            np.matmul(tile, minus2.T, out=out)
        norms, first = chunk.norms[lo : lo + TILE], chunk.first + lo
        count = _kernels.scores_within(out, norms, first, n_points, bounds, minima, query, index)
        found.append((query[:count].copy(), index[:count].copy()))
    return found
