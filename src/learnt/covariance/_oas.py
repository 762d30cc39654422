"""The covariance of the rows shrunk by the share that suits normal rows (Chen, Wiesel, Eldar and Hero 2010)."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.covariance._empirical import STATE, EmpiricalCovariance
from learnt.covariance._sample import Sample, checked_table, sample
from learnt.engine.schema import Schema, number
from learnt.statistics import oas_share, shrunk


def oas(X: Any, *, assume_centered: bool = False) -> tuple[np.ndarray, float]:
    """The covariance of X shrunk by the oracle approximating share, and that share.

        (1 − s) S + s (tr S / d) 1,      s = (tr S² + tr² S) / ((n + 1) (tr S² − tr² S / d)),  at most 1

    Take it where rows are few for the number of columns and close to normal.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; finite numbers.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.

    Returns
    -------
    covariance : ndarray of shape (n_features, n_features)
        The shrunk covariance.
    shrinkage : float
        The share s, in [0, 1].

    See Also
    --------
    OAS : The same as an estimator.
    ledoit_wolf : A share that assumes nothing about the distribution.

    Notes
    -----
    Terms of order 1/d in the article's formula are left out, as in scikit-learn. A single column is not shrunk.

    References
    ----------
    .. [1] Y. Chen, A. Wiesel, Y. C. Eldar and A. O. Hero, "Shrinkage algorithms for MMSE covariance estimation",
       IEEE Transactions on Signal Processing 58, 2010.

    Examples
    --------
    >>> C, share = oas([[1.0, 0.0], [-1.0, 0.0], [0.0, 5.0], [0.0, -5.0]])
    >>> round(share, 3)
    0.904
    """
    found = sample(checked_table(X, "oas"), assume_centered, "oas")
    share = oas_share(found.covariance, found.n)
    return shrunk(found.covariance, share), share


class OAS(EmpiricalCovariance):
    """The covariance S of the rows shrunk by the oracle approximating share (Chen, Wiesel, Eldar and Hero 2010).

        covariance = (1 − s) S + s (tr S / d) 1
        s = (tr S² + tr² S) / ((n + 1) (tr S² − tr² S / d)),     at most 1

    For normal rows its expected squared error is less than that of `LedoitWolf`; take it where rows are few and roughly
    normal.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether to keep the inverse of the covariance. False saves memory and an inversion with many columns;
        `get_precision` then inverts when it is asked.
    assume_centered : bool, default=False
        Whether the mean of every column is known to be 0, so that it is not estimated: True for residuals, or for rows
        that were centred before.

    Attributes
    ----------
    shrinkage_ : float
        The share s, in [0, 1]: 0 leaves S as it is, 1 makes it a multiple of the identity.
    location_ : ndarray of shape (n_features,)
        The estimated mean of the rows; 0 where `assume_centered`.
    covariance_ : ndarray of shape (n_features, n_features)
        The shrunk covariance.
    precision_ : ndarray of shape (n_features, n_features) or None
        The inverse of `covariance_`, its pseudo-inverse where it is singular; None where `store_precision` is False.

    See Also
    --------
    LedoitWolf : Assumes nothing about the distribution.
    ShrunkCovariance : With a share of your own.
    oas : The same as a function.

    Notes
    -----
    One pass over the rows: O(n d²) time and O(d²) memory for n rows of d columns. Terms of order 1/d in the article's
    formula are left out, as in scikit-learn. A single column is not shrunk.

    References
    ----------
    .. [1] Y. Chen, A. Wiesel, Y. C. Eldar and A. O. Hero, "Shrinkage algorithms for MMSE covariance estimation",
       IEEE Transactions on Signal Processing 58, 2010.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 50))
    >>> OAS().fit(X).shrinkage_ > 0.9
    True
    """

    __learnt_schema__ = Schema(state={**STATE, "shrinkage_": number(0, 1)})

    def _estimate(self, found: Sample) -> np.ndarray:
        self.shrinkage_ = oas_share(found.covariance, found.n)
        return shrunk(found.covariance, self.shrinkage_)
