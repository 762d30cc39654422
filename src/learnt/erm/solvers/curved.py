"""Newton's method and L-BFGS for smooth convex functions, as one loop.

Both take the step −H⁻¹g with a line search. For Newton, H is the second derivative at the point; for L-BFGS it is an
approximation computed once, corrected by the last few changes of the gradient; in between, H is recomputed when it is
outdated. The distance from the minimum follows from the step itself, whatever the units: f − min f ≈ gᵀH⁻¹g / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from learnt.erm.solvers._memory import Pair, inverse_times

ROUNDING = 1e-26  # a distance, relative to f, below which steps only move rounding errors
STALLED = 1e-10  # one at which an end of all progress counts as the precision of float64, not as a failure
_NOISE = 1e-14  # rounding of the objective, relative
_TRIALS = 40
_IDLE = 10  # steps without progress, after which the search ends


class Curvature(Protocol):
    """The second derivative, or something like it, as equations that can be solved."""

    exact: bool  # whether it is the second derivative at the point of evaluation

    def solve(self, g: np.ndarray) -> np.ndarray: ...


class Flat:
    """No curvature, where coordinate descent needed none."""

    exact = False

    def solve(self, g: np.ndarray) -> np.ndarray:
        return g


class Point(NamedTuple):
    """The state of the search."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray


class Outcome(NamedTuple):
    """Where the search ended, how far below the minimum is thought to be, and why it ended."""

    theta: np.ndarray
    value: float
    gap: float
    n_iter: int
    status: str  # "converged", "iterations", "stopped" (by `watch`) or "stalled"
    curvature: Curvature


class Progress:
    """Whether there is still progress: the value falls by more than its rounding, or the distance halves."""

    def __init__(self) -> None:
        self._value, self._left, self._idle = np.inf, np.inf, 0

    def over(self, value: float, left: float) -> bool:
        """After one more step; `left` is twice the distance from the minimum."""
        lower, nearer = value < self._value - _NOISE * abs(value), left <= 0.5 * self._left
        self._value, self._left = min(self._value, value), left if nearer else self._left
        self._idle = 0 if lower or nearer else self._idle + 1
        return self._idle >= _IDLE


def at_rest(left: float, value: float) -> str:
    """What an end of all progress is: the precision of float64, or a failure."""
    return "converged" if left <= STALLED * value else "stalled"


class Memory:
    """The last changes of point and gradient, and the L-BFGS update of H⁻¹ by them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pairs: list[Pair] = []
        self._factor = 1.0

    def add(self, s: np.ndarray, y: np.ndarray, curvature: Curvature) -> None:
        sy = float(s @ y)
        if self._size and sy > 0:
            self._pairs = [*self._pairs, (s, y, sy)][-self._size :]
            self._factor = sy / float(y @ curvature.solve(y))

    def renew(self, curvature: Curvature) -> None:
        """Set a new curvature; where it is exact the past changes are dropped."""
        self._factor = 1.0
        if curvature.exact:
            self._pairs = []

    def solve(self, g: np.ndarray, curvature: Curvature) -> np.ndarray:
        if not self._pairs:
            return curvature.solve(g)
        return inverse_times(self._pairs, g, lambda v: self._factor * curvature.solve(v))


Renew = Callable[[list[float], float], bool]


def always(left: list[float], goal: float) -> bool:
    """Newton's method."""
    return True


def when_left(share: float) -> Renew:
    """The curvature is old where a step left more than this share of gᵀH⁻¹g: 0 for Newton, infinity for L-BFGS."""
    return lambda left, goal: len(left) > 1 and left[-1] > share * left[-2]


def when_it_pays(price: float, steps: int = 10) -> Renew:
    """The curvature is old where, at the pace of the last steps, more are to come than a new one costs."""

    def pays(left: list[float], goal: float) -> bool:
        if len(left) <= steps:
            return False
        pace = np.log(left[-1] / left[-1 - steps]) / steps
        return pace >= 0 or np.log(goal / left[-1]) / pace > price

    return pays


