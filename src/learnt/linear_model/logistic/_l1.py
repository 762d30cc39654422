"""Logistic regression with absolute values in its penalty, by proximal Newton on a working set.

    F(B, c) = Σᵢ ωᵢ ℓ(yᵢ, Bxᵢ + c) + l1‖B‖₁ + ½ l2‖B‖²

The loss is replaced by its second-order expansion, and the penalised quadratic minimised by coordinate descent over the
columns that matter; a line search makes sure that F falls. One pass over all columns then gives a duality gap and the
columns that were left out wrongly.
Reference: Friedman, Hastie & Tibshirani, Regularization paths for generalized linear models, JSS 33 (2010).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from learnt.engine.random import generator
from learnt.linear_model.logistic._l1_design import DenseDesign, SparseDesign
from learnt.linear_model.logistic._l1_loss import ManyClasses, TwoClasses, by_class

_INNER = 0.1  # of the gap on all columns, before the next pass
_POWER = 0.8  # a step leaves about this power of a relative gap, times the gap
_LOOSEST, _CLOSEST = 1e-1, 1e-9  # share of the first sweep's gain below which the quadratic model is left
_MOST = 0.9  # share of the columns at hand from which all are taken, since choosing copies them
_CLOSE = 0.95  # slopes of this share of l1 take part in a step
_ROWS_PER_COLUMN, _SAMPLE_SHARE, _FEWEST = 20, 16, 100  # of a sample to start from, and of a class in it
_WORTH, _SAMPLE_TOL = 4, 1e-2  # rows to every one in a sample, at least, and how far to go there
_SEED = 20011  # the minimum does not depend on it, and the path there is always the same
_PATIENCE = 3  # passes without a smaller gap
_ROUNDS = 20  # of steps between passes
_HALVES = 30
_BALANCING, _EVEN = 5, 1e-12  # steps, and what is left of the sum of residuals: far below any gap
_NOISE = 1e-14  # of the objective, relative
_FINEST = 1e-13  # gap that rounding lets be seen, relative


class SparseSolution(NamedTuple):
    """Coefficients and intercepts (K, d + 1), the objective, how far it can be above its minimum, and the steps."""

    theta: np.ndarray
    value: float
    gap: float
    n_iter: int
    status: str  # "converged", "iterations", "stalled" or "stopped"


def solve_sparse(
    X: Any,
    y: np.ndarray,
    w: np.ndarray,
    n_classes: int,
    l1: float,
    l2: float,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    start: np.ndarray | None = None,
    watch: Callable[[np.ndarray, float, int], bool] | None = None,
) -> SparseSolution:
    """Minimise F until the duality gap is at most tol · F, or as small as rounding lets it be."""
    tol = max(tol, _FINEST)
    if start is None and not sparse.issparse(X):
        few = sample(y, w, max(_ROWS_PER_COLUMN * X.shape[1], len(y) // _SAMPLE_SHARE))
        if few is not None:  # whose minimum is near that of all rows
            rows, weights = few
            near = _Search(X[rows], y[rows], weights, n_classes, l1, l2, fit_intercept, None)
            start = near.run(_SAMPLE_TOL, max_iter, None).theta
    return _Search(X, y, w, n_classes, l1, l2, fit_intercept, start).run(tol, max_iter, watch)


def sample(y: np.ndarray, w: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray] | None:
    """About `size` rows, of each class its share, and their weights, which stand for all; None where that is most."""
    if size * _WORTH > len(y):
        return None
    random = generator(_SEED)
    rows, weights = [], []
    for k in range(int(y.max()) + 1):
        own = np.flatnonzero(y == k)
        some = random.choice(own, min(len(own), max(-(-len(own) * size // len(y)), _FEWEST)), replace=False)
        rows.append(some)
        weights.append(w[some] * (w[own].sum() / w[some].sum()))
    order = np.argsort(np.concatenate(rows))
    return np.concatenate(rows)[order], np.concatenate(weights)[order]


class _Search:
    def __init__(
        self,
        X: Any,
        y: np.ndarray,
        w: np.ndarray,
        n_classes: int,
        l1: float,
        l2: float,
        fit_intercept: bool,
        start: np.ndarray | None,
    ) -> None:
        self._l1, self._l2, self._intercept = l1, l2, fit_intercept
        self._loss: Any = TwoClasses(y, w) if n_classes == 2 else ManyClasses(y, w, n_classes)
        self._design: Any = (SparseDesign if sparse.issparse(X) else DenseDesign)(X, w, fit_intercept)
        n, self._p = X.shape
        K = self._loss.n_outputs
        self._taken = np.empty(0, dtype=np.intp)
        self._left = np.ones(self._p, dtype=bool)
        self._B = np.zeros((0, K))
        self._c = self._loss.start() if fit_intercept else np.zeros(K)
        self._Z = by_class(np.repeat(self._c[:, None], n, axis=1))
        if start is not None:
            self._begin_at(start)
        self._look()

    def _begin_at(self, start: np.ndarray) -> None:
        support = np.flatnonzero(start[:, :-1].any(axis=0))
        if len(support):
            self._take(support)
            self._B = start[:, support].T.copy()
        if self._intercept:
            self._c = start[:, -1] + start[:, :-1] @ self._design.mean
        self._Z = by_class(np.repeat(self._c[:, None], len(self._Z), axis=1))
        if len(support):
            self._Z += self._design.scores(self._taken, np.arange(len(support)), self._B)

    @property
    def theta(self) -> np.ndarray:
        """(K, d + 1) of columns that are not centred."""
        theta = np.zeros((self._loss.n_outputs, self._p + 1))
        theta[:, self._taken] = self._B.T
        theta[:, -1] = self._c - self._design.mean[self._taken] @ self._B
        if len(theta) > 1 and self._intercept:  # only differences between classes matter
            theta[:, -1] -= theta[:, -1].mean()
        return theta

    @property
    def value(self) -> float:
        return self._smooth + self._penalty(self._B)

    def _noise(self) -> float:
        """How far rounding may move the objective: each row's loss has the digits of a number near 1, or its own."""
        return _NOISE * abs(self._smooth) + np.finfo(float).eps * float(self._loss.weights.sum())

    def _penalty(self, B: np.ndarray) -> float:
        return self._l1 * float(np.abs(B).sum()) + 0.5 * self._l2 * float((B**2).sum())

    def run(self, tol: float, max_iter: int, watch: Any) -> SparseSolution:
        n_iter, status, idle, best = 0, "", 0, np.inf
        while True:
            self._balance()
            slopes = self._design.all_slopes(self._loss.residuals())
            gap = self._gap(slopes, self._taken)
            goal = tol * self.value
            grown = self._grow(slopes)
            if gap <= goal:
                status = "converged"
            elif n_iter >= max_iter:
                status = "iterations"
            idle = idle + 1 if not grown and gap > 0.9 * best else 0
            best = min(gap, best)
            if idle > _PATIENCE and not status:
                status = "stalled"
            if status:
                return SparseSolution(self.theta, self.value, gap, n_iter, status)
            inner = max(_INNER * gap, 0.3 * goal) if grown else 0.3 * goal
            rounds = self._design.rounds if grown and len(self._taken) ** 2 > self._p else _ROUNDS  # passes are cheap
            slopes, here = slopes[self._taken], gap
            for k in range(rounds):
                if k:
                    self._balance()
                    slopes = self._design.taken_slopes(self._taken, self._loss.residuals())
                    here = self._gap(slopes, None)
                if here <= inner or n_iter >= max_iter:
                    break
                self._step(slopes, self._closeness(here, goal))
                self._look()
                n_iter += 1
                if watch is not None and watch(self.theta, self.value, n_iter):
                    return SparseSolution(self.theta, self.value, gap, n_iter, "stopped")

    def _balance(self) -> None:
        """Intercepts at their minimum, closer than any gap: the dual has a bound only for residuals that sum to 0."""
        for _ in range(_BALANCING if self._intercept else 0):
            s, H = self._loss.imbalance()
            if np.abs(s).max() <= _EVEN * np.trace(H):
                return
            shift = s / H[0] if len(s) == 1 else np.linalg.lstsq(H, s, rcond=1e-10)[0]
            if not np.abs(shift).max() < 1.0:  # far off: a step of Newton's method first
                return
            self._c = self._c + shift
            self._Z = self._Z + shift
            self._look()

    def _look(self) -> None:
        self._loss.look(self._Z)
        self._smooth = self._loss.total(self._Z)

    def _gap(self, slopes: np.ndarray, taken: np.ndarray | None) -> float:
        """F less the dual at the residual, shrunk until it is feasible; of all columns, or (None) of the taken."""
        B = self._B
        if taken is not None:
            B = np.zeros(slopes.shape)
            B[taken] = self._B
        top = float(np.abs(slopes - self._l2 * B).max()) if slopes.size else 0.0
        share = 1.0 if top <= self._l1 else self._l1 / top
        # The squared penalty as rows √l2·I below X, whose residual is −√l2·B.
        dual = self._loss.entropy(share) - 0.5 * share**2 * self._l2 * float((B**2).sum())
        gap = self.value - dual
        if self._l2 > 0:
            beyond = np.maximum(np.abs(slopes) - self._l1, 0.0)
            gap = min(gap, self.value - self._loss.entropy(1.0) + 0.5 * float((beyond**2).sum()) / self._l2)
        return max(gap, 0.0)

    def _grow(self, slopes: np.ndarray) -> bool:
        steep = np.abs(slopes).max(axis=1)
        new = np.flatnonzero((steep > self._l1) & self._left)
        most = max(16, int((5 * self._p) ** 0.5), 2 * int(self._B.any(axis=1).sum()), self._design.batch)
        if len(new) > most:
            new = np.sort(new[np.argpartition(-steep[new], most)[:most]])
        if len(new):
            self._take(new)
        return len(new) > 0

    def _take(self, new: np.ndarray) -> None:
        self._design.take(new)
        self._taken = np.concatenate([self._taken, new])
        self._left[new] = False
        self._B = np.vstack([self._B, np.zeros((len(new), self._B.shape[1]))])

    def _closeness(self, gap: float, goal: float) -> float:
        """How closely to solve for a step, in what a sweep gains: the gap should fall as far as Newton's method can.

        The gap is of first order in the slopes, a sweep's gain of second.
        """
        share = self._design.closeness * max((gap / self.value) ** _POWER, goal / gap)
        return min(max(share**2, _CLOSEST), _LOOSEST)

    def _step(self, slopes: np.ndarray, share: float) -> None:
        """One step in the coefficients of all classes and in the intercepts."""
        U = self._loss.residuals()
        some = np.flatnonzero(self._B.any(axis=1) | (np.abs(slopes) > _CLOSE * self._l1).any(axis=1))
        if len(some) > _MOST * len(self._taken):
            some = np.arange(len(self._taken))
        B = self._B[some]
        V, shift, along = self._design.step(self._taken, some, B, slopes[some], self._loss, self._l1, self._l2, share)
        D = V - B
        rest, t = self._penalty(B), 1.0
        slope = self._penalty(V) - rest - float((slopes[some] * D).sum()) - float(U.sum(axis=0) @ shift)
        for _ in range(_HALVES):
            Z = self._Z + t * along
            lower = self._loss.total(Z) + self._penalty(B + t * D)
            if lower <= self._smooth + rest + 1e-4 * t * min(slope, 0.0) + self._noise():
                self._B[some] = V if t == 1.0 else B + t * D
                self._c, self._Z = self._c + t * shift, Z
                return
            t *= 0.5
