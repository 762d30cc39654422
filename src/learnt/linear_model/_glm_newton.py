"""Newton's method on sums over rows, for objectives  1/Σw Σᵢ wᵢ loss(yᵢ, xᵢᵀb + c) + α/2 ‖b‖².

The sums are the loss, its gradient and its curvature. A pass for the curvature costs most: the first is that of a
sample of the rows, and one is kept, and brought up to date by the steps taken, for as long as steps with it are quick.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import minimize

from learnt.engine.arrays import device_of, is_foreign_array, like, namespace, to_numpy
from learnt.engine.blocks import Block, widen
from learnt.engine.rows import ArrayRows, Rows
from learnt.engine.threads import single_blas
from learnt.linear_model._moments import far_from_zero

_SAMPLE, _SHARE = 4000, 16  # rows of the smallest sample worth it, and how many one of a large sample stands for
_SMALLEST_RCOND = 1e-10  # below, eigenvalues tell what is there from what is rounding
_SEED = 8191


class Result(NamedTuple):
    """Where the search ended. `decrement` is about twice what the objective is above its minimum."""

    coef: np.ndarray
    intercept: float
    objective: float
    decrement: float
    n_iter: int
    converged: bool


class Sums(NamedTuple):
    """The objective, its gradient (d + 1) and, where asked for, its curvature, at one point."""

    value: float
    gradient: np.ndarray
    curvature: np.ndarray | None


class Objective:
    """The objective over rows in the variables (b, c + shiftᵀb); `family` has loss, slope, curve and convex."""

    def __init__(self, rows: Rows, family: Any, alpha: float, fit_intercept: bool, shift: np.ndarray | None) -> None:
        self.rows, self.family, self.alpha, self.fit_intercept, self.shift = rows, family, alpha, fit_intercept, shift
        counted = rows.in_memory and rows.w is None
        self.weight = rows.n_rows if counted else float(to_numpy(rows.sum(_weight)[0]))
        self._dtype = widen(rows.reference).dtype
        self._shift = None if shift is None else like(shift, rows.reference, self._dtype)

    def at(self, point: np.ndarray, curvature: str = "none") -> Sums:
        """The sums at a point; curvature is "none", "own" or "expected"."""
        b = like(point[:-1], self.rows.reference, self._dtype)
        with np.errstate(all="ignore"):
            sums = self.rows.sum(glm_sums, self.family, b, float(point[-1]), self._shift, curvature)
            loss, slopes, *more = (to_numpy(part) / self.weight for part in sums)
        gradient = np.array(slopes)
        value = float(loss) + 0.5 * self.alpha * float(point[:-1] @ point[:-1])
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


def glm_sums(block: Block, family: Any, b: Any, c: float, shift: Any, curvature: str) -> tuple:
    """Σ w loss, Σ w loss' (x, 1) and, unless "none", Σ w loss'' (x, 1)(x, 1)ᵀ of one block."""
    thin = sparse.issparse(block.X)
    X = block.X.astype(np.float64, copy=False) if thin else widen(block.X)
    X = X if shift is None else X - shift
    y = widen(block.y)
    score = X @ b + c
    xp = namespace(score)
    w = None if block.w is None else widen(block.w)
    loss, slope = family.loss(y, score), family.slope(y, score)
    if w is not None:
        there = w > 0  # a row that is not there may not spoil the sum with an infinity
        loss, slope = xp.where(there, loss * w, 0 * w), xp.where(there, slope * w, 0 * w)
    value, total = xp.sum(loss), xp.sum(slope)
    if curvature == "none":
        return value, _bordered(xp, X.T @ slope, total)
    curve = family.curve(y, score, curvature == "expected")
    if w is not None:
        curve = xp.where(there, curve * w, 0 * w)
    sums = X.T @ xp.stack([slope, curve], axis=1)  # one pass over X for both
    if thin:
        inner = (X.T @ sparse.diags_array(curve) @ X).toarray()
    elif family.convex or curvature == "expected":
        A = X * xp.sqrt(curve)[:, None]
        inner = A.T @ A  # a symmetric product costs half
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


