"""Newton's method on sums over rows, for objectives  1/Σw Σᵢ wᵢ loss(yᵢ, xᵢᵀb + c) + α/2 ‖b‖².

The sums are the loss, its gradient and its curvature; the method is `erm.solvers.sparing_newton`, started from a
sample of the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import minimize

from learnt.engine.arrays import like, namespace, to_numpy
from learnt.engine.matrices import curved_gram, dense, take_rows
from learnt.engine.random import generator
from learnt.engine.rows import ArrayRows, Rows
from learnt.engine.rows.blocks import Block, widen
from learnt.engine.threads import single_blas
from learnt.erm.solvers import Curvature, Sums, sparing_newton
from learnt.statistics import far_from_zero

_SAMPLE, _SHARE = 4000, 16  # rows of the smallest useful sample, and the number of rows for each one sampled
_SEED = 8191


class Result(NamedTuple):
    """The final point. `decrement` is about twice what the objective is above its minimum."""

    coef: np.ndarray
    intercept: float
    objective: float
    decrement: float
    n_iter: int
    converged: bool


class Objective:
    """The objective over rows in the variables (b, c + shiftᵀb); `loss` is one of `erm.losses` or alike."""

    def __init__(self, rows: Rows, loss: Any, alpha: float, fit_intercept: bool, shift: np.ndarray | None) -> None:
        self.rows, self.loss, self.alpha, self.fit_intercept, self.shift = rows, loss, alpha, fit_intercept, shift
        self.convex = loss.convex
        counted = rows.in_memory and rows.w is None
        self.weight = rows.n_rows if counted else float(to_numpy(rows.sum(_weight)[0]))
        self._dtype = widen(rows.reference).dtype
        self._shift = None if shift is None else like(shift, rows.reference, self._dtype)

    def at(self, point: np.ndarray, curvature: str = "none") -> Sums:
        """The sums at a point; curvature is "none", "own" or "expected"."""
        b = like(point[:-1], self.rows.reference, self._dtype)
        with np.errstate(all="ignore"):
            sums = self.rows.sum(risk_sums, self.loss, b, float(point[-1]), self._shift, curvature)
            cost, slopes, *more = (to_numpy(part) / self.weight for part in sums)
        gradient = np.array(slopes)
        value = float(cost) + 0.5 * self.alpha * float(point[:-1] @ point[:-1])
        gradient[:-1] += self.alpha * point[:-1]
        if not self.fit_intercept:
            gradient[-1] = 0.0
        if curvature == "none":
            return Sums(value, gradient, None)
        H = np.array(more[0])
        H[np.arange(len(H) - 1), np.arange(len(H) - 1)] += self.alpha
        if not self.fit_intercept:
            H[-1], H[:, -1] = 0.0, 0.0
            H[-1, -1] = 1.0
        return Sums(value, gradient, H)


def _weight(block: Block) -> tuple:
    return (block.X.shape[0] if block.w is None else namespace(block.w).sum(widen(block.w)),)


def risk_sums(block: Block, loss: Any, b: Any, c: float, shift: Any, curvature: str) -> tuple:
    """Σ w loss, Σ w loss' (x, 1) and, unless "none", Σ w loss'' (x, 1)(x, 1)ᵀ of one block."""
    X = widen(block.X)
    X = X if shift is None else X - shift
    y = widen(block.y)
    score = X @ b + c
    xp = namespace(score)
    w = None if block.w is None else widen(block.w)
    cost, slope = loss.value(y, score), loss.gradient(y, score)
    if w is not None:
        present = w > 0  # rows of weight 0 are left out, since 0 · ∞ would spoil the sum
        cost, slope = xp.where(present, cost * w, 0 * w), xp.where(present, slope * w, 0 * w)
    value, total = xp.sum(cost), xp.sum(slope)
    if curvature == "none":
        return value, _bordered(xp, X.T @ slope, total)
    curve = loss.curvature(y, score) if curvature == "own" else loss.expected_curvature(y, score)
    if w is not None:
        curve = xp.where(present, curve * w, 0 * w)
    sums = X.T @ xp.stack([slope, curve], axis=1)  # one pass over X for both
    if loss.convex or curvature == "expected" or sparse.issparse(X):
        inner = curved_gram(X, curve)
    else:
        inner = X.T @ (X * curve[:, None])
    edge = sums[:, 1]
    H = xp.concat(
        [
            xp.concat([inner, edge[:, None]], axis=1),
            xp.concat([edge[None, :], xp.reshape(xp.sum(curve), (1, 1))], axis=1),
        ],
        axis=0,
    )
    return value, _bordered(xp, sums[:, 0], total), H


