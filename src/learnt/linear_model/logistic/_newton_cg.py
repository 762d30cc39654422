"""Two classes over a sparse table of very many columns: Newton's method, its equations by conjugate gradients.

A matrix of the second derivative H would not fit; its product with a vector costs about as much as the gradient, needs
no logarithm, and remembers nothing. The variables are the coefficients of centred columns,  c = c′ − mean · coef,  in
units of H's own diagonal, which comes with every gradient. Steps far from the minimum are solved for roughly, the last
ones closely.

Reference: Nocedal & Wright, Numerical Optimization, 2nd edition, algorithm 7.1, doi:10.1007/978-0-387-40065-5.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.rows import Rows
from learnt.engine.threads import run_tasks
from learnt.erm.solvers.curved import ROUNDING, Flat, Outcome, Point, Progress, at_rest, search
from learnt.linear_model.logistic import _newton_cg_kernels as kernels
from learnt.linear_model.logistic._loss import Target, csr_arrays, kernel_arrays
from learnt.linear_model.logistic._problem import sparse_lanes

_SHARE = 0.2  # residual of the linear equations at first, as a share of the gradient; it shrinks with it, by this power
_POWER = 0.2
_MOST = 200  # products a step
CLOSE = 0.1  # of the tolerance: no equation is solved more closely


class Look(NamedTuple):
    """The objective at a place, its gradient, each row's share of the second derivative, and the diagonal of that."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray
    curve: list[np.ndarray]
    diagonal: np.ndarray


class Columns:
    """The objective  Σ w ℓ(y, x·coef + c) + α‖coef‖²/2  over CSR rows, in flat variables (coef, c′)."""

    def __init__(self, rows: Rows, target: Target, alpha: float, mean: np.ndarray, fit_intercept: bool) -> None:
        self.alpha, self.mean, self._fit_intercept, self._n_jobs = alpha, mean, fit_intercept, rows.n_jobs
        self._lanes = []
        for lane in sparse_lanes(rows):
            X, y, w, table = kernel_arrays(lane, target)
            self._lanes.append((*csr_arrays(X), y, w, table))
        self._parts = np.empty((len(self._lanes), mean.size))
        self._product = np.empty(mean.size + 1)
        self._begun = 0.0

    def look(self, theta: np.ndarray) -> Look:
        d = self.mean.size
        coef = theta[:d]
        intercept = float(theta[d] - coef @ self.mean)

        def one(lane: Any) -> tuple[float, np.ndarray, np.ndarray]:
            curve, sums = np.empty(lane[3].size), np.zeros((d + 1, 2))
            return kernels.csr_look(*lane, coef, intercept, curve, sums), curve, sums

        losses, curves, parts = zip(*self._all([partial(one, lane) for lane in self._lanes]), strict=True)
        sums = sum(parts[1:], parts[0])
        gradient, diagonal = np.ascontiguousarray(sums[:, 0]), np.ascontiguousarray(sums[:, 1])
        gradient[:d] += self.alpha * coef - gradient[d] * self.mean
        with np.errstate(over="ignore", invalid="ignore"):  # columns too large to be squared
            diagonal[:d] = np.maximum(diagonal[:d] - self.mean**2 * diagonal[d], 0.0) + self.alpha
        if not self._fit_intercept:
            gradient[d], diagonal[d] = 0.0, 1.0
        diagonal[d] = max(diagonal[d], np.finfo(float).tiny)
        value = float(sum(losses)) + 0.5 * self.alpha * float(coef @ coef)
        return Look(theta, value, gradient, list(curves), diagonal)

    def solve(self, here: Look, goal: float) -> tuple[np.ndarray, float]:
        """An inexact Newton step, as close as the goal needs it; and −gᵀstep."""
        size = float(here.gradient @ (here.gradient / here.diagonal))
        self._begun = self._begun or size
        share = _SHARE * (size / max(self._begun, size)) ** _POWER if size > 0 else _SHARE
        return self.equations(here, share, goal)

    def reach(self, step: np.ndarray) -> float:
        """How much of a step to try first."""
        return 1.0

    def equations(self, here: Look, share: float, close: float) -> tuple[np.ndarray, float]:
        """s with Hs = −g, but for `share` of the gradient, or what takes no more than `close` from gᵀs; and −gᵀs."""
        d = self.mean.size
        step, r, p, q = np.zeros(d + 1), -here.gradient, np.zeros(d + 1), self._product
        size = float(r @ (r / here.diagonal))
        stop = max(share**2 * size, close)
        ratio = 0.0
        for _ in range(_MOST):
            shift = kernels.turn(ratio, r, here.diagonal, self.mean, p)
            tasks = [
                partial(kernels.csr_product, *lane[:3], curve, p, p[d] - shift, part)
                for lane, curve, part in zip(self._lanes, here.curve, self._parts, strict=True)
            ]
            total = float(sum(self._all(tasks)))
            q[d] = total if self._fit_intercept else 0.0
            curving = kernels.gather_product(self._parts, total, self.mean, self.alpha, p, q)
            if not curving > 0.0:
                break
            before, size = size, kernels.advance(size / curving, p, q, here.diagonal, step, r)
            if size <= stop:
                break
            ratio = size / before
        return step, -float(here.gradient @ step)

    def _all(self, tasks: list[Any]) -> list[Any]:
        return run_tasks(tasks, n_jobs=self._n_jobs)


def descend(
    problem: Any,
    here: Any,
    *,
    tol: float,
    enough: float,
    max_iter: int,
    watch: Callable[[Point, int], bool] | None,
) -> Outcome:
    """Minimise, from the place that was looked at, until −gᵀs / 2 ≤ max(tol · f, enough).

    `problem.look(theta)` has theta, value and gradient; `problem.solve(look, goal)` gives a step s, and −gᵀs;
    `problem.reach(s)` says how much of it to try first.
    """

    def evaluate(theta: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal here
        here = problem.look(theta)
        return here.value, here.gradient

    n_iter, stop, progress = 0, False, Progress()
    while True:
        goal = 2 * max(max(tol, ROUNDING) * here.value, enough)
        step, left = problem.solve(here, CLOSE * goal)
        place = Point(here.theta, here.value, here.gradient)

        def ended(status: str, place: Point = place, left: float = left, n_iter: int = n_iter) -> Outcome:
            return Outcome(place.theta, place.value, max(left, 0.0) / 2, n_iter, status, Flat())

        if left <= goal:
            return ended("converged")
        if stop:
            return ended("stopped")
        if n_iter >= max_iter:
            return ended("iterations")
        step *= (reach := problem.reach(step))
        lower = None if progress.over(place.value, left) else search(evaluate, place, step, -left * reach)
        if lower is None:
            return ended(at_rest(left, place.value))
        if lower.theta is not here.theta:
            here = problem.look(lower.theta)
        n_iter += 1
        stop = watch is not None and watch(lower, n_iter)
