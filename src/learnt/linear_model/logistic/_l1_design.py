"""Columns for proximal Newton: slopes of all, curvature and one quadratic step over a few.

`DenseDesign` copies the few columns (centred) and has their weighted inner products; `SparseDesign` walks the entries
of its columns and keeps the residual of the quadratic instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.kernel import kernel
from learnt.engine.threads import for_blocks
from learnt.linalg import sparse_quadratic as quadratic
from learnt.linalg.weighted_columns import Table, add_columns, column_dots, compressed
from learnt.linear_model.coordinate._problem import transposed_product
from learnt.linear_model.logistic._l1_joint import dense_step, sparse_step
from learnt.linear_model.logistic._l1_loss import by_class

_ROWS = 1 << 16  # cells that one task of a weighted product takes
_ENTRIES = 1 << 16
_JOINT = 3000  # coefficients of all classes whose products are kept
_MANY, _IN_CACHE = (
    100,
    1 << 18,
)  # columns whose products in pairs cost more than sweeps, and cells that sweeps read fast
_SAME = 0.01  # of scores: a change that leaves the curvature as it is


class DenseDesign:
    """Dense columns."""

    batch = 0  # columns to take at once at least: none, since products of all pairs are to be had
    rounds = 2  # steps between passes while the working set grows
    closeness = 0.1  # of what a step cannot but leave: the products of all pairs cost more than sweeps

    def __init__(self, X: np.ndarray, w: np.ndarray, fit_intercept: bool) -> None:
        self._X, self._intercept = X, fit_intercept
        mean = transposed_product(X, w[:, None])[:, 0] / w.sum() if fit_intercept else np.zeros(X.shape[1])
        self.mean = mean
        self._store, self._size = np.empty((0, X.shape[0])), 0  # columns as rows, with room for more
        self._known: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # products, of which, at which scores

    @property
    def _columns(self) -> np.ndarray:
        return self._store[: self._size].T

    def take(self, new: np.ndarray) -> None:
        """More columns to work with."""
        size, n = self._size + len(new), len(self._X)
        if size > len(self._store):
            grown = np.empty((min(max(size, 2 * len(self._store)), self._X.shape[1]), n))
            grown[: self._size] = self._store[: self._size]
            self._store = grown
        fresh = self._store[self._size : size]

        def fill(lo: int, hi: int) -> None:
            np.subtract(self._X[lo:hi, new].T, self.mean[new, None], out=fresh[:, lo:hi])

        for_blocks(fill, n, grain=max(_ROWS // max(len(new), 1), 64))
        self._size = size

    def all_slopes(self, U: np.ndarray) -> np.ndarray:
        """XᵀU of centred columns."""
        return transposed_product(self._X, U) - np.outer(self.mean, U.sum(axis=0))

    def taken_slopes(self, taken: np.ndarray, U: np.ndarray) -> np.ndarray:
        if not len(taken):
            return np.empty((0, U.shape[1]))
        grain = max(_ROWS // len(U), 1)
        return np.concatenate(for_blocks(lambda lo, hi: self._store[lo:hi] @ U, len(taken), grain=grain))

    def scores(self, taken: np.ndarray, some: np.ndarray, change: np.ndarray) -> np.ndarray:
        """(n, K): what a change (m, K) of some of the taken coefficients does to the scores."""
        full = np.zeros((change.shape[1], len(taken)))
        full[:, some] = change.T
        store, out = self._store[: len(taken)], np.empty((change.shape[1], len(self._X)))

        def fill(lo: int, hi: int) -> None:
            out[:, lo:hi] = full @ store[:, lo:hi]

        for_blocks(fill, len(self._X), grain=max(_ROWS // max(len(taken), 1), 64))
        return by_class(out)

    def step(
        self,
        taken: np.ndarray,
        some: np.ndarray,
        B: np.ndarray,
        slopes: np.ndarray,
        loss: Any,
        l1: float,
        l2: float,
        share: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The minimum of the quadratic at hand: some coefficients, and by what intercepts and scores change."""
        if loss.n_outputs * (len(some) + 1) > _JOINT:  # products of all pairs would not fit: keep residuals instead
            thin = SparseDesign(sparse.csc_array(self._columns[:, some]), loss.weights, self._intercept)
            every = np.arange(len(some))
            V, shift, _ = thin.step(every, every, B, slopes, loss, l1, l2, share)
        elif loss.n_outputs == 1 and len(some) >= _MANY and len(some) * len(self._X) <= _IN_CACHE:
            V, shift = self._step_by_rows(some, B, loss, l1, l2, share)
        else:
            size = len(some) + self._intercept
            Q = self._products(some, loss)[:, :size, :, :size]
            V, shift = dense_step(Q, B, slopes, loss.residuals().sum(axis=0), l1, l2, share)
        return V, shift, self.scores(taken, some, V - B) + shift

    def _step_by_rows(
        self, some: np.ndarray, B: np.ndarray, loss: Any, l1: float, l2: float, share: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sweeps over the columns themselves, for which no products of pairs are needed."""
        root, v = quadratic.curvature_root(loss.curvature(), loss.weights), B[:, 0].copy()
        table = Table(self._store[some] * root)
        shift = quadratic.minimize(table, v, loss.residuals()[:, 0], root, l1, l2, self._intercept, share)
        return v[:, None], np.array([shift])

    def _products(self, some: np.ndarray, loss: Any) -> np.ndarray:
        """The curvature in some columns and the constant, last; the same as before where the scores are."""
        scores = loss.scores()
        if self._known is not None:
            Q, columns, before = self._known
            places = np.minimum(np.searchsorted(columns, some), len(columns) - 1)
            if np.abs(scores - before).max() <= _SAME and np.array_equal(columns[places], some):
                places, classes = np.append(places, len(columns)), np.arange(len(Q))
                return Q[np.ix_(classes, places, classes, places)]
        Q = self._curvature(some, loss)
        self._known = (Q, some, scores)
        return Q

    def _curvature(self, some: np.ndarray, loss: Any) -> np.ndarray:
        m, everything = len(some), len(some) == self._size

        def part(lo: int, hi: int) -> np.ndarray:
            rows = np.empty((m + 1, hi - lo))
            rows[:m] = self._store[:m, lo:hi] if everything else self._store[some, lo:hi]
            rows[m] = 1.0
            return loss.curved(rows, slice(lo, hi))

        n = len(self._X)
        most = 64 if loss.n_outputs == 1 else 16  # blocks, since each has products of its own
        return np.sum(for_blocks(part, n, grain=max(_ROWS // (m + 1), 64, n // most)), axis=0)


@kernel
def weighted_squares(data, indices, indptr, columns, h, out):
    """Σ h x² of some columns."""
    for k in range(columns.size):
        total = 0.0
        for e in range(indptr[columns[k]], indptr[columns[k] + 1]):
            total += h[indices[e]] * data[e] * data[e]
        out[k] = total


class SparseDesign:
    """Sparse columns; they are not centred, the intercept takes its turn in every sweep instead."""

    batch = 1 << 30  # all of them: one more costs its entries alone
    rounds = 1
    closeness = 0.5

    def __init__(self, X: Any, w: np.ndarray, fit_intercept: bool) -> None:
        self._X = sparse.csc_array(X, dtype=np.float64, copy=True)
        self._X.sum_duplicates()
        self._parts = compressed(self._X)
        self._intercept = fit_intercept
        self.mean = np.zeros(X.shape[1])
        self._all = np.arange(X.shape[1])

    def take(self, new: np.ndarray) -> None:
        """Columns stay where they are."""

    def all_slopes(self, U: np.ndarray) -> np.ndarray:
        return self.taken_slopes(self._all, U)

    def taken_slopes(self, taken: np.ndarray, U: np.ndarray) -> np.ndarray:
        out, columns = np.empty((U.shape[1], len(taken))), taken.astype(np.uint64)
        grain = max(int(_ENTRIES * self._X.shape[1] / max(self._X.nnz, 1)), 1)
        for k, u in enumerate(np.ascontiguousarray(U.T)):

            def fill(lo: int, hi: int, u: np.ndarray = u, k: int = k) -> None:
                column_dots(*self._parts, columns[lo:hi], u, out[k, lo:hi])

            for_blocks(fill, len(taken), grain=grain)
        return out.T

    def scores(self, taken: np.ndarray, some: np.ndarray, change: np.ndarray) -> np.ndarray:
        out, columns = np.zeros((change.shape[1], self._X.shape[0])), taken[some].astype(np.uint64)
        for along, d in zip(out, np.ascontiguousarray(change.T), strict=True):
            add_columns(*self._parts, columns, d, along)
        return by_class(out)

    def step(
        self,
        taken: np.ndarray,
        some: np.ndarray,
        B: np.ndarray,
        slopes: np.ndarray,
        loss: Any,
        l1: float,
        l2: float,
        share: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        columns, U = taken[some], loss.residuals()
        if loss.n_outputs > 1:
            P, w = loss.probabilities, loss.weights
            curves = np.column_stack([self._curves(columns, w * p * (1.0 - p)) for p in P.T])
            V, shift = sparse_step(self._parts, columns, curves, B, slopes, U, P, w, l1, l2, self._intercept, share)
            return V, shift, self.scores(taken, some, V - B) + shift
        h, w = loss.curvature(), loss.weights
        v, change, along = quadratic.sparse_step(
            self._parts, columns, B[:, 0], U[:, 0], h, w, l1, l2, self._intercept, share
        )
        return v[:, None], np.array([change]), along[:, None]

    def _curves(self, columns: np.ndarray, h: np.ndarray) -> np.ndarray:
        out = np.empty(len(columns))
        weighted_squares(*self._parts, columns, h, out)
        return out