def minimize(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray]],
    theta: np.ndarray,
    curvature_at: Callable[[np.ndarray], Curvature],
    *,
    tol: float,
    max_iter: int,
    memory: int = 0,
    renew: Renew = always,
    confirm_at: Callable[[np.ndarray, int], Curvature | None] | None = None,
    enough: float = 0.0,
    watch: Callable[[Point, int], bool] | None = None,
) -> Outcome:
    """Minimise a smooth convex function until it is  gᵀH⁻¹g / 2 ≤ max(tol · f, enough)  above its minimum.

    Parameters
    ----------
    evaluate : theta → value, gradient
    curvature_at : theta → Curvature
    memory : pairs that L-BFGS remembers; 0 for Newton
    renew : whether to ask for the curvature again, given gᵀH⁻¹g at each step since the last time, and its goal
    confirm_at : (theta, n_iter) → Curvature, a fresh curvature by which convergence is confirmed; None to trust the old
    one, which may be far too steep in a direction that has become flat since, and underestimate the distance watch :
    callback of every step; True ends the search
    """
    point = Point(theta, *evaluate(theta))
    curvature = curvature_at(theta)
    pairs = Memory(memory)
    progress = Progress()
    n_iter, stop = 0, False
    left: list[float] = []
    while True:
        step = pairs.solve(point.gradient, curvature)
        left.append(float(point.gradient @ step))
        goal = 2 * max(max(tol, ROUNDING) * point.value, enough)
        new = None
        if len(left) > 1 and left[-1] <= goal:
            new = None if confirm_at is None else confirm_at(point.theta, n_iter)
        elif len(left) > 1 and renew(left, goal):
            new = curvature_at(point.theta)
        if new is not None:
            curvature = new
            pairs.renew(curvature)
            step = pairs.solve(point.gradient, curvature)
            left = [float(point.gradient @ step)]

        def ended(status: str, point: Point = point, gap: float = left[-1] / 2, n_iter: int = n_iter) -> Outcome:
            return Outcome(point.theta, point.value, max(gap, 0.0), n_iter, status, curvature)  # noqa: B023

        if left[-1] <= goal:
            return ended("converged")
        if stop:
            return ended("stopped")
        if n_iter >= max_iter:
            return ended("iterations")
        lower = None if progress.over(point.value, left[-1]) else search(evaluate, point, -step, -left[-1])
        if lower is None:
            return ended(at_rest(left[-1], point.value))
        pairs.add(lower.theta - point.theta, lower.gradient - point.gradient, curvature)
        point = lower
        n_iter += 1
        stop = watch is not None and watch(point, n_iter)


def search(evaluate: Any, start: Point, direction: np.ndarray, slope: float) -> Point | None:
    """A point along `direction` with a lower value and less slope; None where rounding hides all progress.

    Close to its minimum along a line a convex function is nearly a parabola: the secant of the slopes points there.
    """
    step, low, high = 1.0, 0.0, np.inf
    noise = _NOISE * abs(start.value)
    best = None
    for _ in range(_TRIALS):
        theta = start.theta + step * direction
        point = Point(theta, *evaluate(theta))
        here = float(point.gradient @ direction)
        if not np.isfinite(point.value + here):
            high, guess = step, 0.1 * step
        else:
            lower = point.value <= start.value + 1e-4 * step * slope
            if lower and (best is None or point.value < best.value):
                best = point
            # Where values differ by rounding only, slopes still decide.
            hidden = abs(point.value - start.value) <= noise and abs(here) < 0.9 * abs(slope)
            if hidden or (lower and here >= 0.9 * slope):
                return point
            secant = step * slope / (slope - here) if here > slope else np.inf
            if lower and here < 0:
                low, guess = step, min(max(secant, 1.5 * step), 10 * step)
            else:
                high, guess = step, min(secant, 0.5 * step)
        if np.isfinite(high):
            guess = min(max(guess, low + 0.1 * (high - low)), high - 0.1 * (high - low))
        if step * abs(slope) < 1e-4 * noise or (best is not None and step > 1e8):
            break
        step = guess
    return best
