"""Coordinate descent with working sets, for squared and other twice-differentiable losses with L1 and L2 penalties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from learnt.engine.arrays import is_numpy
from learnt.engine.kernel import kernel
from learnt.erm._gap import duality_gap
from learnt.erm._problem import Problem
from learnt.erm.solvers._base import Solver


@kernel
def dense_cycles(X, columns, h, r, w, l1, l2, intercept, tol, cycles):
    """Cycles of  min over w, b of  ½ Σ hᵢ (rᵢ − xᵢᵀδ − β)² + l1‖w‖₁ + l2‖w‖², one column after the other.

    `r` is what is left to explain and is kept so as `w` and the intercept move. Returns how far the intercept moved.
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
        if largest <= tol:
            break
    return moved


@kernel
def sparse_cycles(data, rows, starts, columns, h, r, w, l1, l2, intercept, tol, cycles):
    """The same on the columns of a CSC matrix."""
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
        if largest <= tol:
            break
    return moved


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
    the duality gap.
    """

    tol: float = 1e-8
    max_iter: int = 1000

    needs_rows = True
    cycles: int = 1000

    needs_curvature = True
    needs_smooth_loss = True

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if getattr(problem.penalty, "parts", None) is None or problem.bound is not None or problem.n_outputs > 1:
            raise ValueError(
                f"CoordinateDescent takes L1, L2 and elastic net as penalties on one score a row, and got "
                f"{problem.penalty!r} with bound={problem.bound}; use 'fista'."
            )
        if not (is_numpy(problem.X) or sparse.issparse(problem.X)):
            raise ValueError("CoordinateDescent runs on the CPU and X is an array elsewhere; use 'fista' there.")

    def iterates(self, problem: Problem, theta: Any) -> Iterator[tuple[Any, float]]:
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
        cycles = dense_cycles if len(columns) == 1 else sparse_cycles
        shift = cycles(*columns, working, h.astype(np.float64), r, w, l1, l2, problem.fit_intercept, tol, self.cycles)
        there = theta.copy()
        there[: len(w)] = w
        if problem.fit_intercept:
            there[-1] += shift
        if float(bend.min()) == float(bend.max()) == getattr(problem.loss, "steepest", None):
            return there  # the parabola is the loss
        now, move = problem.objective(theta), there - theta
        for _ in range(40):
            if problem.objective(theta + move) <= now:
                return theta + move
            move = move / 2
        return theta


def _columns(X: Any) -> tuple:
    if sparse.issparse(X):
        thin = sparse.csc_array(X)
        return thin.data.astype(np.float64, copy=False), thin.indices, thin.indptr
    return (np.asfortranarray(X, dtype=np.float64),)


def _wish(w: np.ndarray, gradient: np.ndarray, l1: float, l2: float) -> np.ndarray:
    """By how much each coefficient breaks its condition of optimality."""
    slope = gradient + 2 * l2 * w
    return np.where(w != 0, np.abs(slope + l1 * np.sign(w)), np.maximum(np.abs(slope) - l1, 0.0))
