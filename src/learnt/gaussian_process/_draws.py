"""Draws of a Gaussian by the Cholesky factor of its covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from learnt.engine.threads import single_blas
from learnt.linalg.tiles import cholesky_in_place, clear_upper


def draws(mean: np.ndarray, covariance: np.ndarray, n_samples: int, random: Any) -> np.ndarray:
    """`n_samples` columns with this mean and covariance, which may be singular."""
    L = _root(covariance)
    with single_blas():
        return mean[:, None] + L @ random.standard_normal((len(mean), n_samples))


def _root(covariance: np.ndarray) -> np.ndarray:
    """L with LLᵀ = covariance, but for 1e-12 to 1e-8 of its diagonal; by eigenvectors where that is not enough."""
    largest = max(float(np.max(covariance.diagonal(), initial=0.0)), np.finfo(float).tiny)
    for share in (1e-12, 1e-10, 1e-8):
        L = np.array(covariance, dtype=np.float64, order="C")
        L.ravel()[:: len(L) + 1] += share * largest
        if cholesky_in_place(L):
            clear_upper(L)
            return L
    with single_blas():
        values, vectors = linalg.eigh(covariance, check_finite=False)
    return vectors * np.sqrt(np.maximum(values, 0.0))
