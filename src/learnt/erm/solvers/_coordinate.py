"""Coordinate descent with working sets, for squared and other twice-differentiable losses with L1 and L2 penalties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.interrupts import stoppable
from learnt.engine.kernel import kernel
from learnt.engine.kernel.intrinsics import atomic_load
from learnt.engine.matrices import dense, on_host
from learnt.erm._gap import duality_gap
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver

_LONG = 1e9  # multiplications that may take longer than a fraction of a second
_FEW = 500  # columns whose products with each other are worth a matrix
_CYCLE_STEPS, _CLOSER = 1 << 25, 1e-8  # where cycles are cheap: many, and a tight tolerance


@kernel
def dense_cycles(X, columns, h, r, w, l1, l2, intercept, tol, cycles, stop):
    """Cycles of  min over w, b of  ½ Σ hᵢ (rᵢ − xᵢᵀδ − β)² + l1‖w‖₁ + l2‖w‖², one column after the other.

    `r` is the residual and is updated with `w` and the intercept. Returns the change of the intercept.
    Ends when stop[0] is set.
    """
    n, moved, total = r.size, 0.0, 0.0
    for i in range(n):
        total += h[i]
    for _ in range(cycles):
        largest = 0.0
        for j in columns:
            x = X[:, j]
            bend = dot = 0.0
            for i in range(n):
                bend += h[i] * x[i] * x[i]
                dot += h[i] * x[i] * r[i]
            if bend == 0.0:
                continue
            step = shrink(w[j] * bend + dot, l1) / (bend + 2.0 * l2) - w[j]
            if step != 0.0:
                w[j] += step
                for i in range(n):
                    r[i] -= step * x[i]
                largest = max(largest, bend * step * step)
        if intercept:
            step = 0.0
            for i in range(n):
                step += h[i] * r[i]
            step /= total
            moved += step
            for i in range(n):
                r[i] -= step
            largest = max(largest, total * step * step)
        if largest <= tol or atomic_load(stop, 0) != 0:
            break
    return moved


@kernel
def sparse_cycles(csc, columns, h, r, w, l1, l2, intercept, tol, cycles, stop):
    """The same on the columns of a CSC matrix: its cells, their rows, and where columns start."""
    data, rows, starts = csc
    n, moved, total = r.size, 0.0, 0.0
    for i in range(n):
        total += h[i]
    for _ in range(cycles):
        largest = 0.0
        for j in columns:
            bend = dot = 0.0
            for k in range(starts[j], starts[j + 1]):
                hx = h[rows[k]] * data[k]
                bend += hx * data[k]
                dot += hx * r[rows[k]]
            if bend == 0.0:
                continue
            step = shrink(w[j] * bend + dot, l1) / (bend + 2.0 * l2) - w[j]
            if step != 0.0:
                w[j] += step
                for k in range(starts[j], starts[j + 1]):
                    r[rows[k]] -= step * data[k]
                largest = max(largest, bend * step * step)
        if intercept:
            step = 0.0
            for i in range(n):
                step += h[i] * r[i]
            step /= total
            moved += step
            for i in range(n):
                r[i] -= step
            largest = max(largest, total * step * step)
        if largest <= tol or atomic_load(stop, 0) != 0:
            break
    return moved


@kernel
def gram_cycles(Q, g, w, l1, l2, tol, cycles):
    """The same from the columns' products Q with each other and g with the residual."""
    m = w.size
    for _ in range(cycles):
        largest = 0.0
        for j in range(m):
            bend = Q[j, j]
            if bend <= 0.0:
                continue
            step = shrink(w[j] * bend + g[j], l1) / (bend + 2.0 * l2) - w[j]
            if step != 0.0:
                w[j] += step
                for k in range(m):
                    g[k] -= step * Q[j, k]
                largest = max(largest, bend * step * step)
        if largest <= tol:
            break