class Curvature:
    """A curvature that steps are solved with, brought up to date by the steps taken since it was computed (BFGS)."""

    def __init__(self, solve: Any) -> None:
        self._solve = solve
        self._pairs: list[tuple[np.ndarray, np.ndarray, float]] = []

    def solve(self, v: np.ndarray) -> np.ndarray:
        """H⁻¹v."""
        v, shares = v.copy(), []
        for step, change, product in reversed(self._pairs):
            shares.append(float(step @ v) / product)
            v -= shares[-1] * change
        v = self._solve(v)
        for (step, change, product), share in zip(self._pairs, reversed(shares), strict=True):
            v += step * (share - float(change @ v) / product)
        return v

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """The gradient changed by `change` over `step`."""
        product = float(step @ change)
        if product > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self._pairs.append((step, change, product))


def newton(
    objective: Any,
    start: np.ndarray,
    tol: float,
    max_iter: int,
    tell: Any = None,
    curvature: Curvature | None = None,
    sums: Sums | None = None,
) -> tuple[Result, Curvature]:
    """Newton steps with a line search until the decrement is below tol² of the objective.

    `objective` has `at`, like `Objective`. `curvature`, of a sample say, and `sums` at the start save a pass where they
    are known.
    """
    point, n_iter, fresh, kind = start, 0, curvature is None, "own"
    if curvature is None:
        sums, curvature = _curved(objective, point)
    elif sums is None:
        sums = objective.at(point)
    scale = 0.0  # of the objective: what is small is small against this
    patience = 2.0 + len(start) / 20  # gradients that one more pass for the curvature costs
    while True:
        with single_blas():
            step = -curvature.solve(sums.gradient)
            decrement = float(-sums.gradient @ step)
        scale = max(scale, abs(sums.value), decrement if n_iter == 0 else 0.0)
        goal = tol**2 * max(abs(sums.value), 1e-9 * scale)
        if decrement <= goal or n_iter >= max_iter:
            break
        found = _search(objective, point, sums, step, decrement, 1e-14 * scale)
        if found is None:
            if not fresh or (kind == "own" and not objective.family.convex):  # the curvature may be to blame
                kind = "expected" if fresh else kind
                (sums, curvature), fresh = _curved(objective, point, kind), True
                continue
            break
        length = float(np.linalg.norm(found[0] - point) / np.linalg.norm(step))
        kind = "expected" if length < 0.2 and not objective.family.convex else "own" if length > 0.9 else kind
        n_iter, fresh = n_iter + 1, False
        curvature.learn(found[0] - point, found[1].gradient - sums.gradient)
        point, sums = found
        if tell is not None and tell(point, sums.value):
            break
        with single_blas():
            left = float(sums.gradient @ curvature.solve(sums.gradient))
        if left > goal and n_iter < max_iter and _slow(left, decrement, max(goal, 1e-300), patience):
            (sums, curvature), fresh = _curved(objective, point, kind), True
    # Where rounding ends the search, what is left is rounding too.
    rounding = 1e-13 * scale
    c = float(point[-1]) if objective.fit_intercept else 0.0
    if objective.shift is not None:
        c -= float(objective.shift @ point[:-1])
    converged = decrement <= max(goal, rounding)
    return Result(point[:-1], c, sums.value, max(decrement, 0.0), n_iter, converged), curvature


def _slow(left: float, before: float, goal: float, patience: float) -> bool:
    """Whether steps that gain before/left each need more than `patience` of them to get from left to goal."""
    return left >= before or float(np.log(left / goal)) > patience * float(np.log(before / left))


def _curved(objective: Any, point: np.ndarray, kind: str = "own") -> tuple[Sums, Curvature]:
    """The sums with a curvature to step by: the loss's own, or the expected one where that is not positive."""
    sums = objective.at(point, kind)
    with single_blas():
        solve = _solver(sums.curvature)
        if solve is None and kind == "own" and not objective.family.convex:
            sums = objective.at(point, "expected")
            solve = _solver(sums.curvature)
        return sums, Curvature(solve if solve is not None else _shortest(sums.curvature))


