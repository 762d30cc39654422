"""The covariance of the rows moved towards a multiple of the identity by a given share."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.covariance._empirical import EmpiricalCovariance
from learnt.covariance._sample import Sample
from learnt.engine.params import ParameterError, check_number
from learnt.statistics import shrunk


def shrunk_covariance(emp_cov: Any, shrinkage: float = 0.1) -> np.ndarray:
    """Covariances moved towards a multiple of the identity:  (1 − s) S + s (tr S / d) 1.

    Parameters
    ----------
    emp_cov : array-like of shape (..., n_features, n_features)
        The covariance S, or a stack of several.
    shrinkage : float in [0, 1], default=0.1
        The share s: 0 leaves S as it is, 1 leaves only the mean of its variances.

    Returns
    -------
    covariance : ndarray of shape (..., n_features, n_features)
        The shrunk covariances, in the shape of `emp_cov`.

    See Also
    --------
    ShrunkCovariance : The same for rows, as an estimator.
    ledoit_wolf : Chooses the share from the rows.

    Notes
    -----
    Every eigenvalue moves towards the mean of all, and eigenvectors stay as they are; with s > 0 the result can be
    inverted even where S cannot.

    Examples
    --------
    >>> shrunk_covariance([[1.0, 1.0], [1.0, 3.0]], 0.5).tolist()
    [[1.5, 0.5], [0.5, 2.5]]
    """
    if isinstance(shrinkage, bool) or not 0.0 <= shrinkage <= 1.0:
        raise ParameterError(
            f"The 'shrinkage' parameter of shrunk_covariance must be a number of at least 0 and at most 1. Got "
            f"{shrinkage!r} instead."
        )
    S = np.array(emp_cov, dtype=np.float64)
    if S.ndim < 2 or S.shape[-1] != S.shape[-2] or not np.isfinite(S).all():
        raise ValueError(
            f"emp_cov has the shape {S.shape}, and shrunk_covariance takes square matrices of finite numbers."
        )
    return shrunk(S, float(shrinkage))


class ShrunkCovariance(EmpiricalCovariance):
    """The covariance S of the rows moved towards a multiple of the identity:  (1 − s) S + s (tr S / d) 1.

    Every eigenvalue moves towards their mean, so that the matrix can be inverted however few rows there are. Take it
    where you know the share, or choose it by cross-validation: `score` is the likelihood of rows.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to keep the inverse of the covariance. False saves memory and an inversion with many columns;
        `get_precision` then inverts when it is asked.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.
    shrinkage : float in [0, 1], default=0.1
        The share s. More shrinkage means less variance (overfitting) and more bias (underfitting); the fewer rows a
        column has, the larger it should be.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The shrunk covariance.
    precision_ : ndarray of shape (n_features, n_features) or None
        The inverse of `covariance_`, its pseudo-inverse where it is singular; None where `store_precision` is False.

    See Also
    --------
    LedoitWolf : Chooses the share from the rows.
    OAS : Chooses it for rows that are close to normal.
    shrunk_covariance : The same for a covariance at hand.

    Notes
    -----
    One pass over the rows: O(n d²) time and O(d²) memory for n rows of d columns.

    Examples
    --------
    >>> ShrunkCovariance(shrinkage=0.5).fit([[0.0, 0.0], [2.0, 4.0]]).covariance_.tolist()
    [[1.75, 1.0], [1.0, 3.25]]
    """

    def __init__(self, *, store_precision: bool = True, assume_centered: bool = False, shrinkage: float = 0.1) -> None:
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.shrinkage = shrinkage

    def _check_others(self) -> None:
        check_number(self, "shrinkage", 0, 1)

    def _estimate(self, found: Sample) -> np.ndarray:
        return shrunk(found.covariance, self.shrinkage)