@kernel
def shrink(x, cut):
    """The soft threshold of one number."""
    if x > cut:
        return x - cut
    if x < -cut:
        return x + cut
    return 0.0


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """One coefficient after the other, exactly, on those that matter.

    Each iteration takes the coefficients that are not 0 and those that most want to leave it, replaces the loss by its
    parabola (the squared loss is its own), solves that by coordinate descent, and checks all coefficients again by
    the duality gap. For "l1", "l2" and elastic-net penalties of smooth losses, where few coefficients are not 0.

    Parameters
    ----------
    tol : float, default=1e-8
        Convergence tolerance: how small the gradient may be beside that at 0, or the duality gap beside the objective
        at 0.
    max_iter : int, default=1000
        The most iterations.
    cycles : int, default=1000
        The most passes over the chosen coefficients in one iteration.

    See Also
    --------
    FISTA : All coefficients at once; constraints and other penalties too.
    learnt.linear_model.Lasso : The squared loss with the "l1" penalty alone.
    """

    tol: float = 1e-8
    max_iter: int = 1000

    needs_rows = True
    cycles: int = 1000

    needs_curvature = True
    needs_smooth_loss = True

    def check(self, problem: Problem) -> None:
        """Refuse a problem that this solver cannot take, in one sentence that names those that could."""
        super().check(problem)
        if getattr(problem.penalty, "parts", None) is None or problem.bound is not None or problem.n_outputs > 1:
            raise ValueError(
                f"CoordinateDescent takes L1, L2 and elastic net as penalties on one score a row, and got "
                f"{problem.penalty!r} with bound={problem.bound}; use 'fista'."
            )
        if not on_host(problem.X):
            raise ValueError("CoordinateDescent runs on the CPU and X is an array elsewhere; use 'fista' there.")

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
        """Yield the next θ and how far it was from a minimum, relative to θ = 0, without end."""
        l1, l2 = (problem.alpha * part for part in problem.penalty.parts)
        columns = _columns(problem.X)
        theta = np.array(theta, dtype=np.float64)
        size = 10
        while True:
            gradient = problem.pull(problem.loss.gradient(problem.y, problem.scores(theta)))
            left = self._residual(problem, theta, gradient, l1, l2)
            w = problem.coef(theta)
            wish = _wish(w, problem.coef(gradient), l1, l2)
            size = max(size, 2 * int(np.count_nonzero(w)))
            wish[w != 0] = np.inf
            working = np.sort(np.argsort(-wish, kind="stable")[:size])
            theta = self._move(problem, theta, columns, working, l1, l2, left)
            yield theta, left

    def _residual(self, problem: Problem, theta: np.ndarray, gradient: np.ndarray, l1: float, l2: float) -> float:
        gap = duality_gap(problem, theta)
        if gap is not None and np.isfinite(gap):
            return gap / problem.height
        wish = np.abs(_wish(problem.coef(theta), problem.coef(gradient), l1, l2)).max()
        return max(wish, float(np.abs(problem.intercept(gradient)))) / problem.scale

    def _move(
        self,
        problem: Problem,
        theta: np.ndarray,
        columns: tuple,
        working: np.ndarray,
        l1: float,
        l2: float,
        left: float,
    ) -> np.ndarray:
        scores = problem.scores(theta)
        slope, bend = problem.loss.gradient(problem.y, scores), problem.loss.curvature(problem.y, scores)
        bend = np.maximum(bend, 1e-6 * max(float(bend.max()), 1e-300))
        h = bend * problem.share
        r = np.ascontiguousarray(-slope / bend, dtype=np.float64)
        w = problem.coef(theta).copy()
        tol = 1e-3 * min(left, 1.0) * self.tol * problem.height
        h = h.astype(np.float64)
        if len(working) <= min(_FEW, len(r)):
            shift = self._by_products(problem, working, h, r, w, l1, l2, tol)
        else:
            cycles, table = (dense_cycles, columns[0]) if len(columns) == 1 else (sparse_cycles, tuple(columns))
            stop = np.zeros(1, np.int64)
            descent = partial(cycles, table, working, h, r, w, l1, l2, problem.fit_intercept, tol, self.cycles, stop)
            shift = stoppable(descent, stop, long=self.cycles * columns[0].size > _LONG)
        trial = theta.copy()
        trial[: len(w)] = w
        if problem.fit_intercept:
            trial[-1] += shift
        if float(bend.min()) == float(bend.max()) == getattr(problem.loss, "steepest", None):
            return trial  # the parabola is the loss
        now, move = problem.objective(theta), trial - theta
        for _ in range(40):
            if problem.objective(theta + move) <= now:
                return theta + move
            move = move / 2
        return theta

    def _by_products(
        self,
        problem: Problem,
        working: np.ndarray,
        h: np.ndarray,
        r: np.ndarray,
        w: np.ndarray,
        l1: float,
        l2: float,
        tol: float,
    ) -> float:
        """The cycles over few columns, by their products: the cost does not depend on the number of rows."""
        A = problem.X[:, working]
        A = sparse.csc_array(A) if sparse.issparse(A) else A.astype(np.float64, copy=False)
        weighted = A.multiply(h[:, None]).tocsc() if sparse.issparse(A) else A * h[:, None]
        Q = weighted.T @ A
        Q = np.ascontiguousarray(dense(Q))
        g, total, moments = weighted.T @ r, 1.0, np.zeros(len(working))
        if problem.fit_intercept:  # which follows the coefficients: columns count about their means
            total, moments = float(h.sum()), np.asarray(weighted.sum(axis=0)).ravel()
            Q -= np.outer(moments, moments) / total
            g = g - moments * (h @ r) / total
        before = w[working]
        new = before.copy()
        most = max(self.cycles, _CYCLE_STEPS // len(working) ** 2)
        gram_cycles(Q, np.ascontiguousarray(g), new, l1, l2, _CLOSER * tol, most)
        w[working] = new
        return float(h @ r - moments @ (new - before)) / total if problem.fit_intercept else 0.0


def _columns(X: Any) -> tuple:
    if sparse.issparse(X):
        thin = sparse.csc_array(X)
        return thin.data.astype(np.float64, copy=False), thin.indices, thin.indptr
    return (np.asfortranarray(X, dtype=np.float64),)


def _wish(w: np.ndarray, gradient: np.ndarray, l1: float, l2: float) -> np.ndarray:
    """By how much each coefficient breaks its condition of optimality."""
    slope = gradient + 2 * l2 * w
    return np.where(w != 0, np.abs(slope + l1 * np.sign(w)), np.maximum(np.abs(slope) - l1, 0.0))
