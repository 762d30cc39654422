"""Huber's objective for one σ after the other: where σ goes to 0, so that the objective has kinks at its minimum.

Rows that are fitted exactly have a second derivative of 1/σ within a distance of σ, so that a step in all variables at
once ends at the first kink, and the quadratic model is wrong beyond σ. Here the objective is minimised over (b, c) for
one σ after the other. What remains,

    φ(σ) = min over b, c of f(b, c, σ),

is convex and σ ≥ 0, so that its slope bounds how far above the minimum it is: for σ₀ at or below the best one, by
φ′(σ)·(σ − σ₀).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.engine.threads import single_blas
from learnt.erm.solvers import positive_solver
from learnt.linear_model.glm._newton import Result

SMALLEST = 1e-11  # σ in the unit of y that is taken for 0
_WITHIN = 0.1  # as a share of σ: the change of errors up to which the quadratic model is used
# the largest factor by which σ changes at once, and where the set of inliers has not changed
_PACE, _FAST = 10.0, 1000.0
_MOST_SCALES = 60


class _ScaleMinimum(NamedTuple):
    """The minimum over (b, c) at one σ: whether it is one, φ′ and φ″ there, and how (b, c) moves with σ."""

    point: np.ndarray
    value: float
    n_iter: int
    settled: bool
    slope: float
    bend: float
    drift: np.ndarray
    least: float  # σ that is taken for 0


def scale_by_scale(objective: Any, start: np.ndarray, tol: float, max_iter: int) -> Result:
    """The minimum from `start`: to a relative tol², or to σ nearly 0, or for `max_iter` steps."""
    point, sigma = start[:-1], max(float(start[-1]), SMALLEST)
    low, high, n_iter, stays = 0.0, np.inf, 0, False
    for _ in range(_MOST_SCALES):
        here = _settle(objective, point, sigma, tol, max_iter - n_iter)
        n_iter += here.n_iter
        if here.slope >= 0:
            gap, high = here.slope * (sigma - low), sigma
        else:
            gap, low = -here.slope * (min(high, max(here.value, sigma)) - sigma), sigma  # the best σ is at most f
        exact = sigma <= here.least
        if n_iter >= max_iter or gap <= tol**2 * here.value or exact:
            break
        point, new = _next(here, sigma, low, high)
        stays = new == sigma
        if stays:
            break
        sigma = new
    converged = here.settled and (exact or stays or gap <= tol**2 * here.value)
    return Result(here.point, sigma, here.value, 2.0 * gap, n_iter, converged)


def _next(here: _ScaleMinimum, sigma: float, low: float, high: float) -> tuple[np.ndarray, float]:
    """Newton's step in σ within its bracket, and the predicted (b, c) there if there is no kink between.

    The same σ where the step is less than its rounding: nothing better is to be found.
    """
    pace = _FAST if here.n_iter == 0 else _PACE
    least, most = max(low, sigma / pace, here.least), min(high, sigma * pace)
    towards = 0.0 if here.slope >= 0 else np.inf
    new = min(max(sigma - here.slope / here.bend if here.bend > 0 else towards, least), most)
    if new != sigma and new in (low, high):  # both ends were evaluated, and the best is between
        new = float(np.sqrt(low * high))
    return here.point + (new - sigma) * here.drift, new


@single_blas()
def _settle(objective: Any, point: np.ndarray, sigma: float, tol: float, max_iter: int) -> _ScaleMinimum:
    """Newton's method in (b, c), whose line search is exact: along a line the objective is made of parabolas."""
    rows, n_iter = _Rows(objective, sigma), 0
    while True:
        sums = objective.at(np.append(point, sigma), "own")
        gradient, H = sums.gradient[:-1], np.asarray(sums.curvature)
        solve, steps = _steps(objective, point, sigma, gradient, H[:-1, :-1])
        left = -float(gradient @ sum(steps))
        largest = max(float(np.abs(rows.change(step)).max(initial=0.0)) for step in steps)
        near = left <= 0.1 * tol**2 * sums.value and largest <= _WITHIN * sigma
        settled = near or largest <= rows.rounding(point)
        if settled or n_iter >= max_iter:
            break
        before = point
        for step in steps:
            point = point + rows.lowest(point, step) * step
        if np.array_equal(point, before):
            break
        n_iter += 1
    drift = -solve(H[:-1, -1])
    bend = float(H[-1, -1] + H[-1, :-1] @ drift)
    least = max(SMALLEST, rows.rounding(point))
    return _ScaleMinimum(point, sums.value, n_iter, settled, float(sums.gradient[-1]), bend, drift, least)


