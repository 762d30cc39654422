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
    emp_cov : array of shape (..., n_features, n_features)
        S, one matrix or several.
    shrinkage : float in [0, 1], default=0.1
        s.

    Returns
    -------
    array of the shape of emp_cov

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

    Every eigenvalue moves towards their mean, so that the matrix can be inverted however few rows there are.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether the inverse of the covariance is kept.
    assume_centered : bool, default=False
        Whether the mean is known to be 0.
    shrinkage : float in [0, 1], default=0.1
        The share s.

    Attributes
    ----------
    location_, covariance_, precision_, n_features_in_, feature_names_in_
        As in `EmpiricalCovariance`.

    Examples
    --------
    >>> ShrunkCovariance(shrinkage=0.5).fit([[0.0, 0.0], [2.0, 4.0]]).covariance_.tolist()
    [[1.75, 1.0], [1.0, 3.25]]
    """

    def __init__(self, *, store_precision=True, assume_centered=False, shrinkage=0.1):
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.shrinkage = shrinkage

    def _check_others(self) -> None:
        check_number(self, "shrinkage", 0, 1)

    def _estimate(self, found: Sample) -> np.ndarray:
        return shrunk(found.covariance, self.shrinkage)
