"""The covariance of the rows shrunk by the share that suits normal rows (Chen, Wiesel, Eldar and Hero 2010)."""

from __future__ import annotations

from typing import Any

import numpy as np

from learnt.covariance._empirical import STATE, EmpiricalCovariance
from learnt.covariance._sample import Sample, checked_table, sample
from learnt.engine.schema import Schema, number
from learnt.statistics import oas_share, shrunk


def oas(X: Any, *, assume_centered: bool = False) -> tuple[np.ndarray, float]:
    """The covariance of X shrunk by the oracle approximating share, and that share; the formula is `OAS`'s.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    assume_centered : bool, default=False
        Whether the mean is known to be 0.

    Returns
    -------
    covariance : array of shape (n_features, n_features)
    shrinkage : float

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

    For normal rows its expected squared error is less than Ledoit and Wolf's. Terms of order 1/d in the article's
    formula are left out, as in scikit-learn. One feature is not shrunk.

    Parameters
    ----------
    store_precision : bool, default=True
        Whether the inverse of the covariance is kept.
    assume_centered : bool, default=False
        Whether the mean is known to be 0.

    Attributes
    ----------
    shrinkage_ : float
        The share s, in [0, 1].
    location_, covariance_, precision_, n_features_in_, feature_names_in_
        As in `EmpiricalCovariance`.

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
