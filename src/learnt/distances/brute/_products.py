"""Euclidean neighbours by matrix products: every pair is scored, but no full matrix of distances is kept.

Pairs are scored in single precision, a tile at a time, and for each query a few more rows than asked for are kept.
Their distances are then computed exactly, in double precision. Where an error bound cannot exclude that a row outside
was nearer than the last one asked for, the query is answered again with scores in double precision and every close row
compared exactly. So the neighbours are those of the formula, and of equal distances the first rows are taken.
"""

from __future__ import annotations

import numpy as np

from learnt.distances._select import Consume, in_order
from learnt.distances.brute import _kernels
from learnt.distances.brute._rounded_points import TILE, Chunk, RoundedPoints, Rounding
from learnt.engine.threads import for_blocks, single_blas

_SPARE = 4  # rows kept beyond those asked for
_BATCH = 8192  # queries whose candidates are held at once
_FEW = 256  # queries up to which threads share the training rows, not the queries
_LANE = 8192
_SETTLED = 512  # queries of a task that computes the distances of candidates


def product_neighbors(
    points: RoundedPoints, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None = None
) -> None:
    """`consume(lo, hi, squared distances, index)`, from several threads: the k nearest points of queries lo…hi−1.

    Ascending, of equal distances the first rows. A query may be answered twice: the last answer counts.
    """
    with single_blas():
        how = points.rounding(Q, np.float32)
        for start in range(0, Q.shape[0], _BATCH):

            def shifted(lo: int, hi: int, squared: np.ndarray, index: np.ndarray, start: int = start) -> None:
                consume(start + lo, start + hi, squared, index)

            _Batch(points, Q[start : start + _BATCH], k, how, n_jobs).run(shifted)