def solver_of(H: np.ndarray) -> Any:
    """v ↦ H⁻¹v, or the shortest solution where H is singular."""
    return _solver(H) or _shortest(H)


def _solver(H: Any) -> Any:
    """v ↦ H⁻¹v by Cholesky in units where the diagonal is 1; None where H is not safely positive."""
    diagonal = np.diag(H)
    if not np.isfinite(H).all() or not (diagonal > 0).all():
        return None
    scale = 1.0 / np.sqrt(diagonal)
    scaled = H * scale * scale[:, None]
    norm = np.abs(scaled).sum(axis=0).max()
    triangle, failed = linalg.lapack.dpotrf(scaled, lower=1, clean=1, overwrite_a=1)
    if failed or linalg.lapack.dpocon(triangle, norm, uplo="L")[0] < _SMALLEST_RCOND:
        return None
    return lambda v: scale * linalg.lapack.dpotrs(triangle, scale * v, lower=1)[0]


def _shortest(H: Any) -> Any:
    """v ↦ the shortest solution, for collinear columns without a penalty."""
    if not np.isfinite(H).all():
        raise ValueError("The columns of X are too large for float64 once squared and weighted; rescale them.")
    values, vectors = np.linalg.eigh(H)
    kept = values > values.max() * len(values) * np.finfo(float).eps * 8
    vectors = vectors[:, kept]
    return lambda v: vectors @ ((vectors.T @ v) / values[kept])


def _search(objective: Any, point: np.ndarray, sums: Sums, step: np.ndarray, decrement: float, slack: float) -> Any:
    """The first of 1, ½, ¼, … of the step that lowers the objective; or the slope, where values are all rounding."""
    t = 1.0
    for _ in range(40):
        trial = point + t * step
        there = objective.at(trial)
        if np.isfinite(there.value):
            if there.value <= sums.value - 1e-4 * t * decrement:
                return trial, there
            slope = float(there.gradient @ step)
            if there.value <= sums.value + slack and abs(slope) <= 0.5 * decrement and t * decrement <= 1e3 * slack:
                return trial, there
        t *= 0.5
    return None


def by_products(objective: Objective, start: np.ndarray, tol: float, max_iter: int) -> Result:
    """L-BFGS, where columns are too many to square: products with X only."""

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
    X = X.toarray() if sparse.issparse(X) else X
    Q, R, order = linalg.qr(np.asarray(X, dtype=np.float64).T, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = max(1, int((pivots > pivots.max(initial=0.0) * max(X.shape) * np.finfo(float).eps).sum()))
    L = np.empty((X.shape[0], rank))
    L[order] = R[:rank].T
    return Q[:, :rank], L


def far_means(rows: Rows) -> np.ndarray | None:
    """What to subtract from X before squaring; None where the means are near enough."""
    X = rows.head(256).X
    if sparse.issparse(X):
        return None
    X = to_numpy(widen(X))
    with np.errstate(over="ignore"):
        mean = X.mean(axis=0)
    return mean if far_from_zero(mean, X) else None


def sample(rows: Rows) -> ArrayRows | None:
    """One row of every stretch of rows in memory; None where there are too few for that to help."""
    if not rows.in_memory:
        return None
    size = max(_SAMPLE, rows.n_rows // _SHARE, 20 * rows.n_features)
    step = rows.n_rows / size
    if step < 4:
        return None
    rng = np.random.Generator(np.random.PCG64(_SEED))
    kept = ((np.arange(size) + rng.random(size)) * step).astype(np.intp)
    parts: list[Any] = []
    for values in (rows.X, rows.y, rows.w):
        if values is None:
            parts.append(None)
        elif is_foreign_array(values):
            parts.append(namespace(values).take(values, _index(kept, values), axis=0))
        else:
            parts.append(values[kept])
    if parts[2] is not None and not float(to_numpy(namespace(parts[2]).sum(parts[2]))) > 0:
        return None
    return ArrayRows(parts[0], parts[1], parts[2], rows.n_jobs)


def _index(kept: np.ndarray, values: Any) -> Any:
    xp = namespace(values)
    return xp.asarray(kept, dtype=xp.int64, device=device_of(values))