def _steps(
    objective: Any, point: np.ndarray, sigma: float, gradient: np.ndarray, H: np.ndarray
) -> tuple[Callable[[np.ndarray], np.ndarray], list[np.ndarray]]:
    """A solver with the Hessian H by (b, c), and the steps.

    Directions in which inliers give no curvature are a separate step, which leaves the inliers' errors unchanged, with
    the curvature of a majoriser.
    """
    solve = positive_solver(H)
    if solve is not None:
        return solve, [-solve(gradient)]
    bound = np.asarray(objective.at(np.append(point, sigma), "expected").curvature)[:-1, :-1]
    unit = 1.0 / np.sqrt(np.maximum(np.diag(bound), np.finfo(float).tiny))
    unit[np.diag(bound) <= 0.0] = 0.0
    rounding = 8 * len(H) * np.finfo(float).eps
    known, free = _split_directions(unit[:, None] * H * unit, rounding * float(unit**2 @ np.diag(H)))
    known, free = unit[:, None] * known, unit[:, None] * free
    known_values = np.sum(known * (H @ known), axis=0)
    free = (
        free @ _split_directions(free.T @ bound @ free, rounding * len(H))[0]
    )  # directions in which no row changes get no step
    free_values = np.sum(free * (bound @ free), axis=0)

    def along_known(v: np.ndarray) -> np.ndarray:
        return known @ ((known.T @ v) / known_values)

    return along_known, [-along_known(gradient), -free @ ((free.T @ gradient) / free_values)]


def _split_directions(H: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal directions in which H curves by more than `least`, and the others."""
    values, vectors = np.linalg.eigh(H)
    return vectors[:, values > least], vectors[:, values <= least]


class _Rows:
    """The rows that have weight, at one σ."""

    def __init__(self, objective: Any, sigma: float) -> None:
        rows = objective.rows
        self._w = np.ones(rows.n_rows) if rows.w is None else rows.w.astype(np.float64)
        weighted = self._w > 0
        self._X, self._w = (rows.X, self._w) if weighted.all() else (rows.X[weighted], self._w[weighted])
        self._y = rows.y[weighted] / objective.unit
        self._w = self._w / objective.weight
        self._alpha, self._epsilon, self._sigma = objective.alpha, objective.epsilon, sigma

    def change(self, step: np.ndarray) -> np.ndarray:
        """How a step in (b, c) changes each row's score."""
        return np.asarray(self._X @ step[:-1]) + step[-1]

    def rounding(self, point: np.ndarray) -> float:
        """The rounding error of a change of errors."""
        size = np.abs(self._y) + np.asarray(abs(self._X) @ np.abs(point[:-1])) + abs(point[-1])
        return 4 * np.finfo(float).eps * float(size.max(initial=0.0))

    def lowest(self, point: np.ndarray, step: np.ndarray) -> float:
        """How far along the step the objective is lowest: its slope there rises in straight pieces, between the
        lengths at which a row comes to ±εσ."""
        error, change = self._y - self.change(point), self.change(step)
        edge = self._epsilon * self._sigma
        root = np.sqrt(self._alpha)  # before squaring: a long step with hardly any penalty has a finite product
        pull, own = float((root * point[:-1]) @ (root * step[:-1])), float((root * step[:-1]) @ (root * step[:-1]))

        def slope(t: float) -> float:
            bent = np.clip((error - t * change) / self._sigma, -self._epsilon, self._epsilon)
            return -2.0 * float((self._w * bent) @ change) + pull + t * own

        moving = change != 0.0
        corners = np.concatenate([(error[moving] + side) / change[moving] for side in (edge, -edge)])
        corners = np.unique(corners[(corners > 0.0) & np.isfinite(corners)])
        low, high = -1, len(corners)  # the lowest point is beyond corner `low` and not beyond `high`
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if slope(corners[middle]) < 0 else (low, middle)
        start = corners[low] if low >= 0 else 0.0
        end = corners[high] if high < len(corners) else max(2.0 * start, 2.0)
        at_start, at_end = slope(start), slope(end)
        return float(start - at_start * (end - start) / (at_end - at_start)) if at_end > at_start else float(start)


def quadratic_is_valid(objective: Any, step: np.ndarray, sigma: float) -> bool:
    """Whether a step of the quadratic model changes σ and the errors by so little of σ that the model is valid."""
    change = np.abs(_Rows(objective, sigma).change(step[:-1])).max(initial=0.0)
    return bool(max(change, abs(step[-1])) <= _WITHIN * sigma)


def gap_bound(objective: Any, point: np.ndarray, value: float, gradient: np.ndarray) -> float:
    """How far above its minimum the objective is at most; infinite without a penalty.

    It is convex and curves by α in b; the best σ is at most f, since f ≥ σ; and as f ≥ 2 Σw|e|, errors are f/2 on
    average at most, here and at the best, which bounds how far c is from its best for the same b.
    """
    if not objective.alpha > 0:
        return np.inf
    rows, sigma = objective.rows, float(point[-1])
    w = np.ones(rows.n_rows) if rows.w is None else rows.w
    mean = np.asarray(rows.X.T @ w).ravel() / objective.weight
    by_b, by_c, by_sigma = gradient[:-2] - gradient[-2] * mean, abs(float(gradient[-2])), float(gradient[-1])
    in_sigma = by_sigma * sigma if by_sigma >= 0 else -by_sigma * max(value - sigma, 0.0)
    return float(by_b @ by_b) / (2.0 * objective.alpha) + by_c * value + in_sigma
