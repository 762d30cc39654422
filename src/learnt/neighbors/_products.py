"""Euclidean neighbours by matrix products: every pair is looked at, no matrix of distances is made.

Pairs are scored in single precision, a tile at a time, and for each query a few more rows than asked for are kept.
Their distances are then computed exactly, in double precision. Where an error bound cannot exclude that a row outside
was nearer than the last one asked for, the query is answered again with scores in double precision and every close row
compared exactly. So the neighbours are those of the formula, and of equal distances the first rows are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from learnt.engine.threads import for_blocks, single_blas
from learnt.neighbors import _kernels
from learnt.neighbors._rounding import Rounding, rounding
from learnt.neighbors._select import in_order

Consume = Callable[[int, int, np.ndarray, np.ndarray], None]

_SPARE = 4  # rows kept beyond those asked for
_TILE = 512
_CHUNK_BYTES = 1 << 25  # rounded training rows held at once
_BATCH = 8192  # queries whose candidates are held at once
_FEW = 256  # queries up to which threads share the training rows, not the queries
_LANE = 8192


def product_neighbors(T: np.ndarray, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None = None) -> None:
    """`consume(lo, hi, squared distances, index)`, from several threads: the k nearest rows of T of queries lo…hi−1.

    Ascending, of equal distances the first rows. A query may be answered twice: the last answer counts.
    """
    with single_blas():
        _by_batches(T, Q, k, consume, n_jobs)


def _by_batches(T: np.ndarray, Q: np.ndarray, k: int, consume: Consume, n_jobs: int | None) -> None:
    how = rounding(T, Q, np.float32)
    for start in range(0, Q.shape[0], _BATCH):
        part = Q[start : start + _BATCH]

        def shifted(lo: int, hi: int, squared: np.ndarray, index: np.ndarray, start: int = start) -> None:
            consume(start + lo, start + hi, squared, index)

        _Batch(T, part, k, how, n_jobs).run(shifted)


class _Batch:
    """Up to some thousand queries."""

    def __init__(self, T: np.ndarray, Q: np.ndarray, k: int, how: Rounding, n_jobs: int | None) -> None:
        self.T, self.Q, self.k, self.how, self.n_jobs = T, Q, k, how, n_jobs
        self.n, self.m = T.shape[0], Q.shape[0]
        self.keep = min(k + _SPARE, self.n)
        self.block = 128  # queries a task: decided by the data, not by the threads
        self.rounded, self.norms = how.rows(Q)
        self.rounded *= -2
        self.longest = 0.0  # the largest squared norm of a training row

    def run(self, consume: Consume) -> None:
        """Find candidates, compute their distances exactly, and answer again where that does not settle it."""
        values, index = self._few() if self.m <= _FEW else self._many()

        def settle(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
            exact, order = np.empty((hi - lo, self.keep)), index[lo:hi]
            _kernels.exact_order(self.Q[lo:hi], self.T, order, exact)
            if self.keep > _kernels.SHORT:
                exact, order = in_order(exact, order)
            worst, outside = exact[:, self.k - 1], values[lo:hi].max(axis=1)
            worst = np.where(
                np.isfinite(outside), worst, np.inf
            )  # scores beyond single precision: not enough were kept
            sure = self._sure(worst, outside, self.norms[lo:hi])
            consume(lo, hi, exact[:, : self.k], order[:, : self.k])
            return lo + np.flatnonzero(~sure), worst[~sure]

        found = for_blocks(settle, self.m, grain=self.block, n_jobs=self.n_jobs)
        unsure = np.concatenate([rows for rows, _ in found])
        if unsure.size:
            self._again(unsure, np.concatenate([worst for _, worst in found]), consume)

    def _sure(self, worst: np.ndarray, outside: np.ndarray, norms: np.ndarray) -> np.ndarray:
        """Whether no row outside the candidates, whose scores are at least `outside`, can be nearer than `worst`."""
        if self.keep == self.n:
            return np.isfinite(worst)
        worst = worst * self.how.scale**2
        if self.how.product_error == 0.0:  # exact scores, and equals were kept in order
            return worst <= outside + norms
        # A row longer than ‖q‖ + the distance asked about is farther off than that, whatever its score says.
        reach = np.minimum(self.longest, np.square(np.sqrt(norms) + np.sqrt(worst)))
        return worst < outside + norms - self.how.slack(norms, reach)

    def _heaps(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        return np.full((m, self.keep), np.inf, dtype=self.how.dtype), np.zeros((m, self.keep), dtype=np.int64)

    def _many(self) -> tuple[np.ndarray, np.ndarray]:
        """Candidates of many queries: training rows are rounded once, a chunk at a time; tasks share the queries."""
        values, index = self._heaps(self.m)
        for first, rows, extra in self._chunks():

            def scan(lo: int, hi: int, first: int = first, rows: np.ndarray = rows, extra: np.ndarray = extra) -> None:
                _scan(rows, extra, first, self.rounded[lo:hi], values[lo:hi], index[lo:hi])

            for_blocks(scan, self.m, grain=self.block, n_jobs=self.n_jobs)
        return values, index

    def _chunks(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        d = self.T.shape[1]
        size = max(_TILE, _CHUNK_BYTES // (np.dtype(self.how.dtype).itemsize * d) // _TILE * _TILE)
        for first in range(0, self.n, size):
            last = min(first + size, self.n)
            padded = -(-(last - first) // 8) * 8
            rows = np.zeros((padded, d), dtype=self.how.dtype)
            extra = np.full(padded, np.inf, dtype=self.how.dtype)

            def fill(lo: int, hi: int, first: int = first, rows: np.ndarray = rows, extra: np.ndarray = extra) -> float:
                rows[lo:hi], norms = self.how.rows(self.T[first + lo : first + hi])
                extra[lo:hi] = norms
                return float(norms.max())

            grain = max(8, (1 << 17) // d)
            self.longest = max(self.longest, *for_blocks(fill, last - first, grain=grain, n_jobs=self.n_jobs))
            yield first, rows, extra

    def _few(self) -> tuple[np.ndarray, np.ndarray]:
        """Candidates of few queries: tasks share the training rows, and their candidates are put together."""

        def scan(lo: int, hi: int) -> tuple[np.ndarray, np.ndarray, float]:
            values, index = self._heaps(self.m)
            longest = 0.0
            for first in range(lo, hi, _TILE):
                rows, extra, norms = _padded(self.how, self.T[first : min(first + _TILE, hi)])
                longest = max(longest, float(norms.max()))
                _scan(rows, extra, first, self.rounded, values, index)
            return values, index, longest

        lanes = for_blocks(scan, self.n, grain=_LANE, n_jobs=self.n_jobs)
        self.longest = max(longest for _, _, longest in lanes)
        values, index = in_order(np.hstack([v for v, _, _ in lanes]), np.hstack([i for _, i, _ in lanes]))
        return values[:, : self.keep], index[:, : self.keep]

    def _again(self, unsure: np.ndarray, worst: np.ndarray, consume: Consume) -> None:
        """Answer these queries in double precision; their k-th distances are at most `worst`, squared."""
        how = rounding(self.T, self.Q, np.float64)

        def one(lo: int, hi: int) -> None:
            rows = unsure[lo:hi]
            Q = np.ascontiguousarray(self.Q[rows])
            rounded, norms = how.rows(Q)
            limit = worst[lo:hi] * how.scale**2
            reach = np.square(np.sqrt(norms) + np.sqrt(limit))  # nothing longer can be within the limit
            with np.errstate(invalid="ignore"):
                limits = np.where(np.isfinite(limit), limit - norms + how.slack(norms, reach), np.inf)
            rounded *= -2
            values = np.full((hi - lo, self.k), np.inf)
            index = np.tile(np.arange(self.k), (hi - lo, 1))
            minima = np.empty((_TILE // 8, hi - lo))
            scores = np.empty((_TILE, hi - lo))
            for first in range(0, self.n, _TILE):
                tile, extra, _ = _padded(how, self.T[first : first + _TILE])
                out = scores[: tile.shape[0]]
                np.matmul(tile, rounded.T, out=out)
                _kernels.keep_exact(out, extra, first, limits, minima, Q, self.T, values, index)
            values, index = in_order(values, index)
            for i, row in enumerate(rows):
                consume(int(row), int(row) + 1, values[i : i + 1], index[i : i + 1])

        for_blocks(one, unsure.size, grain=64, n_jobs=self.n_jobs)


def _padded(how: Rounding, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rounded rows filled up to a multiple of eight, what is added to their scores, and their squared norms."""
    rounded, norms = how.rows(X)
    short = -X.shape[0] % 8
    if short:
        rounded = np.concatenate([rounded, np.zeros((short, X.shape[1]), dtype=how.dtype)])
    extra: np.ndarray = np.full(rounded.shape[0], np.inf, dtype=how.dtype)
    extra[: norms.size] = norms
    return rounded, extra, norms


def _scan(
    rows: np.ndarray, extra: np.ndarray, first: int, minus2: np.ndarray, values: np.ndarray, index: np.ndarray
) -> None:
    """Score the rows against the queries, a tile at a time, and keep the best."""
    m = minus2.shape[0]
    scores = np.empty((min(_TILE, rows.shape[0]), m), dtype=rows.dtype)
    minima = np.empty((scores.shape[0] // 8, m), dtype=rows.dtype)
    for lo in range(0, rows.shape[0], _TILE):
        tile = rows[lo : lo + _TILE]
        out = scores[: tile.shape[0]]
        np.matmul(tile, minus2.T, out=out)
        _kernels.keep_smallest(out, extra[lo : lo + _TILE], first + lo, minima, values, index)
