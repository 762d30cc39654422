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
from learnt.linear_model._coordinate_kernels import DEPTH, descend, shrink
from learnt.linear_model._coordinate_problem import transposed_product
from learnt.linear_model._coordinate_sparse import column_products
from learnt.linear_model._l1_logistic_joint import SWEEPS, dense_step, promised, sparse_step

_ROWS = 1 << 16  # cells that one task of a weighted product takes
_ENTRIES = 1 << 16
_JOINT = 3000  # coefficients of all classes whose products are kept


class DenseDesign:
    """Dense columns."""

    batch = 0  # columns to take at once at least: none, since products of all pairs are to be had
    rounds = 2  # steps between passes while the working set grows

    def __init__(self, X: np.ndarray, w: np.ndarray, fit_intercept: bool) -> None:
        self._X, self._intercept = X, fit_intercept
        mean = transposed_product(X, w[:, None])[:, 0] / w.sum() if fit_intercept else np.zeros(X.shape[1])
        self.mean = mean
        self._columns = np.empty((X.shape[0], 0))

    def take(self, new: np.ndarray) -> None:
        """More columns to work with."""
        fresh = self._X[:, new].astype(np.float64) - self.mean[new]
        self._columns = np.hstack([self._columns, fresh])

    def all_slopes(self, U: np.ndarray) -> np.ndarray:
        """XᵀU of centred columns."""
        return transposed_product(self._X, U) - np.outer(self.mean, U.sum(axis=0))

    def taken_slopes(self, taken: np.ndarray, U: np.ndarray) -> np.ndarray:
        return transposed_product(self._columns, U) if len(taken) else np.empty((0, U.shape[1]))

    def scores(self, taken: np.ndarray, some: np.ndarray, change: np.ndarray) -> np.ndarray:
        """What a change of some of the taken coefficients does to the scores."""
        full = np.zeros(len(taken))
        full[some] = change
        return np.concatenate(
            for_blocks(
                lambda lo, hi: self._columns[lo:hi] @ full, len(self._X), grain=max(_ROWS // max(len(taken), 1), 64)
            )
        )

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
    ) -> tuple[np.ndarray, np.ndarray]:
        """The minimum of the quadratic at hand over some coefficients and the intercepts: new values, and changes."""
        if loss.n_outputs > 1:
            return self._step_all(some, B, slopes, loss, l1, l2, share)
        m = len(some)
        Q = self._curvature(some, np.sqrt(loss.curvature()))
        g = np.append(slopes[:, 0], loss.residuals().sum()) if self._intercept else slopes[:, 0].copy()
        k = len(g)
        v = np.append(B[:, 0], 0.0)[:k]
        q = g + Q[:k, :k] @ v
        past = np.empty((2, DEPTH + 1, k))
        bounds, ridges = np.full(k, l1), np.full(k, l2)
        bounds[m:], ridges[m:] = 0.0, 0.0
        work = (past[0], past[1], np.empty((DEPTH, DEPTH)), np.empty(DEPTH))
        goal = share * promised(v, g, np.diag(Q)[:k], bounds, ridges)
        descend(Q, k, v, g, q, 0.0, bounds, ridges, l1, l2, False, -goal, SWEEPS, *work)
        return v[:m, None], v[m:] if self._intercept else np.zeros(1)

    def _step_all(
        self, some: np.ndarray, B: np.ndarray, slopes: np.ndarray, loss: Any, l1: float, l2: float, share: float
    ) -> tuple[np.ndarray, np.ndarray]:
        if loss.n_outputs * (len(some) + 1) > _JOINT:  # products of all pairs would not fit: keep residuals instead
            thin = SparseDesign(sparse.csc_array(self._columns[:, some]), loss.weights, self._intercept)
            every = np.arange(len(some))
            return thin.step(every, every, B, slopes, loss, l1, l2, share)
        P, w = loss.probabilities, loss.weights
        return dense_step(self._columns, some, B, slopes, loss.residuals(), P, w, l1, l2, self._intercept, share)

    def _curvature(self, some: np.ndarray, root: np.ndarray) -> np.ndarray:
        """Σ h x xᵀ of some columns and of the constant, last."""
        m, everything = len(some), len(some) == self._columns.shape[1]

        def part(lo: int, hi: int) -> np.ndarray:
            rows = np.empty((hi - lo, m + 1))
            rows[:, :m] = self._columns[lo:hi] if everything else self._columns[lo:hi, some]
            rows[:, m] = 1.0
            rows *= root[lo:hi, None]
            return rows.T @ rows

        n = len(root)
        return np.sum(for_blocks(part, n, grain=max(_ROWS // (m + 1), 64, n // 64)), axis=0)


@kernel
def newton_sweeps(data, indices, indptr, columns, curves, v, constant, intercept, r, h, l1, l2, goal, most):
    """Coordinate descent on the quadratic with weights h: r = u − h·(change of the scores)."""
    total = 0.0
    for i in range(h.size):
        total += h[i]
    for _ in range(most):
        fell = 0.0
        for k in range(columns.size):
            j = columns[k]
            if curves[k] + l2 <= 0.0:
                continue
            slope = 0.0
            for e in range(indptr[j], indptr[j + 1]):
                slope += data[e] * r[indices[e]]
            change = shrink(slope + curves[k] * v[k], l1, False) / (curves[k] + l2) - v[k]
            if change != 0.0:
                v[k] += change
                for e in range(indptr[j], indptr[j + 1]):
                    r[indices[e]] -= change * h[indices[e]] * data[e]
                fell += 0.5 * (curves[k] + l2) * change * change
        if intercept and total > 0.0:
            slope = 0.0
            for i in range(r.size):
                slope += r[i]
            change = slope / total
            constant[0] += change
            for i in range(r.size):
                r[i] -= change * h[i]
            fell += 0.5 * total * change * change
        if fell <= goal:
            break


@kernel
def weighted_squares(data, indices, indptr, columns, h, out):
    """Σ h x² of some columns."""
    for k in range(columns.size):
        total = 0.0
        for e in range(indptr[columns[k]], indptr[columns[k] + 1]):
            total += h[indices[e]] * data[e] * data[e]
        out[k] = total


@kernel
def add_columns(data, indices, indptr, columns, change, out):
    """Σ change · x over some columns."""
    for k in range(columns.size):
        if change[k] != 0.0:
            for e in range(indptr[columns[k]], indptr[columns[k] + 1]):
                out[indices[e]] += change[k] * data[e]


class SparseDesign:
    """Sparse columns; they are not centred, the intercept takes its turn in every sweep instead."""

    batch = 1 << 30  # all of them: one more costs its entries alone
    rounds = 1

    def __init__(self, X: Any, w: np.ndarray, fit_intercept: bool) -> None:
        self._X = sparse.csc_array(X.astype(np.float64))
        self._parts = (self._X.data, self._X.indices, self._X.indptr)
        self._intercept = fit_intercept
        self.mean = np.zeros(X.shape[1])
        self._all = np.arange(X.shape[1])

    def take(self, new: np.ndarray) -> None:
        """Columns stay where they are."""

    def all_slopes(self, U: np.ndarray) -> np.ndarray:
        return self.taken_slopes(self._all, U)

    def taken_slopes(self, taken: np.ndarray, U: np.ndarray) -> np.ndarray:
        out = np.empty((U.shape[1], len(taken)))
        grain = max(int(_ENTRIES * self._X.shape[1] / max(self._X.nnz, 1)), 1)
        for k, u in enumerate(np.ascontiguousarray(U.T)):

            def fill(lo: int, hi: int, u: np.ndarray = u, k: int = k) -> None:
                column_products(*self._parts, taken, u, 0.0, self.mean, lo, hi, out[k])

            for_blocks(fill, len(taken), grain=grain)
        return out.T

    def scores(self, taken: np.ndarray, some: np.ndarray, change: np.ndarray) -> np.ndarray:
        out = np.zeros(self._X.shape[0])
        add_columns(*self._parts, taken[some], change, out)
        return out

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
    ) -> tuple[np.ndarray, np.ndarray]:
        columns, U = taken[some], loss.residuals()
        if loss.n_outputs > 1:
            P, w = loss.probabilities, loss.weights
            curves = np.column_stack([self._curves(columns, w * p * (1.0 - p)) for p in P.T])
            return sparse_step(self._parts, columns, curves, B, slopes, U, P, w, l1, l2, self._intercept, share)
        h = loss.curvature()
        curves, v, shift = self._curves(columns, h), B[:, 0].copy(), np.zeros(1)
        goal = promised(v, slopes[:, 0], curves, np.full(len(v), l1), np.full(len(v), l2))
        if self._intercept:
            goal += U.sum() ** 2 / max(h.sum(), 1e-300)
        work = (self._intercept, U[:, 0].copy(), h, l1, l2, share * goal, SWEEPS)
        newton_sweeps(*self._parts, columns, curves, v, shift, *work)
        return v[:, None], shift

    def _curves(self, columns: np.ndarray, h: np.ndarray) -> np.ndarray:
        out = np.empty(len(columns))
        weighted_squares(*self._parts, columns, h, out)
        return out
