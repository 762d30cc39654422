"""Semismooth Newton with proximal points: the minimum of  ‖w‖²/2 + Σ φᵢ(aᵢ·w)  to any precision.

Where φ is squared, the objective is piecewise quadratic with gradient  w − Aᵀβ(w)  and second derivative
I + A_FᵀT⁻¹A_F,  where only rows F with a multiplier inside its bounds curve. Newton's method with an exact search
along each step ends after finitely many of them. Where φ has a kink, multipliers are drawn to their last values
(a proximal point of the dual, in other words an augmented Lagrangian), more weakly each time: every such problem is
piecewise quadratic again, and fewer and fewer rows contribute curvature. Squared losses take this way too where plain
steps are many: where few rows curve, a step in all other directions is long, meets rows that curve, and is cut short.

The duality gap is known exactly: ‖w − Aᵀβ‖²/2 (the error of Newton's method) plus one non-negative term a row (the
error of the proximal points).

Reference: Li, Sun & Toh, A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
problems, SIAM J. Optim. 28 (2018), doi:10.1137/16M1097572.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from learnt.svm._curvature import Curvature
from learnt.svm._design import Design

SHRINK = 0.2  # by what the pull of a proximal point weakens each time
INNER = 0.2  # Newton's method stops when its part of the gap is below this share
PLAIN_STEPS = 15  # of Newton's method for a squared loss; where it needs more they are short: then proximal points
SHORT, WIDEN_AT_MOST = 0.1, 10  # a step of less than this share of Newton's means that the smoothing is too narrow
TRIALS = 30
_PATIENCE, _STALLED = 200, 1e-10  # steps without a smaller gap, and the relative gap at which that is no failure
AFRESH = 10  # steps after which scores are recomputed, since updates accumulate rounding errors


class Outcome(NamedTuple):
    """Coefficients, multipliers, the objective, how far above its minimum it is at most, and the steps taken."""

    w: np.ndarray
    beta: np.ndarray
    value: float
    gap: float
    n_iter: int
    converged: bool


def minimize(
    design: Design,
    loss: Any,
    w: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    width: float = 1.0,
    curvature: Any = None,
    centre: Any = None,
    watch: Callable[[float, int], bool] | None = None,
) -> Outcome:
    """Minimise until the duality gap is at most `tol` times the objective.

    `loss` is a `Loss`, or anything with its methods and several scores a row. `width` is how far from its kink a
    row's loss is smoothed at first, of the size of the residuals; `centre`, what multipliers are drawn to.
    """
    s = design.scores(w)
    curvature = curvature or Curvature(design)
    if loss.smooth:
        centre, pull = None, None
    else:
        centre = loss.start(s if w.any() else None) if centre is None else centre
        pull = width / loss.weight
    n_iter, since, widened, best = 0, 0, 0, None
    while True:
        beta, moving = loss.multipliers(s, centre, pull)
        v = design.combine(beta)
        g = w - v
        left = 0.5 * float(np.vdot(g, g))
        value = 0.5 * float(np.vdot(w, w)) + float(loss.value(s).sum())
        gap = left + float(loss.slack(s, beta).sum())
        if best is None or gap < best.gap:
            best, since = Outcome(w, beta, value, max(gap, 0.0), n_iter, gap <= tol * value), n_iter
        if best.converged or n_iter >= max_iter or (watch is not None and watch(value, n_iter)):
            return best._replace(n_iter=n_iter)
        if n_iter - since > _PATIENCE:  # the last digits of float64
            return best._replace(n_iter=n_iter, converged=best.gap <= _STALLED * best.value)
        if pull is None and n_iter >= PLAIN_STEPS:
            centre, pull = np.zeros_like(beta), width / loss.weight
            beta, moving = loss.multipliers(s, centre, pull)
            g = w - design.combine(beta)
        elif pull is not None and left <= INNER * gap:
            centre, pull = beta, pull * SHRINK
            beta, moving = loss.multipliers(s, centre, pull)
            g = w - design.combine(beta)
        give = loss.soft if pull is None else loss.soft + pull
        step = curvature.solve(g, moving, give)
        along = design.scores(step)
        a = search(loss, s, along, w, step, centre, pull, g)
        if pull is not None and a < SHORT and widened < WIDEN_AT_MOST:  # too few rows curve for the step to be long
            pull, widened = pull / SHRINK, widened + 1
        w = w + a * step
        s = s + a * along if n_iter % AFRESH else design.scores(w)
        n_iter += 1


def search(
    loss: Any,
    s: np.ndarray,
    along: np.ndarray,
    w: np.ndarray,
    step: np.ndarray,
    centre: np.ndarray | None,
    pull: np.ndarray | None,
    g: np.ndarray,
) -> float:
    """The step length at which the slope, piecewise linear and increasing, is nearly 0; 0 where it starts uphill."""
    ww, square = float(np.vdot(w, step)), float(np.vdot(step, step))
    first = float(np.vdot(g, step))
    if not first < 0.0:  # rounding in Newton's equations
        return 0.0
    low, low_slope, high, high_slope = 0.0, first, np.inf, 0.0
    a = 1.0
    for _ in range(TRIALS):
        beta, _ = loss.multipliers(s + a * along, centre, pull)
        slope = ww + a * square - float(np.vdot(beta, along))
        if abs(slope) <= 0.1 * abs(first):
            break
        if slope < 0:
            low, low_slope = a, slope
        else:
            high, high_slope = a, slope
        a = next_trial(low, low_slope, high, high_slope, a)
    return a


def next_trial(low: float, low_slope: float, high: float, high_slope: float, a: float) -> float:
    """Beyond a, where no slope was up yet; else between the two ends, where a line through them crosses 0.

    The slope at `low` is below 0 and that at `high` is not, so that they differ.
    """
    if high == np.inf:
        return 2.0 * a
    guess = low - low_slope * (high - low) / (high_slope - low_slope)
    return min(max(guess, low + 0.1 * (high - low)), high - 0.1 * (high - low))
