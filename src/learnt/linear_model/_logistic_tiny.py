"""Newton's method for two classes over a small dense table, written out.

What a table of a few hundred rows costs is calls, not arithmetic: here a step is some twenty of them, with the loss,
its gradient and its second derivative from one look at the scores.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from learnt.linear_model._logistic_curvature import Cholesky
from learnt.linear_model._logistic_solvers import Outcome, Point

_NOISE = 1e-14  # of a value, relative
_HALVINGS = 30


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

    def look(u: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The objective, its gradient, and the curve of each row's loss."""
        scores = A @ u
        small = np.exp(-np.abs(scores))
        total = 1.0 + small
        probability = np.where(scores >= 0, 1.0, small)
        probability /= total
        residual = probability - y
        curve = small / (total * total)
        losses = np.log(total) + np.maximum(scores, 0.0)
        losses -= scores * y
        if w is not None:
            residual *= w
            curve *= w
            losses *= w
        pull = penalty * u
        return float(losses.sum() + 0.5 * (pull @ u)), A.T @ residual + pull, curve

    def whole(u: np.ndarray) -> np.ndarray:
        return u if fit_intercept else np.append(u, 0.0)

    diagonal = np.arange(k)
    value, gradient, curve = look(u)
    for n_iter in range(max_iter + 1):
        root = A * np.sqrt(curve)[:, None]
        H = root.T @ root  # a symmetric product costs half
        H[diagonal, diagonal] += penalty
        equations = Cholesky(H)
        step = equations.solve(gradient)
        left = float(gradient @ step)
        if not left >= 0.0:
            return None
        if left <= 2 * max(tol * value, enough):
            return Outcome(whole(u), value, left / 2, n_iter, "converged", equations)
        if n_iter == max_iter:
            return Outcome(whole(u), value, left / 2, n_iter, "iterations", equations)
        t = 1.0
        for _ in range(_HALVINGS):
            trial = u - t * step
            found = look(trial)
            if found[0] <= value - 1e-4 * t * left + _NOISE * abs(value):
                break
            t /= 2
        else:
            return None
        u, (value, gradient, curve) = trial, found
        if watch is not None and watch(Point(whole(u), value, gradient), n_iter + 1):
            return Outcome(whole(u), value, left / 2, n_iter + 1, "stopped", equations)
    return None
