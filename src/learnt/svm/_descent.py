"""Dual coordinate descent with leaps, for tables with too many rows and columns for Newton's equations.

Passes over the rows find out which multipliers are at a bound and which are free. The free ones then solve linear
equations, which conjugate gradients do in fewer products than passes would; a step that leaves the bounds is cut back
to them, and taken only if the dual objective gains. Passes and leaps take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from learnt.engine.random import generator
from learnt.engine.threads import run_tasks
from learnt.linalg.weighted_columns import Compressed, add_columns, column_dots, compressed
from learnt.svm._curvature import conjugate_gradients
from learnt.svm._descent_kernels import sweep
from learnt.svm._design import Design
from learnt.svm._losses import Loss
from learnt.svm._newton import Outcome

_SEED = 20011  # the minimum does not depend on it; fixed, so that runs are reproducible
_RUN = 16  # rows visited in a row, for memory likes it; the runs are in random order
_BEYOND = 0.4  # how much further than to its best value a multiplier is moved, as in successive over-relaxation
_SETTLED = 0.1  # share of the free rows that may change between passes for a Newton step to be tried
# Passes used to estimate the rate, and estimated remaining passes above which a Newton step is tried
_PACE, _PATIENCE = 3, 40
_STUCK = 200  # passes, made and expected, after which another method takes over
_AFTER = 0.3  # the typical gap after a pass, as a share of that before
_FIRST_STEPS, _MORE_STEPS, _MOST_STEPS = 10, 5, 50  # iterations of conjugate gradients in a Newton step


class Dual:
    """Multipliers and coefficients w = Aᵀβ (with a place for an intercept, used or not)."""

    def __init__(self, design: Design, loss: Loss, beta: np.ndarray) -> None:
        self.design, self.loss, self.beta = design, loss, beta.copy()
        self.square = design.squares()
        self._matrix = (*csr_arrays(design), design.bias)
        curve = self.square + loss.soft
        curve[curve == 0.0] = 1.0  # an empty row: any step is as good
        stiff = 1.0 / loss.soft if loss.smooth else loss.soft
        self._terms = np.stack([loss.y, loss.lo, loss.hi, loss.soft, stiff, curve, 1.0 / curve, curve], axis=1)
        self._random = generator(_SEED)
        self.w = np.zeros(design.d + 1)
        if self.beta.any():
            self.w[: design.D] = design.combine(self.beta)
        self.restart()

    def restart(self) -> None:
        """Put all rows back into the active set."""
        self._active, self._firm = np.ones(self.design.n, dtype=np.bool_), np.inf

    def sweep(self) -> tuple[float, bool]:
        """One pass; the gap before it, and whether it changed anything."""
        rows = np.flatnonzero(self._active)
        runs = self._random.permutation(-(-rows.size // _RUN))
        order = (runs[:, None] * _RUN + np.arange(_RUN)).ravel()
        out = np.zeros(2)
        moving = (rows[order[order < rows.size]], self._firm, self.beta, self.w, self._active, out)
        *csr, bias = self._matrix
        sweep(tuple(csr), bias, self._terms, float(self.loss.epsilon), _BEYOND, *moving)
        self._firm = out[0]
        return float(out[1]), out[0] > 0.0

    def free(self) -> np.ndarray:
        """Which multipliers are strictly within their bounds (and not at the kink of ε)."""
        inside = (self.beta > self.loss.lo) & (self.beta < self.loss.hi)
        return inside & (self.beta != 0.0) if self.loss.epsilon else inside

    def leap(self, rows: np.ndarray, steps: int) -> bool:
        """Solve for the free rows; whether the dual objective gained."""
        loss, old, soft = self.loss, self.beta[rows], self.loss.soft[rows]
        part = Part(self._matrix, rows, self.w.size, self.design)

        def product(x: np.ndarray, out: np.ndarray) -> None:
            part.scores(part.combine(x), out)
            out += soft * x

        aim = loss.y[rows] - loss.epsilon * np.sign(old) - soft * old
        aim -= part.scores(self.w, np.empty(rows.size))
        delta = conjugate_gradients(product, aim, soft + self.square[rows], steps)
        low, high = loss.lo[rows], loss.hi[rows]
        if loss.epsilon:  # not across the kink at 0
            low, high = np.where(old > 0, 0.0, low), np.where(old < 0, 0.0, high)
        new = np.clip(old + delta, low, high)
        change = part.combine(new - old)
        own = loss.take(rows, 1.0)
        gain = float(np.sum(own.reward(new) - own.reward(old)))
        gain -= float(change @ self.w) + 0.5 * float(change @ change)
        if gain > 0.0:
            self.beta[rows] = new
            self.w += change
        return gain > 0.0


class Part:
    """Products with some rows, in lanes on the pool."""

    def __init__(self, matrix: tuple, rows: np.ndarray, width: int, design: Design) -> None:
        self._matrix, self._n_jobs = matrix, design.n_jobs
        cells = matrix[0].size * rows.size / max(design.n, 1)
        lanes = 1 << int(np.log2(np.clip(cells / (8 * width), 1, 8)))
        self._lanes = np.array_split(rows.astype(np.uint64), lanes)
        self._bounds = np.cumsum([0, *(lane.size for lane in self._lanes)])
        self._sums = np.empty((lanes, width))

    def scores(self, w: np.ndarray, out: np.ndarray) -> np.ndarray:
        run_tasks([partial(self._lane_scores, k, w, out) for k in range(len(self._lanes))], n_jobs=self._n_jobs)
        return out

    def combine(self, beta: np.ndarray) -> np.ndarray:
        run_tasks([partial(self._lane_sums, k, beta) for k in range(len(self._lanes))], n_jobs=self._n_jobs)
        for part in self._sums[1:]:
            self._sums[0] += part
        return self._sums[0]

    def _lane_scores(self, k: int, w: np.ndarray, out: np.ndarray) -> None:
        *matrix, bias = self._matrix
        own = out[self._bounds[k] : self._bounds[k + 1]]
        column_dots(*matrix, self._lanes[k], w, own)
        own += bias * w[-1]

    def _lane_sums(self, k: int, beta: np.ndarray) -> None:
        *matrix, bias = self._matrix
        own = beta[self._bounds[k] : self._bounds[k + 1]]
        self._sums[k] = 0.0
        add_columns(*matrix, self._lanes[k], own, self._sums[k])
        self._sums[k, -1] = bias * own.sum()


def descend(
    design: Design,
    loss: Loss,
    beta: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    watch: Callable[[float, int], bool] | None = None,
) -> Outcome:
    """Passes and leaps until the duality gap is at most `tol` times the objective."""
    dual = Dual(design, loss, beta)
    value, n_iter, steps = float(loss.value(np.zeros(design.n)).sum()), 0, _FIRST_STEPS
    free = dual.free()
    gaps: list[float] = []  # gaps before each pass since the last Newton step
    while n_iter < max_iter:
        gap, moved = dual.sweep()
        n_iter += 1
        gaps.append(gap)
        if _AFTER * gap <= tol * value or not moved:
            outcome = measure(dual, n_iter, tol)
            value = outcome.value
            if outcome.converged:
                return outcome
            dual.restart()
        if watch is not None and watch(value, n_iter):
            break
        before, free = free, dual.free()
        rows = np.flatnonzero(free)
        if n_iter >= _STUCK and passes_left(gaps, tol * value) > _STUCK:
            break
        settled = np.count_nonzero(free != before) <= _SETTLED * rows.size
        if settled and passes_left(gaps, tol * value) > _PATIENCE:
            steps = min(steps + _MORE_STEPS, _MOST_STEPS) if dual.leap(rows, steps) else _FIRST_STEPS
            dual.restart()
            free, gaps = dual.free(), []
    return measure(dual, n_iter, tol)


def passes_left(gaps: list[float], goal: float) -> float:
    """Estimated passes until convergence, at the rate of the last three."""
    if len(gaps) < _PACE + 1 or gaps[-1] <= goal:
        return 0.0
    pace = np.log(gaps[-1] / gaps[-1 - _PACE]) / _PACE if gaps[-1] > 0 else -np.inf
    return np.log(goal / gaps[-1]) / pace if pace < 0 else np.inf


def measure(dual: Dual, n_iter: int, tol: float) -> Outcome:
    """The objective and the duality gap, of w = Aᵀβ."""
    design, loss, beta = dual.design, dual.loss, dual.beta
    w = dual.w[: design.D].copy()
    s = design.scores(w)
    value = 0.5 * float(w @ w) + float(loss.value(s).sum())
    gap = max(float(loss.slack(s, beta).sum()), 0.0)
    return Outcome(w, beta.copy(), value, gap, n_iter, gap <= tol * value)


def csr_arrays(design: Design) -> Compressed:
    """The rows in the types that the kernels are compiled for; of a dense table too."""
    if design.sparse:
        return compressed(design.X)
    places = np.tile(np.arange(design.d, dtype=np.uint32), design.n)
    return (
        np.ascontiguousarray(design.X).ravel(),
        places,
        np.arange(design.n + 1, dtype=np.uint64) * np.uint64(design.d),
    )
