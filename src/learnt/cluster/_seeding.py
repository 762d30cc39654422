"""Where k-means starts: k-means++, farthest-first, or rows drawn at random.

    D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    T. Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985.

k-means++ draws each seed with probability proportional to its squared distance from the seeds so far, tries a few such
draws and keeps the one that lowers the sum of squared distances most. Draws are made in an order of the rows that is
fixed by their values: shuffled rows, and a row of weight 2 in place of the row twice, give the same seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.cluster import _kernels
from learnt.cluster._sums import sparse_lane_rows
from learnt.distances import squared_norms
from learnt.engine.random import random_state_of
from learnt.engine.rows import csr_rows
from learnt.engine.threads import for_blocks, single_blas

BUCKETS = 4096
_DIRECTION = 0x6B6D  # seed of the direction on which rows are put in order
_GRAIN = 8192
_SMALL = 1 << 16
_NO_WEIGHTS = np.empty(0)


def direction(n_features: int) -> np.ndarray:
    """A fixed random direction: equal rows, and hardly any others, share their place on it."""
    return random_state_of(_DIRECTION).uniform(0.5, 1.0, n_features)


def _places(X: Any) -> np.ndarray:
    return np.asarray(X @ direction(X.shape[1]), dtype=np.float64)


class Lottery:
    """Draws rows with given chances, in an order of the rows that only their values decide."""

    def __init__(self, X: Any) -> None:
        self._order = np.argsort(_places(X), kind="stable")

    def draw(self, chances: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """One row for each of the uniforms in [0, 1); chances need not sum to 1."""
        totals = chances[self._order].cumsum()
        at = totals.searchsorted(uniforms * totals[-1], side="right")
        return self._order[np.minimum(at, totals.size - 1)]


class LargeLottery(Lottery):
    """The same for many rows, without sorting them all: in buckets, of which only those drawn from are sorted."""

    def __init__(self, X: Any) -> None:
        place = _places(X)
        low, high = float(place.min()), float(place.max())
        self._place = place
        self._bucket = ((place - low) * ((BUCKETS - 1) / (high - low) if high > low else 0.0)).astype(np.uint16)
        self._members = np.argsort(self._bucket, kind="stable")
        self._start = np.concatenate([[0], np.cumsum(np.bincount(self._bucket, minlength=BUCKETS))])
        self._sorted: set[int] = set()

    def draw(self, chances: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        totals = np.bincount(self._bucket, weights=chances, minlength=BUCKETS).cumsum()
        levels = uniforms * totals[-1]
        chosen = np.minimum(totals.searchsorted(levels, side="right"), BUCKETS - 1)
        before = np.where(chosen > 0, totals[chosen - 1], 0.0)
        return np.array([self._within(int(b), chances, u) for b, u in zip(chosen, levels - before)])

    def _within(self, bucket: int, chances: np.ndarray, level: float) -> int:
        rows = self._members[self._start[bucket] : self._start[bucket + 1]]
        if rows.size == 0:  # no row has a chance left: any will do
            return int(self._members[-1])
        if bucket not in self._sorted:
            rows[:] = rows[np.argsort(self._place[rows], kind="stable")]
            self._sorted.add(bucket)
        at = int(chances[rows].cumsum().searchsorted(level, side="right"))
        return int(rows[min(at, rows.size - 1)])


class Seeds:
    """The seeds chosen so far and every row's squared distance to the nearest: dense rows, in NumPy."""

    def __init__(self, X: Any, weights: np.ndarray | None) -> None:
        self.X, self.weights = X, weights
        self.n = X.shape[0]
        self.chosen: list[int] = []
        self.squared = np.full(self.n, np.inf)
        self._tried: dict[int, Any] = {}  # rows tried for the next seed, and the distances they would leave

    def chances(self) -> np.ndarray:
        """Weight times squared distance; before the first seed, the weights."""
        if not self.chosen:
            return np.ones(self.n) if self.weights is None else self.weights
        return self.squared if self.weights is None else self.squared * self.weights

    def distances(self, index: np.ndarray) -> np.ndarray:
        """Squared distances of all rows to some of them, (len(index) × n)."""
        if index.size * self.X.size <= _SMALL:
            D = self.X[index][:, None, :] - self.X
            return np.einsum("lij,lij->li", D, D)
        out = np.empty((index.size, self.n))
        step = max(1, _SMALL // self.X.shape[1])
        for lo in range(0, self.n, step):
            for row, i in zip(out, index):
                D = self.X[lo : lo + step] - self.X[i]
                np.einsum("ij,ij->i", D, D, out=row[lo : lo + step])
        return out

    def potentials(self, index: np.ndarray) -> np.ndarray:
        """The sum of weighted squared distances to the nearest seed, if each of these rows became the next one."""
        found = np.minimum(self.distances(index), self.squared)
        self._tried = dict(zip(index.tolist(), found))
        return found.sum(axis=1) if self.weights is None else found @ self.weights

    def take(self, i: int) -> None:
        """Make row i a seed."""
        if i in self._tried:
            self.squared = self._tried[i]
        else:
            self.squared = np.minimum(self.squared, self.distances(np.array([i]))[0])
        self._tried = {}
        self.chosen.append(i)

    def farthest(self) -> int:
        """The row with weight farthest from the seeds, the first of equals."""
        return int(np.argmax(self.squared if self.weights is None else np.where(self.weights > 0, self.squared, -1.0)))


class SparseSeeds(Seeds):
    """The same for CSR rows, on all threads."""

    def __init__(self, X: Any, weights: np.ndarray | None) -> None:
        super().__init__(X, weights)
        self._norms = squared_norms(X)
        self._lane = sparse_lane_rows(self.n, X.nnz, 1)

    def distances(self, index: np.ndarray) -> np.ndarray:
        candidates = self.X[index].toarray().astype(np.float64, copy=False).T
        out = np.empty((index.size, self.n))

        def one(lo: int, hi: int) -> None:
            norms = self._norms[lo:hi, None]
            squares = self._norms[index] - 2.0 * (csr_rows(self.X, lo, hi) @ candidates) + norms
            # Rounding leaves a row at a small distance from itself and its copies.
            squares[squares < 1e-14 * norms] = 0.0
            out[:, lo:hi] = squares.T

        for_blocks(one, self.n, grain=self._lane)
        return out


class CompiledSeeds(Seeds):
    """The same for many dense rows: matrix products of the rounded rows W, on all threads."""

    def __init__(self, W: np.ndarray, norms: np.ndarray, weights: np.ndarray | None) -> None:
        super().__init__(W, weights)
        self.norms = norms
        self.squared = np.full(self.n, np.inf, dtype=W.dtype)

    def chances(self) -> np.ndarray:
        return super().chances().astype(np.float64, copy=False)

    def distances(self, index: np.ndarray) -> np.ndarray:
        return self._try(index)[0]

    def potentials(self, index: np.ndarray) -> np.ndarray:
        found, sums = self._try(index)
        self._tried = dict(zip(index.tolist(), found))
        return sums

    def _try(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances to the nearest seed if these rows were tried, and their weighted sums."""
        candidates, extra = self.X[index], self.norms[index]
        minus2 = -2 * candidates
        out = np.empty((index.size, self.n), dtype=self.X.dtype)
        small = self.X.dtype.type(0.01)

        def one(lo: int, hi: int) -> np.ndarray:
            sums = np.zeros(index.size)
            W = self.X[lo:hi]
            _kernels.seed_minima(
                minus2 @ W.T, extra, W, self.norms[lo:hi], candidates,
                _NO_WEIGHTS if self.weights is None else self.weights[lo:hi], self.squared[lo:hi], lo, small, out, sums,
            )  # fmt: skip
            return sums

        if self.n <= _GRAIN:
            return out, one(0, self.n)
        return out, np.sum(for_blocks(one, self.n, grain=_GRAIN), axis=0)


def plus_plus(
    seeds: Seeds, lottery: Any, k: int, random_state: np.random.RandomState, trials: int | None = None
) -> np.ndarray:
    """Row numbers of k seeds by greedy k-means++ with 2 + ⌊ln k⌋ trials each, or as many as are given."""
    trials = 2 + int(np.log(k)) if trials is None else trials
    with single_blas():  # once: to hold it costs as much as to try a few rows
        seeds.take(int(lottery.draw(seeds.chances(), random_state.uniform(size=1))[0]))
        for _ in range(1, k):
            tried = lottery.draw(seeds.chances(), random_state.uniform(size=trials))
            tried = np.array(list(dict.fromkeys(tried.tolist())))  # a row drawn twice is tried once
            seeds.take(int(tried[seeds.potentials(tried).argmin()] if tried.size > 1 else tried[0]))
    return np.asarray(seeds.chosen)


def farthest_first(seeds: Seeds, lottery: Any, k: int, random_state: np.random.RandomState) -> np.ndarray:
    """Row numbers of k seeds: one drawn, then always the row farthest from those before."""
    with single_blas():
        seeds.take(int(lottery.draw(seeds.chances(), random_state.uniform(size=1))[0]))
        while len(seeds.chosen) < k:
            seeds.take(seeds.farthest())
    return np.asarray(seeds.chosen)


def random_rows(n: int, weights: np.ndarray | None, k: int, random_state: np.random.RandomState) -> np.ndarray:
    """Row numbers of k different rows, drawn with chances proportional to their weights."""
    chances = None if weights is None else weights / weights.sum()
    if chances is not None and np.count_nonzero(chances) < k:
        raise ValueError(
            f"init='random' draws {k} different rows and only {np.count_nonzero(chances)} have a weight above 0; "
            "use fewer clusters or init='k-means++'."
        )
    return random_state.choice(n, size=k, replace=False, p=np.full(n, 1.0 / n) if chances is None else chances)