class _Batch:
    """Up to some thousand queries."""

    def __init__(self, points: RoundedPoints, Q: np.ndarray, k: int, how: Rounding, n_jobs: int | None) -> None:
        self.points, self.T, self.Q, self.k, self.how, self.n_jobs = points, points.T, Q, k, how, n_jobs
        self.n, self.m = self.T.shape[0], Q.shape[0]
        self.keep = min(k + _SPARE, self.n)
        self.block = 128  # queries a task: decided by the data, not by the threads
        self.rounded, self.norms = how.rows(Q)
        self.rounded *= -2
        self.longest = 0.0  # the largest squared norm of a training row

    def run(self, consume: Consume) -> None:
        """Find candidates, compute their distances exactly, and repeat in double precision if undecided."""
        values, index = self._split_points() if self.m <= _FEW else self._split_queries()

        def settle(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
            exact, order = np.empty((hi - lo, self.keep)), index[lo:hi]
            _kernels.exact_order(self.Q[lo:hi], self.T, order, exact)
            if self.keep > _kernels.SHORT:
                exact, order = in_order(exact, order)
            worst, outside = exact[:, self.k - 1], values[lo:hi].max(axis=1)
            worst = np.where(
                np.isfinite(outside), worst, np.inf
            )  # scores overflowed single precision: not enough candidates were kept
            sure = self._excluded(worst, outside, self.norms[lo:hi])
            consume(lo, hi, exact[:, : self.k], order[:, : self.k])
            return lo + np.flatnonzero(~sure), worst[~sure]

        found = for_blocks(settle, self.m, grain=_SETTLED, n_jobs=self.n_jobs)
        unsure = np.concatenate([rows for rows, _ in found])
        if unsure.size:
            self._in_double(unsure, np.concatenate([worst for _, worst in found]), consume)

    def _excluded(self, worst: np.ndarray, outside: np.ndarray, norms: np.ndarray) -> np.ndarray:
        """Whether no row outside the candidates, whose scores are at least `outside`, can be nearer than `worst`."""
        if self.keep == self.n:
            return np.isfinite(worst)
        worst = worst * self.how.scale**2
        if self.how.product_error == 0.0:  # scores are exact, and ties were kept in order
            return worst <= outside + norms
        # A row with a norm above ‖q‖ + `worst` is farther away than `worst`, whatever its score.
        reach = np.minimum(self.longest, np.square(np.sqrt(norms) + np.sqrt(worst)))
        return worst < outside + norms - self.how.slack(norms, reach)

    def _heaps(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        return np.full((m, self.keep), np.inf, dtype=self.how.dtype), np.zeros((m, self.keep), dtype=np.int64)

    def _split_queries(self) -> tuple[np.ndarray, np.ndarray]:
        """Candidates of many queries: tasks share the queries."""
        values, index = self._heaps(self.m)
        for chunk in self.points.chunks(self.how, self.n_jobs):
            self.longest = max(self.longest, chunk.longest)

            def scan(lo: int, hi: int, chunk: Chunk = chunk) -> None:
                _scan(chunk, self.rounded[lo:hi], values[lo:hi], index[lo:hi])

            for_blocks(scan, self.m, grain=self.block, n_jobs=self.n_jobs)
        return values, index

    def _split_points(self) -> tuple[np.ndarray, np.ndarray]:
        """Candidates of few queries: tasks share the points, and their candidates are put together."""

        def scan(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray, float]:
            values, index = self._heaps(self.m)
            longest = 0.0
            for tile in self.points.tiles(self.how, lo, hi):
                longest = max(longest, tile.longest)
                _scan(tile, self.rounded, values, index)
            return values, index, longest

        lanes = for_blocks(scan, self.n, grain=_LANE, n_jobs=self.n_jobs)
        self.longest = max(longest for _, _, longest in lanes)
        values, index = in_order(np.hstack([v for v, _, _ in lanes]), np.hstack([i for _, i, _ in lanes]))
        return values[:, : self.keep], index[:, : self.keep]

    def _in_double(self, unsure: np.ndarray, worst: np.ndarray, consume: Consume) -> None:
        """Answer these queries in double precision; their k-th distances are at most `worst`, squared."""
        how = self.points.rounding(self.Q, np.float64)

        def one(lo: int, hi: int) -> None:
            rows = unsure[lo:hi]
            Q = np.ascontiguousarray(self.Q[rows])
            rounded, norms = how.rows(Q)
            limit = worst[lo:hi] * how.scale**2
            # a point with a larger squared norm cannot be within the limit
            reach = np.square(np.sqrt(norms) + np.sqrt(limit))
            with np.errstate(invalid="ignore"):
                limits = np.where(np.isfinite(limit), limit - norms + how.slack(norms, reach), np.inf)
            rounded *= -2
            values = np.full((hi - lo, self.k), np.inf)
            index = np.tile(np.arange(self.k), (hi - lo, 1))
            minima = np.empty((TILE // 8, hi - lo))
            scores = np.empty((TILE, hi - lo))
            for tile in self.points.tiles(how, 0, self.n):
                out = scores[: tile.rows.shape[0]]
                np.matmul(tile.rows, rounded.T, out=out)
                _kernels.keep_exact(out, tile.norms, tile.first, limits, minima, Q, self.T, values, index)
            values, index = in_order(values, index)
            for i, row in enumerate(rows):
                consume(int(row), int(row) + 1, values[i : i + 1], index[i : i + 1])

        for_blocks(one, unsure.size, grain=64, n_jobs=self.n_jobs)


def _scan(chunk: Chunk, minus2: np.ndarray, values: np.ndarray, index: np.ndarray) -> None:
    """Score the points against the queries (times −2), a tile at a time, and keep the best."""
    m, n = minus2.shape[0], chunk.rows.shape[0]
    scores = np.empty((min(TILE, n), m), dtype=chunk.rows.dtype)
    minima = np.empty((scores.shape[0] // 8, m), dtype=chunk.rows.dtype)
    for lo in range(0, n, TILE):
        tile = chunk.rows[lo : lo + TILE]
        out = scores[: tile.shape[0]]
        np.matmul(tile, minus2.T, out=out)
        _kernels.keep_smallest(out, chunk.norms[lo : lo + TILE], chunk.first + lo, minima, values, index)
