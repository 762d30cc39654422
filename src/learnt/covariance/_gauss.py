"""How well a normal law fits a covariance, how far rows are from its centre, and the inverse of its matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import lapack, pinvh

from learnt.engine.arrays import namespace
from learnt.engine.rows import Block
from learnt.engine.rows.blocks import widen
from learnt.engine.threads import single_blas

_SINGULAR = 1e-14  # of a correlation matrix: a conditional variance that may be rounding


def log_likelihood(emp_cov: Any, precision: Any) -> float:
    """The mean log density of centred rows with covariance S under the normal distribution N(0, P⁻¹).

        ½ (log det P − tr(S P) − d log 2π)

    Use it to compare models of a covariance on rows left out.

    Parameters
    ----------
    emp_cov : array-like of shape (n_features, n_features)
        S, the covariance of the rows about the centre of the model.
    precision : array-like of shape (n_features, n_features)
        P, the inverse covariance of the model.

    Returns
    -------
    log_likelihood : float
        The mean log density of a row; −∞ where P is singular.

    See Also
    --------
    empirical_covariance : Makes S from rows.
    GraphicalLassoCV : Chooses its penalty by this score.

    Examples
    --------
    >>> round(log_likelihood(np.eye(2), np.eye(2)), 4)
    -2.8379
    """
    S, P = np.asarray(emp_cov, dtype=np.float64), np.asarray(precision, dtype=np.float64)
    if S.shape != P.shape or S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(
            f"emp_cov has the shape {S.shape} and precision {P.shape}; give log_likelihood two square matrices of the "
            "same features."
        )
    with single_blas():
        sign, log_det = np.linalg.slogdet(P)
    if sign <= 0:
        return -math.inf
    return float(0.5 * (log_det - (S * P).sum() - len(P) * math.log(2.0 * math.pi)))


@single_blas()
def inverse(covariance: np.ndarray) -> np.ndarray:
    """The inverse of a covariance; the pseudo-inverse where it is singular, whatever the units of the features.

    >>> inverse(np.array([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    variance = np.diag(covariance)
    # Powers of 2 near the standard deviations: dividing by them rounds nothing.
    unit = np.exp2(np.round(0.5 * np.log2(np.where(variance > 0, variance, 1.0))))
    L, failed = lapack.dpotrf(covariance / np.outer(unit, unit), lower=1, clean=1)
    if failed or not np.diag(L).min() ** 2 > _SINGULAR * len(L):
        found: np.ndarray = pinvh(covariance, check_finite=False)
        return found
    back = lapack.dtrtri(L, lower=1)[0] / unit
    return back.T @ back


def square_distances(block: Block, location: Any, precision: Any) -> Any:
    """(x − μ)ᵀ P (x − μ) of each row of a block."""
    Z = widen(block.X) - location
    xp = namespace(Z)
    found = xp.sum(Z * (Z @ precision), axis=1)
    return xp.where(found > 0, found, xp.zeros_like(found))  # rounding
