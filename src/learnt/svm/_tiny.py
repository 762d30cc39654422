"""The Newton of `_newton` for one plane over a small dense table, written out.

What a table of a few hundred rows costs is calls, not arithmetic: here a step is some thirty of them, and what the
search along a step saw last is what the next one starts from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import blas, lapack  # plain routines: the wrappers cost more than a small solution

from learnt.svm._losses import Loss
from learnt.svm._newton import AFRESH, INNER, PLAIN_STEPS, SHORT, SHRINK, TRIALS, WIDEN_AT_MOST, Outcome, next_trial

_STEPS = 100  # the most steps for a loss with a kink, unless rounding prevents convergence
_CELLS = 1 << 16  # of a table that is small


def is_small(n: int, D: int) -> bool:
    """Whether a table with these sides is one for this."""
    return n > D and n * D <= _CELLS


def newton(
    A: np.ndarray,
    loss: Loss,
    tol: float,
    max_iter: int,
    width: float,
    watch: Callable[[float, int], bool] | None,
) -> Outcome | None:
    """Minimise  ‖w‖²/2 + Σ φᵢ(aᵢ·w)  until the duality gap is at most `tol` times it; None where that takes long."""
    y, lo, hi, soft, epsilon, weight = loss
    smooth, (n, D) = loss.smooth, A.shape
    w, s = np.zeros(D), np.zeros(n)
    centre, pull = np.zeros(n), np.zeros(n) if smooth else width / weight
    offset, give, stiff = np.zeros(n), soft + pull, 1.0 / np.sqrt(soft + pull)

    def residuals(s: np.ndarray) -> np.ndarray:
        r = y - s
        return np.copysign(np.maximum(np.abs(r) - epsilon, 0.0), r) if epsilon else r

    def multipliers(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best β, and what it would be without bounds."""
        free = residuals(s if smooth else s - offset)
        free /= give
        return np.minimum(np.maximum(free, lo), hi), free

    def search(step: np.ndarray, along: np.ndarray, first: float) -> tuple:
        """The step length, as in `_newton`; the scores and multipliers there."""
        if not first < 0.0:
            return 0.0, s, *multipliers(s)
        ww, square = float(w @ step), float(step @ step)
        low, low_slope, high, high_slope, a = 0.0, first, np.inf, 0.0, 1.0
        for _ in range(TRIALS):
            trial = s + a * along
            beta, free = multipliers(trial)
            slope = ww + a * square - float(beta @ along)
            if abs(slope) <= 0.1 * abs(first):
                break
            if slope < 0:
                low, low_slope = a, slope
            else:
                high, high_slope = a, slope
            last, a = a, next_trial(low, low_slope, high, high_slope, a)
        else:
            a = last
        return a, trial, beta, free

    beta, free = multipliers(s)
    widened = 0
    for n_iter in range(min(max_iter, PLAIN_STEPS if smooth else _STEPS) + 1):
        g = w - beta @ A
        gap = left = 0.5 * float(g @ g)
        if smooth:
            losses = 0.5 * float(beta @ (soft * beta))
        else:
            r = residuals(s)
            losses = float(np.maximum(hi * r, lo * r).sum())
            gap = left + losses - float(beta @ (y - s)) + epsilon * float(np.abs(beta).sum())
        value = 0.5 * float(w @ w) + losses
        if gap <= tol * value or n_iter >= max_iter or (watch is not None and watch(value, n_iter)):
            return Outcome(w, beta, value, max(gap, 0.0), n_iter, gap <= tol * value)
        if not smooth and left <= INNER * gap:
            centre, pull = beta, pull * SHRINK
            offset, give, stiff = pull * centre, pull, 1.0 / np.sqrt(pull)
            beta, free = multipliers(s)
            g = w - beta @ A
        moving = beta != 0.0 if smooth else (free == beta) & (free != 0.0)
        H = blas.dsyrk(1.0, (A * (moving * stiff)[:, None]).T, lower=1)  # a symmetric product costs half
        H.ravel(order="K")[:: D + 1] += 1.0
        factor, failed = lapack.dpotrf(H, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        step = -lapack.dpotrs(factor, g, lower=1)[0]
        a, s, beta, free = search(step, A @ step, float(g @ step))
        w = w + a * step
        if not smooth and a < SHORT and widened < WIDEN_AT_MOST:  # too few rows curve for the step to be long
            pull, widened = pull / SHRINK, widened + 1
            offset, give, stiff = pull * centre, pull, 1.0 / np.sqrt(pull)
            beta, free = multipliers(s)
        if n_iter % AFRESH == AFRESH - 1:
            s = A @ w
            beta, free = multipliers(s)
    return None
