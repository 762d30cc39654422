"""Newton's method for two classes over a small dense table, written out.

What a table of a few hundred rows costs is calls, not arithmetic: here a step is some twenty of them, with the loss,
its gradient and its second derivative from one look at the scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas, lapack  # plain routines: the wrappers cost more than a small solution

from learnt.erm.solvers.curved import Flat, Outcome, Point, Progress, at_rest
from learnt.linear_model.logistic._curvature import cholesky
from learnt.linear_model.logistic._margins import margin_losses

_NOISE = 1e-14  # rounding of the objective, relative
_HALVINGS = 30
_SAME = 0.01  # of scores: a change that leaves the second derivative as it is
_JITTER = 1e-12  # a pivot below this share of the largest entry is rounding


def newton(
    Z: np.ndarray,
    y: np.ndarray,
    w: np.ndarray | None,
    penalty: np.ndarray,
    start: np.ndarray,
    *,
    tol: float,
    enough: float,
    max_iter: int,
    watch: Callable[[Point, int], bool] | None,
) -> Outcome | None:
    """Minimise Σ w ℓ(y, [Z, 1]u) + ½ Σ penalty u² until gᵀH⁻¹g / 2 ≤ max(tol · f, enough); None where it cannot.

    `y` is 0 or 1. `penalty` and `start` have an entry for the intercept, last: infinite where there is none to fit.
    """
    fit_intercept = bool(np.isfinite(penalty[-1]))
    A = np.ones((Z.shape[0], Z.shape[1] + 1)) if fit_intercept else Z
    if fit_intercept:
        A[:, :-1] = Z
    k = A.shape[1]
    penalty, u = penalty[:k], start[:k]
    side = 2.0 * y - 1.0

    def look(u: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """The objective, its gradient, the scores, and the curve of each row's loss."""
        scores = A @ u
        losses, residual, curve = margin_losses(scores * side)
        residual *= -side
        if w is not None:
            residual *= w
            curve *= w
            losses *= w
        pull = penalty * u
        return float(losses.sum() + 0.5 * (pull @ u)), residual @ A + pull, scores, curve

    def with_intercept(u: np.ndarray) -> np.ndarray:
        return u if fit_intercept else np.append(u, 0.0)

    def equations(curve: np.ndarray) -> np.ndarray:
        """The lower Cholesky factor of the second derivative."""
        H = blas.dsyrk(1.0, (A * np.sqrt(curve)[:, None]).T, lower=1)  # a symmetric product costs half
        H.ravel(order="K")[:: k + 1] += penalty
        factor, failed = lapack.dpotrf(H, lower=1, clean=0)
        return (
            factor if not failed and _JITTER * H.diagonal().max() < np.square(factor.diagonal()).min() else cholesky(H)
        )

    value, gradient, scores, curve = look(u)
    factor, progress = equations(curve), Progress()
    for n_iter in range(max_iter + 1):
        step = lapack.dpotrs(factor, gradient, lower=1)[0]
        left = float(gradient @ step)
        if not left >= 0.0:
            return None
        goal = 2 * max(tol * value, enough)
        if left <= goal or n_iter == max_iter:
            status = "converged" if left <= goal else "iterations"
            return Outcome(with_intercept(u), value, left / 2, n_iter, status, Flat())
        if progress.over(value, left):
            return Outcome(with_intercept(u), value, left / 2, n_iter, at_rest(left, value), Flat())
        t = 1.0
        for _ in range(_HALVINGS):
            trial = u - t * step
            found = look(trial)
            if found[0] <= value - 1e-4 * t * left + _NOISE * abs(value):
                break
            t /= 2
        else:
            return None
        change = np.abs(found[2] - scores).max()
        u, (value, gradient, scores, curve) = trial, found
        if watch is not None and watch(Point(with_intercept(u), value, gradient), n_iter + 1):
            return Outcome(with_intercept(u), value, left / 2, n_iter + 1, "stopped", Flat())
        # Scores that change by c change the second derivative by no more than eᶜ: soon the one at hand will do.
        if change > _SAME:
            factor = equations(curve)
    return None