def _bordered(xp: Any, vector: Any, last: Any) -> Any:
    return xp.concat([vector, xp.reshape(last, (1,))])


# Solving


def newton(
    objective: Any,
    start: np.ndarray,
    tol: float,
    max_iter: int,
    callback: Any = None,
    curvature: Curvature | None = None,
    sums: Sums | None = None,
) -> tuple[Result, Curvature]:
    """`sparing_newton` until it converges, for at most `max_iter` steps, or until `callback(point, value)` is true."""
    for stage in sparing_newton(objective, start, tol, curvature, sums):
        if stage.done or stage.n_iter >= max_iter:
            break
        if stage.n_iter and callback is not None and callback(stage.point, stage.sums.value):
            break
    point = stage.point
    c = float(point[-1]) if objective.fit_intercept else 0.0
    if objective.shift is not None:
        c -= float(objective.shift @ point[:-1])
    result = Result(point[:-1], c, stage.sums.value, stage.decrement, stage.n_iter, stage.converged)
    return result, stage.curvature


def by_products(objective: Objective, start: np.ndarray, tol: float, max_iter: int) -> Result:
    """L-BFGS, for too many columns for a Hessian: products with X only."""

    def value_and_gradient(point: np.ndarray) -> tuple[float, np.ndarray]:
        sums = objective.at(point)
        return sums.value, sums.gradient

    options = {"maxiter": max_iter, "maxls": 50, "gtol": tol, "ftol": 64 * np.finfo(float).eps}
    found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
    largest = float(np.abs(found.jac).max())
    c = float(found.x[-1]) if objective.fit_intercept else 0.0
    return Result(found.x[:-1], c, float(found.fun), largest, int(found.nit), bool(found.success))


# Where to start


@single_blas()
def row_space(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Q and L with X = LQᵀ: orthonormal columns that span the rows, for fewer rows than columns."""
    X = dense(X)
    Q, R, order = linalg.qr(np.asarray(X, dtype=np.float64).T, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = max(1, int((pivots > pivots.max(initial=0.0) * max(X.shape) * np.finfo(float).eps).sum()))
    L = np.empty((X.shape[0], rank))
    L[order] = R[:rank].T
    return Q[:, :rank], L


def far_means(rows: Rows) -> np.ndarray | None:
    """Means to subtract from X before squaring; None where they are small enough."""
    X = rows.head(256).X
    if sparse.issparse(X):
        return None
    X = to_numpy(widen(X))
    with np.errstate(over="ignore"):
        mean = X.mean(axis=0)
    return mean if far_from_zero(mean, X) else None


def sample(rows: Rows) -> ArrayRows | None:
    """An even sample of rows in memory; None where there are too few rows for that to help."""
    if not rows.in_memory:
        return None
    size = max(_SAMPLE, rows.n_rows // _SHARE, 20 * rows.n_features)
    step = rows.n_rows / size
    if step < 4:
        return None
    rng = generator(_SEED)
    kept = ((np.arange(size) + rng.random(size)) * step).astype(np.intp)
    parts = [None if values is None else take_rows(values, kept) for values in (rows.X, rows.y, rows.w)]
    if parts[2] is not None and not float(to_numpy(namespace(parts[2]).sum(parts[2]))) > 0:
        return None
    return ArrayRows(parts[0], parts[1], parts[2], rows.n_jobs)
