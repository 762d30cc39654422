"""Linear equations with a symmetric matrix that is positive, but for rounding."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

_JITTER = 1e-14
_NOTHING = 1e-15  # of a number: what rounding leaves of it


def spd_solve(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H⁻¹ g in variables of like size, made safely positive where rounding left H singular."""
    diagonal = H.diagonal()
    unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    H = H * unit[:, None] * unit
    jitter = 0.0
    while True:
        A = H.copy()
        A.flat[:: A.shape[0] + 1] += jitter
        factor, failed = lapack.dpotrf(A, lower=1)
        if not failed or jitter > 1.0:
            return unit * lapack.dpotrs(factor, unit * g, lower=1)[0]
        jitter = max(100.0 * jitter, _JITTER)


def cholesky(H: np.ndarray, jitter: float = _JITTER) -> np.ndarray:
    """The lower Cholesky factor of H and `jitter` of its diagonal, or more where rounding left H singular."""
    diagonal = H.diagonal()
    floor = np.maximum(diagonal, 1e-3 * diagonal.max(initial=np.finfo(float).tiny))
    while jitter < 1e3:
        A = H.copy()
        A.ravel()[:: A.shape[0] + 1] += jitter * floor
        factor, failed = lapack.dpotrf(A, lower=1, clean=1)
        if not failed and np.isfinite(factor[-1, -1]):
            return factor
        jitter *= 100.0
    raise ValueError("The columns of X are too large to be squared in float64; rescale them.")


def keep_signs(H: np.ndarray, fall: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The step H⁻¹ fall to the minimum of a quadratic, but nothing crosses 0, where a penalty has its kink.

    What would ends at 0; if that gains nothing, all go only as far as the first. Where `old` is 0, any step is right.
    """
    step = spd_solve(H, fall)
    across = (old + step) * old < 0.0
    change = np.where(across, -old, step)
    if across.any() and not change @ (fall - 0.5 * (H @ change)) > 0.0:
        change = step * np.min(-old[across] / step[across])
    return np.where(np.abs(old + change) <= _NOTHING * np.abs(old), -old, change)
